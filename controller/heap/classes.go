package heap

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// none stands for no object, no class.
const none = ^uint32(0)

// A class is what is known of a class of the dump.
type class struct {
	dump   *hprof.Class
	name   string // as in Java source: "java.lang.String[]"
	ord    uint32 // of the class object, none if the dump has none
	super  *class
	loader uint32 // number of its loader, 0: the JVM's own
	// alike is the number of the first class of the same name with a loader of the same
	// class: instances of these are told together.
	alike uint32

	elem  hprof.Type // of an array; 0 if it is none
	refs  []int      // offsets of references in an instance's body
	weak  int        // offset of Reference.referent in it, -1 if it has none
	body  int        // bytes of an instance's body
	prims [4]int     // own and inherited primitive fields by size: 1, 2, 4, 8 bytes

	units uint32 // shallow size of an instance, in units of 8 bytes
	kind  weakKind
	held  holding // what the second pass looks for in an instance
}

func (c *class) isArray() bool { return c.elem != 0 }

// A weakKind is how a java.lang.ref.Reference holds its referent.
type weakKind byte

const (
	strong weakKind = iota
	softRef
	weakRef
	phantomRef
	finalRef
)

var weakNames = map[string]weakKind{
	"java.lang.ref.SoftReference":    softRef,
	"java.lang.ref.WeakReference":    weakRef,
	"java.lang.ref.PhantomReference": phantomRef,
	"java.lang.ref.FinalReference":   finalRef,
}

var primArrays = map[string]hprof.Type{
	"[Z": hprof.Boolean, "[C": hprof.Char, "[F": hprof.Float, "[D": hprof.Double,
	"[B": hprof.Byte, "[S": hprof.Short, "[I": hprof.Int, "[J": hprof.Long,
}

// javaName turns "[[Ljava/lang/String;" into "java.lang.String[][]".
func javaName(name string) string {
	dims := 0
	for strings.HasPrefix(name[dims:], "[") {
		dims++
	}
	base := name[dims:]
	if dims > 0 {
		if t, ok := primArrays["["+base]; ok {
			base = t.String()
		} else {
			base = strings.TrimSuffix(strings.TrimPrefix(base, "L"), ";")
		}
	}
	return strings.ReplaceAll(base, "/", ".") + strings.Repeat("[]", dims)
}

// A classTable has all classes. Number 0 is for objects whose class the dump lacks.
type classTable struct {
	all   []*class
	byID  map[uint64]uint32
	prim  [12]uint32 // arrays of primitives by type
	class uint32     // java.lang.Class
	names map[string]uint32
}

// maxSupers bounds a chain of superclasses, which a damaged dump may close to a circle.
const maxSupers = 1000

// newClassTable puts together what the first pass found.
func newClassTable(v *survey) *classTable {
	t := &classTable{byID: map[uint64]uint32{}, names: map[string]uint32{}}
	add := func(c *class) uint32 {
		t.all = append(t.all, c)
		return uint32(len(t.all) - 1)
	}
	add(&class{name: "(class not in the dump)", ord: none, weak: -1})
	for _, d := range v.classes {
		raw := v.name(v.loaded[d.ID])
		c := &class{dump: d, name: javaName(raw), ord: none, weak: -1}
		if c.name == "" {
			c.name = "(class without a name)"
		}
		if strings.HasPrefix(raw, "[") {
			c.elem = hprof.Object
			if p, ok := primArrays[raw]; ok {
				c.elem = p
			}
		}
		if o, ok := v.ids.find(d.ID); ok {
			c.ord = o
		}
		n := add(c)
		t.byID[d.ID] = n
		if _, twice := t.names[c.name]; !twice {
			t.names[c.name] = n
		}
	}
	for raw, p := range primArrays {
		n, ok := t.names[javaName(raw)]
		if !ok {
			n = add(&class{name: javaName(raw), elem: p, ord: none, weak: -1})
		}
		t.prim[p] = n
	}
	t.class = t.names["java.lang.Class"]
	for _, c := range t.all {
		if c.dump != nil {
			if n, ok := t.byID[c.dump.Super]; ok {
				c.super = t.all[n]
			}
		}
	}
	referent := uint64(0)
	for id, s := range v.names.at {
		if v.names.text(s) == "referent" {
			referent = id
		}
	}
	for _, c := range t.all {
		c.layFields(v.idSize, referent)
	}
	for _, c := range t.all {
		t.layContents(c, v)
	}
	return t
}

// layFields works out where an instance's references are: a dump has the fields of a
// class first, then those of its superclass.
func (c *class) layFields(idSize int, referent uint64) {
	seen := 0
	for k := c; k != nil && seen < maxSupers; k = k.super {
		seen++
		if c.kind == strong {
			c.kind = weakNames[k.name]
		}
		if k.dump == nil {
			continue
		}
		for _, f := range k.dump.Fields {
			if f.Type == hprof.Object {
				if f.Name == referent && k.name == "java.lang.ref.Reference" && c.kind != strong {
					c.weak = c.body
				} else {
					c.refs = append(c.refs, c.body)
				}
			} else {
				switch f.Type.Size(idSize) {
				case 1:
					c.prims[0]++
				case 2:
					c.prims[1]++
				case 4:
					c.prims[2]++
				case 8:
					c.prims[3]++
				}
			}
			c.body += f.Type.Size(idSize)
		}
	}
}

// field finds an instance field by name: its offset in the body and its type.
func (t *classTable) field(c *class, v *survey, name string) (offset int, typ hprof.Type, ok bool) {
	at, seen := 0, 0
	for k := c; k != nil && seen < maxSupers; k = k.super {
		seen++
		if k.dump == nil {
			continue
		}
		for _, f := range k.dump.Fields {
			if v.name(f.Name) == name {
				return at, f.Type, true
			}
			at += f.Type.Size(v.idSize)
		}
	}
	return 0, 0, false
}

// is reports whether the class is, or inherits from, the named one.
func (c *class) is(name string) bool {
	seen := 0
	for k := c; k != nil && seen < maxSupers; k = k.super {
		if seen++; k.name == name {
			return true
		}
	}
	return false
}

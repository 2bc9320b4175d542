package session

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// Sizes are read again while some type has none: its class may not be loaded yet.
const (
	sizesFirst   = 100 * time.Millisecond
	sizesLongest = 10 * time.Second
)

// allocations is what the loop knows of types that are allocated.
type allocations struct {
	types  []*cct.Type      // by id; nil for methods. Readers have it, so it only grows, or is replaced
	sizes  map[string]int64 // of classes, by their names in internal form
	arrays arrayLayout
	copied []int32          // types that Object.clone makes
	vague  bool             // the JVM does not say how large objects are
	all    map[string]int64 // sizes of all classes, as they were read last
}

// allocates tells whether allocations are counted.
func (s *Session) allocates() bool { return s.metrics.Index(metric.Objects.Name) >= 0 }

// setAllocations has the ledger's probes count allocations, in arrays as this JVM
// lays them out.
func (s *Session) setAllocations(at arrayLayout) error {
	x := probe.Allocated{
		Class: s.bundle.Part("Allocated"), Object: "object", Array: "array", Arrays: "arrays",
		Shape: at.shape, Boxed: "boxed", BoxedInt: "boxedInt", Chars: s.proc.Major() < 9,
	}
	if s.survives() {
		x.Survivors, x.Survivor, x.SurvivingArray, x.SurvivingBox = s.bundle.Part("Survivors"), "object", "array", "boxed"
	}
	s.loop.allocations.arrays = at
	if s.called {
		x.Object, x.Array = "objectCall", "arrayCall"
		x.Survivor, x.SurvivingArray = "objectCall", "arrayCall"
	}
	s.loop.allocations.sizes = map[string]int64{}
	return s.loop.ledger.AllocateBy(x)
}

// An arrayLayout is how a JVM lays arrays out (arrayOop.hpp), in bytes.
type arrayLayout struct {
	header    int64 // mark, class and length
	align     int64 // of the elements of all types; 0: only of long and double
	reference int64
	object    int64 // alignment of objects
}

// defaultArrays is the layout of 64-bit JVMs with heaps below 32 GB.
var defaultArrays = arrayLayout{header: 16, align: 8, reference: 4, object: 8}

// arrayFlags are the flags that say how a JVM lays arrays out.
var arrayFlags = []string{"UseCompressedOops", "UseCompressedClassPointers", "UseCompactObjectHeaders", "ObjectAlignmentInBytes"}

// arrayLayout asks the target for it. Where it doesn't say, that of nearly all is taken.
func (s *Session) arrayLayout(ctx context.Context) arrayLayout {
	flags, err := vmstructs.Flags(s.proc.PID, arrayFlags...)
	if err != nil && s.vm != nil {
		s.log.Debug("flags by attach", "error", err)
		all, flagsErr := s.vm.Flags(ctx)
		if err = flagsErr; err == nil {
			flags = map[string]int64{}
			for _, name := range arrayFlags {
				if f, ok := all[name]; ok {
					n, _ := strconv.ParseInt(f.Value, 10, 64)
					if f.Value == "true" {
						n = 1
					}
					flags[name] = n
				}
			}
		}
	}
	if err != nil || flags["ObjectAlignmentInBytes"] == 0 {
		s.log.Debug("array layout not known", "error", err)
		return defaultArrays
	}
	return layoutOf(flags, s.proc.Major())
}

// layoutOf is the layout by flags of a JVM of that version.
func layoutOf(flags map[string]int64, major int) arrayLayout {
	at := arrayLayout{header: 20, align: 8, reference: 8, object: flags["ObjectAlignmentInBytes"]}
	if flags["UseCompressedClassPointers"] != 0 {
		at.header = 16
	}
	if flags["UseCompactObjectHeaders"] != 0 {
		at.header = 12
	}
	if flags["UseCompressedOops"] != 0 {
		at.reference = 4
	}
	if major >= 23 { // JDK-8139457
		at.align = 0
	}
	return at
}

// shape is what the probe needs to know of an array (class Allocated in the target).
func (a arrayLayout) shape(desc string) int32 {
	size := a.size(desc[1:])
	align := max(a.align, size&8, 1)
	header := (a.header + align - 1) &^ (align - 1)
	log := func(n int64) int32 { return int32(bits.TrailingZeros64(uint64(max(n, 1)))) }
	return int32(header) | log(size)<<8 | log(a.object)<<16
}

// size is that of a field or element of a type, by its descriptor.
func (a arrayLayout) size(desc string) int64 {
	switch desc[0] {
	case 'Z', 'B':
		return 1
	case 'C', 'S':
		return 2
	case 'I', 'F':
		return 4
	case 'J', 'D':
		return 8
	}
	return a.reference
}

// typeOf is a type of the ledger's.
func (l *loop) typeOf(text string) *cct.Type {
	switch text {
	case probe.ReflectedType:
		return &cct.Type{Name: cct.Reflected, Size: cct.NotKnown}
	case "[" + probe.ReflectedType:
		return &cct.Type{Name: cct.ReflectedArray, Array: true, Size: cct.NotKnown, Vague: true}
	}
	name, more, _ := strings.Cut(text, ":")
	t := &cct.Type{Name: cct.SourceType(name), Array: text[0] == '[', Size: cct.NotKnown}
	if size := l.allocations.sizes[name]; size > 0 {
		t.Size = size
	}
	switch suffix := text[len(name):]; {
	case suffix == probe.EstimatedType:
		t.Name += cct.Estimated
	case suffix == probe.CloneType && l.hasSubclass(name):
		t.Name, t.Size = t.Name+cct.OrSubclass, cct.NotKnown
	case suffix != "" && strings.HasSuffix(name, "$$Lambda"):
		t.Size = l.allocations.arrays.instance(more)
	}
	return t
}

// hasSubclass tells whether a class of that name has a subclass among the loaded ones.
func (l *loop) hasSubclass(name string) (has bool) {
	l.h.Classes(func(m *cha.ClassMirror) bool {
		has = has || m.Super == name
		return !has
	})
	return has
}

// instance is the size of an object whose fields have these descriptors, of a
// class whose superclass is Object. HotSpot puts the largest fields first, and small
// ones into what that leaves behind the header.
func (a arrayLayout) instance(descs string) int64 {
	header := a.header - 4
	if a.header == 20 {
		header = 16
	}
	var small, large int64
	params, _, err := classfile.Params("("+descs+")V", nil)
	if err != nil {
		return cct.NotKnown
	}
	for _, d := range params {
		switch size := a.size(d); size {
		case 8:
			large += 8
		default:
			small += size
		}
	}
	size := max(header+small+large, (header+7)&^7+large)
	return (size + a.object - 1) &^ (a.object - 1)
}

// types are what ids stand for that are no methods'.
func (l *loop) types() []*cct.Type {
	a := &l.allocations
	if !l.s.allocates() {
		return nil
	}
	for id := int32(len(a.types)); id < l.ledger.Len(); id++ {
		var t *cct.Type
		if m := l.ledger.Method(id); m != nil && m.Type != "" {
			t = l.typeOf(m.Type)
			if strings.HasSuffix(m.Type, probe.CloneType) {
				a.copied = append(a.copied, id)
			}
		}
		a.types = append(a.types, t)
	}
	for _, id := range a.copied { // a subclass may have come
		if t := l.typeOf(l.ledger.Method(id).Type); t.Name != a.types[id].Name {
			a.types = slices.Clone(a.types)
			a.types[id] = t
		}
	}
	return slices.Clip(a.types)
}

// unsized are the classes that are allocated and whose objects' size isn't known.
func (l *loop) unsized() (names []string) {
	for id, t := range l.types() {
		if t != nil && !t.Array && t.Size < 0 && t.Name != cct.Reflected && !strings.HasSuffix(t.Name, cct.OrSubclass) {
			if name, _, _ := strings.Cut(l.ledger.Method(int32(id)).Type, ":"); !strings.HasSuffix(name, "$$Lambda") {
				names = append(names, name)
			}
		}
	}
	return names
}

// sized takes the sizes of classes.
func (l *loop) sized(sizes map[string]int64) (found int) {
	a := &l.allocations
	a.all = sizes
	a.types = slices.Clone(a.types)
	for _, name := range l.unsized() {
		if n, ok := sizes[name]; ok && n > 0 {
			a.sizes[name] = n
			found++
		}
	}
	for id, t := range a.types {
		if t == nil || t.Array || t.Size >= 0 {
			continue
		}
		a.types[id] = l.typeOf(l.ledger.Method(int32(id)).Type)
	}
	return found
}

// readSizes asks the target's memory for the sizes of types, until all are known and
// as long as the session lasts.
func (s *Session) readSizes() {
	pause, most := sizesFirst, 0
	for {
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return
		}
		var names int
		if s.do(s.ctx, func() { names = len(s.loop.unsized()) }) != nil {
			return
		}
		found := 0
		if names > 0 {
			var err error
			if found, err = s.readSizesOnce(s.ctx); err != nil {
				s.log.Debug("sizes of types", "error", err)
				_ = s.do(s.ctx, func() { s.loop.allocations.vague = true })
				return
			}
		}
		if pause = min(pause*3/2, sizesLongest); found > 0 || names > most {
			pause = sizesFirst
		}
		most = max(most, names-found)
	}
}

// lastSizes asks once more, while the target is still there.
func (s *Session) lastSizes(ctx context.Context) {
	missing := false
	if !s.allocates() || s.do(ctx, func() { missing = len(s.loop.unsized()) > 0 || s.loop.ledger.Reflects() }) != nil || !missing {
		return
	}
	if _, err := s.readSizesOnce(ctx); err != nil {
		s.log.Debug("sizes of types", "error", err)
	}
}

func (s *Session) readSizesOnce(ctx context.Context) (found int, err error) {
	sizes, err := vmstructs.Sizes(s.proc.PID)
	if err != nil {
		return 0, err
	}
	return found, s.do(ctx, func() { found = s.loop.sized(sizes) })
}

// noteAllocations says in a report what it doesn't know of allocations.
func (l *loop) noteAllocations(r *export.Report) {
	if !l.s.allocates() {
		return
	}
	if l.allocations.vague {
		r.Notes = append(r.Notes, "This JVM does not say how large objects are, or its memory may not be read (ptrace_scope, CAP_SYS_PTRACE): bytes are those of arrays alone.")
	}
	if names := l.unsized(); len(names) > 0 && !l.allocations.vague {
		slices.Sort(names)
		some := strings.ReplaceAll(strings.Join(names[:min(len(names), 3)], ", "), "/", ".")
		r.Notes = append(r.Notes, fmt.Sprintf("The JVM ended, or the recording, before the size of %s was read (%s%s): objects of these have no bytes, and sums of bytes are at least what is shown.",
			export.Plural(int64(len(names)), "class", "classes"), some, map[bool]string{true: " and others"}[len(names) > 3]))
	}
	if n := l.ledger.Typeless(); n > 0 {
		r.Notes = append(r.Notes, export.Plural(int64(n), "place allocates", "places allocate")+" a type for which there was no number left: these objects are not counted.")
	}
}

// nameReflected finds the types of what was created by reflection, as far as constructors tell.
func (b basis) nameReflected(r *export.Report) {
	if !slices.ContainsFunc(b.types, func(t *cct.Type) bool { return t != nil && t.Name == cct.Reflected }) {
		return
	}
	types := map[string]*cct.Type{}
	r.Tree.NameReflected(func(method int32) (string, bool) {
		class, _, ok := strings.Cut(r.Method(method).Name, ".<init>(")
		return class, ok
	}, func(class string) *cct.Type {
		t := types[class]
		if t == nil {
			t = &cct.Type{Name: class, Size: cct.NotKnown}
			if n := b.sizes[strings.ReplaceAll(class, ".", "/")]; n > 0 {
				t.Size = n
			}
			types[class] = t
		}
		return t
	})
}

package roots

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/filter"
)

// A Catalog is what is known of the loaded classes of a JVM. It is a view of its owner's
// hierarchy, for as long as the owner does not change that; it is not safe for concurrent use.
type Catalog struct {
	h       *cha.Hierarchy
	loaders map[uint32]string
	look    bool
}

// New makes a catalog of a hierarchy, with the names of class loaders by their numbers. look:
// nothing is to be retransformed, so the code of some classes can't be had.
func New(h *cha.Hierarchy, loaders map[uint32]string, look bool) *Catalog {
	return &Catalog{h, loaders, look}
}

// ErrNoRoot is wrapped by every error about a root that can't be one.
var ErrNoRoot = errors.New("no such root")

// ErrUnread is wrapped where a root can't be looked at, and can be recorded: its class
// was defined from memory, and only a retransformation yields its code, which who only
// looks leaves alone.
var ErrUnread = errors.New("it has no class file")

// A Root is a root as the user named it, and what it has come to stand for. Whoever
// has it owns it.
type Root struct {
	Text  string
	Class string // internal name
	Name  string
	Desc  string         // "" for every descriptor
	Why   string         // its class was loaded, and it can't be a root
	IDs   []cha.MethodID // the methods that it stands for

	Early    []Early
	Abstract []cha.MethodID  // methods without code that it names: implementations of them may come at any time
	Pattern  *filter.Pattern // in place of class, name and desc
}

// Parse reads pkg.Class.method or pkg.Class.method(desc)ret, or a pattern
// of such names. The error says what is wrong with it; it has no type of its own.
func Parse(text string) (Root, error) {
	r := Root{Text: text}
	if filter.Has(text) {
		p, err := filter.Parse(text)
		if err != nil {
			return r, fmt.Errorf("root %q: %w", text, err)
		}
		r.Pattern = &p
		return r, nil
	}
	head := text
	if i := strings.IndexByte(text, '('); i >= 0 {
		head, r.Desc = text[:i], text[i:]
		if !strings.Contains(r.Desc, ")") || strings.HasSuffix(r.Desc, ")") {
			return r, fmt.Errorf("root %q: a descriptor names its return type too, as in pkg.Class.method(ILjava/lang/String;)V; or leave the descriptor away", text)
		}
	}
	i := strings.LastIndexByte(head, '.')
	if i <= 0 || i == len(head)-1 {
		return r, fmt.Errorf("root %q: write pkg.Class.method or pkg.Outer$Inner.method(I)V", text)
	}
	r.Class, r.Name = strings.ReplaceAll(head[:i], ".", "/"), head[i+1:]
	return r, nil
}

// Resolve finds the methods that a root names among the loaded classes. An
// empty answer without an error means that the class isn't loaded. later says that
// implementations of abstract methods are awaited. The error wraps [ErrNoRoot].
func (c *Catalog) Resolve(r *Root, later bool) ([]cha.MethodID, error) {
	if r.Pattern != nil {
		return c.resolvePattern(r)
	}
	mirrors := c.h.Named(r.Class)
	if len(mirrors) == 0 {
		return nil, nil
	}
	var ids []cha.MethodID
	var why []string
	for _, m := range mirrors {
		if m.Excluded {
			why = append(why, fmt.Sprintf("%s belongs to the JDK (%s loader), which is left out", m.ID, c.loaders[m.ID.Loader]))
			continue
		}
		got, reason := c.InClass(m, r)
		ids = append(ids, got...)
		if reason != "" {
			why = append(why, reason)
		}
	}
	if len(ids) > 0 || later && len(r.Abstract) > 0 { // implementations may come
		return ids, nil
	}
	err := fmt.Errorf("%w: %s: %s", ErrNoRoot, r.Text, strings.Join(slices.Compact(why), "; "))
	if slices.ContainsFunc(mirrors, func(m *cha.ClassMirror) bool { return m.Methods == nil && !m.Excluded }) && c.look {
		err = unreadError{err}
	}
	return nil, err
}

// An unreadError is [ErrUnread], too.
type unreadError struct{ error }

func (e unreadError) Unwrap() []error { return []error{e.error, ErrUnread} }

// InClass finds a root in one class, or says why it is none.
func (c *Catalog) InClass(m *cha.ClassMirror, r *Root) ([]cha.MethodID, string) {
	if m.Methods == nil {
		return nil, c.unread(m)
	}
	if m.Fixed || m.Hidden {
		return nil, fmt.Sprintf("the JVM does not let agents modify %s", m.ID)
	}
	var ids []cha.MethodID
	var names []string
	var why string
	for i := range m.Methods {
		f := &m.Methods[i]
		names = append(names, f.Name)
		if !r.Names(m, f) {
			continue
		}
		id := cha.MethodID{Class: m.ID, Name: f.Name, Desc: f.Desc}
		switch {
		case f.IsNative():
			why = fmt.Sprintf("%s is native: it has no bytecode; choose a method that calls it", id)
		case f.IsAbstract():
			impl := c.Implementations(id, m.IsInterface())
			if len(impl) == 0 {
				why = fmt.Sprintf("%s is abstract and no loaded class implements it", id)
			}
			ids = append(ids, impl...)
			if !slices.Contains(r.Abstract, id) {
				r.Abstract = append(r.Abstract, id)
			}
		default:
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 || why != "" || r.Pattern != nil {
		return ids, why
	}
	if r.Desc != "" && slices.Contains(names, r.Name) {
		var have []string
		for i := range m.Methods {
			if m.Methods[i].Name == r.Name {
				have = append(have, r.Name+m.Methods[i].Desc)
			}
		}
		return nil, fmt.Sprintf("%s has no %s%s; it has %s", m.ID, r.Name, r.Desc, strings.Join(have, ", "))
	}
	return nil, fmt.Sprintf("%s has no method %s%s", m.ID, r.Name, suggest(r.Name, names))
}

// Implementations are the methods with code that a call of an abstract method
// can reach.
func (c *Catalog) Implementations(id cha.MethodID, iface bool) []cha.MethodID {
	kind := cha.Virtual
	if iface {
		kind = cha.Interface
	}
	var out []cha.MethodID
	for _, t := range c.h.Targets(id.Class, cha.Call{Kind: kind, Owner: id.Class.Name, Name: id.Name, Desc: id.Desc}) {
		m, in := c.h.Method(t), c.h.Class(t.Class)
		if m != nil && in != nil && m.HasCode && !in.Excluded && !in.Fixed {
			out = append(out, t)
		}
	}
	return out
}

// UnknownClass explains a root whose class no loader knows: near names, by
// the whole name and by the simple one. The error wraps [ErrNoRoot].
func (c *Catalog) UnknownClass(r *Root) error {
	var names, simple []string
	c.h.Classes(func(m *cha.ClassMirror) bool {
		if !m.Excluded {
			dotted := m.ID.String()
			names = append(names, dotted)
			if after(dotted) == after(strings.ReplaceAll(r.Class, "/", ".")) {
				simple = append(simple, dotted)
			}
		}
		return true
	})
	hint := suggest(strings.ReplaceAll(r.Class, "/", "."), names)
	if len(simple) > 0 {
		slices.Sort(simple)
		hint = "; did you mean " + strings.Join(simple[:min(3, len(simple))], " or ") + "?"
	}
	return fmt.Errorf("%w: %s: no class %s is loaded and no class loader of the target finds one%s (--wait waits for it all the same; \"rivulet classes\" lists what is loaded)",
		ErrNoRoot, r.Text, strings.ReplaceAll(r.Class, "/", "."), hint)
}

// unread says why a root's class can't be looked at.
func (c *Catalog) unread(m *cha.ClassMirror) string {
	if c.look {
		return fmt.Sprintf("%s was defined from memory, and has no class file. A recording reads its code from the JVM, which retransforms it once; nothing is retransformed to look only", m.ID)
	}
	return fmt.Sprintf("the bytes of %s can't be had", m.ID)
}

// Ours reports whether a class is Rivulet's own: Boot1 on the target's class
// path, and agents of earlier sessions that nobody has collected yet.
func Ours(name string) bool {
	return strings.HasPrefix(name, "rivulet/boot/") || strings.HasPrefix(name, "rivulet/agent/")
}

// Excluded is the policy of a hierarchy: the JDK's classes and Rivulet's own are left out.
func Excluded(id cha.ClassID, by cha.Loader) bool {
	return cha.ExcludeJDK(id, by) || Ours(id.Name)
}

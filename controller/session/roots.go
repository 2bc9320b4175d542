package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/controller/link"
)

// ErrNoRoot is wrapped by every error about a root that can't be one.
var ErrNoRoot = errors.New("no such root")

// A rootSpec is a root as the user named it.
type rootSpec struct {
	text  string
	class string // internal name
	name  string
	desc  string // "" for every descriptor
	why   string // its class was loaded, and it can't be a root
	ids   []cha.MethodID

	early    []earlyRoot
	abstract []cha.MethodID  // methods without code that it names: implementations of them may come at any time
	pattern  *filter.Pattern // in place of class, name and desc
}

// parseRoot reads pkg.Class.method or pkg.Class.method(desc)ret, or a pattern
// of such names.
func parseRoot(text string) (rootSpec, error) {
	r := rootSpec{text: text}
	if filter.Has(text) {
		p, err := filter.Parse(text)
		if err != nil {
			return r, fmt.Errorf("root %q: %w", text, err)
		}
		r.pattern = &p
		return r, nil
	}
	head := text
	if i := strings.IndexByte(text, '('); i >= 0 {
		head, r.desc = text[:i], text[i:]
		if !strings.Contains(r.desc, ")") || strings.HasSuffix(r.desc, ")") {
			return r, fmt.Errorf("root %q: a descriptor names its return type too, as in pkg.Class.method(ILjava/lang/String;)V; or leave the descriptor away", text)
		}
	}
	i := strings.LastIndexByte(head, '.')
	if i <= 0 || i == len(head)-1 {
		return r, fmt.Errorf("root %q: write pkg.Class.method or pkg.Outer$Inner.method(I)V", text)
	}
	r.class, r.name = strings.ReplaceAll(head[:i], ".", "/"), head[i+1:]
	return r, nil
}

// resolve finds the methods that a root names among the loaded classes. An
// empty answer without an error means that the class isn't loaded.
func (l *loop) resolve(r *rootSpec) ([]cha.MethodID, error) {
	if r.pattern != nil {
		return l.resolvePattern(r)
	}
	mirrors := l.h.Named(r.class)
	if len(mirrors) == 0 {
		return nil, nil
	}
	var ids []cha.MethodID
	var why []string
	for _, m := range mirrors {
		if m.Excluded {
			why = append(why, fmt.Sprintf("%s belongs to the JDK (%s loader), which is left out", m.ID, l.loaders[m.ID.Loader]))
			continue
		}
		got, reason := l.inClass(m, r)
		ids = append(ids, got...)
		if reason != "" {
			why = append(why, reason)
		}
	}
	if len(ids) > 0 || l.kind.implementations() && len(r.abstract) > 0 { // implementations may come
		return ids, nil
	}
	err := fmt.Errorf("%w: %s: %s", ErrNoRoot, r.text, strings.Join(slices.Compact(why), "; "))
	if slices.ContainsFunc(mirrors, func(m *cha.ClassMirror) bool { return m.Methods == nil && !m.Excluded }) && l.s.cfg.Look {
		err = unreadError{err}
	}
	return nil, err
}

// An unreadError is [ErrUnread], too.
type unreadError struct{ error }

func (e unreadError) Unwrap() []error { return []error{e.error, ErrUnread} }

// inClass finds a root in one class, or says why it is none.
func (l *loop) inClass(m *cha.ClassMirror, r *rootSpec) ([]cha.MethodID, string) {
	if m.Methods == nil {
		return nil, l.unreadRoot(m)
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
		if !r.names(m, f) {
			continue
		}
		id := cha.MethodID{Class: m.ID, Name: f.Name, Desc: f.Desc}
		switch {
		case f.IsNative():
			why = fmt.Sprintf("%s is native: it has no bytecode; choose a method that calls it", id)
		case f.IsAbstract():
			impl := l.implementations(id, m.IsInterface())
			if len(impl) == 0 {
				why = fmt.Sprintf("%s is abstract and no loaded class implements it", id)
			}
			ids = append(ids, impl...)
			if !slices.Contains(r.abstract, id) {
				r.abstract = append(r.abstract, id)
			}
		default:
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 || why != "" || r.pattern != nil {
		return ids, why
	}
	if r.desc != "" && slices.Contains(names, r.name) {
		var have []string
		for i := range m.Methods {
			if m.Methods[i].Name == r.name {
				have = append(have, r.name+m.Methods[i].Desc)
			}
		}
		return nil, fmt.Sprintf("%s has no %s%s; it has %s", m.ID, r.name, r.desc, strings.Join(have, ", "))
	}
	return nil, fmt.Sprintf("%s has no method %s%s", m.ID, r.name, suggest(r.name, names))
}

// implementations are the methods with code that a call of an abstract method
// can reach.
func (l *loop) implementations(id cha.MethodID, iface bool) []cha.MethodID {
	kind := cha.Virtual
	if iface {
		kind = cha.Interface
	}
	var out []cha.MethodID
	for _, t := range l.h.Targets(id.Class, cha.Call{Kind: kind, Owner: id.Class.Name, Name: id.Name, Desc: id.Desc}) {
		m, c := l.h.Method(t), l.h.Class(t.Class)
		if m != nil && c != nil && m.HasCode && !c.Excluded && !c.Fixed {
			out = append(out, t)
		}
	}
	return out
}

// findable asks the target which of its loaders could find a class that isn't
// loaded; 0 stands for the JDK's own.
func (s *Session) findable(ctx context.Context, class string) (loaders []uint32, err error) {
	s.finding.Lock()
	defer s.finding.Unlock()
	err = s.wait(ctx, func(done func()) {
		s.loop.found = func(ids []uint32) {
			loaders = ids
			done()
		}
		s.loop.send(&link.Find{Name: class})
	})
	return loaders, err
}

// suggest names up to three of the candidates that are like name.
func suggest(name string, candidates []string) string {
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	type near struct {
		s string
		d int
	}
	var ns []near
	for _, c := range candidates {
		d := distance(strings.ToLower(name), strings.ToLower(c))
		if strings.Contains(strings.ToLower(c), strings.ToLower(name)) {
			d = min(d, 2)
		}
		if d <= 2+len(name)/4 {
			ns = append(ns, near{c, d})
		}
	}
	slices.SortStableFunc(ns, func(a, b near) int { return a.d - b.d })
	if len(ns) == 0 {
		return ""
	}
	var out []string
	for _, n := range ns[:min(3, len(ns))] {
		out = append(out, n.s)
	}
	return "; did you mean " + strings.Join(out, " or ") + "?"
}

// distance is Levenshtein's.
func distance(a, b string) int {
	if len(a) > 200 || len(b) > 200 {
		return 200
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal, row[j] = row[j], min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// unknownClass explains a root whose class no loader knows: near names, by
// the whole name and by the simple one.
func (l *loop) unknownClass(r rootSpec) error {
	var names, simple []string
	l.h.Classes(func(m *cha.ClassMirror) bool {
		if !m.Excluded {
			dotted := m.ID.String()
			names = append(names, dotted)
			if after(dotted) == after(strings.ReplaceAll(r.class, "/", ".")) {
				simple = append(simple, dotted)
			}
		}
		return true
	})
	hint := suggest(strings.ReplaceAll(r.class, "/", "."), names)
	if len(simple) > 0 {
		slices.Sort(simple)
		hint = "; did you mean " + strings.Join(simple[:min(3, len(simple))], " or ") + "?"
	}
	return fmt.Errorf("%w: %s: no class %s is loaded and no class loader of the target finds one%s (--wait waits for it all the same; \"rivulet classes\" lists what is loaded)",
		ErrNoRoot, r.text, strings.ReplaceAll(r.class, "/", "."), hint)
}

func after(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

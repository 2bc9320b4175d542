package roots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/filter"
)

// Most is how many methods a pattern of roots may match: more are a
// mistake, since what a root calls is below that root already.
const Most = 1000

// Names reports whether a root names a method.
func (r *Root) Names(in *cha.ClassMirror, m *cha.Method) bool {
	if r.Pattern != nil {
		return r.Pattern.Named(in.ID.String(), m.Name, m.Desc)
	}
	return m.Name == r.Name && (r.Desc == "" || m.Desc == r.Desc)
}

// resolvePattern finds all methods that a pattern matches among the loaded
// classes. Of an abstract one, the implementations are meant.
func (c *Catalog) resolvePattern(r *Root) ([]cha.MethodID, error) {
	var ids []cha.MethodID
	var why []string
	c.h.Classes(func(m *cha.ClassMirror) bool {
		if m.Excluded || m.Fixed || m.Hidden {
			return true
		}
		got, reason := c.InClass(m, r)
		ids = append(ids, got...)
		if reason != "" && m.Methods != nil {
			why = append(why, reason)
		}
		return true
	})
	slices.SortFunc(ids, cha.MethodID.Compare)
	ids = slices.Compact(ids)
	switch {
	case len(ids) > Most:
		var some []string
		for i := range 5 { // from all over
			some = append(some, ids[i*len(ids)/5].String())
		}
		return nil, fmt.Errorf("%w: %s matches %d methods, and at most %d can be roots; narrow it down, or choose a method that calls them (some of them: %s)",
			ErrNoRoot, r.Text, len(ids), Most, strings.Join(some, ", "))
	case len(ids) == 0 && len(why) > 0:
		slices.Sort(why)
		return nil, fmt.Errorf("%w: %s: %s", ErrNoRoot, r.Text, strings.Join(why[:min(3, len(why))], "; "))
	}
	return ids, nil
}

// Unmatched explains a pattern that matches nothing: what it would match with
// less in it. The error wraps [ErrNoRoot].
func (c *Catalog) Unmatched(r *Root) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: no method of a loaded class matches it%s (--wait waits for one all the same; \"rivulet classes\" lists what is loaded)",
			ErrNoRoot, r.Text, fmt.Sprintf(format, args...))
	}
	name, _, _ := strings.Cut(r.Text, "(")
	whole := Root{Pattern: patternOf(name)}
	lower := patternOf(strings.ToLower(name))
	var class *Root // its classes alone
	method := name[strings.LastIndexByte(name, '.')+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		class = &Root{Pattern: patternOf(name[:i])}
	}
	var classes, descs, cases, methods, jdk []string
	c.h.Classes(func(m *cha.ClassMirror) bool {
		dotted := m.ID.String()
		if m.Hidden {
			return true
		}
		if whole.Pattern.Class(dotted) && !m.Excluded {
			classes = append(classes, dotted)
		}
		for i := range m.Methods {
			f := &m.Methods[i]
			full := dotted + "." + f.Name
			switch {
			case m.Excluded:
				if r.Names(m, f) {
					jdk = append(jdk, full)
				}
			case whole.Names(m, f):
				descs = append(descs, full+f.Desc)
			case lower.Named(strings.ToLower(dotted), strings.ToLower(f.Name), ""):
				cases = append(cases, full)
			case class != nil && class.Pattern.Class(dotted):
				methods = append(methods, f.Name)
			}
		}
		return true
	})
	switch {
	case len(descs) > 0:
		return fail("; without its descriptor it matches %s", someOf(descs))
	case len(classes) > 0:
		return fail("; it matches classes (%s): add the methods, as in %s.*", someOf(classes), r.Text)
	case len(cases) > 0:
		return fail("; it matches %s except for upper and lower case", someOf(cases))
	case len(methods) > 0:
		if hint := suggest(strings.Trim(method, "*?"), slices.Clone(methods)); hint != "" {
			return fail("%s", hint)
		}
		return fail("; the classes that match have methods %s", someOf(methods))
	case len(jdk) > 0:
		return fail("; the JDK's %s does, and the JDK is left out", someOf(jdk))
	}
	return fail("%s", c.nearClasses(name))
}

// nearClasses suggests loaded classes in place of those that a pattern names.
func (c *Catalog) nearClasses(name string) string {
	var known []string
	parts := strings.Split(name, ".")
	simple := ""
	if len(parts) > 1 {
		simple = strings.Trim(parts[len(parts)-2], "*?")
	}
	anywhere := patternOf("**." + strings.Join(parts[max(0, len(parts)-2):], "."))
	var same []string
	c.h.Classes(func(m *cha.ClassMirror) bool {
		if m.Excluded || m.Hidden {
			return true
		}
		dotted := m.ID.String()
		known = append(known, after(dotted))
		for i := range m.Methods {
			if anywhere.Named(dotted, m.Methods[i].Name, m.Methods[i].Desc) {
				same = append(same, dotted+"."+m.Methods[i].Name)
			}
		}
		return true
	})
	if len(same) > 0 {
		return "; did you mean " + someOf(same) + "?"
	}
	if simple == "" {
		return ""
	}
	return suggest(simple, known)
}

// someOf names up to three, sorted, and says how many more there are.
func someOf(names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	text := strings.Join(names[:min(3, len(names))], ", ")
	if more := len(names) - 3; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// patternOf is a pattern of what was one before; what isn't any more matches
// nothing.
func patternOf(text string) *filter.Pattern {
	p, err := filter.Parse(text)
	if err != nil {
		return &filter.Pattern{}
	}
	return &p
}

package roots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
)

// An Info is what is known of a root before it is recorded. Its lists are
// empty where there is nothing to say.
type Info struct {
	Methods       []string            // that it stands for, pkg.Class.method(desc)ret; none: its class is not loaded yet
	Class         string              // pkg.Class; "" for a pattern
	Overloads     []string            // of a root that is no pattern: what it names in its class, method(desc)ret
	Abstract      []string            // of these, those without code: their implementations are the roots
	Loaders       map[string][]string // by class, where several class loaders have it
	Uninitialized []string            // classes that most likely nobody has called yet

	Threads []string // by name, that are inside it at the moment
	Callees []string // if Threads: what it calls, first what it is in just now
	NoDump  error    // why Threads are not known: the JVM gave no thread dump
}

// Describe says what a root stands for.
func (c *Catalog) Describe(r *Root) (info Info) {
	seen := map[string][]string{}
	info.Loaders = map[string][]string{}
	for _, id := range r.IDs {
		info.Methods = append(info.Methods, id.String())
		name, loader := id.Class.String(), c.loaders[id.Class.Loader]
		if slices.Contains(seen[name], loader) {
			continue
		}
		if seen[name] = append(seen[name], loader); len(seen[name]) > 1 {
			info.Loaders[name] = seen[name]
		}
		if k := c.h.Class(id.Class); k != nil && !k.Initialized {
			info.Uninitialized = append(info.Uninitialized, name)
		}
	}
	if r.Pattern != nil {
		return info
	}
	for _, m := range c.h.Named(r.Class) {
		info.Class = m.ID.String()
		for i := range m.Methods {
			f := &m.Methods[i]
			if !r.Names(m, f) {
				continue
			}
			info.Overloads = append(info.Overloads, f.Name+f.Desc)
			if f.IsAbstract() {
				info.Abstract = append(info.Abstract, f.Name+f.Desc)
			}
		}
	}
	slices.Sort(info.Overloads)
	info.Overloads = slices.Compact(info.Overloads)
	return info
}

// Diagnose says why no invocation of roots has been recorded, by a thread dump: some
// thread is inside already, or nobody calls them.
func (c *Catalog) Diagnose(all []Root, dump string) string {
	var out []string
	for i := range all {
		r := &all[i]
		if len(r.IDs) == 0 {
			out = append(out, r.unmet("is not loaded yet", "is loaded yet"))
			continue
		}
		threads, above := OnStack(dump, r)
		switch {
		case len(threads) > 0:
			out = append(out, fmt.Sprintf("root %s is running in thread %q since before the recording began; only invocations that start later are recorded. Choose what it calls: %s.",
				r.Text, threads[0], strings.Join(firstOf(append(above, c.Callees(r)...), 5), ", ")))
		default:
			line := fmt.Sprintf("root %s has not been called since the recording began, and no thread is inside it.", r.Text)
			if callees := firstOf(c.Callees(r), 5); len(callees) > 0 {
				line += " Some of what it calls may be called from elsewhere: " + strings.Join(callees, ", ") + "."
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// Never says in a report that is complete why a root stands for no method.
func (r *Root) Never() string {
	text := r.unmet("was never loaded", "was ever loaded")
	return strings.ToUpper(text[:1]) + text[1:]
}

// unmet says why a root stands for no method: its class "is not loaded yet", say, or no
// implementation of it "is loaded yet".
func (r *Root) unmet(class, none string) string {
	switch {
	case r.Why != "":
		return fmt.Sprintf("root %s can't be one: %s.", r.Text, r.Why)
	case len(r.Abstract) > 0:
		return fmt.Sprintf("no implementation of root %s %s.", r.Text, none)
	case r.Pattern != nil:
		return fmt.Sprintf("no method that root %s matches %s.", r.Text, none)
	default:
		return fmt.Sprintf("the class of root %s %s.", r.Text, class)
	}
}

// OnStack finds the threads that have the root on their stacks, and the
// methods that it has called there.
func OnStack(dump string, r *Root) (threads, above []string) {
	want := map[string]bool{strings.ReplaceAll(r.Class, "/", ".") + "." + r.Name: true}
	for _, id := range r.IDs {
		want[id.Class.String()+"."+id.Name] = true
	}
	thread, last := "", ""
	for line := range strings.SplitSeq(dump, "\n") {
		switch t := strings.TrimSpace(line); {
		case strings.HasPrefix(line, `"`):
			if i := strings.LastIndexByte(line, '"'); i > 0 {
				thread = line[1:i]
				if j := strings.Index(thread, `" `); j > 0 {
					thread = thread[:j]
				}
			}
			last = ""
		case strings.HasPrefix(t, "at "):
			if i := strings.Index(t, "/"); i > 0 && i < strings.IndexByte(t, '(') {
				t = "at " + t[i+1:] // "at java.base@17/java.lang..."
			}
			if name, _, _ := strings.Cut(strings.TrimPrefix(t, "at "), "("); want[name] {
				if !slices.Contains(threads, thread) {
					threads = append(threads, thread)
				}
				if last != "" && !slices.Contains(above, last) {
					above = append(above, last)
				}
			}
			last, _, _ = strings.Cut(strings.TrimPrefix(t, "at "), "(")
		}
	}
	return threads, above
}

// Callees are methods with code that a root calls directly. Of a pattern's
// many, a few have to do.
func (c *Catalog) Callees(r *Root) []string {
	var out []string
	for _, id := range r.IDs[:min(20, len(r.IDs))] {
		m := c.h.Method(id)
		if m == nil {
			continue
		}
		for _, call := range m.Calls {
			for _, t := range c.h.Targets(id.Class, call) {
				if k := c.h.Class(t.Class); k != nil && !k.Excluded && !strings.HasPrefix(t.Name, "<") && !slices.Contains(r.IDs, t) {
					out = append(out, cha.ClassID.String(t.Class)+"."+t.Name)
				}
			}
		}
	}
	return out
}

// firstOf are the first n that differ.
func firstOf(s []string, n int) []string {
	var out []string
	for _, v := range s {
		if len(out) < n && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

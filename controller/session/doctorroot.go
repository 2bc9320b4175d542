package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// mostReasons is how many kinds of methods without probes are told.
const mostReasons = 6

// root looks at a root in the JVM itself.
func (d *doctor) root(text string) {
	if d.failed() {
		d.add("root", Skipped, "", "the process can't be profiled, so it was not attached to")
		return
	}
	s, err := Attach(d.ctx, d.pid, d.cfg)
	if err != nil {
		d.fail("agent", err)
		return
	}
	d.add("agent", OK, "", "it was loaded, saw %d classes, and changed none", s.Progress().Classes)
	defer func() {
		if err := s.Close(); err != nil {
			d.fail("detach", err)
		}
	}()
	rec := Recording{Roots: []string{text}}
	preview, err := s.DryRun(d.ctx, rec)
	if err != nil {
		d.add("root", Failure, "", "%s", strings.TrimPrefix(err.Error(), ErrNoRoot.Error()+": "))
		return
	}
	specs, _, err := s.prepare(d.ctx, rec)
	if err != nil {
		d.fail("root", err)
		return
	}
	dump, dumpErr := s.vm.ThreadDump(d.ctx)
	if err := s.do(d.ctx, func() {
		r := &specs[0]
		d.resolved(&s.loop, r)
		if dumpErr == nil && len(r.ids) > 0 {
			d.stacks(&s.loop, dump, r)
		}
	}); err != nil {
		d.fail("root", err)
		return
	}
	if dumpErr != nil {
		d.add("stacks", Warning, "", "the JVM gives no thread dump: %s", dumpErr)
	}
	if len(preview.Roots) > 0 {
		d.reach(preview)
	}
}

// resolved says what a root stands for.
func (d *doctor) resolved(l *loop, r *rootSpec) {
	switch len(r.ids) {
	case 0:
		d.add("root", Warning, "", "its class is not loaded yet: a recording waits for it")
		return
	case 1:
		d.add("root", OK, "", "%s", r.ids[0])
	default:
		var names []string
		for _, id := range r.ids {
			names = append(names, id.String())
		}
		d.add("root", OK, "", "stands for %d methods: %s", len(r.ids), someOf(names))
	}
	if r.pattern == nil {
		d.overloads(l, r)
	}
	loaders := map[string][]string{}
	var twice, cold []string
	for _, id := range r.ids {
		name, loader := id.Class.String(), l.loaders[id.Class.Loader]
		if !slices.Contains(loaders[name], loader) {
			loaders[name] = append(loaders[name], loader)
			if len(loaders[name]) == 2 {
				twice = append(twice, name)
			}
			if c := l.h.Class(id.Class); c != nil && !c.Initialized {
				cold = append(cold, name)
			}
		}
	}
	if len(twice) > 0 {
		d.add("loaders", Warning, "the report tells them apart by their loaders", "%s is loaded by several class loaders (%s): all are roots",
			someOf(slices.Clone(twice)), someOf(slices.Clone(loaders[twice[0]])))
	}
	if len(cold) > 0 {
		d.add("initialized", Warning, "", "loaded and not initialized, so most likely never called yet: %s", someOf(cold))
	}
}

// overloads tells apart a name of several methods, and an abstract method.
func (d *doctor) overloads(l *loop, r *rootSpec) {
	var own, abstract []string
	for _, m := range l.h.Named(r.class) {
		for i := range m.Methods {
			if f := &m.Methods[i]; r.names(m, f) {
				own = append(own, f.Name+f.Desc)
				if f.IsAbstract() {
					abstract = append(abstract, f.Name+f.Desc)
				}
			}
		}
	}
	if len(abstract) > 0 {
		d.add("abstract", OK, "", "%s is abstract: its loaded implementations are the roots", someOf(abstract))
	}
	slices.Sort(own)
	if own = slices.Compact(own); len(own) > 1 {
		d.add("overloads", Warning, fmt.Sprintf("to mean one, write --root '%s.%s'", strings.ReplaceAll(r.class, "/", "."), own[0]),
			"the name has %d overloads, and all are roots: %s", len(own), someOf(own))
	}
}

// stacks tells whether a root is running now: such an invocation is not recorded.
func (d *doctor) stacks(l *loop, dump string, r *rootSpec) {
	threads, above := onStack(dump, r)
	if len(threads) == 0 {
		d.add("stacks", OK, "", "no thread is inside it at the moment")
		return
	}
	fix := ""
	above = slices.DeleteFunc(above, func(name string) bool { return strings.HasPrefix(name, "java.") || strings.HasPrefix(name, "jdk.") })
	if callees := firstOf(append(above, l.callees(r)...), 5); len(callees) > 0 {
		fix = "if it never returns, choose what it calls: " + strings.Join(callees, ", ")
	}
	d.add("stacks", Warning, fix, "inside it at the moment: %s; only invocations that begin later are recorded", someOf(threads))
}

// reach says what a recording could instrument, and what not.
func (d *doctor) reach(p *export.Preview) {
	methods := 0
	for _, c := range p.Classes {
		methods += len(c.Methods)
	}
	d.add("reach", OK, "", "at most %d methods of %d loaded classes would get probes (see profile --dry-run)", methods, len(p.Classes))
	count := map[string]int{}
	example := map[string]string{}
	for _, k := range p.Skipped {
		if count[k.Reason]++; example[k.Reason] == "" {
			example[k.Reason] = k.Method
		}
	}
	var reasons []string
	for r := range count {
		reasons = append(reasons, r)
	}
	slices.SortFunc(reasons, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	for _, r := range reasons[:min(mostReasons, len(reasons))] {
		d.add("skipped", Warning, "", "%d within reach without probes, such as %s: %s", count[r], example[r], r)
	}
}

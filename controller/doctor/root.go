package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// mostReasons is how many kinds of methods without probes are told.
const mostReasons = 6

// mostCallees is how many methods are proposed in place of a root.
const mostCallees = 5

// root looks at a root in the JVM itself.
func (e *examination) root(text string) {
	if e.failed() {
		e.add("root", Skipped, "", "the process can't be profiled, so it was not attached to")
		return
	}
	since := time.Now()
	observer, err := vmstructs.Observe(e.pid)
	if err != nil {
		observer = nil // measures says why
	}
	s, err := session.Attach(e.ctx, e.pid, e.cfg)
	if err != nil {
		e.fail("agent", err)
		return
	}
	e.add("agent", OK, "", "it was loaded, saw %d classes, and changed none", s.Progress().Classes)
	defer func() {
		e.header = s.Header()
		if err := s.Close(); err != nil {
			e.fail("detach", err)
		}
	}()
	preview, err := s.DryRun(e.ctx, spec.Recording{Roots: []string{text}})
	if errors.Is(err, roots.ErrUnread) {
		e.add("root", Warning, "", "%s", strings.TrimPrefix(err.Error(), roots.ErrNoRoot.Error()+": "))
		return
	}
	if err != nil {
		e.add("root", Failure, "", "%s", strings.TrimPrefix(err.Error(), roots.ErrNoRoot.Error()+": "))
		return
	}
	info, err := s.InspectRoot(e.ctx, text)
	if err != nil {
		e.fail("root", err)
		return
	}
	e.resolved(&info)
	e.stacks(&info)
	if len(preview.Roots) > 0 {
		e.reach(preview)
		e.forecast(observer, since, preview)
	}
}

// resolved says what a root stands for.
func (e *examination) resolved(r *roots.Info) {
	switch len(r.Methods) {
	case 0:
		e.add("root", Warning, "", "its class is not loaded yet: a recording waits for it")
		return
	case 1:
		e.add("root", OK, "", "%s", r.Methods[0])
	default:
		e.add("root", OK, "", "stands for %d methods: %s", len(r.Methods), someOf(r.Methods))
	}
	if len(r.Abstract) > 0 {
		e.add("abstract", OK, "", "%s is abstract: its loaded implementations are the roots", someOf(r.Abstract))
	}
	if len(r.Overloads) > 1 {
		e.add("overloads", Warning, fmt.Sprintf("to mean one, write --root '%s.%s'", r.Class, r.Overloads[0]),
			"the name has %d overloads, and all are roots: %s", len(r.Overloads), someOf(r.Overloads))
	}
	if twice := slices.Sorted(maps.Keys(r.Loaders)); len(twice) > 0 {
		e.add("loaders", Warning, "the report tells them apart by their loaders", "%s is loaded by several class loaders (%s): all are roots",
			someOf(twice), someOf(r.Loaders[twice[0]]))
	}
	if len(r.Uninitialized) > 0 {
		e.add("initialized", Warning, "", "loaded and not initialized, so most likely never called yet: %s", someOf(r.Uninitialized))
	}
}

// stacks tells whether a root is running now: such an invocation is not recorded.
func (e *examination) stacks(r *roots.Info) {
	switch {
	case r.NoDump != nil:
		e.add("stacks", Warning, "", "the JVM gives no thread dump: %s", r.NoDump)
		return
	case len(r.Methods) == 0:
		return
	case len(r.Threads) == 0:
		e.add("stacks", OK, "", "no thread is inside it at the moment")
		return
	}
	var callees []string
	for _, name := range r.Callees {
		if len(callees) < mostCallees && !slices.Contains(callees, name) && !strings.HasPrefix(name, "java.") && !strings.HasPrefix(name, "jdk.") {
			callees = append(callees, name)
		}
	}
	fix := ""
	if len(callees) > 0 {
		fix = "if it never returns, choose what it calls: " + strings.Join(callees, ", ")
	}
	e.add("stacks", Warning, fix, "inside it at the moment: %s; only invocations that begin later are recorded", someOf(r.Threads))
}

// reach says what a recording could instrument, and what not.
func (e *examination) reach(p *export.Preview) {
	methods := 0
	for _, c := range p.Classes {
		methods += len(c.Methods)
	}
	if len(p.Unread) == 0 {
		e.add("reach", OK, "", "at most %d methods of %d loaded classes would get probes (see profile --dry-run)", methods, len(p.Classes))
	}
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
	for _, n := range p.Notes {
		e.add("reach", OK, "", "%s", n)
	}
	for _, r := range reasons[:min(mostReasons, len(reasons))] {
		e.add("skipped", Warning, "", "%d within reach without probes, such as %s: %s", count[r], example[r], r)
	}
}

// someOf names up to three, sorted, and says how many more there are.
func someOf(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	text := strings.Join(names[:min(3, len(names))], ", ")
	if more := len(names) - 3; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

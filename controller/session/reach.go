package session

import (
	"context"
	"errors"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/allocation"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// calledFrom is from how many methods within reach on probes are called, not
// inlined (docs/decisions/0023-called-probes.md).
const calledFrom = export.ReachCounted

// leastUnknown calls that reach nothing yet, and more than methods that are
// within reach, leave open how many those will be.
const leastUnknown = 4

// closure is Scheme A with its first plan, from which it is known what is within
// reach; it need not be made again while the hierarchy is the same.
type closure struct {
	scheme scheme.Scheme
	plan   scheme.Plan
	epoch  uint64
}

// firstPlan makes the recording's scheme and its plan of the roots, and says whether
// that was made before, to count.
func (l *loop) firstPlan(make func(*cha.Hierarchy) scheme.Scheme, ids []cha.MethodID) (p scheme.Plan, again bool) {
	c := l.closure
	l.closure = closure{}
	l.scheme = make(l.h)
	if c.scheme != nil && c.scheme.Name() == l.scheme.Name() && c.epoch == l.h.Epoch() {
		l.scheme = c.scheme
		return c.plan, false
	}
	defer l.analyse()()
	l.selectCallbacks()
	l.guideScheme()
	if d, ok := l.scheme.(scheme.Watcher); ok {
		d.Observe(l.s.watching.isActive)
	}
	return l.scheme.Roots(ids), c.scheme != nil
}

// chooseProbes decides on the form of all probes of a recording, before the
// first is put in: by what Scheme A would instrument. What roots that are not
// loaded yet reach can't be told, nor where most of what they call isn't: a
// program that is recorded from its start is taken for a big one.
func (s *Session) chooseProbes(ctx context.Context, rec Recording, specs []roots.Root, ids []cha.MethodID) error {
	form := rec.Probes
	var problem error
	arrays := allocation.Usual
	if rec.Counts(metric.CountAllocations) {
		arrays = s.arrayLayout(ctx)
	}
	err := s.do(ctx, func() {
		l := &s.loop
		end := l.analyse()
		l.closure = closure{}
		if a := scheme.NewA(l.h); rec.Scheme == a.Name() {
			l.closure = closure{a, a.Roots(ids), l.h.Epoch()}
			l.reach = len(l.closure.plan.Steps)
		}
		if l.closure.scheme == nil || l.reach < calledFrom {
			var unknown int
			if l.reach, unknown = scheme.Reach(l.h, ids, calledFrom); l.reach < calledFrom && unknown > max(l.reach, leastUnknown) {
				l.reach = 0
			}
			s.log.Debug("within reach", "methods", l.reach, "unknown", unknown)
		}
		end()
		for i := range specs {
			if len(specs[i].IDs) == 0 {
				l.reach = 0
			}
		}
		s.called = form == ProbesCalled || form != ProbesInlined && (l.reach == 0 || l.reach >= calledFrom)
		l.ledger.SitesBy(s.hooks(), l.site)
		problem = l.ledger.StartsBy(hotswap.Start{Call: s.rootHook(), Is: l.isRoot})
		if s.leaves = rec.Leaves != LeavesTimed && !rec.Events; s.leaves {
			class, count, thrown := s.leafHooks()
			problem = errors.Join(problem, l.ledger.LeavesBy(class, count, thrown, l.mayBeLeaf))
		}
		problem = errors.Join(problem, s.setMetrics(rec, arrays))
		s.log.Debug("probes", "called", s.called, "reach", l.reach)
	})
	if err == nil && problem == nil && s.allocates() {
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			s.readSizes()
		}()
	}
	return errors.Join(err, problem)
}

// isRoot tells whether a method's probe is to begin recordings.
func (l *loop) isRoot(class hotswap.ClassID, key probe.MethodKey) bool {
	m := l.ledger.Lookup(class, key)
	return m != nil && m.ID > 0 && l.s.data.Mode(m.ID)&wire.ModeRoot != 0
}

// rootHook is what roots call at their entry.
func (s *Session) rootHook() probe.Call {
	return probe.Call{Class: s.bundle.Probe, Name: "enterRoot", Desc: "(I)J"}
}

// hooks name the probe class's methods in the target.
func (s *Session) hooks() probe.Hooks {
	h := probe.Hooks{Class: s.bundle.Probe, Enter: "enter", Exit: "exit", Thrown: "thrown", Resync: "resync"}
	if s.called {
		h.Enter, h.Exit = "enterCall", "exitCall"
	}
	return h
}

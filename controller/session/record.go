package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/pauses"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// recording is what the loop knows of the recording that is on.
type recording struct {
	Recording
	armed, stopped time.Time
	took           time.Duration // of the parts that have ended
	since          int64         // when the part that is on began, on the target's clock
	began          int64         // when the first one did
	pauses         int
	warming        bool
	warmed         time.Duration // from arming to the last reset, the end of a warm-up included
	switched       bool          // clock or modes, while it was on
	admitted       int64         // root calls let in so far, with UntilCalls
	stuck          time.Time     // since when the last of them hasn't returned
}

var schemes = map[string]func(*cha.Hierarchy) scheme.Scheme{"": scheme.NewC, "A": scheme.NewA, "B": scheme.NewB, "C": scheme.NewC, "D": scheme.NewD}

var clocks = map[string]byte{"": wire.ModeTick, "tick": wire.ModeTick, "precise": wire.ModePrecise}

// Start instruments the roots as the scheme says and opens the gate. It
// returns when every root is armed or, where its class isn't loaded, awaited.
// Root invocations that begin from then on are recorded. Errors are [*spec.Error] where
// options make no sense, wrap [roots.ErrNoRoot], or say what failed.
func (s *Session) Start(ctx context.Context, rec Recording) error {
	ctx, roomy := s.whileRoom(ctx)
	return roomy(s.arm(ctx, rec))
}

// arm is Start.
func (s *Session) arm(ctx context.Context, rec Recording) error {
	if err := rec.Validate(); err != nil {
		return err
	}
	rec.Events = rec.HasEvents()
	clock := clocks[rec.Clock]
	s.stage.begin("finding the roots", 0)
	steps := stepLog{s.log, time.Now()}
	first := s.beginObserving(rec)
	settle := func() {}
	if first.wait == nil {
		settle = s.hasten(ctx)
	}
	defer settle()
	specs, ids, err := s.prepare(ctx, rec)
	if err != nil {
		return err
	}
	steps.done("finding the roots")
	if err := s.chooseProbes(ctx, rec, specs, ids); err != nil {
		return err
	}
	steps.done("counting what they reach")
	if rec.Scheme, err = s.chooseScheme(ctx, rec, ids, first); err != nil {
		return err
	}
	if err := s.do(ctx, func() { s.choosePatience(rec) }); err != nil {
		return err
	}
	make := schemes[rec.Scheme]
	steps.done("observing")
	invoked := s.readInvoked(make)
	named, forget := s.findJDKCalls(ctx, make)
	defer forget()
	if err := s.do(ctx, func() { s.watchCollections(rec.Events); s.keepHistory(rec) }); err != nil {
		return err
	}
	if rec.Events {
		if err := s.do(ctx, func() { s.startEvents(rec, clock) }); err != nil {
			return err
		}
	}
	if err := s.setClock(ctx, clock, rec.Modes...); err != nil {
		return err
	}
	s.data.Fold(rec.Fold)
	s.trackSurvivors(ctx)
	if rec.Every > 1 {
		s.data.Every(uint32(rec.Every))
	}
	s.govern(rec)
	if s.running != nil { // a launched program has not begun, and can wait
		if err := s.calibrate(ctx, s.data.MainMode()); err != nil {
			return err
		}
		steps.done("measuring the probes")
	}
	if rec.CPU {
		s.startCPU()
	}
	s.stage.begin("opening the JDK", 0)
	if err := s.findSites(ctx, rec.Natives); err != nil {
		return err
	}
	steps.done("finding call sites")
	if err := s.followReflection(ctx); err != nil {
		return err
	}
	steps.done("following reflection")
	if rec.Events {
		if err := s.followSpans(ctx); err != nil {
			return err
		}
	}
	if rec.Follow {
		if err := s.followTasks(ctx, rec.Slowest > 0); err != nil {
			return err
		}
	}
	if err := s.openJDK(ctx); err != nil {
		return err
	}
	steps.done("following tasks, opening the JDK")
	if err := named(); err != nil {
		return err
	}
	steps.done("finding what the JDK can call")
	g := invoked()
	if err := s.do(ctx, func() { s.loop.guide = g }); err != nil {
		return err
	}
	steps.done("reading what was invoked")
	s.startFlight(ctx)
	if err := s.armRoots(ctx, rec, make, specs, ids); err != nil {
		return err
	}
	steps.done("arming")
	settle()
	modes := []byte{s.data.MainMode()}
	if s.leaves {
		modes = append(modes, wire.ModeLeaf)
	}
	if s.governing != nil {
		modes = append(modes, wire.ModeOff) // what dormant probes cost
	}
	return s.calibrateBeside(ctx, modes)
}

// armRoots instruments the roots as a scheme says, and opens the gate.
func (s *Session) armRoots(ctx context.Context, rec Recording, make func(*cha.Hierarchy) scheme.Scheme, specs []roots.Root, ids []cha.MethodID) error {
	if err := s.wait(ctx, func(done func()) {
		l := &s.loop
		l.rec = recording{Recording: rec, warming: rec.Warmup > 0 || rec.WarmupCalls > 0}
		l.roots = specs
		began := time.Now()
		s.stage.begin("analysing", 0)
		if s.watching != nil {
			l.pace = pauses.Hurried(s.proc.Major())
		}
		p, again := l.firstPlan(make, ids)
		s.log.Debug("planned", "steps", len(p.Steps), "took", time.Since(began), "again", again)
		s.stage.begin("instrumenting", 0)
		l.arm(p, done)
	}); err != nil {
		return err
	}
	if s.watching != nil {
		s.startWatching()
	}
	began, unanswered := time.Now(), s.data.Unanswered()
	if err := s.relist(ctx); err != nil {
		return err
	}
	s.log.Debug("listed again", "took", time.Since(began))
	if s.watching != nil {
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	if s.governing != nil && s.running == nil {
		if err := s.governing.weigh(ctx); err != nil {
			return err
		}
	}
	return s.do(ctx, func() {
		l := &s.loop
		if s.watching != nil {
			l.forgetSettling()
		}
		l.rec.armed = time.Now()
		l.armed = true
		l.unanswered.found(unanswered, 0)
		l.forgetLate()
		l.exactness = newExactness(l.h, l.ledger)
		s.data.TimeSince(s.now())
		l.kind.renew(rec)
		l.begin()
		if s.governing != nil {
			s.startGoverning()
		}
	})
}

// prepare has the hierarchy know the filter, and finds the roots.
func (s *Session) prepare(ctx context.Context, rec Recording) ([]roots.Root, []cha.MethodID, error) {
	var agents []agentCode
	if !rec.Agents {
		agents = agentsOf(s.proc)
	}
	if err := s.do(ctx, func() { s.loop.setFilter(rec.Filter, agents) }); err != nil {
		return nil, nil, err
	}
	return s.resolveRoots(ctx, rec)
}

// arm carries out a plan of before the activation, when nobody waits.
func (l *loop) arm(p scheme.Plan, done func(), also ...cha.ClassID) {
	revealed := p.Revealed
	if len(l.delayed) > 0 {
		revealed = append(l.due(), revealed...)
		also = append(also, l.changes.due()...)
	}
	also = append(also, l.want(p)...)
	l.enqueue(&job{classes: also, all: true, done: func([]cha.ClassID) {
		l.revealed(revealed)
		done()
	}})
}

// relist looks for classes that were just being loaded when the hook was
// registered, and tells the scheme.
func (s *Session) relist(ctx context.Context) error {
	fresh, err := s.list(ctx)
	if err != nil || len(fresh) == 0 {
		return err
	}
	if err := s.openLate(ctx, fresh); err != nil {
		return err
	}
	if err := s.fetch(ctx); err != nil {
		return err
	}
	return s.wait(ctx, func(done func()) {
		var also []cha.ClassID
		for _, id := range fresh {
			also = append(also, s.loop.lateRoots(id)...)
		}
		p := s.loop.scheme.Listed(fresh)
		p.Append(s.loop.moreCallbacks())
		s.loop.arm(p, done, also...)
		s.loop.settleEarly()
	})
}

// resolveRoots finds every root, or decides that it is to be waited for.
func (s *Session) resolveRoots(ctx context.Context, rec Recording) (specs []roots.Root, all []cha.MethodID, err error) {
	for _, text := range rec.Roots {
		r, err := roots.Parse(text)
		if err != nil {
			return nil, nil, err
		}
		var problem error
		if err := s.do(ctx, func() { r.IDs, problem = s.loop.catalog().Resolve(&r, s.loop.kind.implementations()) }); err != nil {
			return nil, nil, err
		}
		if problem != nil && (len(r.Abstract) == 0 || !rec.Wait) {
			return nil, nil, problem
		}
		if len(r.IDs) == 0 && r.Pattern != nil && !rec.Wait {
			if err := s.do(ctx, func() { problem = s.loop.catalog().Unmatched(&r) }); err != nil {
				return nil, nil, err
			}
			return nil, nil, problem
		}
		if len(r.IDs) == 0 && !rec.Wait {
			in, err := s.findable(ctx, r.Class)
			if err != nil {
				return nil, nil, err
			}
			if slices.Contains(in, 0) {
				return nil, nil, fmt.Errorf("%w: %s: %s belongs to the JDK, which is left out; choose a method of the application that calls it",
					roots.ErrNoRoot, r.Text, strings.ReplaceAll(r.Class, "/", "."))
			}
			if len(in) == 0 {
				if err := s.do(ctx, func() { problem = s.loop.catalog().UnknownClass(&r) }); err != nil {
					return nil, nil, err
				}
				return nil, nil, problem
			}
		}
		specs = append(specs, r)
		all = append(append(all, r.IDs...), r.Abstract...)
	}
	return specs, all, nil
}

// whyLeft says why an agent has left by itself, by its reason.
func whyLeft(reason uint32) string {
	why, ok := map[uint32]string{
		wire.ReasonHeartbeat: "the agent heard nothing from Rivulet (was it stopped, or is the machine short of processor time?)",
		wire.ReasonEOF:       "the agent lost the connection to Rivulet",
		wire.ReasonFailed:    "the agent failed",
	}[reason]
	if !ok {
		why = "the agent was told to go"
	}
	return why + ", restored the target and left"
}

// checkEnd ends the recording when its calls are complete or the agent has
// stopped.
func (l *loop) checkEnd() {
	if !l.armed {
		if state := l.s.data.State(); state == wire.StateStopped && !l.leaving {
			l.s.cancel(fmt.Errorf("pid %d: %w any more: %s", l.s.proc.PID, ErrSilent, whyLeft(l.s.data.Reason())))
		}
		return
	}
	if state := l.s.data.State(); state != wire.StateUp && l.rec.stopped.IsZero() {
		l.rec.stopped = time.Now()
		l.s.end(whyLeft(l.s.data.Reason()))
		return
	}
	if l.rec.UntilCalls == 0 || l.rec.warming || !l.s.data.IsOpen() {
		return
	}
	returned := l.kind.returned()
	if returned >= l.rec.UntilCalls {
		l.shut()
		l.s.end("the calls asked for have returned")
		return
	}
	l.admitMore(returned)
}

// admitMore lets further root invocations in when those that were let in
// don't return: one of them may never, and others would.
func (l *loop) admitMore(returned int64) {
	if l.kind.entered(l.rec.admitted) < l.rec.admitted || l.s.data.Refused() == 0 {
		l.rec.stuck = time.Time{}
		return
	}
	if l.rec.stuck.IsZero() {
		l.rec.stuck = time.Now()
		return
	}
	if time.Since(l.rec.stuck) > time.Second {
		more := l.rec.UntilCalls - returned
		l.rec.admitted += more
		l.s.data.Admit(more)
		l.rec.stuck = time.Time{}
	}
}

package session

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/cputime"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/governor"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

const (
	governEvery = 300 * time.Millisecond // between two looks, at least
	governShare = 20                     // a look may take so much of the time: one part in
	governWeigh = 100 * time.Millisecond // of a stretch in which all is recorded, or nothing
	weighings   = 10                     // of either kind, before counting begins
	weighAgain  = 4                      // of either kind, later
	weighFirst  = 4 * time.Second        // until later, at first
	weighMost   = 2 * time.Minute
	weighPause  = 30 * time.Millisecond // between two: what was begun ends

	noInvocation = math.MaxInt32 // as H_EVERY: none is recorded
)

// A governing keeps the cost of a recording within a budget, with package governor. One
// goroutine at a time looks: first who starts the recording, then run.
type governing struct {
	s   *Session
	cpu *cputime.Process

	// Of the look before.
	at     time.Time
	used   time.Duration
	seen   int64
	begun  int64
	epoch  uint32
	totals map[int32]cct.MethodTotal

	weighed time.Time     // when it was weighed last
	gap     time.Duration // until it is again

	mu    sync.Mutex // held for g, names and ever
	g     *governor.Governor
	names map[int32]string
	ever  map[int32]bool // methods that were off or without probes
}

// govern makes ready to hold the budget of a recording, if it has one.
func (s *Session) govern(rec Recording) {
	if rec.Overhead == 0 {
		return
	}
	s.governing = &governing{
		s: s, cpu: cputime.OfProcess(s.proc.PID), names: map[int32]string{}, ever: map[int32]bool{},
		g: governor.New(governor.Config{Budget: rec.Overhead, Every: rec.Every, Fixed: rec.Events}),
	}
	s.data.Every(uint32(max(rec.Every, 1)))
}

// look reads what happened since the look before, calls of methods only where it is told to. The
// first look, and one after a recording was forgotten, finds nothing.
func (k *governing) look(methods bool) (l governor.Look, ok bool) {
	s := k.s
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	if s.data.Memory() == nil {
		return l, false
	}
	now, used, seen, epoch := time.Now(), k.cpu.Read(), s.data.Seen(), s.data.Epoch()
	begun, _ := s.data.Roots()
	totals := k.totals
	if methods {
		var err error
		if totals, err = cct.MethodTotals(s.data.Memory()); err != nil {
			return l, false
		}
	}
	l = governor.Look{Time: now.Sub(k.at), CPU: used - k.used, Roots: seen - k.seen, Recorded: begun - k.begun, Calls: map[int32]governor.Call{}}
	same := k.epoch == epoch && !k.at.IsZero()
	for id, t := range totals {
		if n := t.Calls - k.totals[id].Calls; methods && same && n > 0 {
			l.Calls[id] = governor.Call{Calls: n, Self: time.Duration(max(0, t.Self-k.totals[id].Self))}
		}
	}
	k.at, k.used, k.seen, k.begun, k.epoch, k.totals = now, used, seen, begun, epoch, totals
	l.Roots, l.Recorded = max(l.Roots, l.Recorded, 0), max(l.Recorded, 0)
	return l, same && l.CPU > 0 && l.Time > 0
}

// asked has the loop say how methods are recorded where nothing is lowered.
func (k *governing) asked(ctx context.Context, look *governor.Look) error {
	return k.s.do(ctx, func() {
		l := &k.s.loop
		for id, c := range look.Calls {
			m := l.ledger.Method(id)
			if m == nil { // an unplaced one
				delete(look.Calls, id)
				continue
			}
			c.Root = k.s.data.Mode(id)&wire.ModeRoot != 0
			c.Asked = governorMode(l.askedMode(methodID(m), c.Root))
			look.Calls[id] = c
		}
	})
}

// compare records in stretches all root invocations or none, so many of each kind.
func (k *governing) compare(ctx context.Context, stretches int) error {
	s := k.s
	nap := func(d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
	for i := range 2 * stretches {
		on := i%2 == 0
		s.data.Every(map[bool]uint32{true: 1, false: noInvocation}[on])
		if err := nap(weighPause); err != nil {
			return err
		}
		k.look(on)
		if err := nap(governWeigh); err != nil {
			return err
		}
		if look, ok := k.look(on); ok {
			if err := k.asked(ctx, &look); err != nil {
				return err
			}
			k.mu.Lock()
			k.g.Weigh(on, look)
			k.mu.Unlock()
		}
		s.stage.step(1)
	}
	return nil
}

// weigh compares both before counting begins.
func (k *governing) weigh(ctx context.Context) error {
	s := k.s
	s.stage.begin("weighing", 2*weighings)
	if err := s.do(ctx, func() { s.data.Admit(math.MaxInt64); s.loop.open() }); err != nil {
		return err
	}
	if err := k.compare(ctx, weighings); err != nil {
		return err
	}
	return s.do(ctx, func() {
		s.loop.forgetSettling()
		k.mu.Lock()
		set := k.g.Weighed(s.loop.callCosts())
		k.mu.Unlock()
		k.apply(set)
	})
}

// weighAgain does so while not all is recorded anyway: the code that ran first was not compiled yet.
func (k *governing) weighAgain(ctx context.Context) error {
	if k.at.IsZero() || k.g.Setting().Every == 1 || time.Since(k.weighed) < k.gap {
		return nil
	}
	if err := k.compare(ctx, weighAgain); err != nil {
		return err
	}
	k.weighed, k.gap = time.Now(), min(3*k.gap, weighMost)
	return k.s.do(ctx, func() {
		k.mu.Lock()
		set := k.g.Weighed(k.s.loop.callCosts())
		k.s.log.Info("governor weighed", "scale", k.g.State().Scale)
		k.mu.Unlock()
		k.s.data.Every(uint32(set.Every))
	})
}

// startGoverning has the budget held until the session ends.
func (s *Session) startGoverning() {
	k := s.governing
	k.at, k.weighed, k.gap = time.Time{}, time.Now(), weighFirst
	s.wg.Go(func() {
		pause := governEvery
		for {
			select {
			case <-time.After(pause):
			case <-s.ctx.Done():
				return
			}
			began := time.Now()
			var err error
			if s.guard(func() { err = k.step(s.ctx) }); err != nil {
				return
			}
			pause = max(governEvery, governShare*time.Since(began))
			if err := k.weighAgain(s.ctx); err != nil {
				return
			}
		}
	})
}

// step looks once, and changes what is to be changed.
func (k *governing) step(ctx context.Context) error {
	s := k.s
	if !s.data.IsOpen() { // paused
		k.at = time.Time{}
		return nil
	}
	look, ok := k.look(true)
	if !ok {
		return nil
	}
	if err := k.asked(ctx, &look); err != nil {
		return err
	}
	return k.hold(ctx, look)
}

// hold changes what is to be changed after a look.
func (k *governing) hold(ctx context.Context, look governor.Look) error {
	s := k.s
	return s.do(ctx, func() {
		l := &s.loop
		if l.isRecording() != nil || !s.data.IsOpen() {
			return
		}
		k.mu.Lock()
		steps := len(k.g.State().Steps)
		set, changed := k.g.Look(look, l.callCosts())
		st := k.g.State()
		k.mu.Unlock()
		s.log.Debug("governor looked", "time", look.Time, "cpu", look.CPU, "roots", look.Roots, "recorded", look.Recorded, "methods", len(look.Calls), "overhead", percent(st.Now), "every", set.Every, "lowered", len(set.Lowered))
		if changed {
			k.apply(set)
		}
		if len(st.Steps) == steps {
			return
		}
		step := st.Steps[len(st.Steps)-1]
		s.log.Info("governor", "action", step.Action, "overhead", percent(step.Before), "expected", percent(step.After), "budget", percent(st.Budget), "every", step.Every, "methods", len(step.Methods))
	})
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// apply makes a setting hold, and remembers the names of what it lowers. It is the loop's.
func (k *governing) apply(set governor.Setting) {
	l := &k.s.loop
	l.applySetting(set)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, st := range k.g.State().Steps {
		for _, id := range st.Methods {
			if k.names[id] == "" {
				k.names[id] = methodID(l.ledger.Method(id)).String()
			}
		}
	}
	for id, m := range set.Lowered {
		k.names[id] = methodID(l.ledger.Method(id)).String()
		k.ever[id] = k.ever[id] || m >= governor.Off
	}
}

// report is what a report says of it.
func (k *governing) report() *export.Governor {
	k.mu.Lock()
	defer k.mu.Unlock()
	st := k.g.State()
	r := &export.Governor{Budget: st.Budget, Overhead: st.Now, OverShare: st.OverShare, Scale: st.Scale, Every: st.Setting.Every, Off: []string{}, Out: []string{}, Steps: []export.GovernorStep{}}
	for id, mode := range st.Setting.Lowered {
		switch mode {
		case governor.Off:
			r.Off = append(r.Off, k.names[id])
		case governor.Out:
			r.Out = append(r.Out, k.names[id])
		}
	}
	slices.Sort(r.Off)
	slices.Sort(r.Out)
	for _, x := range st.Steps {
		g := export.GovernorStep{
			After: float64(x.At.Milliseconds()), Action: string(x.Action), Before: x.Before, Expected: x.After, Every: x.Every, Count: len(x.Methods), Methods: []string{},
		}
		for _, id := range x.Methods[:min(len(x.Methods), export.MostWhere)] {
			g.Methods = append(g.Methods, k.names[id])
		}
		r.Steps = append(r.Steps, g)
	}
	return r
}

// reportGovernor says in a report how the budget was held, and what is missing for it.
func (l *loop) reportGovernor(r *export.Report) {
	k := l.s.governing
	if k == nil {
		return
	}
	r.Governor = k.report()
	r.Seen = l.s.data.Seen()
	var lost []string
	k.mu.Lock()
	for id, is := range k.ever {
		if is {
			lost = append(lost, k.names[id])
		}
	}
	k.mu.Unlock()
	if len(lost) > 0 {
		r.AddGap("methods were not recorded, or not all the time, so that the budget of --overhead was held", lost)
	}
}

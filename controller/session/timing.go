package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/calibration"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// A Timing says which methods to time (Dmitriev, "Design of JFluid", section 5, light
// region timing).
type Timing struct {
	Roots      []string // pkg.Class.method, or with a descriptor
	UntilCalls int64    // end when so many invocations have returned, over all roots; 0 is never
	Wait       bool     // a root whose class nobody knows is waited for
}

// StartTiming instruments entry and exit of the roots, and nothing beneath
// them, and opens the gate. It returns when every root is armed or, where its
// class isn't loaded, awaited. A session either times or records a tree. Errors
// are those of Start; after one the session can only be closed.
func (s *Session) StartTiming(ctx context.Context, t Timing) error {
	if len(t.Roots) == 0 {
		return errors.New("no root given")
	}
	rec := Recording{Roots: t.Roots, UntilCalls: t.UntilCalls, Wait: t.Wait}
	in := probe.Timers(probe.Clocks{Class: s.bundle.Part("Timers"), Begin: "clock", Stop: "stop", Fail: "fail"})
	var problem error
	if err := s.do(ctx, func() {
		l := &s.loop
		timers := shm.NewTimers(s.data)
		l.kind = timingRecorder{treeRecorder{s}, timers}
		l.ledger.InjectBy(in)
		problem = timers.Reserve(wire.TimerSample)
	}); err != nil || problem != nil {
		return errors.Join(err, problem)
	}
	specs, ids, err := s.resolveRoots(ctx, rec)
	if err != nil {
		return err
	}
	for i := range specs {
		specs[i].IDs = append(specs[i].IDs, specs[i].Abstract...)
	}
	if err := s.calibrateTimer(ctx, in); err != nil {
		return err
	}
	return s.armRoots(ctx, rec, scheme.NewTimed, specs, ids)
}

// calibrateTimer measures what timing an empty method yields, and costs, in
// this target. A target that can't do it is timed uncorrected.
func (s *Session) calibrateTimer(ctx context.Context, in *probe.Injector) error {
	r, err := in.Rewrite(s.bundle.Sample, func(k probe.MethodKey) (int32, bool) { return wire.TimerSample, k.Name == "leaf" })
	if err != nil || len(r.Rewritten) != 1 {
		return fmt.Errorf("the agent's sample can't be rewritten: %w", err)
	}
	return s.wait(ctx, func(done func()) {
		l := &s.loop
		timers, _ := l.timed()
		s.data.TimeSince(s.now())
		s.data.Open()
		l.calibrator.Begin(calibration.Run{Timer: true, Done: func() {
			var v shm.Timed
			timers.Read(wire.TimerSample, &v)
			if cost, ok := calibrate.MeasureTimer(l.calibrator.Batches(), v.Quantile); ok && cost.Total() <= l.calibrator.MostTimerCost() && cost.Spread <= cost.Inner {
				l.timerCost = &cost
			}
			done()
		}}, r.Bytes)
	})
}

// FinishTiming closes the gate, reads the timers, restores the target, ends
// the session and returns the report. It works as far as the target still
// does; the report says how the timing ended. Afterwards only Target may be
// used.
func (s *Session) FinishTiming(ctx context.Context) (*export.Timing, error) {
	took, _, err := s.halt(ctx)
	if err != nil {
		return nil, err
	}
	detach := s.detach(ctx)
	// As in Finish: the loop's state is ours, and the target's threads have
	// left the probes.
	if detach != nil {
		time.Sleep(2 * time.Millisecond)
	}
	r := s.loop.timing(s.loop.report())
	r.Time = took
	if detach != nil {
		r.Notes = append(r.Notes, detach.Error())
	}
	return r, s.release()
}

// timing makes a timing's report of what it has in common with a recording's.
func (l *loop) timing(from *export.Report) *export.Timing {
	r := &export.Timing{
		Target: from.Target, Ended: from.Ended, Notes: from.Notes,
		Redefinition: from.Redefinition, Refused: l.s.data.Refused(),
	}
	inner := 0.0
	if c := l.timerCost; c != nil {
		r.Timer = &export.Timer{Inner: c.Inner, Call: c.Total(), Spread: c.Spread, Batches: len(l.calibrator.Batches())}
		inner = c.Inner
	}
	var v shm.Timed
	timers, _ := l.timed()
	for _, m := range l.ledger.Instrumented() {
		timers.Read(m.ID, &v)
		row := export.Timed{
			Method: methodID(m).String(), Loader: l.loaders[m.Class.Loader],
			Count: v.Count, Thrown: v.Thrown, Measured: v.Total,
		}
		row.Fill(v.Least, v.Most, inner, func(yield func(ns, count int64) bool) {
			for i, n := range v.Buckets {
				if n > 0 && !yield(v.Middle(i), n) {
					return
				}
			}
		})
		r.Methods = append(r.Methods, row)
	}
	for i := range l.roots {
		if spec := &l.roots[i]; len(spec.Abstract) > 0 && !l.implemented(spec) {
			r.Notes = append(r.Notes, spec.Never())
		}
	}
	for _, m := range l.ledger.Skipped() {
		r.Skipped = append(r.Skipped, export.Skipped{Method: methodID(m).String(), Reason: m.Reason})
	}
	for _, k := range l.skipped {
		r.Skipped = append(r.Skipped, export.Skipped{Method: k.Method.String(), Reason: l.agents.reason(k)})
	}
	return r
}

// implemented reports whether a method of an abstract root's name was planned.
func (l *loop) implemented(r *roots.Root) bool {
	for id := int32(1); id < l.ledger.Len(); id++ {
		if key := l.ledger.Method(id).Key; key.Name == r.Name && (r.Desc == "" || key.Desc == r.Desc) {
			return true
		}
	}
	return false
}

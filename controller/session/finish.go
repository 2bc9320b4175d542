package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/natives"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// Finish closes the gate, reads the tree, restores the target, ends the
// session and returns the report. It works as far as the target still does;
// the report says how the recording ended. Afterwards only Target may be used.
func (s *Session) Finish(ctx context.Context) (r *export.Report, err error) {
	s.guard(func() { r, err = s.finish(ctx) })
	if gone := context.Cause(s.ctx); errors.Is(gone, shm.ErrGone) { // and with it what was recorded
		s.wg.Wait()
		return nil, errors.Join(gone, s.release())
	}
	return r, err
}

func (s *Session) finish(ctx context.Context) (*export.Report, error) {
	took, now, err := s.halt(ctx)
	if err != nil {
		return nil, err
	}
	s.keeper.end()
	s.slowCalls.look()
	kept := s.data.Keep()
	closed := s.data.Closed() // without the parts in which something is measured
	var samples map[uint32]cct.Sample
	var onCPU *export.CPU
	if s.cpu != nil {
		samples, onCPU = s.cpu.Figures(s.data.Epoch())
	}
	s.stopWatching(ctx)
	s.keepKnown()
	s.lastSizes(ctx)
	waits := s.loadWaits(ctx)
	s.flight.End(ctx, func() int64 { return s.now() - s.loop.rec.began })
	defer s.dropFlight()
	s.remeasure(ctx)
	looked := s.lookForAwake(ctx)
	detach := s.detach(ctx)
	// The loop has ended: its state is ours. The target's threads have left
	// the probes too, or take another moment if it could not be restored.
	if detach != nil {
		time.Sleep(2 * time.Millisecond)
	}
	begin := time.Now()
	r := s.loop.report()
	r.Time = took
	kept() // remeasuring had figures of its own
	r.CPU = onCPU
	loaded, others := s.flight.Time(s.loop.loaded(), waits)
	if r.Tree, err = cct.ReadWith(s.data.Memory(), cct.Options{Now: now, Closed: closed, Samples: samples, Metrics: s.metrics, Types: s.loop.allocations.Types(), Loads: loadsByNode(loaded)}); err != nil {
		return nil, errors.Join(err, s.release())
	}
	s.flight.Report(ctx, r, others)
	s.dropFlight()
	if err := s.loop.kind.finish(r, s.correctionInputs(), closed, now); err != nil {
		return nil, errors.Join(err, s.release())
	}
	s.slowCalls.report(r, s.loop.rec.began)
	s.loop.account(r)
	s.loop.lateness().report(r)
	s.loop.exactness.report(r, looked)
	s.correctionInputs().correct(r)
	r.Processing = time.Since(begin)
	if detach != nil {
		r.Notes = append(r.Notes, detach.Error())
	}
	return r, s.release()
}

// Close restores the target, at once whatever [Config].Gently says, and ends the session. It is safe to call after
// Finish.
func (s *Session) Close() error {
	if s.released() {
		return nil
	}
	s.cfg.Gently = false
	s.dropFlight()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return errors.Join(s.detach(ctx), s.release())
}

func (s *Session) released() bool {
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	return s.data.Memory() == nil
}

// halt closes the gate. It returns how long was recorded and, where the target
// was still recording, its time at the end.
func (s *Session) halt(ctx context.Context) (took time.Duration, now int64, err error) {
	stop := func() {
		rec := &s.loop.rec
		if s.data.State() == wire.StateUp {
			now = s.now()
		}
		if rec.stopped.IsZero() {
			rec.stopped = time.Now()
		}
		s.loop.shut()
		took = rec.took
	}
	if err := s.do(ctx, stop); err != nil {
		if s.ctx.Err() == nil {
			return 0, 0, err
		}
		// The target has exited, or its agent does not answer any more. What
		// is recorded stands.
		s.wg.Wait() // the loop has ended
		stop()
		now = 0
	}
	return took, now, nil
}

// detach has the agent restore every class and leave, and ends the session's
// goroutines.
func (s *Session) detach(ctx context.Context) error {
	err := s.leave(ctx)
	if errors.Is(err, ErrExited) {
		err = nil
	}
	s.cancel(context.Canceled)
	s.wg.Wait()
	return err
}

func (s *Session) leave(ctx context.Context) error {
	var out restored
	got := make(chan struct{})
	switch s.data.State() {
	case wire.StateUp:
		if err := s.do(ctx, func() {
			s.loop.leaving = true
			s.loop.restore = func(r restored) { out = r; close(got) }
			s.loop.send(&link.Stop{Gently: s.cfg.Gently})
		}); err != nil {
			return err
		}
	case wire.StateWinding:
		return nil
	case wire.StateStopping: // by itself
	default:
		return nil // it has left, or never came
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for told := got; ; {
		select {
		case <-told:
			told = nil // its last words are to come
		case <-tick.C:
			switch s.data.State() {
			case wire.StateWinding: // it needs nobody
				return nil
			case wire.StateStopped:
			default:
				continue
			}
			if len(out.failed) > 0 {
				return fmt.Errorf("%d classes could not be restored, the first: %s; their probes are silent", len(out.failed), out.failed[0])
			}
			return nil
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		case <-ctx.Done():
			return fmt.Errorf("the target has not been restored yet: %w; it restores itself when this controller is gone", ctx.Err())
		}
	}
}

// release gives back what the session has of the operating system.
func (s *Session) release() error {
	s.mapped.Lock()
	defer s.mapped.Unlock()
	if s.data.Memory() == nil {
		return nil
	}
	s.room.Data = nil // the data file's owner closes it
	s.room.Close(s.running != nil && s.running())
	err := s.data.Close()
	s.loop.compilers.End(s.loop.guard)
	return errors.Join(err, s.loop.pauses.End())
}

// abort ends a session that did not come about.
func (s *Session) abort(err error) {
	s.log.Debug("abort", "error", err)
	s.Close() //nolint:errcheck // the first error is the one to tell
}

// report gathers everything but the tree. The loop must have ended.
func (l *loop) report() *export.Report {
	r := l.brief()
	r.Skipped = append(r.Skipped, l.reflective()...)
	r.Skipped = append(r.Skipped, l.opened.leftAlone()...)
	return r
}

// brief is the report without the tree and without what takes long to find.
func (l *loop) brief() *export.Report {
	s := l.s
	t := s.Target()
	r := &export.Report{
		Target: export.Target{PID: t.PID, Java: t.Java, VM: t.VM, Main: t.Main},
		Scheme: "C", Clock: l.clockName(), Fold: l.rec.Fold, Ended: "stopped",
		Lookup:       l.lookup(),
		Pauses:       s.collections.Report(),
		History:      s.keeper.history(),
		Counted:      s.correctionInputs().counted(),
		Instrumented: len(l.ledger.Instrumented()),
		Prepared:     s.proc.Prepared,
		Reach:        l.reach,
		Called:       s.called,
		Natives:      l.ledger.Sites(),
		Warmed:       l.rec.warmed,
		Redefinition: export.Redefinition{Batches: l.stats.batches, Classes: l.stats.classes, Time: l.stats.took},
		Notes:        slices.Clip(l.stats.notes),

		UncountedMethods: l.uncounted(),
	}
	if l.scheme != nil {
		r.Scheme = l.scheme.Name()
	}
	if l.rec.Every > 1 {
		r.Seen = s.data.Seen()
	}
	if used, most := s.Room(); most > 0 {
		r.Room = &export.Room{Used: used, Most: most}
	}
	st := l.stats // a copy: a snapshot is read while they grow
	if st.pauseKnown {
		r.Redefinition.LongestPause, r.Redefinition.Pauses = &st.longestPause, &st.pauses
	}
	st.longestWait = max(st.longestWait, s.data.LongestWait())
	r.Redefinition.LongestWait, r.Redefinition.Analysis = &st.longestWait, &st.analysis
	select {
	case <-s.ended:
		r.Ended = s.endReason
	default:
	}
	if l.rec.warming {
		r.Notes = append(r.Notes, "The recording ended during the warm-up: what is shown here is the warm-up.")
	}
	if l.rec.switched {
		r.Notes = append(r.Notes, "The clock or methods' modes were switched while recording: every call is corrected as if it had been recorded the way its method was in the end.")
	}
	if text := l.agents.leftOut(); text != "" {
		r.Notes = append(r.Notes, text)
	}
	if n := l.rec.pauses; n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("The recording paused (%d). Root calls that were under way when a pause began are shown up to there, as not returned.", n))
	}
	for _, spec := range l.roots {
		for _, id := range spec.IDs {
			r.Roots = append(r.Roots, id.String())
		}
		if len(spec.IDs) == 0 {
			r.Notes = append(r.Notes, spec.Never())
		}
		if len(spec.IDs) >= roots.Most {
			r.Notes = append(r.Notes, fmt.Sprintf("Root %s matches %d methods and more of classes loaded later, which are no roots.", spec.Text, len(spec.IDs)))
		}
	}
	for _, m := range l.ledger.Skipped() {
		r.Skipped = append(r.Skipped, export.Skipped{Method: methodID(m).String(), Reason: m.Reason})
	}
	for _, k := range l.skipped {
		if k.Reason == scheme.Filtered && l.probed(k.Method) {
			continue // it became a root later
		}
		if k.Reason == scheme.Native && l.ledger.HasSite(keyOf(k.Method)) {
			if l.sites.Partly(k.Method) {
				r.Skipped = append(r.Skipped, export.Skipped{Method: k.Method.String(), Reason: natives.PartlyReason})
			}
			continue // recorded where it is called
		}
		r.Skipped = append(r.Skipped, export.Skipped{Method: k.Method.String(), Reason: l.agents.reason(k)})
	}
	l.allocations.Note(r)
	l.noteSurvivors(r)
	l.reportLoads(r)
	l.reportGovernor(r)
	l.gaps(r)
	return r
}

// reflective are the call sites of instrumented methods that lead on to methods
// which only something else reveals.
func (l *loop) reflective() []export.Skipped {
	var out []export.Skipped
	for _, m := range l.ledger.Instrumented() {
		if id := methodID(m); !l.ofJDK(id.Class) {
			out = append(out, l.reflectiveIn(id, l.reflection.follows)...)
		}
	}
	return out
}

// reflectiveIn are those of one method; why says so, "" leaves a call out.
func (l *loop) reflectiveIn(id cha.MethodID, why func(cha.Call) string) []export.Skipped {
	var out []export.Skipped
	seen := map[string]bool{}
	for _, c := range scheme.Reflective(l.h, id) {
		text := fmt.Sprintf("%s by %s", c, id)
		if reason := why(c); reason != "" && !seen[text] {
			seen[text] = true
			out = append(out, export.Skipped{Method: text, Reason: reason})
		}
	}
	return out
}

// lookup names methods for as long as the report lives.
func (l *loop) lookup() cct.Lookup {
	for i := int32(len(l.names)); i < l.ledger.Len(); i++ {
		var name cct.Method
		if m := l.ledger.Method(i); m != nil && m.Type == "" {
			id := methodID(m)
			name = cct.Method{Name: id.String(), Loader: l.loaders[m.Class.Loader]}
			if c, f := l.h.Class(id.Class), l.h.Method(id); c != nil && f != nil {
				name.Source, name.Line = c.Source, int(f.Line)
			}
		}
		l.names = append(l.names, name)
	}
	names := l.names[:len(l.names):len(l.names)]
	return func(id int32) (cct.Method, bool) {
		if id <= 0 || int(id) >= len(names) {
			return cct.Method{}, false
		}
		return names[id], true
	}
}

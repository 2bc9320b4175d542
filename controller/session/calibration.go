package session

import (
	"context"
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/calibration"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A calibrationHost is what calibration sees of the loop, which owns both.
type calibrationHost struct{ l *loop }

func (h calibrationHost) Send(c link.Command) { h.l.send(c) }
func (h calibrationHost) Now() int64          { return h.l.s.now() }
func (h calibrationHost) Redefines() bool     { return h.l.round != nil }
func (h calibrationHost) Leaves() bool        { return h.l.leaving }
func (h calibrationHost) Aside()              { h.l.kind.aside() }

// calibrate measures what the probes of a mode cost in this target, with its
// compiler, while nothing is recorded: before any root is armed, or afterwards. A
// target that can't do it is recorded uncorrected.
func (s *Session) calibrate(ctx context.Context, mode byte) error {
	rewritten, err := s.rewriteSample(mode)
	if err != nil {
		return err
	}
	return s.wait(ctx, func(done func()) {
		s.data.Open()
		s.loop.calibrator.Begin(calibration.Run{Mode: mode, Done: done}, rewritten)
	})
}

// calibrateBeside does the same while the recording is on, with one mode after
// the other, and returns at once. The sample has a tree of its own, which is
// nobody's (wire.Sample). What has not been found when the recording ends is
// measured then.
func (s *Session) calibrateBeside(ctx context.Context, modes []byte) error {
	samples := map[byte][]byte{}
	for _, m := range modes {
		b, err := s.rewriteSample(m)
		if err != nil {
			return err
		}
		samples[m] = b
	}
	var next func()
	next = func() {
		l := &s.loop
		for len(modes) > 0 && !l.leaving && l.final == nil && s.data.HasSpare() {
			m := modes[0]
			modes = modes[1:]
			if l.calibrator.Cost(m) == nil {
				l.calibrator.Begin(calibration.Run{Mode: m, Beside: true, Done: next}, samples[m])
				return
			}
		}
	}
	return s.do(ctx, next)
}

// rewriteSample puts the probes of a mode into the sample.
func (s *Session) rewriteSample(mode byte) ([]byte, error) {
	in, err := probe.NewInjector(probe.Tokens(s.hooks()))
	if err == nil {
		in, err = in.WithStarts(probe.Start{Call: s.rootHook(), Is: func(k probe.MethodKey) bool { return k.Name == "accept" }})
	}
	if err == nil && mode == wire.ModeLeaf {
		class, count, thrown := s.leafHooks()
		in, err = in.WithLeaves(class, count, thrown, func(k probe.MethodKey) bool { return k.Name == "leaf" })
	}
	if err != nil {
		return nil, err
	}
	r, err := in.Rewrite(s.bundle.Sample, func(k probe.MethodKey) (int32, bool) {
		switch k.Name {
		case "accept":
			return calibration.SampleCaller, true
		case "leaf":
			return calibration.SampleCallee, true
		}
		return 0, false
	})
	if err != nil || len(r.Rewritten) != 2 || (mode == wire.ModeLeaf) != (len(r.Leaves) == 1) {
		return nil, fmt.Errorf("the agent's sample can't be rewritten: %w", err)
	}
	return r.Bytes, nil
}

// remeasure calibrates, after the recording, the modes that were not when it
// began, or only on a busy machine; what is measured better counts. Roots are
// none any more then, so that only the sample is recorded.
func (s *Session) remeasure(ctx context.Context) {
	var want []byte
	err := s.do(ctx, func() {
		l := &s.loop
		d := s.data
		if !l.armed || d.State() != wire.StateUp {
			return
		}
		if !d.HasSpare() {
			return
		}
		l.final = make([]byte, l.ledger.Len())
		used := map[byte]bool{d.MainMode(): true}
		for id := int32(1); id < l.ledger.Len(); id++ {
			l.final[id] = s.data.Mode(id) &^ wire.ModeRoot
			used[l.final[id]] = true
			s.data.SetMode(id, wire.ModeOff)
		}
		for _, mode := range []byte{wire.ModeCounted, wire.ModeLeaf, wire.ModeTick, wire.ModePrecise, wire.ModeEventTick, wire.ModeEventPrecise} {
			if used[mode] && l.calibrator.Cost(mode).Doubtful() {
				want = append(want, mode)
			}
		}
	})
	if err != nil {
		return
	}
	for _, mode := range want {
		bounded, cancel := context.WithTimeout(ctx, 2*calibration.Patience)
		err := s.calibrate(bounded, mode)
		cancel()
		if err != nil {
			s.log.Debug("not calibrated again", "mode", mode, "error", err)
			return
		}
	}
}

// onCalibrated takes a batch and answers with the size of the next.
func (l *loop) onCalibrated(q *link.Calibrated, box int) {
	l.link.Reply(box, &link.NextBatch{Calls: l.calibrator.Took(q)})
}

// checkAgain measures once more, when it is time to.
func (l *loop) checkAgain() {
	l.calibrator.Again(func() bool { return l.armed && !l.leaving && l.rec.since != 0 }, l.kind.again)
}

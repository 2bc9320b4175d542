package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

var modes = map[string]byte{"off": wire.ModeOff, "counted": wire.ModeCounted, "tick": wire.ModeTick, "precise": wire.ModePrecise}

// matches tells whether a rule is about a method.
func matches(r ModeRule, id cha.MethodID) bool {
	return r.Pattern.Method(id.Class.String(), id.Name, id.Desc)
}

// SetMode switches the mode of all methods that match, now and those that come
// into reach later, without a change to any class but those of leaves that get a
// clock ([Recording].Leaves). It returns how many methods changed. Invocations
// that are open keep the mode that they began with.
func (s *Session) SetMode(ctx context.Context, rule ModeRule) (changed int, err error) {
	if _, ok := modes[rule.Mode]; !ok {
		return 0, fmt.Errorf("mode %q: there are off, counted, tick and precise", rule.Mode)
	}
	if s.data.Events() != 0 {
		if err := rule.ValidateWithEvents(); err != nil {
			return 0, err
		}
	}
	if modes[rule.Mode] == wire.ModeTick {
		if err := s.do(ctx, s.startTicker); err != nil {
			return 0, err
		}
	}
	var problem error
	err = s.wait(ctx, func(done func()) {
		l := &s.loop
		if problem = l.isRecording(); problem != nil {
			done()
			return
		}
		l.rec.Modes = append(slices.Clip(l.rec.Modes), rule)
		changed = l.timeLeaves(done) + l.applyModes()
		l.rec.switched = l.rec.switched || changed > 0
	})
	return changed, errors.Join(problem, err)
}

// SetClock switches the clock of all methods that no rule gives another mode:
// tick or precise. Times stay what they are: both clocks are on one time base.
func (s *Session) SetClock(ctx context.Context, clock string) error {
	mode, ok := clocks[clock]
	if !ok {
		return fmt.Errorf("clock %q: there is tick and precise", clock)
	}
	if err := s.recording(ctx, func(*loop) {}); err != nil {
		return err
	}
	if err := s.setClock(ctx, mode); err != nil {
		return err
	}
	return s.recording(ctx, func(l *loop) { l.rec.switched = l.applyModes() > 0 || l.rec.switched })
}

// setClock makes a mode the recording's clock, and has the tick clock kept where
// it is needed, be it for some methods only.
func (s *Session) setClock(ctx context.Context, mode byte, rules ...ModeRule) error {
	return s.do(ctx, func() {
		if mode == wire.ModeTick || slices.ContainsFunc(rules, func(r ModeRule) bool { return modes[r.Mode] == wire.ModeTick }) {
			s.startTicker()
		}
		s.data.SetClock(mode)
		if s.data.Events() != 0 {
			s.data.SetEvents(eventModes[mode])
		}
	})
}

// clock is the mode of methods that no rule gives another.
func (l *loop) clock() byte { return l.s.data.Clock() }

// modeOf is how a method is recorded, once its callees are known.
func (l *loop) modeOf(id cha.MethodID, root bool) byte {
	return l.lower(id, l.askedMode(id, root))
}

// askedMode is the same where no budget has to be held.
func (l *loop) askedMode(id cha.MethodID, root bool) byte {
	mode := l.clock()
	for _, r := range l.rec.Modes {
		if m := modes[r.Mode]; matches(r, id) && (m == wire.ModeTick || m == wire.ModePrecise || !root) {
			mode = m
		}
	}
	if mode != wire.ModeOff && l.isLeaf(id) { // whatever the rules, until it has got other probes
		mode = wire.ModeLeaf
	}
	return l.kind.mode(mode)
}

// applyModes brings the modes of all methods up to date. Fresh ones stay so:
// they get theirs when they are revealed.
func (l *loop) applyModes() (changed int) {
	for id := int32(1); id < l.ledger.Len(); id++ {
		old := l.s.data.Mode(id)
		m := l.ledger.Method(id)
		if m.Type != "" || old&^wire.ModeRoot == wire.ModeFresh {
			continue
		}
		if mode := l.modeOf(methodID(m), old&wire.ModeRoot != 0); mode != old&^wire.ModeRoot {
			l.s.data.SetMode(id, old&wire.ModeRoot|mode)
			changed++
		}
	}
	return changed
}

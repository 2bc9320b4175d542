package session

import (
	"context"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/flight"
	"github.com/rivulet-profiler/rivulet/controller/roots"
)

// Snapshot is the report of the recording so far, read while it goes on and
// corrected like the last one. It lacks the call sites that can't be followed,
// which take long to find. The target does not notice; this process reads the
// whole tree, some 0.2 s for a million nodes. [ErrNotRecording] before Start
// has returned and after Finish.
func (s *Session) Snapshot(ctx context.Context) (*export.Report, error) {
	var r *export.Report
	var b correctionInputs
	var loaded []flight.Load
	var late *lateness
	var closed map[int64]int64
	var rec recording
	var kind recorder
	err := s.do(ctx, func() {
		l := &s.loop
		if !l.armed {
			return
		}
		r, b, late, closed = l.brief(), l.correctionInputs(), l.lateness(), s.data.Closed()
		loaded = l.loaded()
		rec, kind = l.rec, l.kind
		r.Time = l.rec.took
		if l.rec.since != 0 {
			r.Time += time.Duration(max(0, s.now()-l.rec.since))
		}
	})
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, ErrNotRecording
	}
	if r.Tree, err = s.readTree(closed, b.types, loaded); err != nil {
		return nil, err
	}
	s.mapped.RLock()
	if s.data.Memory() != nil {
		kind.far(r, b, rec.Recording, rec.began)
	}
	s.mapped.RUnlock()
	s.slowCalls.report(r, rec.began)
	late.report(r)
	b.correct(r)
	return r, nil
}

func (s *Session) readTree(closed map[int64]int64, types []*cct.Type, loaded []flight.Load) (*cct.Snapshot, error) {
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	if s.data.Memory() == nil {
		return nil, ErrNotRecording
	}
	return cct.ReadWith(s.data.Memory(), cct.Options{Now: s.now(), Closed: closed, Metrics: s.metrics, Types: types, Loads: loadsByNode(loaded)})
}

// Room says how many bytes of the room for trees are taken, and how many there
// are; both 0 when the session has ended.
func (s *Session) Room() (used, most int64) {
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	if s.data.Memory() == nil {
		return 0, 0
	}
	return s.data.Room()
}

// methodsAtATime is how many classes the loop looks at before it turns to
// others who need it.
const methodsAtATime = 200

// AllMethods lists the methods of all the application's loaded classes, in no
// order.
func (s *Session) AllMethods(ctx context.Context) ([]roots.MethodInfo, error) {
	var classes []cha.ClassID
	if err := s.do(ctx, func() {
		s.loop.h.Classes(func(m *cha.ClassMirror) bool {
			if !m.Excluded && !m.Hidden {
				classes = append(classes, m.ID)
			}
			return true
		})
	}); err != nil {
		return nil, err
	}
	var out []roots.MethodInfo
	for len(classes) > 0 {
		some := classes[:min(methodsAtATime, len(classes))]
		classes = classes[len(some):]
		if err := s.do(ctx, func() {
			for _, id := range some {
				if m := s.loop.h.Class(id); m != nil {
					out = append(out, s.loop.catalog().Of(m)...)
				}
			}
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

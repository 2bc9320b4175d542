package session

import (
	"context"
	"errors"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/priority"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Calibrations is how often the cost of the recording's clock has been found.
func (s *Session) Calibrations(ctx context.Context) (n int, err error) {
	err = s.do(ctx, func() {
		if c := s.loop.costs[s.data.mainMode()]; c != nil {
			n = len(c.found)
		}
	})
	return n, err
}

// SampleNodes is how many contexts calibrating has made, and how many of them with
// recursion expanded.
func (s *Session) SampleNodes() (all, expanded int) {
	d := s.data
	for i := range min(d.load(wire.HNodeLimit), int64(len(d.mem)-wire.OffNodes)>>wire.NodeShift) {
		off := wire.OffNodes + i<<wire.NodeShift
		switch m := d.load32(off + wire.NMethod); m &^ wire.MethodFold {
		case sampleCaller, sampleCallee:
			all++
			if m&wire.MethodFold == 0 {
				expanded++
			}
		}
	}
	return all, expanded
}

// Instrumented is the class of a name as the session puts probes into it, nil if
// it has none.
func (s *Session) Instrumented(ctx context.Context, class string, file []byte) (b []byte, err error) {
	problem := s.do(ctx, func() {
		s.loop.h.Classes(func(m *cha.ClassMirror) bool {
			if m.ID.Name == class {
				b, err = s.loop.ledger.Rewrite(hotswap.ClassID(m.ID), file)
			}
			return m.ID.Name != class
		})
	})
	return b, errors.Join(problem, err)
}

// Ticks says how the tick clock went; nil if no thread was inside.
func (s *Session) Ticks() *export.Tick { return s.ticker.figures() }

// Lag has the session take the target's time for earlier than it is.
func (s *Session) Lag(d time.Duration) { s.offset.Add(-int64(d)) }

// HoldRecords keeps threads from the records that are free, and has no more of
// them, until release is called.
func (s *Session) HoldRecords() (release func()) {
	d := s.data
	n := d.load(wire.HNextRecord)
	restore := d.keep(wire.HRecordLimit, wire.HRecordMax)
	d.store(wire.HRecordLimit, n)
	d.store(wire.HRecordMax, n)
	var held []int64
	for i := int64(1); i < n; i++ {
		lease := wire.OffRecords + i<<wire.RecordShift + wire.RLease
		moving := int32(wire.LeaseMoving)
		if d.swap32(lease, 0, uint32(moving)) {
			held = append(held, lease)
		}
	}
	return func() {
		for _, lease := range held {
			d.store32(lease, 0)
		}
		restore()
	}
}

// HoldEvents keeps the session from reading events until release is called.
func (s *Session) HoldEvents() (release func()) {
	s.events.mu.Lock()
	return s.events.mu.Unlock
}

// ThreadsOf are the threads of a process, by name.
var ThreadsOf = priority.Threads

// MayHurry tells whether the target's compiler can have priority.
func (s *Session) MayHurry() bool { return s.loop.compilers != nil }

// CompilersIn are a process's compiler threads.
func CompilersIn(pid int) []int { return priority.CompilersIn(priority.Threads(pid)) }

// Block has the loop answer nobody while f runs.
func (s *Session) Block(f func()) { s.do(s.ctx, f) } //nolint:errcheck // the session is on

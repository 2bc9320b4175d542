package session

import (
	"context"
	"errors"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/calibration"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/priority"
	"github.com/rivulet-profiler/rivulet/hotswap"
)

// Calibrations is how often the cost of the recording's clock has been found.
func (s *Session) Calibrations(ctx context.Context) (n int, err error) {
	err = s.do(ctx, func() {
		if c := s.loop.calibrator.Cost(s.data.MainMode()); c != nil {
			n = c.Runs()
		}
	})
	return n, err
}

// SampleNodes is how many contexts calibrating has made, and how many of them with
// recursion expanded.
func (s *Session) SampleNodes() (all, expanded int) {
	s.data.EachNode(func(method uint32, folded bool) {
		if method == calibration.SampleCaller || method == calibration.SampleCallee {
			all++
			if !folded {
				expanded++
			}
		}
	})
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
func (s *Session) Ticks() *export.Tick { return s.ticker.Figures() }

// Lag has the session take the target's time for earlier than it is.
func (s *Session) Lag(d time.Duration) { s.offset.Add(-int64(d)) }

// HoldBeat lets the session's heart stand still until release is called.
func (s *Session) HoldBeat() (release func()) {
	s.mute.Store(true)
	return func() { s.mute.Store(false) }
}

// HoldRecords keeps threads from the records that are free, and has no more of
// them, until release is called.
func (s *Session) HoldRecords() (release func()) { return s.data.HoldRecords() }

// HoldEvents keeps the session from reading events until release is called.
func (s *Session) HoldEvents() (release func()) {
	e := s.loop.events()
	e.mu.Lock()
	return e.mu.Unlock
}

// ThreadsOf are the threads of a process, by name.
var ThreadsOf = priority.Threads

// MayHurry tells whether the target's compiler can have priority.
func (s *Session) MayHurry() bool { return s.loop.compilers != nil }

// CompilersIn are a process's compiler threads.
func CompilersIn(pid int) []int { return priority.CompilersIn(priority.Threads(pid)) }

// Block has the loop answer nobody while f runs.
func (s *Session) Block(f func()) { s.do(s.ctx, f) } //nolint:errcheck // the session is on

// CacheIn has sessions keep what they know in another folder until restore is called. No
// session may be on.
func CacheIn(dir string) (restore func()) {
	old := cacheDir
	cacheDir = func() (string, error) { return dir, nil }
	return func() { cacheDir = old }
}

// HoldBoxes keeps the target's threads from the boxes that are free until release is called.
func (s *Session) HoldBoxes() (release func()) { return s.loop.link.HoldBoxes() }

// MindHeap is what Attach asks before it loads the agent.
func MindHeap(c Config, pid int) error {
	counters, err := attach.Counters(pid)
	if err != nil {
		return err
	}
	return c.mindHeap(pid, counters)
}

// Roomy is what keeps a context while there is memory: scarce says that there is none, do calls f within it.
func Roomy(ctx context.Context) (scarce context.CancelCauseFunc, do func(f func(context.Context) error) error) {
	s := &Session{}
	s.plenty, s.scarce = context.WithCancelCause(context.Background())
	return s.scarce, func(f func(context.Context) error) error {
		ctx, roomy := s.whileRoom(ctx)
		return roomy(f(ctx))
	}
}

// MostTimerCost is what a timer may cost in the target, ns.
func (s *Session) MostTimerCost(ctx context.Context) (ns float64, err error) {
	return ns, s.do(ctx, func() { ns = s.loop.calibrator.MostTimerCost() })
}

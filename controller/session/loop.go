package session

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/allocation"
	"github.com/rivulet-profiler/rivulet/controller/calibration"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/clock"
	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/controller/governor"
	"github.com/rivulet-profiler/rivulet/controller/jdkcalls"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/natives"
	"github.com/rivulet-profiler/rivulet/controller/pauses"
	"github.com/rivulet-profiler/rivulet/controller/priority"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// A loop is the part of a session that one goroutine owns: what is known of
// the target's classes, what is instrumented, and what is under way.
type loop struct {
	s    *Session
	link *link.Link

	// What the agent has told.
	hello   bool
	pid     int // as the target sees it
	loaders map[uint32]string
	h       *cha.Hierarchy
	files   map[cha.ClassID][]byte    // class files that restoring needs (hotswap.Original)
	filed   map[cha.ClassID]time.Time // when a class file was seen
	places  map[cha.ClassID]string    // where the files of classes lie, as far as the agent could tell
	listed  func()                    // to be called when a listing is complete
	fresh   []cha.ClassID             // classes of the listing under way that are new or newly exact
	fetched func()                    // when the class files asked for have come
	found   func([]uint32)
	restore func(restored)
	leaving bool // the agent was told to go

	// What is wanted.
	ledger     *hotswap.Ledger
	scheme     scheme.Scheme
	filter     filter.Set
	agents     agents
	opened     opened
	reach      int // methods that the roots may call, 0 where that can't be told
	closure    closure
	guide      guide
	jdkCalls   jdkCalls
	namesDue   int             // listings of the JDK's classes that were asked for
	lookedUp   *jdkcalls.Names // what classes name that look methods up
	reflection reflection
	exactness  exactness
	following  following
	spans      jdkPatches // of OpenTelemetry's contexts
	sites      natives.Sites
	roots      []roots.Root
	skipped    []scheme.Skip
	armed      bool
	rec        recording
	kind       recorder
	timerCost  *calibrate.Cost         // nil where it is not known
	lowered    map[int32]governor.Mode // methods that are recorded otherwise than asked, to hold a budget

	// What is under way.
	queue    []*job
	round    *round
	stall    stall
	pace     pauses.Pace
	late     late
	patience patience
	listener listener

	unanswered unanswered

	boost     priority.Boost      // of the loop's, the agent's and the VM thread
	guard     *priority.Guard     // nil where nobody has to be guarded
	compilers *priority.Compilers // nil where they can't have priority
	arming    bool                // somebody waits for the session or a recording to begin
	reveals   map[int32]*reveal   // by method, or by the negative number of a find
	delayed   []scheme.Plan       // of roots whose classes came late, see reveal
	batch     uint32

	changes changes // how far classes are from what is wanted of them

	pauses      *pauses.Safepoints // nil where there are no counters
	calibrator  *calibration.Calibrator
	allocations *allocation.Table // nil where none are counted
	loads       loads
	final       []byte // the modes of methods when the recording ended

	names []cct.Method // of the ledger's ids, as far as somebody asked; only grows

	stats stats
}

type stats struct {
	batches, classes int
	took             time.Duration
	analysis         time.Duration // of classes and call sites, and rewriting
	analysing        bool
	longestPause     time.Duration
	pauses           time.Duration // in all
	pauseKnown       bool
	longestWait      time.Duration // of a thread for a reveal
	transforms       int
	notes            []string
}

// restored is what the agent says at its end.
type restored struct {
	classes int
	took    time.Duration
	failed  []string
}

// run is the loop.
func (s *Session) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with its priority
	s.loop.boost.Add(unix.Gettid())
	defer s.loop.boost.Set(false)
	priority.ExactSleeps(unix.Gettid())
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		nap := s.loop.listens()
		select {
		case f := <-s.calls:
			f()
		case <-tick.C:
			s.loop.look() // a bell that could not be rung
			s.loop.checkEnd()
			s.loop.checkStall()
			s.loop.calibrator.Check()
			s.loop.checkAgain()
			s.loop.checkLate()
			s.loop.checkUnanswered()
			s.loop.checkGivenUp()
		case <-nap:
			clock.Sleep(listenPause)
			s.loop.look()
		case <-s.ctx.Done():
			return
		}
		waited := s.loop.round != nil || len(s.loop.reveals) > 0
		s.loop.boost.Set(waited && s.watching == nil || s.loop.arming)
		s.loop.compilers.Look(waited)
		s.loop.pauses.Watch(waited)
	}
}

// look answers the requests that have come.
func (l *loop) look() {
	calls, err := l.link.Poll()
	if len(calls) > 0 {
		l.listener.heard = time.Now()
	}
	if err != nil {
		l.s.log.Warn("requests", "error", err)
	}
	for _, c := range calls {
		h := handlers[link.TypeOf(c.Request)]
		if h.first {
			l.link.Reply(c.Box, nil)
		}
		h.take(l, c.Request, c.Box)
		if !h.first && !h.later {
			l.link.Reply(c.Box, nil)
		}
	}
}

// A handler answers the requests of one type.
type handler struct {
	take  func(l *loop, q link.Request, box int)
	later bool // take replies by itself, now or when threads need not wait any more
	first bool // the reply goes before take: the agent goes on meanwhile
}

// handlers has a row for each of [link.Requests].
var handlers = map[uint32]handler{
	wire.ReqHello:      plainly((*loop).onHello),
	wire.ReqLoaders:    plainly((*loop).onLoaders),
	wire.ReqClasses:    atOnce((*loop).onClasses),
	wire.ReqBytes:      atOnce((*loop).onFiles),
	wire.ReqTransform:  later((*loop).onTransform),
	wire.ReqCalibrated: later((*loop).onCalibrated),
	wire.ReqReveal:     later((*loop).onReveal),
	wire.ReqTargets:    later((*loop).onTargets),
	wire.ReqRevealed:   later((*loop).onRevealed),
	wire.ReqBatch:      plainly((*loop).onBatch),
	wire.ReqRestored:   plainly((*loop).onRestored),
	wire.ReqNames:      plainly((*loop).onNames),
	wire.ReqFound:      plainly((*loop).onFound),
}

// plainly is for requests whose reply is empty.
func plainly[Q link.Request](take func(*loop, Q)) handler {
	return handler{take: func(l *loop, q link.Request, _ int) { take(l, q.(Q)) }}
}

// atOnce is for those whose empty reply nobody needs to wait for.
func atOnce[Q link.Request](take func(*loop, Q)) handler {
	h := plainly(take)
	h.first = true
	return h
}

// later is for those that are answered by their handler.
func later[Q link.Request](take func(*loop, Q, int)) handler {
	return handler{take: func(l *loop, q link.Request, box int) { take(l, q.(Q), box) }, later: true}
}

func (l *loop) onHello(q *link.Hello) {
	if !q.Retransform {
		l.s.log.Warn("the JVM does not support retransformation")
		return
	}
	l.s.offset.Store(clock.OffsetTo(q.Nano))
	l.s.data.Beat(l.s.now())
	if l.s.proc.JavaVersion == "" {
		l.s.proc.JavaVersion = q.Java
	}
	l.hello, l.pid = true, int(q.PID)
}

func (l *loop) onFound(q *link.Found) {
	if f := l.found; f != nil {
		l.found = nil
		f(q.Loaders)
	}
}

func (l *loop) onRestored(q *link.Restored) {
	out := restored{classes: int(q.Classes), took: time.Duration(q.Took)}
	for _, c := range q.Failed {
		out.failed = append(out.failed, fmt.Sprintf("%s: %s", c.ID, c.Reason))
	}
	if f := l.restore; f != nil {
		l.restore = nil
		f(out)
	}
}

// send writes a command. It only fails when the agent's thread hangs.
func (l *loop) send(c link.Command) {
	if _, sample := c.(*link.Calibrate); !sample && l.calibrator != nil {
		l.calibrator.Yield()
	}
	if err := l.link.Send(c); err != nil {
		l.s.log.Error("the agent does not take commands", "error", err)
		l.s.cancel(fmt.Errorf("pid %d: %w", l.s.proc.PID, ErrSilent))
	}
}

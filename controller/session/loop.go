package session

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/controller/governor"
	"github.com/rivulet-profiler/rivulet/controller/outward"
	"github.com/rivulet-profiler/rivulet/controller/priority"
	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// A loop is the part of a session that one goroutine owns: what is known of
// the target's classes, what is instrumented, and what is under way.
type loop struct {
	s    *Session
	mail *shm.Mailbox

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
	agents     []agentCode // whose code is to have no probes
	opened     opened
	reach      int // methods that the roots may call, 0 where that can't be told
	closure    closure
	guide      guide
	calling    calling
	namesDue   int            // listings of the JDK's classes that were asked for
	lookedUp   *outward.Names // what classes name that look methods up
	reflection reflection
	exactness  exactness
	following  following
	sites      sites
	roots      []rootSpec
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
	pace     pace
	late     late
	patience patience
	ear      ear

	unanswered unanswered

	boost     priority.Boost      // of the loop's, the agent's and the VM thread
	guard     *priority.Guard     // nil where nobody has to be guarded
	compilers *priority.Compilers // nil where they can't have priority
	arming    bool                // somebody waits for the session or a recording to begin
	reveals   map[int32]*reveal   // by method, or by the negative number of a find
	delayed   []scheme.Plan       // of roots whose classes came late, see reveal
	batch     uint32

	changes changes // how far classes are from what is wanted of them

	pauses      *pauseWatch // nil where there are no counters
	calibration calibration
	again       again
	costs       map[byte]*cost // by mode; without those that could not be measured
	allocations allocations
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
			s.loop.checkCalibration()
			s.loop.checkAgain()
			s.loop.checkLate()
			s.loop.checkUnanswered()
			s.loop.checkGivenUp()
		case <-nap:
			sleep(listenPause)
			s.loop.look()
		case <-s.ctx.Done():
			return
		}
		waited := s.loop.round != nil || len(s.loop.reveals) > 0
		s.loop.boost.Set(waited && s.watching == nil || s.loop.arming)
		s.loop.compilers.Look(waited)
		s.loop.pauses.watch(waited)
	}
}

// look answers the requests that have come.
func (l *loop) look() {
	reqs, err := l.mail.Poll()
	if len(reqs) > 0 {
		l.ear.heard = time.Now()
	}
	if err != nil {
		l.s.log.Warn("mailbox", "error", err)
	}
	for _, r := range reqs {
		if err := l.handle(r); err != nil {
			l.s.log.Warn("request", "type", r.Type, "error", err)
			l.mail.Reply(r.Box, nil)
		}
	}
}

// A handler answers the requests of one type.
type handler struct {
	// take reads the request. It replies by itself if later is set.
	take  func(l *loop, r *wire.Reader, box int) error
	later bool // take replies, now or when threads need not wait any more
	first bool // the reply goes before take: the agent goes on meanwhile
}

// handlers are the requests that the agent makes.
var handlers = map[uint32]handler{
	wire.ReqHello:      {take: plainly((*loop).onHello)},
	wire.ReqLoaders:    {take: plainly((*loop).onLoaders)},
	wire.ReqClasses:    {take: plainly((*loop).onClasses), first: true},
	wire.ReqBytes:      {take: plainly((*loop).onBytes), first: true},
	wire.ReqTransform:  {take: (*loop).onTransform, later: true},
	wire.ReqCalibrated: {take: (*loop).onCalibrated, later: true},
	wire.ReqReveal:     {take: (*loop).onReveal, later: true},
	wire.ReqTargets:    {take: (*loop).onTargets, later: true},
	wire.ReqRevealed:   {take: (*loop).onRevealed, later: true},
	wire.ReqBatch:      {take: plainly((*loop).onBatch)},
	wire.ReqRestored:   {take: plainly((*loop).onRestored)},
	wire.ReqNames:      {take: plainly((*loop).onNames)},
	wire.ReqFound:      {take: plainly((*loop).onFound)},
}

// plainly is for requests whose reply is empty.
func plainly(take func(*loop, *wire.Reader) error) func(*loop, *wire.Reader, int) error {
	return func(l *loop, r *wire.Reader, _ int) error { return take(l, r) }
}

// handle answers one request, now or, for a reveal, later. After an error, [loop.look] replies.
func (l *loop) handle(q shm.Request) error {
	h, ok := handlers[q.Type]
	if !ok {
		return fmt.Errorf("unknown request %d", q.Type)
	}
	if h.first {
		l.mail.Reply(q.Box, nil)
	}
	err := h.take(l, wire.NewReader(q.Body), q.Box)
	if err == nil && !h.first && !h.later {
		l.mail.Reply(q.Box, nil)
	}
	return err
}

func (l *loop) onHello(r *wire.Reader) error {
	java, nano := r.Str(), int64(r.U64())
	can, pid := r.U8(), int(r.U32())
	if r.Err() != nil {
		return r.Err()
	}
	if can == 0 {
		return fmt.Errorf("the JVM does not support retransformation")
	}
	l.s.offset.Store(offsetTo(nano))
	l.s.data.Beat(l.s.now())
	if l.s.proc.JavaVersion == "" {
		l.s.proc.JavaVersion = java
	}
	l.hello, l.pid = true, pid
	return nil
}

func (l *loop) onFound(r *wire.Reader) error {
	r.Str()
	var ids []uint32
	for n := r.Count(4); n > 0; n-- {
		ids = append(ids, r.U32())
	}
	if f := l.found; f != nil {
		l.found = nil
		f(ids)
	}
	return r.Err()
}

func (l *loop) onRestored(r *wire.Reader) error {
	out := restored{classes: int(r.U32()), took: time.Duration(r.U64())}
	for n := r.Count(8); n > 0; n-- {
		id := cha.ClassID{Loader: r.U32(), Name: r.Str()}
		out.failed = append(out.failed, fmt.Sprintf("%s: %s", id, r.Str()))
	}
	if f := l.restore; f != nil {
		l.restore = nil
		f(out)
	}
	return r.Err()
}

// send writes a command. The FIFO is opened for both directions, so it only
// fails when the pipe is full: the agent's thread hangs.
func (l *loop) send(typ uint8, w *wire.Writer) {
	l.calibration.yield = l.calibration.yield || typ != wire.CmdCalibrate
	var b []byte
	if w != nil {
		b = w.Bytes()
	}
	msg := wire.Command(typ, b)
	if err := l.s.room.commands.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		l.s.log.Debug("deadline", "error", err)
	}
	if _, err := l.s.room.commands.Write(msg); err != nil {
		l.s.log.Error("the agent does not take commands", "error", err)
		l.s.cancel(fmt.Errorf("pid %d: %w", l.s.proc.PID, ErrSilent))
	}
}

func writeIDs(w *wire.Writer, ids []cha.ClassID) {
	w.U32(uint32(len(ids)))
	for _, id := range ids {
		w.U32(id.Loader)
		w.Str(id.Name)
	}
}

func readIDs(r *wire.Reader) []cha.ClassID {
	var ids []cha.ClassID
	for n := r.Count(6); n > 0; n-- {
		ids = append(ids, cha.ClassID{Loader: r.U32(), Name: r.Str()})
	}
	return ids
}

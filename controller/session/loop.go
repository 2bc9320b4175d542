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
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
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

	// How far classes are: the numbers of the changes that were last wanted,
	// given to the JVM as bytes, and known to be in force.
	changes                  int64
	wanted, offered, inForce map[cha.ClassID]int64
	owing                    map[cha.ClassID]bool // what is wanted of them is not in force

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

// handle answers one request, now or, for a reveal, later.
func (l *loop) handle(q shm.Request) error {
	r := wire.NewReader(q.Body)
	var err error
	if q.Type == wire.ReqClasses || q.Type == wire.ReqBytes { // the agent goes on meanwhile
		l.mail.Reply(q.Box, nil)
	}
	switch q.Type {
	case wire.ReqHello:
		err = l.onHello(r)
	case wire.ReqLoaders:
		err = l.onLoaders(r)
	case wire.ReqClasses:
		return l.onClasses(r)
	case wire.ReqBytes:
		return l.onBytes(r)
	case wire.ReqTransform:
		return l.onTransform(r, q.Box)
	case wire.ReqCalibrated:
		out, err := l.onCalibrated(r)
		if err == nil {
			l.mail.Reply(q.Box, out)
		}
		return err
	case wire.ReqReveal:
		return l.onReveal(r, q.Box)
	case wire.ReqTargets:
		return l.onTargets(r, q.Box)
	case wire.ReqRevealed:
		return l.onRevealed(r, q.Box)
	case wire.ReqBatch:
		err = l.onBatch(r)
	case wire.ReqRestored:
		err = l.onRestored(r)
	case wire.ReqNames:
		err = l.onNames(r)
	case wire.ReqFound:
		err = l.onFound(r)
	default:
		return fmt.Errorf("unknown request %d", q.Type)
	}
	if err == nil {
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

var loaderKinds = map[uint8]cha.LoaderKind{
	wire.LoaderBoot: cha.LoaderBoot, wire.LoaderPlatform: cha.LoaderPlatform, wire.LoaderApp: cha.LoaderApp, wire.LoaderOther: cha.LoaderOther,
}

func (l *loop) onLoaders(r *wire.Reader) error {
	for n := r.Count(13); n > 0; n-- {
		ld := cha.Loader{ID: r.U32(), Kind: loaderKinds[r.U8()], Parent: r.U32()}
		class, hash := r.Str(), r.Str()
		switch ld.Kind {
		case cha.LoaderPlatform:
			ld.Name = "platform"
		case cha.LoaderApp:
			ld.Name = "app"
		default:
			ld.Name = class + "@" + hash
		}
		if r.Err() == nil {
			l.loaders[ld.ID] = ld.Name
			l.h.AddLoader(ld)
		}
	}
	return r.Err()
}

// onClasses takes a part of a listing of loaded classes.
func (l *loop) onClasses(r *wire.Reader) error {
	last, place := r.U8() != 0, ""
	for n := r.Count(21); n > 0; n-- {
		m := &cha.ClassMirror{ID: cha.ClassID{Loader: r.U32(), Name: r.Str()}, Access: uint16(r.U32())}
		state := r.U8()
		m.Initialized = state&wire.ClassInitialized != 0
		m.Linked = m.Initialized
		m.Fixed = state&wire.ClassModifiable == 0
		m.Hidden = state&wire.ClassHidden != 0
		m.Exact = []cha.ClassID{}
		if sup := (cha.ClassID{Loader: r.U32(), Name: r.Str()}); sup.Name != "" {
			m.Super = sup.Name
			m.Exact = append(m.Exact, sup)
		}
		for k := r.Count(6); k > 0; k-- {
			i := cha.ClassID{Loader: r.U32(), Name: r.Str()}
			m.Interfaces = append(m.Interfaces, i.Name)
			m.Exact = append(m.Exact, i)
		}
		if where := r.Str(); where != wire.SamePlace {
			place = where
		}
		if r.Err() != nil {
			return r.Err()
		}
		if ours(m.ID.Name) {
			continue
		}
		old := l.h.Class(m.ID)
		if old == nil || old.Exact == nil {
			l.fresh = append(l.fresh, m.ID)
		}
		if place != "" && (old == nil || old.Methods == nil) {
			l.places[m.ID] = place
		}
		l.h.Add(m)
	}
	if last && l.listed != nil {
		f := l.listed
		l.listed = nil
		f()
	}
	return r.Err()
}

// onBytes takes class files that were asked for.
func (l *loop) onBytes(r *wire.Reader) error {
	last := r.U8() != 0
	for n := r.Count(10); n > 0; n-- {
		id := cha.ClassID{Loader: r.U32(), Name: r.Str()}
		b := r.Bytes()
		if r.Err() != nil {
			return r.Err()
		}
		if l.sites.takes(id, b) {
			continue
		}
		if d := l.door(id); d != nil {
			d.files[id] = append([]byte(nil), b...)
			if l.onlyDoor(id) || l.h.Class(id) == nil { // or it may not be loaded
				continue
			}
		}
		if len(b) > 0 && l.mirror(id, b) != nil {
			l.filed[id] = time.Now()
			l.keepOpened(id, b)
		}
	}
	if last && l.fetched != nil {
		f := l.fetched
		l.fetched = nil
		f()
	}
	return r.Err()
}

// mirror analyses a class's bytes and adds them to the hierarchy; nil if they
// are no class file of that name, which a loader's resources need not be.
func (l *loop) mirror(id cha.ClassID, b []byte) *classfile.Class {
	defer l.analyse()()
	p, err := parse(id, b)
	if err != nil {
		l.s.log.Debug("class file", "class", id, "error", err)
		return nil
	}
	l.take(&p)
	return p.file
}

// parsed is a class file that was analysed.
type parsed struct {
	id     cha.ClassID
	bytes  []byte
	file   *classfile.Class
	mirror *cha.ClassMirror
}

// parse analyses the bytes of a class.
func parse(id cha.ClassID, b []byte) (p parsed, err error) {
	p = parsed{id: id, bytes: b}
	if p.file, err = classfile.Parse(b); err != nil {
		return p, err
	}
	if name := p.file.Name(); name != id.Name {
		return p, fmt.Errorf("it is of class %s", name)
	}
	p.mirror, err = cha.NewMirror(id, p.file)
	return p, err
}

// take adds what was parsed to the hierarchy.
func (l *loop) take(p *parsed) {
	l.h.Add(p.mirror)
	l.looksUp(p)
	if l.keepsFile() && classfile.HasMethodParameters(p.file) {
		l.files[p.id] = append([]byte(nil), p.bytes...)
	}
}

// analyse counts what its caller does as analysis until the returned function is
// called. What it calls may count itself, too.
func (l *loop) analyse() (end func()) {
	if l.stats.analysing {
		return func() {}
	}
	l.stats.analysing = true
	start := time.Now()
	return func() {
		l.stats.analysing = false
		l.stats.analysis += time.Since(start)
	}
}

// keepsFile tells whether this JVM loses MethodParameters on retransformation.
func (l *loop) keepsFile() bool { return l.s.proc.Major() < 19 }

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

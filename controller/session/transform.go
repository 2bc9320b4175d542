package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// reachPatience is how long a class that is being loaded waits for others that
// it brings into reach. Its thread may hold a lock that the agent's needs.
const reachPatience = 2 * time.Second

// onTransform answers a class that is being loaded or retransformed with
// what the ledger wants of it. A class that is being loaded is matched with
// the scheme first, so that its own probes are in before any of its code runs.
func (l *loop) onTransform(r *wire.Reader, boxIndex int) error {
	id := cha.ClassID{Loader: r.U32(), Name: r.Str()}
	flags := r.U8()
	b := r.Bytes()
	if r.Err() != nil {
		return r.Err()
	}
	l.stats.transforms++
	if flags&wire.HookAgent != 0 {
		l.stall.sign()
	}
	redefined := flags&wire.HookRedefined != 0
	if !redefined {
		l.markLoad(id)
	}
	l.named(id, b)
	var also, callbacks []cha.ClassID
	if m := l.h.Class(id); l.onlyDoor(id) {
		l.s.log.Debug("door", "class", id)
	} else if !redefined || m == nil || m.Methods == nil {
		if l.mirror(id, b) != nil && !redefined {
			l.filed[id] = time.Now()
			if l.scheme != nil {
				also = l.announce(id, flags&(wire.HookInside|wire.HookReveal) != 0)
			}
		}
	}
	switch {
	case l.scheme != nil && l.s.watching != nil: // nobody waits
		l.inTime(l.moreCallbacks(), nil)
		if len(also) > 0 {
			l.enqueue(&job{classes: also, all: true, done: func([]cha.ClassID) {}})
			also = nil
		}
	case l.scheme != nil:
		callbacks = l.want(l.moreCallbacks())
	}
	l.wantOpened(id)
	answered, waits := false, 0
	answer := func() {
		if answered {
			return
		}
		answered = true
		d := l.rewrite(id, b, redefined, l.verifiesLater(id, flags))
		l.offered[id] = l.wanted[id]
		if !redefined {
			l.settled(id) // the bytes that go back have everything
		}
		var w wire.Writer
		w.U8(d.answer)
		w.Block(d.bytes)
		w.Block(d.original)
		taken := l.mail.Reply(boxIndex, w.Bytes())
		l.verify(id, d.draft)
		if !taken && !redefined {
			l.unansweredLoad(id)
		}
	}
	// Who is redefining classes can't wait: it has some of these in hand, or the
	// agent's thread waits for it. Then the reveals that wait for it do.
	busy := flags&(wire.HookAgent|wire.HookReveal) != 0
	if busy {
		for _, rv := range l.reveals {
			rv.more = append(append(rv.more, also...), callbacks...)
		}
	}
	// Who is inside the subgraph may be linking one of these, with its lock.
	if len(also) > 0 && flags&wire.HookInside != 0 && !busy && l.trapped(id) {
		waits++
		l.enqueue(&job{classes: also, done: func(left []cha.ClassID) {
			l.late.add(left)
			if waits--; waits == 0 {
				answer()
			}
		}})
		also = nil
	}
	also = append(also, callbacks...)
	if len(also) > 0 && (flags&wire.HookReveal == 0 || len(l.reveals) == 0) {
		waits++
		l.enqueue(&job{classes: also, all: true, done: func([]cha.ClassID) {
			if waits--; waits == 0 {
				answer()
			}
		}})
	}
	if waits == 0 || busy {
		answer()
		return nil
	}
	longest := reachPatience
	if l.patience.bounded() {
		longest = min(longest, l.patience.most/2)
	}
	owed := l.owingMethods()
	time.AfterFunc(longest, func() {
		_ = l.s.do(l.s.ctx, func() {
			if !answered {
				l.s.log.Info("a class was loaded before others had their probes", "class", id, "others", also)
				if l.patience.bounded() {
					l.gaveUp(owed)
				} else {
					l.s.data.Incomplete()
				}
				answer()
			}
		})
	})
	return nil
}

// rewrite decides about a class's bytes. A class that can't be dealt with is refused in
// the ledger, so that nobody believes its methods to be recorded.
func (l *loop) rewrite(id cha.ClassID, b []byte, redefined, later bool) decision {
	if l.round != nil && l.round.spoilt && l.round.careful {
		l.round.spoilt = false
		return decision{answer: wire.TransformRefuse}
	}
	refuse := func(reason string) decision {
		l.refused(id, reason)
		return decision{answer: wire.TransformNone}
	}
	defer l.analyse()()
	var original []byte
	file := l.files[id]
	if redefined && l.keepsFile() {
		if file == nil && l.filed[id].IsZero() && losesParameters(b) {
			refuse("a retransformation by this JVM would lose the names of its parameters (JDK-8240908), and its class file can't be had to put them back")
			return decision{answer: wire.TransformRefuse}
		}
		if file != nil {
			var err error
			if original, err = hotswap.Original(b, file); err != nil {
				return refuse("its MethodParameters can't be put back: " + err.Error())
			}
			if original != nil {
				b = original
			}
		}
	}
	b, err := l.mapped(id, b)
	door := l.door(id)
	if err != nil && door != nil {
		door.problem = fmt.Sprintf("%s: %v", id, err)
		return decision{answer: wire.TransformNone, original: original}
	}
	if err != nil {
		return refuse("the JVM has thrown away its stack maps, and they can't be had: " + err.Error())
	}
	if door != nil {
		out, err := door.rewrites[id.Name](l, id, b)
		if err != nil {
			door.problem = fmt.Sprintf("%s: %v", id, err)
			return decision{answer: wire.TransformNone, original: original}
		}
		b = out // an opened class has its own probes, too
	}
	var d hotswap.Draft
	if later {
		d, err = l.ledger.Draft(hotswap.ClassID(id), b)
	} else {
		d.Bytes, err = l.ledger.Rewrite(hotswap.ClassID(id), b)
	}
	l.setLeaves(id)
	out := decision{answer: wire.TransformProbes, bytes: d.Bytes, original: original}
	switch {
	case err != nil:
		refuse("Rivulet can't read the bytes that the JVM hands on: " + err.Error())
		return decision{answer: wire.TransformNone, original: original}
	case d.Bytes == nil && door != nil:
		out.bytes = b
	case d.Bytes == nil:
		out.answer = wire.TransformNone // a bare retransformation loses them just as well
	case later:
		out.draft = d
	}
	return out
}

// losesParameters tells whether a class may have had names of parameters, by
// MethodParameters: the bytes that a JVM makes up for a retransformation lack
// them, but keep the name of the attribute among their constants. Proxies have
// had the attribute without names, which is as good as none.
func losesParameters(b []byte) bool {
	cf, err := classfile.Parse(b)
	return err == nil && cf.Super() != "java/lang/reflect/Proxy" && !classfile.HasMethodParameters(cf) && bytes.Contains(b, []byte("\x01\x00\x10MethodParameters"))
}

// announce matches a class that is being loaded with what is wanted, and
// returns the other classes that have to change before it has objects.
func (l *loop) announce(id cha.ClassID, inside bool) []cha.ClassID {
	defer l.analyse()()
	also := l.lateRoots(id)
	var p scheme.Plan
	if s, ok := l.scheme.(scheme.Loader); ok && inside && !l.ledger.Half() {
		p = s.LoadedInside(id)
	} else {
		p = l.scheme.Loaded(id)
	}
	l.want(p)
	l.settleEarly()
	if l.s.watching != nil {
		l.inTime(scheme.Plan{Steps: p.Also}, nil)
		p.Also = nil
	}
	also = append(append(also, l.want(scheme.Plan{Steps: p.Also})...), l.reconsider(id)...)
	return slices.DeleteFunc(also, func(c cha.ClassID) bool { return c == id })
}

// want enters a plan into the ledger and yields the classes that have to be
// retransformed for it.
func (l *loop) want(p scheme.Plan) []cha.ClassID {
	if l.final != nil { // the recording is over: a new root would be recorded into nobody's tree
		return nil
	}
	l.skipped = append(l.skipped, p.Skipped...)
	if w := l.s.watching; w != nil {
		w.watchThem(p.Watched)
	}
	l.noteRoots(p.Steps)
	var ids []cha.ClassID
	seen := map[cha.ClassID]bool{}
	for _, st := range p.Steps {
		m, added := l.ledger.Want(hotswap.ClassID(st.Method.Class), probe.MethodKey{Name: st.Method.Name, Desc: st.Method.Desc})
		mode := l.modeOf(st.Method, st.Root)
		fresh := st.Fresh || len(l.delayed) > 0 && l.callsAny(st.Method)
		if fresh {
			mode = wire.ModeFresh
		}
		if st.Root {
			mode |= wire.ModeRoot
		}
		if added || st.Root && l.kind.modes() && m.ID > 0 && m.Reason == "" && l.s.data.Mode(m.ID)&wire.ModeRoot == 0 { // others' probes begin no recording
			l.changes++
			l.wanted[st.Method.Class] = l.changes
			l.owing[st.Method.Class] = true
		}
		if added && m.ID > 0 && l.patience.bounded() {
			l.patience.owed[st.Method.Class] = append(l.patience.owed[st.Method.Class], st.Method)
		}
		if m.ID > 0 {
			l.kind.reserve(m)
		}
		if m.ID > 0 && l.kind.modes() {
			if added {
				l.setMode(m.ID, mode)
			} else if st.Root {
				mode = l.s.data.Mode(m.ID) &^ wire.ModeRoot
				switch {
				case fresh:
					mode = wire.ModeFresh
				case mode != wire.ModeFresh:
					mode = l.modeOf(st.Method, true)
				}
				l.setMode(m.ID, mode|wire.ModeRoot)
			}
		}
		// A method that another job asked for may not have its probes yet.
		if m.ID > 0 && m.Reason == "" && l.pending(st.Method.Class) && !seen[st.Method.Class] {
			seen[st.Method.Class] = true
			ids = append(ids, st.Method.Class)
		}
	}
	return ids
}

// callsAny tells whether a method calls anything, as far as is known: only such a one
// is worth a trap, and a leaf's probe has none.
func (l *loop) callsAny(id cha.MethodID) bool {
	m := l.h.Method(id)
	return m != nil && len(m.Calls)+len(m.Inits) > 0
}

// pending tells whether something is wanted of a class that is not in force.
func (l *loop) pending(id cha.ClassID) bool { return l.inForce[id] < l.wanted[id] }

// settled notes that the bytes last offered for a class are in force.
func (l *loop) settled(id cha.ClassID) {
	l.inForce[id] = max(l.inForce[id], l.offered[id])
	if !l.pending(id) {
		delete(l.owing, id)
		if l.late.coming[id] {
			delete(l.late.coming, id)
			l.noteUnanswered(id)
		}
		delete(l.patience.owed, id)
	}
}

// revealed lets methods whose callees are instrumented be recorded without
// a wait. It reports whether a thread had entered one of them and gone on.
func (l *loop) revealed(ms []cha.MethodID) (late bool) {
	for _, id := range ms {
		if m := l.ledger.Lookup(hotswap.ClassID(id.Class), probe.MethodKey{Name: id.Name, Desc: id.Desc}); m != nil && m.ID > 0 {
			late = l.settle(m.ID) || late
		}
	}
	return late
}

// settle does so for one. It reports whether a thread had entered it and gone on.
func (l *loop) settle(id int32) (late bool) {
	mode := l.s.data.Mode(id)
	if mode&^wire.ModeRoot == wire.ModeFresh {
		l.setMode(id, mode&wire.ModeRoot|l.modeOf(methodID(l.ledger.Method(id)), mode&wire.ModeRoot != 0))
		return false
	}
	late = l.isGivenUp(id)
	delete(l.patience.fresh, id)
	return late
}

// A job wants classes retransformed and to be told when that is done. left
// are those that the agent leaves to the waiting thread.
type job struct {
	classes []cha.ClassID
	all     bool // also what isn't initialized: nobody waits
	bytes   bool // for the sake of their bytes: also what is in force
	done    func(left []cha.ClassID)
}

// A round is the classes of all jobs that were waiting at one time; they are sent
// to the agent in batches.
type round struct {
	jobs    []*job
	classes []cha.ClassID // still to be sent
	batch   []cha.ClassID // with the agent
	left    map[cha.ClassID]bool
	again   []cha.ClassID // announced, but not defined yet
	tries   int
	all     bool

	first   cha.ClassID // of the batch, as the JVM came to it
	careful bool        // classes are verified before the JVM has them
	spoilt  bool        // one that it has does not verify
}

// enqueue takes a job on; jobs that come while the agent is busy go together.
func (l *loop) enqueue(j *job) {
	l.queue = append(l.queue, j)
	l.next()
}

func (l *loop) next() {
	if l.round != nil || len(l.queue) == 0 {
		return
	}
	r := &round{left: map[cha.ClassID]bool{}, all: l.queue[0].all}
	seen := map[cha.ClassID]bool{}
	var ids []cha.ClassID
	for len(l.queue) > 0 && l.queue[0].all == r.all {
		for _, id := range l.queue[0].classes {
			if !seen[id] && (l.queue[0].bytes || l.pending(id)) {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		r.jobs = append(r.jobs, l.queue[0])
		l.queue = l.queue[1:]
	}
	r.classes = discardLast(ids)
	l.s.stage.more(len(ids))
	l.round = r
	l.sendBatch()
}

func (l *loop) sendBatch() {
	r := l.round
	if len(r.classes) == 0 && len(r.again) > 0 {
		r.classes, r.again = r.again, nil
		r.tries++
		time.AfterFunc(time.Duration(r.tries)*time.Millisecond, func() { _ = l.s.do(l.s.ctx, l.sendBatch) })
		return
	}
	if len(r.classes) == 0 {
		l.round = nil
		for _, j := range r.jobs {
			var left []cha.ClassID
			for _, id := range j.classes {
				if r.left[id] {
					left = append(left, id)
				}
			}
			j.done(left)
		}
		l.next()
		l.resumeCalibration()
		return
	}
	var w wire.Writer
	l.batch++
	w.U32(l.batch)
	w.U8(map[bool]uint8{true: 1}[r.all])
	if l.pace.size == 0 {
		l.pace = firstPace(l.s.proc.Major())
	}
	n := min(l.pace.size, len(r.classes))
	r.batch, r.classes = r.classes[:n], r.classes[n:]
	r.first, r.careful, r.spoilt = cha.ClassID{}, false, false
	writeIDs(&w, r.batch)
	l.stats.batches++
	l.stats.classes += n
	l.beginPauses()
	l.stall.sign()
	l.compilers.Redefined()
	l.ear.heard = time.Now() // the first class is about to come
	l.send(wire.CmdRetransform, &w)
}

func (l *loop) onBatch(r *wire.Reader) error {
	batch, took := r.U32(), time.Duration(r.U64())
	for n := r.Count(9); n > 0; n-- {
		id := cha.ClassID{Loader: r.U32(), Name: r.Str()}
		outcome, reason := r.U8(), r.Str()
		switch {
		case r.Err() != nil:
		case outcome == wire.OutcomeLeft:
			if l.round != nil {
				l.round.left[id] = true
			}
		case outcome == wire.OutcomeGone:
			l.gone(id)
		default:
			l.refused(id, reason)
		}
	}
	if r.Err() != nil {
		return r.Err()
	}
	if l.stats.took == 0 {
		if err := noteFlushed(l.s.proc); err != nil {
			l.s.log.Debug("the next session is not going to know that classes were redefined", "reason", err)
		}
	}
	l.stats.took += took
	if w := l.s.watching; w != nil {
		w.rounds++
	}
	if l.round == nil || batch != l.batch {
		return nil
	}
	for _, id := range l.round.batch {
		if !l.round.left[id] {
			l.settled(id)
		}
	}
	done := len(l.round.batch)
	l.s.stage.step(done)
	l.round.batch = nil
	pause := l.endPauses(done)
	l.s.log.Debug("batch", "number", batch, "classes", done, "took", took, "pause", pause, "next", l.pace.size, "analysis", l.stats.analysis)
	l.markBatch(done, took, pause)
	l.sendBatch()
	return nil
}

// definedBy is how long after its class file was seen a class is believed to be still
// on its way, and definedLast for how long one is that callers have waited for. Its supertypes
// are loaded meanwhile, by the program's loaders.
const (
	definedBy   = 5 * time.Second
	definedLast = time.Minute
)

// gone handles a class that the agent did not find. One that the load hook
// announced a moment ago is about to be defined by some
// thread: it is tried again for some 200 ms, and then now and then, while nobody waits
// for it. Any other was unloaded.
func (l *loop) gone(id cha.ClassID) {
	m := l.h.Class(id)
	by := definedBy
	if l.late.coming[id] {
		by = definedLast
	}
	coming := m != nil && m.Exact == nil && time.Since(l.filed[id]) < by
	switch {
	case coming && l.late.coming[id]:
		delete(l.owing, id) // a plan may have asked for more of it
	case coming && l.round != nil && l.round.tries < 20:
		l.round.again = append(l.round.again, id)
	case coming:
		l.definedLate(id)
	default:
		if m != nil {
			l.h.Remove(id)
		}
		delete(l.late.coming, id) // it never was there
		l.forgo(id)
	}
}

// forgo takes what is wanted of a class for done: nobody has to wait for it.
func (l *loop) forgo(id cha.ClassID) {
	l.offered[id] = l.wanted[id]
	l.settled(id)
}

func (l *loop) refused(id cha.ClassID, reason string) {
	if m := l.h.Class(id); strings.Contains(reason, invalidClass) || reason == wordless && m != nil && !m.Initialized {
		reason = unlinkable
	}
	l.s.log.Info("class left alone", "class", id, "reason", reason)
	if d := l.door(id); d != nil {
		d.problem = fmt.Sprintf("%s: %s", id, reason)
	}
	l.ledger.Refuse(hotswap.ClassID(id), reason)
	l.forgo(id)
}

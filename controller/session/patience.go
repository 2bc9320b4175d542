package session

import (
	"maps"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

const (
	// shortPatience is how long threads wait in all during one root invocation where
	// somebody may wait for them (docs/decisions/0035).
	shortPatience = 100 * time.Millisecond
	// longPatience bounds a single wait elsewhere; the agent knows it, too.
	longPatience = 10 * time.Second
)

// patience is what a session knows of how long the target's threads wait.
type patience struct {
	most    time.Duration // in all during one root call; 0: longPatience for each wait
	givenUp int64         // H_GIVEN_UP, as of the last look
	longest time.Duration // of one wait, as of the last look

	fresh map[int32]struct{}             // methods whose mode was last made fresh
	owed  map[cha.ClassID][]cha.MethodID // wanted, and not in force
	late  map[cha.MethodID]*lateMethod   // recorded late
	wait  map[cha.ClassID][]*lateMethod  // of late: their probes are not in force
}

func newPatience() patience {
	return patience{
		fresh: map[int32]struct{}{}, owed: map[cha.ClassID][]cha.MethodID{},
		late: map[cha.MethodID]*lateMethod{}, wait: map[cha.ClassID][]*lateMethod{},
	}
}

// choosePatience decides how long threads wait, before any of them does. A program that
// was launched has just begun, and one that listens on no port is nobody's server.
func (s *Session) choosePatience(rec Recording) {
	most := rec.Patience
	switch {
	case most >= longPatience:
		most = 0
	case most == 0 && (rec.Scheme == "D" || s.running == nil && s.proc.Listens()):
		most = shortPatience
	}
	s.log.Debug("patience", "most", most)
	s.loop.patience.most = most
	s.data.Patience(most)
}

// bounded tells whether threads go on without probes rather than wait for long.
func (p *patience) bounded() bool { return p.most > 0 }

// setMode gives a method a mode, and remembers the fresh ones.
func (l *loop) setMode(id int32, mode byte) {
	if mode&^wire.ModeRoot == wire.ModeFresh {
		l.patience.fresh[id] = struct{}{}
	} else {
		delete(l.patience.fresh, id)
	}
	l.s.data.SetMode(id, mode)
}

// isGivenUp tells whether a thread has entered a fresh method and gone on.
func (l *loop) isGivenUp(id int32) bool {
	_, fresh := l.patience.fresh[id]
	return fresh && l.s.data.Mode(id)&^wire.ModeRoot != wire.ModeFresh
}

// owingMethods are the methods that are wanted and have no probes in force.
func (l *loop) owingMethods() (out []cha.MethodID) {
	for class := range l.changes.owing {
		out = append(out, l.patience.owed[class]...)
	}
	return out
}

// checkGivenUp reveals methods that threads have gone on from, so that the next call
// below them is recorded, and notes what was late for that.
func (l *loop) checkGivenUp() {
	p := &l.patience
	if most := l.s.data.LongestWait(); most > p.longest { // for logs beside the JVM's own (-Xlog:safepoint)
		p.longest = most
		l.s.log.Debug("a thread has waited", "took", most)
	}
	n := l.s.data.GivenUp()
	if n == p.givenUp || l.scheme == nil || l.final != nil {
		return
	}
	p.givenUp = n
	for id := range maps.Clone(p.fresh) {
		if !l.isGivenUp(id) {
			continue
		}
		delete(p.fresh, id)
		rv := l.reveals[id]
		if rv == nil {
			rv = l.beginReveal(id)
		}
		l.gaveUp(rv.owed)
	}
}

// gaveUp notes that a thread went on before these methods had probes. Those that have
// them when a recording begins are forgotten ([patience.forget]).
func (l *loop) gaveUp(ids []cha.MethodID) {
	if l.final != nil {
		return
	}
	for _, id := range ids {
		l.patience.addLate(id, -1)
	}
	l.lateInForce()
}

// sortedLate are the late methods in an order that repeats.
func (p *patience) sortedLate() []*lateMethod {
	return slices.SortedFunc(maps.Values(p.late), func(a, b *lateMethod) int { return a.id.Compare(b.id) })
}

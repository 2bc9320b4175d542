package session

import (
	"context"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap"
)

// Classes that were loaded without an answer (wire.HUnanswered) are looked for soon after.
// A class whose request never came is known by a listing alone, in which it is once
// it is defined: a second listing finds those that were not there yet.
const (
	unansweredSoon  = 100 * time.Millisecond
	unansweredAgain = 2 * time.Second
	unansweredShare = 10 // listing may take so much of the time: one part in
)

// unanswered is what a session knows of such classes, as numbers of them since it began.
type unanswered struct {
	before  int64 // have had their probes when the recording began
	arming  int64 // the same, if the second listing finds none; -1 where some had none
	listed  int64 // a listing has begun since, and what it found has probes
	settled int64 // and a second one
	changed time.Time
	count   int64         // as of the last look
	took    time.Duration // the last listing
	busy    bool
}

// checkUnanswered has classes looked for that were loaded without an answer.
func (l *loop) checkUnanswered() {
	u, n := &l.unanswered, l.s.data.Unanswered()
	if n != u.count {
		if u.count == u.listed { // else it is due already
			u.changed = time.Now()
		}
		u.count = n
	}
	pause := unansweredSoon
	if n == u.listed {
		pause = unansweredAgain
	}
	if u.busy || n == u.settled || l.scheme == nil || !l.armed || l.final != nil || time.Since(u.changed) < max(pause, unansweredShare*u.took) {
		return
	}
	u.busy = true
	began := time.Now()
	l.s.wg.Go(func() {
		if err := l.s.relistLate(l.s.ctx, n); err != nil {
			l.s.log.Debug("classes that were loaded without an answer can't be listed", "error", err)
		}
		_ = l.s.do(l.s.ctx, func() { u.busy, u.changed, u.took = false, time.Now(), time.Since(began) }) // else the session has ended
	})
}

// relistLate has those of the n classes recorded that the listing shows and that lack
// probes.
func (s *Session) relistLate(ctx context.Context, n int64) error {
	fresh, err := s.list(ctx)
	if err == nil {
		err = s.openLate(ctx, fresh)
	}
	if err == nil {
		err = s.fetch(ctx)
		s.stage.begin("recording", 0)
	}
	if err != nil {
		return err
	}
	return s.wait(ctx, func(done func()) { s.loop.listedLate(fresh, n, done) })
}

// listedLate has classes recorded from now on that turned out to be loaded.
func (l *loop) listedLate(fresh []cha.ClassID, n int64, done func()) {
	if l.final != nil {
		done()
		return
	}
	end := l.analyse()
	var also []cha.ClassID
	for _, id := range fresh {
		also = append(also, l.lateRoots(id)...)
	}
	p := l.scheme.Listed(fresh)
	p.Append(l.moreCallbacks())
	end()
	l.s.log.Debug("listed what was loaded without an answer", "classes", n, "fresh", len(fresh), "steps", len(p.Steps))
	for _, id := range also {
		l.noteUnanswered(id)
	}
	if l.s.watching != nil {
		l.inTime(p, nil)
	} else {
		also = append(also, l.want(p)...)
		var ids []cha.MethodID
		for _, st := range p.Steps {
			ids = append(ids, st.Method)
		}
		l.gaveUp(ids)
	}
	l.settleEarly()
	l.enqueue(&job{classes: also, all: true, done: func([]cha.ClassID) {
		l.revealed(p.Revealed)
		l.lateInForce()
		l.unanswered.found(n, len(also)+len(p.Steps))
		done()
	}})
}

// found notes that a listing has ended that began with the n-th class, and found so many
// things to do.
func (u *unanswered) found(n int64, steps int) {
	again := u.listed == n
	if again {
		u.settled = n
	}
	u.listed = n
	switch {
	case steps > 0:
		u.arming = -1
	case again && n == u.arming:
		u.before = n
	}
}

// begun is called when the gate is about to open: n classes were loaded without an answer
// before, and all that is wanted is in force, or not.
func (u *unanswered) begun(n int64, inForce bool) {
	u.arming = -1
	switch {
	case n == u.settled:
		u.before = n
	case n == u.listed && inForce:
		u.arming = n
	}
}

// since is how many such classes the recording has to answer for, and whether those that
// the program has are recorded by now.
func (u *unanswered) since(n int64) (classes int64, recorded bool) {
	return n - u.before, n == u.settled
}

// unansweredLoad notes that a class was loaded without an answer: it is redefined as soon
// as it is there.
func (l *loop) unansweredLoad(id cha.ClassID) {
	if l.scheme == nil || !l.ledger.Wants(hotswap.ClassID(id)) {
		return
	}
	l.changes.want(id)
	l.filed[id] = time.Now() // it is about to be defined
	l.noteUnanswered(id)
	l.enqueue(&job{classes: []cha.ClassID{id}, all: true, done: func([]cha.ClassID) { l.lateInForce() }})
}

// noteUnanswered notes that the program may call a class's methods before they have probes.
func (l *loop) noteUnanswered(id cha.ClassID) {
	var ids []cha.MethodID
	l.ledger.Rows(hotswap.ClassID(id), func(m *hotswap.Method) {
		if m.ID > 0 && m.Reason == "" {
			ids = append(ids, methodID(m))
		}
	})
	l.gaveUp(ids)
}

package session

import (
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// reachPatience is how long a class that is being loaded waits for others that
// it brings into reach. Its thread may hold a lock that the agent's needs.
const reachPatience = 2 * time.Second

// onTransform answers a class that is being loaded or retransformed with
// what the ledger wants of it. A class that is being loaded is matched with
// the scheme first, so that its own probes are in before any of its code runs.
func (l *loop) onTransform(q *link.Transform, box int) {
	id, flags, b := q.ID, q.Flags, q.Bytes
	l.stats.transforms++
	if flags&wire.HookAgent != 0 {
		l.stall.sign()
	}
	redefined := flags&wire.HookRedefined != 0
	told := l.noteLoad(q)
	if !redefined {
		l.markLoad(q)
	}
	l.named(id, b)
	var also, callbacks []cha.ClassID
	if m := l.h.Class(id); l.onlyPatched(id) {
		l.s.log.Debug("patched", "class", id)
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
		l.changes.offer(id)
		if !redefined {
			l.settled(id) // the bytes that go back have everything
		}
		told()
		taken := l.link.Reply(box, &link.Transformed{Answer: d.answer, Bytes: d.bytes, Original: d.original})
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
		return
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
}

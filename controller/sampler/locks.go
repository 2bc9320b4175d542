package sampler

import (
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
)

// holders are the threads of one tick, for who of them holds a lock. They are read when first asked for.
type holders struct {
	of   *unwinder.Holders
	tids []int
}

// collections says how far the JVM has come with collections, where locks are read.
func (s *Sampler) collections() unwinder.Collections {
	if !s.o.Locks {
		return unwinder.Collections{}
	}
	return s.u.Collections()
}

// lock reads what a thread waits for, and who holds that: again at each tick, since an owner may change while
// others go on waiting.
func (s *Sampler) lock(k *waiter, a unwinder.Anchor, t unwinder.Thread) {
	if k.fresh {
		k.stack.Status, k.owned = 0, false
		if waitsNow[k.stack.State] {
			k.stack.Status = s.u.Status(t)
		}
	} else if !k.owned {
		return
	}
	var l unwinder.Lock
	monitor := uint64(0)
	switch k.stack.State {
	case stack.Blocked:
		monitor = a.Pending
		l = s.u.Monitor(monitor)
	case stack.Waiting:
		if a.Waiting == 0 {
			return
		}
		l = s.u.Monitor(a.Waiting) // whoever holds it does not hinder this thread
		l.Owned = false
	case stack.Parked:
		l = s.u.Blocker(t)
	default:
		return
	}
	k.owned = l.Owned
	found := stack.Lock{Address: l.Object, Class: l.Class}
	if l.Owned {
		k.looks = true
		h := &s.wall.holders
		if h.of == nil {
			h.tids = h.tids[:0]
			var all []unwinder.Thread
			for tid, known := range s.threads.known {
				if known.listed {
					h.tids, all = append(h.tids, tid), append(all, known.thread)
				}
			}
			h.of = s.u.Holders(all)
		}
		if i := h.of.Of(l, monitor); i >= 0 {
			found.Owner = h.tids[i]
		}
	}
	if k.stack.Lock == nil || *k.stack.Lock != found {
		k.stack.Lock = &found
	}
}

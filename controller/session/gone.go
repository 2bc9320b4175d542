package session

import (
	"fmt"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap"
)

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
		l.changes.postpone(id) // a plan may have asked for more of it
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
	l.changes.offer(id)
	l.settled(id)
}

func (l *loop) refused(id cha.ClassID, reason string) {
	if m := l.h.Class(id); strings.Contains(reason, invalidClass) || reason == wordless && m != nil && !m.Initialized {
		reason = unlinkable
	}
	l.s.log.Info("class left alone", "class", id, "reason", reason)
	if d := l.patchesOf(id); d != nil {
		d.problem = fmt.Sprintf("%s: %s", id, reason)
	}
	l.ledger.Refuse(hotswap.ClassID(id), reason)
	l.forgo(id)
}

package session

import (
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// TestGone has classes disappear that something is wanted of: later reveals
// must not wait for them.
func TestGone(t *testing.T) {
	short := cha.ClassID{Loader: 1, Name: "a/Short"} // loaded and unloaded while recording
	unloaded, unknown, coming := cha.ClassID{Loader: 1, Name: "a/Unloaded"}, cha.ClassID{Loader: 1, Name: "a/Unknown"}, cha.ClassID{Loader: 1, Name: "a/Coming"}
	l := &loop{
		s: &Session{log: hclog.NewNullLogger()}, ledger: hotswap.NewLedger(probe.Hooks{}, 100), armed: true,
		patience: newPatience(), h: cha.New(), round: &round{}, filed: map[cha.ClassID]time.Time{coming: time.Now(), short: time.Now().Add(-definedBy)},
		wanted: map[cha.ClassID]int64{}, offered: map[cha.ClassID]int64{}, inForce: map[cha.ClassID]int64{}, owing: map[cha.ClassID]bool{},
	}
	l.h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderOther})
	l.h.Add(&cha.ClassMirror{ID: unloaded, Super: "java/lang/Object", Exact: []cha.ClassID{{Name: "java/lang/Object"}}})
	l.h.Add(&cha.ClassMirror{ID: coming, Super: "java/lang/Object"})
	l.h.Add(&cha.ClassMirror{ID: short, Super: "java/lang/Object"})
	l.ledger.Want(hotswap.ClassID(coming), probe.MethodKey{Name: "run", Desc: "()V"})
	for i, id := range []cha.ClassID{unloaded, unknown, short, coming} {
		l.wanted[id], l.owing[id] = int64(i+1), true
		l.gone(id)
	}
	if len(l.owing) != 1 || !l.owing[coming] {
		t.Errorf("owing %v", l.owing)
	}
	l.round.tries = 20 // callers have waited long enough
	l.gone(coming)
	l.gone(coming) // as checkLate has tried it again
	if len(l.owing) != 0 || !l.pending(coming) || !slices.Equal(l.late.classes, []cha.ClassID{coming}) || len(l.patience.late) != 1 {
		t.Errorf("owing %v, pending %v, late %v", l.owing, l.pending(coming), l.late.classes)
	}
	l.offered[coming] = l.wanted[coming]
	l.settled(coming)
	l.lateInForce()
	if x := l.patience.late[cha.MethodID{Class: coming, Name: "run", Desc: "()V"}]; l.pending(coming) || len(l.late.coming) != 0 || x == nil || !x.inForce {
		t.Error("a class that came late is still missing")
	}
	if len(l.round.again) != 1 || l.h.Class(unloaded) != nil || l.h.Class(short) != nil {
		t.Errorf("again %v, mirror %v", l.round.again, l.h.Class(unloaded))
	}
}

// TestLateOnceMore has a recording begin while methods that were called are without probes:
// they are late in it, and those that have their probes are not.
func TestLateOnceMore(t *testing.T) {
	ready, coming := cha.ClassID{Name: "a/Ready"}, cha.ClassID{Name: "a/Coming"}
	l := &loop{patience: newPatience(), wanted: map[cha.ClassID]int64{ready: 1, coming: 2}, inForce: map[cha.ClassID]int64{}}
	l.gaveUp([]cha.MethodID{{Class: ready, Name: "a"}, {Class: coming, Name: "b"}})
	l.inForce[ready] = 1
	l.lateInForce()
	l.patience.forget()
	if late := l.patience.sortedLate(); len(late) != 1 || late[0].id.Name != "b" || late[0].inForce {
		t.Errorf("late %+v", late)
	}
	l.inForce[coming] = 2
	l.lateInForce()
	l.patience.forget()
	if late := l.patience.sortedLate(); len(late) != 0 {
		t.Errorf("late %+v", late)
	}
}

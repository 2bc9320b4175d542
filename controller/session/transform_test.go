package session

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// TestGone has classes disappear that something is wanted of: later reveals
// must not wait for them.
func TestGone(t *testing.T) {
	short := cha.ClassID{Loader: 1, Name: "a/Short"} // loaded and unloaded while recording
	unloaded, unknown, coming := cha.ClassID{Loader: 1, Name: "a/Unloaded"}, cha.ClassID{Loader: 1, Name: "a/Unknown"}, cha.ClassID{Loader: 1, Name: "a/Coming"}
	l := &loop{
		s: &Session{log: hclog.NewNullLogger(), data: dataFile(t)}, ledger: hotswap.NewLedger(probe.Hooks{}, 100), armed: true,
		patience: newPatience(), h: cha.New(), round: &round{}, filed: map[cha.ClassID]time.Time{coming: time.Now(), short: time.Now().Add(-definedBy)},
		changes: newChanges(),
	}
	l.h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderOther})
	l.h.Add(&cha.ClassMirror{ID: unloaded, Super: "java/lang/Object", Exact: []cha.ClassID{{Name: "java/lang/Object"}}})
	l.h.Add(&cha.ClassMirror{ID: coming, Super: "java/lang/Object"})
	l.h.Add(&cha.ClassMirror{ID: short, Super: "java/lang/Object"})
	l.ledger.Want(hotswap.ClassID(coming), probe.MethodKey{Name: "run", Desc: "()V"})
	for _, id := range []cha.ClassID{unloaded, unknown, short, coming} {
		l.changes.want(id)
		l.gone(id)
	}
	if len(l.changes.owing) != 1 || !l.changes.owing[coming] {
		t.Errorf("owing %v", l.changes.owing)
	}
	l.round.tries = 20 // callers have waited long enough
	l.gone(coming)
	l.gone(coming) // as checkLate has tried it again
	if len(l.changes.owing) != 0 || !l.changes.pending(coming) || !slices.Equal(l.late.classes, []cha.ClassID{coming}) || len(l.patience.late) != 1 {
		t.Errorf("owing %v, pending %v, late %v", l.changes.owing, l.changes.pending(coming), l.late.classes)
	}
	l.changes.offer(coming)
	l.settled(coming)
	l.lateInForce()
	if x := l.patience.late[cha.MethodID{Class: coming, Name: "run", Desc: "()V"}]; l.changes.pending(coming) || len(l.late.coming) != 0 || x == nil || !x.inForce {
		t.Error("a class that came late is still missing")
	}
	if len(l.round.again) != 1 || l.h.Class(unloaded) != nil || l.h.Class(short) != nil {
		t.Errorf("again %v, mirror %v", l.round.again, l.h.Class(unloaded))
	}
}

// dataFile is one that no agent has.
func dataFile(t *testing.T) *shm.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := shm.Create(f, 8<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestLateOnceMore has a recording begin while methods that were called are without probes:
// they are late in it, and those that have their probes are not.
func TestLateOnceMore(t *testing.T) {
	ready, coming := cha.ClassID{Name: "a/Ready"}, cha.ClassID{Name: "a/Coming"}
	l := &loop{patience: newPatience(), changes: newChanges()}
	l.changes.want(ready)
	l.changes.want(coming)
	l.gaveUp([]cha.MethodID{{Class: ready, Name: "a"}, {Class: coming, Name: "b"}})
	l.changes.offer(ready)
	l.changes.settle(ready, 0)
	l.lateInForce()
	l.patience.forget()
	if late := l.patience.sortedLate(); len(late) != 1 || late[0].id.Name != "b" || late[0].inForce {
		t.Errorf("late %+v", late)
	}
	l.changes.offer(coming)
	l.changes.settle(coming, 0)
	l.lateInForce()
	l.patience.forget()
	if late := l.patience.sortedLate(); len(late) != 0 {
		t.Errorf("late %+v", late)
	}
}

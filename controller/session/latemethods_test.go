package session

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestAsleepLate: a method that got its probes while it was asleep may have been called between
// the last look at its counter and the redefinition. It is late if it was called at all.
func TestAsleepLate(t *testing.T) {
	l := &loop{patience: newPatience(), changes: newChanges()}
	class := cha.ClassID{Name: "a/A"}
	id := func(name string) cha.MethodID { return cha.MethodID{Class: class, Name: name, Desc: "()V"} }
	l.changes.want(class)
	l.patience.addAsleep(id("called"))
	l.patience.addAsleep(id("never"))
	l.patience.addAsleep(id("woke"))
	l.patience.addLate(id("woke"), 7)
	l.patience.addAsleep(id("woke")) // is late already
	x := &lateness{rows: map[cha.MethodID]int32{id("called"): 1, id("never"): 2, id("woke"): 3}, reason: "because", alone: ""}
	for _, m := range l.patience.sortedLate() {
		x.methods = append(x.methods, *m)
	}
	r := &export.Report{Tree: &cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{{Method: 9, Children: []*cct.Node{{Method: 1, Calls: 1}}}}}}}}
	x.report(r)
	if len(r.Late) != 2 || r.Late[0].Method != id("called").String() || r.Late[0].Calls != -1 || r.Late[1].Method != id("woke").String() || r.Late[1].Calls != 7 {
		t.Errorf("late: %+v", r.Late)
	}
	if len(r.Gaps) != 1 || r.Gaps[0].Reason != "because" || r.Gaps[0].Count != 2 {
		t.Errorf("gaps: %+v", r.Gaps)
	}
	// A recording that begins when they have their probes knows nothing of it.
	l.changes.offer(class)
	l.changes.settle(class, 0)
	l.lateInForce()
	l.patience.forget()
	if late := l.patience.sortedLate(); len(late) != 0 {
		t.Errorf("late in the next recording: %+v", late)
	}
}

package flight

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/classload"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestLoadTimes puts loads of the load hook and Flight Recorder's together: waits for the profiler are taken off, also those of
// loads inside others, and what the hook did not see is left over if it was a load.
func TestLoadTimes(t *testing.T) {
	at := func(class string, thread int64) Load {
		return Load{Load: cct.Load{Class: class, Took: cct.NotKnown, Own: cct.NotKnown}, Thread: thread}
	}
	list := []Load{at("Sub", 1), at("Super", 1), at("Asked", 1), at("Sub", 2)}
	waits := []int64{10, 7, 5, 1}
	events := []classload.Load{
		{Class: "Sub", Thread: 1, Start: 0, End: 100, Own: 100, Defined: true},
		{Class: "Hidden/0x1", Thread: 1, Start: 120, End: 140, Own: 20, Defined: true},
		{Class: "Known", Thread: 1, Start: 150, End: 151, Own: 1},
		{Class: "Sub", Thread: 2, Start: 200, End: 230, Own: 30, Defined: true},
	}
	l := loadTimes{loads: events, known: true}
	timed, rest := l.time(list, waits)
	for i, want := range [][2]int64{{90, 90}, {cct.NotKnown, cct.NotKnown}, {cct.NotKnown, cct.NotKnown}, {29, 29}} {
		if got := [2]int64{timed[i].Took, timed[i].Own}; got != want {
			t.Errorf("%s: %v, expected %v", timed[i].Class, got, want)
		}
	}
	// A wait that is longer than the load's own time ends beyond it: a load around it keeps its time.
	both := loadTimes{known: true, loads: classload.Nested([]classload.Load{
		{Class: "Sub", Thread: 1, Start: 0, End: 100, Defined: true}, {Class: "Super", Thread: 1, Start: 20, End: 50, Defined: true},
	})}
	if got, _ := both.time(list[:2], []int64{10, 500}); got[0].Took != 60 || got[0].Own != 60 || got[1].Took != 0 || got[1].Own != 0 {
		t.Errorf("a long wait: %+v", got)
	}
	if len(rest) != 1 || rest[0].Class != "Hidden/0x1" || rest[0].End-rest[0].Start != 20 {
		t.Errorf("left over: %+v", rest)
	}
	if list[0].Took != cct.NotKnown {
		t.Error("the list was changed")
	}
	if same, none := (&loadTimes{}).time(list, waits); len(same) != 4 || none != nil {
		t.Errorf("without Flight Recorder: %v, %v", same, none)
	}
}

// TestContexts finds contexts by stacks, whole ones and such whose outer frames are missing.
func TestContexts(t *testing.T) {
	names := []string{"", "Root", "A", "B", "C"}
	node := func(m int32, children ...*cct.Node) *cct.Node { return &cct.Node{Method: m, Children: children} }
	c1, c2, b, other := node(4), node(4), node(3), node(4)
	b.Children = []*cct.Node{c1}
	folded := node(2)
	folded.Folded = true
	r := &export.Report{
		Tree: &cct.Snapshot{Threads: []*cct.Thread{
			{ID: 1, Roots: []*cct.Node{node(1, node(2, b), c2, folded)}},
			{ID: 2, Roots: []*cct.Node{node(1, other)}},
		}},
		Lookup: func(id int32) (cct.Method, bool) { return cct.Method{Name: names[id]}, true },
	}
	find := newContexts(r)
	for _, c := range []struct {
		name   string
		thread int64
		whole  bool
		stack  []classload.Frame // innermost first
		want   *cct.Node
		inside bool
	}{
		{"whole", 1, true, []classload.Frame{"jdk.X", "C", "jdk.Y", "B", "A", "Root", "Thread.run"}, c1, true},
		{"a method without probes within", 1, true, []classload.Frame{"C", "hidden", "Root"}, c2, true},
		{"another thread", 2, true, []classload.Frame{"C", "Root"}, other, true},
		{"outside", 1, true, []classload.Frame{"C", "B"}, nil, false},
		{"cut off", 1, false, []classload.Frame{"jdk.X", "C", "B"}, c1, true},
		{"cut off, two contexts", 1, false, []classload.Frame{"C"}, nil, true},
		{"cut off, of another thread", 2, false, []classload.Frame{"C"}, other, true},
		{"cut off, outside", 1, false, []classload.Frame{"jdk.X"}, nil, false},
		{"no such thread", 3, true, []classload.Frame{"C", "Root"}, nil, false},
	} {
		n, inside := find.of(c.thread, c.stack, c.whole)
		if n != c.want || inside != c.inside {
			t.Errorf("%s: %+v, %v", c.name, n, inside)
		}
	}
}

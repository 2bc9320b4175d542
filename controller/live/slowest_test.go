package live

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// TestSlowest looks at the list, and at the tree of one invocation, whose methods
// the recording's tree need not have yet.
func TestSlowest(t *testing.T) {
	r := livetest.Report(livetest.Snapshot(livetest.Node(1, 3, 30, livetest.Node(2, 6, 10))))
	first := &cct.Thread{ID: 7, Name: "w\x1b1", Roots: []*cct.Node{livetest.Node(1, 1, 20, livetest.Node(2, 4, 5), livetest.Node(9, 1, 1))}}
	second := &cct.Thread{ID: 8, Name: "w2", Roots: []*cct.Node{livetest.Node(1, 1, 9)}}
	r.Slowest = &export.Slowest{Asked: 2, Over: 5, Of: 3, Invocations: []export.Invocation{
		{Thread: first, Start: 100, Took: 30, Suspended: 2, CutContexts: 1, CutCalls: 10}, {Thread: second, Start: 50, Took: 9, Thrown: true},
	}}
	l := New(Config{})
	l.frame = newFrame(1, r, l.numbering)
	q, err := ParseQuery([]byte(`{"slowest":true,"slow":1,"thread":1,"tree":{"open":[1],"rows":9},"icicle":{"width":500,"depth":9}}`))
	if err != nil {
		t.Fatal(err)
	}
	m := l.View(q)
	names := map[int64]bool{}
	for _, n := range m.Mentioned() {
		names[n] = true
	}
	if s := m.Slowest; s == nil || !s.Recorded || s.Of != 3 || s.Over != 5 || len(s.Lines) != 2 || s.Lines[0].Calls != 16 || s.Lines[0].Thread == first.Name || !s.Lines[1].Thrown {
		t.Errorf("%+v", s)
	}
	if m.Tree.Total != 26 || m.Tree.Count != 3 || m.Icicle.Whole != 26 || len(m.Icicle.Boxes) != 3 || len(names) != 3 {
		t.Errorf("%+v, %+v, %v", m.Tree, m.Icicle, names)
	}
	q.Slow = 3
	if page := l.View(q); page.Tree.Count != 0 {
		t.Errorf("the tree of an invocation that there isn't: %+v", page.Tree)
	}
	q.Slow = 0
	if page := l.View(q); page.Tree.Total != 40 {
		t.Errorf("the whole tree: %+v", page.Tree)
	}
	r.Slowest.TimesOnly, r.Slowest.Invocations[0].Ran = true, &r.Slowest.Invocations[0].Took
	if page := newFrame(2, r, l.numbering).slowest(0); !page.Times || page.Lines[0].Ran == nil || page.Lines[1].Ran != nil {
		t.Errorf("without trees: %+v", page)
	}
	if page := frameOf(l.numbering, livetest.Snapshot()).slowest(0); page.Recorded || page.Lines == nil {
		t.Errorf("where nobody asked: %+v", page)
	}
}

// TestSlowPath looks at the critical path of one invocation: threads once each,
// methods that no tree has.
func TestSlowPath(t *testing.T) {
	r := livetest.Report(livetest.Snapshot(livetest.Node(1, 3, 30)))
	main, worker := &cct.Thread{ID: 7, Name: "main"}, &cct.Thread{ID: 8, Name: "w\x1b"}
	path := &export.Path{
		Segments: []export.Segment{
			{Thread: main, Method: 1, To: 10},
			{Kind: event.Queue, Thread: worker, Method: 9, From: 10, To: 15},
			{Thread: worker, Method: -1, From: 15, To: 40},
			{Kind: event.Wait, Cause: event.Unparked, Thread: main, Method: 1, From: 40, To: 42},
		},
		Shares: []event.Share{{Method: 9, Queue: 5}, {Method: -1, Run: 25}}, Run: 35, Queue: 5, Wait: 2, Left: 3, LeftTime: 4, Lacking: 1,
	}
	r.Slowest = &export.Slowest{Invocations: []export.Invocation{
		{Thread: &cct.Thread{Name: "main", Roots: []*cct.Node{livetest.Node(1, 1, 42)}}, Took: 42, Path: path},
		{Thread: &cct.Thread{Roots: []*cct.Node{livetest.Node(1, 1, 20)}}, Took: 20, Path: &export.Path{Segments: path.Segments[:1]}},
	}}
	numbering := newNumbering()
	f := newFrame(1, r, numbering)
	got := f.slowest(1).Path
	one, nine := int64(f.numbers[1]), int64(f.numbers[9])
	if one == 0 || nine == 0 || f.numbers[-1] != 0 {
		t.Fatalf("numbers %v", f.numbers)
	}
	want := CriticalPath{
		Run: 35, Queue: 5, Wait: 2, Lacking: 1, Left: 3, LeftTime: 4, Threads: []PathThread{{"main", 7}, {export.Clean(worker.Name), 8}},
		Segments: [][6]int64{{0, 0, one, 0, 10, 0}, {1, 1, nine, 10, 15, 0}, {0, 1, 0, 15, 40, 0}, {2, 0, one, 40, 42, 1}},
		Methods:  [][4]int64{{nine, 0, 5, 0}, {0, 25, 0, 0}},
	}
	if got == nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, place := range []int{0, 2, 3} {
		if p := f.slowest(place).Path; p != nil {
			t.Errorf("place %d: %+v", place, p)
		}
	}
	path.Segments = nil
	for i := range int64(2 * maxSegments) {
		path.Segments = append(path.Segments, export.Segment{Thread: main, Method: 1, From: 10 * i, To: 10*i + 1 + i%2})
	}
	if p := f.slowest(1).Path; len(p.Segments) != maxSegments || p.Left != 3+maxSegments || p.LeftTime != 4+maxSegments {
		t.Errorf("%d segments, %d left out of %d ns", len(p.Segments), p.Left, p.LeftTime)
	}
}

// TestDoubts wants methods with reservations, and those without probes by reason
// and by name.
func TestDoubts(t *testing.T) {
	waited, vague := livetest.Node(2, 6, 10), livetest.Node(4, 1, 100)
	waited.Incomplete, vague.Error = true, 50
	r := livetest.Report(livetest.Snapshot(livetest.Node(1, 3, 30, waited, livetest.Node(3, 1, 5), vague, livetest.Node(5, 1, 1))))
	names := r.Lookup
	r.Lookup = func(id int32) (cct.Method, bool) {
		m, ok := names(id)
		if id == 3 {
			m.Hidden = 2
		}
		return m, ok
	}
	for _, name := range []string{"shop.Log.debug", "shop.Log.info", "shop.Sync.acquire"} {
		reason := "hidden by the filter: --exclude shop.Log"
		if strings.Contains(name, "Sync") {
			reason = "native"
		}
		r.Skipped = append(r.Skipped, export.Skipped{Method: name, Reason: reason})
	}
	r.Filter = &export.Filter{Rules: []string{"--exclude shop.Log"}, Hidden: 2}
	f := newFrame(1, r, newNumbering())
	d := f.uncertainty()
	var dark []string
	for _, k := range d.Methods {
		dark = append(dark, f.numbering.method(k.Method).Name)
	}
	if got := strings.Join(dark, " "); got != "p2.C2.m2()V p0.C3.m3()V p1.C4.m4()V" || d.Methods[0].Incomplete != 1 || d.Methods[1].Hidden != 2 || d.Methods[2].Error != 50 {
		t.Errorf("%s: %+v", got, d.Methods)
	}
	if d.SkippedCount != 3 || d.Reasons[0] != (Reason{"hidden by the filter", 2}) || d.Filter.Hidden != 2 || d.Events != nil {
		t.Errorf("%+v", d)
	}
	for _, test := range []struct {
		look  SkippedQuery
		count int
		lines int
	}{
		{SkippedQuery{Rows: 9}, 3, 3},
		{SkippedQuery{Rows: 1, From: 1, Reason: "hidden by the filter"}, 2, 1},
		{SkippedQuery{Rows: 9, Filter: "log info"}, 1, 1},
		{SkippedQuery{Rows: 9, Reason: "no such"}, 0, 0},
	} {
		if got := f.skipped(&test.look); got.Count != test.count || len(got.Lines) != test.lines {
			t.Errorf("%+v: %+v", test.look, got)
		}
	}
}

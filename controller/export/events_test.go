package export_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// withEvents is a report of a recording with events.
func withEvents() *export.Report {
	differ := int64(0)
	one := func(took int64, thrown int64) export.Invocation {
		return export.Invocation{
			Thread: &cct.Thread{ID: 7, Name: "worker-7", Roots: cct.Merge([]*cct.Node{node(0, 1, thrown, took/4, node(2, 5, 0, took/2), node(3, 1, 0, took/4))})},
			Start:  1e9, Took: took, Suspended: 3e6, Thrown: thrown > 0, CutContexts: thrown, CutCalls: 9 * thrown,
		}
	}
	worker, other := &cct.Thread{ID: 7, Name: "worker-7"}, &cct.Thread{ID: 9}
	slow := one(80e6, 0)
	slow.Path = &export.Path{
		Run: 50e6, Queue: 10e6, Wait: 20e6, Profiler: 3e6, Grain: 1000, Lacking: 1, Left: 2, LeftTime: 5e6,
		Segments: []export.Segment{
			{Kind: event.Run, Thread: worker, Method: 0, To: 18e6},
			{Kind: event.Queue, Thread: other, Method: 2, From: 18e6, To: 28e6},
			{Kind: event.Run, Thread: other, Method: -1, From: 28e6, To: 58e6},
			{Kind: event.Wait, Cause: event.Unparked, Thread: worker, Method: 0, From: 58e6, To: 78e6},
		},
		Shares: []event.Share{{Method: 0, Run: 20e6, Wait: 20e6}, {Method: -1, Run: 30e6}, {Method: 2, Queue: 10e6}},
	}
	slow.Span = event.Span{Trace: [16]byte{0x4b, 0xf9, 15: 0x36}, ID: [8]byte{0, 0xf0, 7: 0xb7}, Within: true}
	return &export.Report{
		Target: export.Target{PID: 4711, Main: "shop.Main"}, Clock: "tick", Lookup: lookup, Tree: tree(),
		Events:  &export.Events{Words: 1000, Waits: 2, Waited: 58550000, Dropped: 7, Differ: &differ},
		Slowest: &export.Slowest{Asked: 2, Over: 50e6, Of: 14, Invocations: []export.Invocation{slow, one(60e6, 1)}},
		Timeline: &export.Timeline{
			Threads: map[int64]cct.Thread{7: {ID: 7, Name: `a "name"`}, 8: {ID: 8, Virtual: true}},
			Slices: []event.Slice{
				{Thread: 7, Method: 2, Depth: 1, Start: 1500, Took: 500},
				{Thread: 7, Method: event.Suspended, Depth: 1, Start: 2000, Took: 250},
				{Thread: 7, Method: 0, Root: true, Start: 1000, Took: 2000, Span: &slow.Span},
				{Thread: 8, Method: 99, Start: 5, Took: 0},
				{Thread: 8, Method: 99, Task: true, Start: 1500, Took: 20},
			},
			Left: 3, Least: 10,
			Hops: []event.Hop{
				{From: 7, By: 0, At: 1200, To: 8, Method: 99, Began: 1500, Took: 20},
				{From: 7, By: 0, At: 3000, To: 8, Method: 99, Began: 3100}, // from where no slice lies
				{From: 7, By: 0, At: 1300, To: 8, Method: 99, Began: 3100}, // to there
			},
		},
		Marks: &export.Marks{
			Left: 4, Note: "no collections",
			All: []event.Mark{
				{Kind: event.GC, Name: "Copy", Start: 500, Took: 100, Count: 2, Pause: 90, Off: 7},
				{Kind: event.Redefining, Start: -50, Took: 80, Count: 3, Pause: 60},
				{Kind: event.Revealing, Name: "shop.Price.of(I)J", Start: 10, Took: 100, Count: 1, Pause: -1},
				{Kind: event.Revealing, Name: "shop.Price.sum()J", Start: 20, Took: 30, Count: 2, Pause: -1},
				{Kind: event.Loading, Name: `shop."x`, Start: 30, Count: 1, Pause: -1},
			},
		},
	}
}

func TestSlowestText(t *testing.T) {
	var out bytes.Buffer
	if err := withEvents().Text(&out, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Slowest root calls\n\n2 of 14 root calls that took longer than 50.0 ms; all of their trees are in the JSON report\n",
		"\n1. 80.0 ms, 1.00 s after the beginning, on worker-7, and 3.00 ms paused by Rivulet; trace 4bf90000000000000000000000000036, span 00f00000000000b7 (begun during the call)\n",
		"\n2. 60.0 ms, 1.00 s after the beginning, on worker-7, and 3.00 ms paused by Rivulet, ended by an exception\n   for want of memory summed up in their callers: 1 call path\n",
		"      5  40.0 ms  40.0 ms   50.0 %      shop.Price.of(I)J\n",
		"   critical path: ran 50.0 ms, queued 10.0 ms, waited 20.0 ms, and 3.00 ms of the profiler's\n",
		"18.0 ms  10.0 ms  queue    shop.Price.of(I)J, thread 9\n",
		"58.0 ms  20.0 ms   wait    shop.Orders.process, worker-7, until the thread above let it go on\n",
		"   … 2 shorter segments of 5.00 ms in all\n",
		"30.0 ms        -        -    unknown\n",
		"not all waits are known (1)",
		"7.81 KB of events; threads waited 58.5 ms for the reader, ",
		"events dropped since nobody took them in time: 7 (",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("not there: %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// TestSlowTimesText lists root calls of which no trees were recorded, and reads them again.
func TestSlowTimesText(t *testing.T) {
	r := withEvents()
	ran := int64(20e6)
	r.Slowest.TimesOnly, r.Slowest.Invocations[1].Ran, r.Slowest.Invocations[1].Paused = true, &ran, &export.Paused{Least: 1e6, Most: 2e6}
	var out, file bytes.Buffer
	if err := r.Text(&out, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Slowest root calls\n\nof 14 root calls that took longer than 50.0 ms; --slowest N keeps the tree of each\n",
		"80.0 ms  not known    1.00 s           not known", "60.0 ms    20.0 ms    1.00 s  1.00 ms to 2.00 ms", "worker-7, shop.Orders.process(Lshop/Order;)V, ended by an exception\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("not there: %q in\n%s", want, out.String()[strings.Index(out.String(), "Slowest root"):])
		}
	}
	if err := r.JSON(&file, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := export.ReadJSON(&file)
	if err != nil {
		t.Fatal(err)
	}
	if s := again.Slowest; !s.TimesOnly || s.Invocations[0].Ran != nil || s.Invocations[1].Ran == nil || *s.Invocations[1].Ran != ran {
		t.Errorf("as read again: %+v", s)
	}
}

func TestSlowestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := withEvents().JSON(&out, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Events struct {
			Words, Bytes, Waits int64
			Differ              *int64 `json:"contexts_that_differ"`
		}
		Slowest struct {
			Asked, Of   int64
			Over        int64 `json:"over_ns"`
			Invocations []struct {
				Took   int64 `json:"took_ns"`
				Thrown bool
				Tree   struct {
					Method, Thread string
					Children       []any
				}
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	s := got.Slowest
	if got.Events.Bytes != 8000 || got.Events.Differ == nil || s.Asked != 2 || s.Of != 14 || s.Over != 50e6 || len(s.Invocations) != 2 {
		t.Fatalf("%+v", got)
	}
	if i := s.Invocations[1]; i.Took != 60e6 || !i.Thrown || i.Tree.Thread != "worker-7" || len(i.Tree.Children) != 2 {
		t.Errorf("%+v", i)
	}
	read, err := export.ReadJSON(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withEvents().Marks, read.Marks); diff != "" {
		t.Errorf("marks, -want +got:\n%s", diff)
	}
	var again bytes.Buffer
	if err := read.JSON(&again, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(out.String(), again.String()); diff != "" {
		t.Errorf("read and written again, -want +got:\n%s", diff)
	}
	if _, err := export.ReadJSON(strings.NewReader(strings.Replace(out.String(), `"cut_calls":9,"tree"`, `"cut_calls":9,"wood"`, 1))); err == nil || !strings.Contains(err.Error(), "without a tree") {
		t.Errorf("an invocation without a tree: %v", err)
	}
}

// TestTraceNests wants slices of a thread to lie within each other or apart: a
// root invocation that began at the tick before the last one's end, with a callee;
// and one that began and ended at one tick, as all that it called.
func TestTraceNests(t *testing.T) {
	r := withEvents()
	r.Marks, r.Timeline.Hops = nil, nil
	r.Timeline.Slices = []event.Slice{
		{Thread: 7, Method: 2, Depth: 1, Start: 1000, Took: 4000}, // ends as its caller does
		{Thread: 7, Method: 0, Root: true, Start: 1000, Took: 4000},
		{Thread: 7, Method: 3, Depth: 1, Start: 4000, Took: 3000},
		{Thread: 7, Method: 2, Root: true, Start: 4000, Took: 5000},
		{Thread: 7, Method: 3, Depth: 2, Start: 9000},
		{Thread: 7, Method: 2, Depth: 1, Start: 9000},
		{Thread: 7, Method: 0, Root: true, Start: 9000},
		{Thread: 8, Method: 2, Root: true, Start: 4000, Took: 5000},
	}
	var out bytes.Buffer
	if err := r.Trace(&out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var e struct {
			Ph, Name string
			TS, Dur  float64
			TID      int
		}
		if err := json.Unmarshal([]byte(strings.TrimRight(line, ",\n")), &e); err == nil && e.Ph == "X" {
			got = append(got, fmt.Sprintf("%d %s %v %v", e.TID, e.Name, e.TS, math.Round((e.TS+e.Dur)*1000)/1000))
		}
	}
	want := []string{
		"7 shop.Orders.process(Lshop/Order;)V 1 5.001", "7 shop.Price.of(I)J 1.001 5", "7 shop.Price.of(I)J 5.002 9", "7 shop.Price.of(J)J 5.003 7",
		"7 shop.Orders.process(Lshop/Order;)V 9.001 9.006", "7 shop.Price.of(I)J 9.002 9.005", "7 shop.Price.of(J)J 9.003 9.004",
		"8 shop.Price.of(I)J 4 9",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestTimelineFile has the timeline come back from a snapshot, and from no JSON.
func TestTimelineFile(t *testing.T) {
	want := withEvents()
	var file, trace, again bytes.Buffer
	if err := errors.Join(want.Snapshot(&file), want.Trace(&trace)); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	got, err := export.ReadJSON(&file)
	if err != nil {
		t.Fatal(err)
	}
	// Methods have other numbers; their names are in the trace.
	if err := got.Trace(&again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(trace.String(), again.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var plain bytes.Buffer
	if err := want.JSON(&plain, export.JSONOptions{}); err != nil || strings.Contains(plain.String(), `"timeline"`) {
		t.Error("JSON has the timeline:", err)
	}
	for _, test := range []struct{ old, with, want string }{
		{`[0,1,0,1500,500,0]`, `[2,1,0,1500,500,0]`, "slice 0 makes no sense"},
		{`[0,1,0,1500,500,0]`, `[0,65536,0,1500,500,0]`, "slice 0 makes no sense"},
		{`[0,1,0,1500,500,0]`, `[0,1,3,1500,500,0]`, "slice 0 makes no sense"},
		{`[0,1,-1,2000,250,0]`, `[0,1,-3,2000,250,0]`, "slice 1 makes no sense"},
		{`[0,0,1,1,0,2,1200,1500,20,0]`, `[0,0,1,1,0,9,1200,1500,20,0]`, "hop 0 makes no sense"},
		{`"thread_id":8,"virtual":true}],"methods"`, `"thread_id":7}],"methods"`, "a thread is there twice"},
		{`[0,1,0,1500,500,0]`, `"x"`, "cannot unmarshal"},
	} {
		damaged := strings.Replace(string(text), test.old, test.with, 1)
		if _, err := export.ReadJSON(strings.NewReader(damaged)); damaged == string(text) || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s for %s: %v, want %q", test.with, test.old, err, test.want)
		}
	}
}

func TestTrace(t *testing.T) {
	var out bytes.Buffer
	if err := withEvents().Trace(&out); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) {
		t.Error("no JSON")
	}
	for _, want := range []string{
		`"slices_left_out":"3","shorter_than_ns":"10"`,
		`{"ph":"M","name":"thread_name","pid":4711,"tid":7,"args":{"name":"a \"name\""}}`,
		`{"ph":"M","name":"thread_name","pid":4711,"tid":8,"args":{"name":"virtual thread 8"}}`,
		`{"ph":"X","name":"shop.Price.of(I)J","cat":"call","ts":1.500,"dur":0.500,"pid":4711,"tid":7}`,
		`{"ph":"X","name":"(waits for Rivulet)","cat":"rivulet","ts":2.001,"dur":0.249,"pid":4711,"tid":7}`,
		`{"ph":"X","name":"shop.Orders.process(Lshop/Order;)V","cat":"root","ts":1.000,"dur":2.000,"pid":4711,"tid":7,"args":{"trace_id":"4bf90000000000000000000000000036","span_id":"00f00000000000b7"}}`,
		`{"ph":"X","name":"unknown method 99","cat":"call","ts":0.005,"dur":0.001,"pid":4711,"tid":8}`,
		`{"ph":"X","name":"unknown method 99","cat":"task","ts":1.500,"dur":0.020,"pid":4711,"tid":8}`,
		`{"ph":"s","name":"task","cat":"task","id":1,"ts":1.200,"pid":4711,"tid":7,"args":{"queued_ns":300}}`,
		`{"ph":"f","name":"task","cat":"task","id":1,"ts":1.500,"pid":4711,"tid":8,"bp":"e"}`,
		`{"ph":"M","name":"thread_name","pid":4711,"tid":1879048192,"args":{"name":"GC"}}`,
		`{"ph":"X","name":"Copy","cat":"gc","ts":0.500,"dur":0.100,"pid":4711,"tid":1879048192,"args":{"count":2,"pause_ns":90,"off_ns":7}}`,
		`{"ph":"X","name":"classes instrumented","cat":"redefinition","ts":0.000,"dur":0.030,"pid":4711,"tid":1879048256,"args":{"count":3,"pause_ns":60}}`,
		`{"ph":"M","name":"thread_name","pid":4711,"tid":1879048321,"args":{"name":"waiting for instrumentation 2"}}`,
		`{"ph":"X","name":"shop.Price.sum()J","cat":"reveal","ts":0.020,"dur":0.030,"pid":4711,"tid":1879048321,"args":{"count":2}}`,
		`{"ph":"i","s":"t","name":"shop.\"x","cat":"load","ts":0.030,"pid":4711,"tid":1879048384,"args":{"count":1}}`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("not there: %s\n%s", want, out.String())
		}
	}
	root, from, wait := strings.Index(out.String(), `"cat":"root"`), strings.Index(out.String(), `{"ph":"s"`), strings.Index(out.String(), `"(waits for Rivulet)"`)
	if !(root < from && from < wait) {
		t.Errorf("a flow's end at %d, its slice at %d, a later one at %d", from, root, wait)
	}
	if n := strings.Count(out.String(), `{"ph":"s"`); n != 1 {
		t.Errorf("%d flows", n)
	}
	if err := (&export.Report{}).Trace(&out); !errors.Is(err, export.ErrNoTimeline) {
		t.Errorf("error %v", err)
	}
}

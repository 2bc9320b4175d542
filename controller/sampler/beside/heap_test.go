package beside

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// event is a sample of the heap on a path, the outermost method first.
func event(thread, class string, bytes int64, path string) HeapEvent {
	e := HeapEvent{Thread: thread, TID: len(thread), Type: class, Bytes: bytes, Frames: frames(path, 1), Complete: true, Inside: true}
	if rest, ok := strings.CutPrefix(path, "... "); ok {
		e.Frames, e.Complete = frames(rest, 1), false
	}
	return e
}

// allocating is the recording with allocations that were counted.
func allocating() *export.Report {
	r := recording()
	r.Tree.Metrics = metric.NewTable(metric.Objects, metric.Arrays, metric.AllocatedBytes, metric.HeapBytes, metric.HeapBelow)
	for n := range cct.All(r.Tree.Roots()) {
		n.Counts = &metric.Values{Table: r.Tree.Metrics}
	}
	sort := r.Tree.Threads[0].Roots[0].Children[0]
	for _, a := range []cct.Alloc{
		{Type: &cct.Type{Name: "shop.Point", Size: 24}, Objects: 1000, Bytes: 24_000}, // removed by the compiler
		{Type: &cct.Type{Name: "int[]", Array: true, Size: cct.NotKnown}, Objects: 10, Elements: 100, Bytes: 560},
	} {
		sort.Details().Allocs = append(sort.Allocs(), a)
		sort.Allocated(a)
	}
	return r
}

// TestHeap places samples of the heap, and estimates from what the JVM says.
func TestHeap(t *testing.T) {
	const serve = "java/lang/Thread.run shop/Main.loop shop/Front.serve "
	r := allocating()
	h := NewHeap(r)
	early := event("worker-number-one", "[B", 1<<40, "java/lang/Thread.run") // all since the thread began
	early.Inside = false
	for _, e := range []HeapEvent{
		early,
		event("worker-number-one", "[I", 300, serve+"shop/Front.sort"),
		event("worker-number-one", "[I", 260, serve+"shop/Front.sort"),
		event("worker-number-one", "java/lang/Integer", 40, serve+"shop/Front.sort java/lang/Integer.valueOf"),                                                   // counted where it is called
		event("worker-number-one", "[Ljava/lang/Object;", 100, serve+"shop/Front.sort java/util/ArrayList.add java/util/ArrayList.grow java/util/Arrays.copyOf"), // not there
		event("worker-number-one", "shop/Made$$Lambda+0x00007f2a", 50, serve+"shop/Front.sort java/util/Arrays.sort shop/Front.order"),
		event("worker-number-one", "[I", 1000, "java/lang/Thread.run shop/Main.loop"),
		event("worker-number-two-or-so", "[I", 5000, serve+"shop/Front.block"), // the thread's first: the mean of 292 at most
		// Without the outer frames: order has a context in each of two threads.
		event("worker-number-one", "[I", 77, "... shop/Front.sort shop/Front.order java/util/HashMap.put"),
		event("worker-number-one", "[I", 77, "... java/util/HashMap.put"),
	} {
		h.Add(e)
	}
	got := h.Join()
	sort := r.Tree.Threads[0].Roots[0].Children[0]
	if diff := cmp.Diff([]cct.HeapSample{
		{Type: "int[]", Samples: 2, Bytes: 560},
		{Type: "java.lang.Object[]", Via: "java.util.ArrayList.add()V", Samples: 1, Bytes: 100},
		{Type: "java.lang.Integer", Samples: 1, Bytes: 40},
	}, cct.SortedHeap(sort.Heap())); diff != "" {
		t.Errorf("sort, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]cct.HeapSample{{Type: "shop.Made$$Lambda", Samples: 1, Bytes: 50}}, sort.Children[0].Heap()); diff != "" {
		t.Errorf("order, -want +got:\n%s", diff)
	}
	mean := int64(300+260+40+100+50+1000+77+77) / 8
	if diff := cmp.Diff(export.HeapSampling{Samples: 6, Bytes: 750 + mean, Outside: 1, Unplaced: 2}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	at := r.Tree.Metrics.Index("heap_bytes")
	root := r.Tree.Threads[0].Roots[0]
	if v := sort.Counts; v.Own[at] != 600 || v.Own[at+1] != 100 || v.Total[at] != 650 || v.Own[2] != 24_560 {
		t.Errorf("sort: %+v", v)
	}
	if v := root.Counts; v.Own[at] != 0 || v.Total[at]+v.Total[at+1] != 750 && v.Total[at]+v.Total[at+1] != 750+mean {
		t.Errorf("root: %+v", v)
	}
}

// TestAtCall compares what the caller's own objects are with what probes count at calls.
func TestAtCall(t *testing.T) {
	for _, class := range []string{"java/lang/Integer", "java/lang/Byte", "java/lang/Character", "java/lang/Double", "java/lang/Object", "java/util/Arrays", "java/lang/String", "java/util/ArrayList"} {
		for _, name := range []string{"valueOf", "clone", "copyOf", "copyOfRange", "toCharArray", "getBytes", "toString", "add"} {
			if got, want := AtCall(&stack.Method{Class: class, Name: name}), probe.CountedAtCall(class, name); got != want {
				t.Errorf("%s.%s: %v here, %v where calls are counted", class, name, got, want)
			}
		}
	}
	if AtCall(nil) {
		t.Error("no method")
	}
}

// TestHeapCut finds a context whose outer callers JFR does not know, where there is one alone.
func TestHeapCut(t *testing.T) {
	r := allocating()
	r.Tree.Threads = r.Tree.Threads[:1]
	h := NewHeap(r)
	early := event("a", "[B", 1, "java/lang/Thread.run")
	early.Inside = false
	h.Add(early)
	h.Add(event("a", "[I", 77, "... java/util/Arrays.sort shop/Front.order java/util/HashMap.put"))
	h.Add(event("a", "[I", 78, "... shop/Front.block shop/Front.order")) // there is no such path
	got := h.Join()
	order := r.Tree.Threads[0].Roots[0].Children[0].Children[0]
	if diff := cmp.Diff([]cct.HeapSample{{Type: "int[]", Via: "java.util.HashMap.put()V", Samples: 1, Bytes: 77}}, order.Heap()); diff != "" || got.Unplaced != 1 {
		t.Errorf("%+v, -want +got:\n%s", got, diff)
	}
}

// TestHeapForms writes what was sampled, reads it again and adds it up.
func TestHeapForms(t *testing.T) {
	r := allocating()
	h := NewHeap(r)
	for _, e := range []HeapEvent{
		event("worker-number-one", "[I", 1, "shop/Front.serve"),
		event("worker-number-one", "[I", 500, "shop/Front.serve shop/Front.sort"),
		event("worker-number-one", "[I", 60, "shop/Front.serve shop/Front.sort"),
		event("worker-number-one", "[B", 200, "shop/Front.serve shop/Front.sort java/lang/StringBuilder.toString"),
	} {
		h.Add(e)
	}
	h.Join()
	var first, second, text bytes.Buffer
	if err := r.JSON(&first, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"heap_samples":[{"type":"int[]","samples":2,"bytes":560},{"type":"byte[]","via":"java.lang.StringBuilder.toString()V","samples":1,"bytes":200}]`,
		`"estimated_heap_bytes":560,"estimated_heap_total_bytes":560,"estimated_heap_below_bytes":200`,
		`"heap_sampling": {`,
	} {
		if !strings.Contains(first.String(), want) {
			t.Errorf("no %s in\n%s", want, first.String())
		}
	}
	again, err := export.ReadJSON(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.JSON(&second, export.JSONOptions{}); err != nil || first.String() != second.String() {
		t.Errorf("read again it is\n%s", second.String())
	}
	if err := export.Merge(r, again).Text(&text, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"46.9 KB", "~0 ", // of the points, which the compiler has removed
		"~1.10 KB ±81 %",
		"~400 B ± > 100 %", "byte[]  by java.lang.StringBuilder.toString\n",
		"~ estimated by 8 samples of the heap inside",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

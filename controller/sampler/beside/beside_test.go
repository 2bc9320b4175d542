package beside

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

const period = int64(10 * time.Millisecond)

var methods = map[string]*stack.Method{}

// frames are a stack of methods "pkg/Class.name", the outermost first; each lies at a place of its own.
func frames(path string, words uint64) []stack.Frame {
	var out []stack.Frame
	names := strings.Fields(path)
	for i := len(names) - 1; i >= 0; i-- {
		m := methods[names[i]]
		if m == nil {
			dot := strings.LastIndexByte(names[i], '.')
			m = &stack.Method{Class: names[i][:dot], Name: names[i][dot+1:], Desc: "()V"}
			methods[names[i]] = m
		}
		out = append(out, stack.Frame{Method: m, BCI: 1, Line: 10 + i, Slot: uint64(4096 - 8*i), Return: 1, Words: words})
	}
	return out
}

func sample(at int, thread string, state stack.State, path string, words uint64) stack.Stack {
	return stack.Stack{
		Time: int64(at) * period, Weight: period, TID: len(thread), Thread: thread, Java: true, State: state, Complete: true, Frames: frames(path, words),
	}
}

// recording has root -> {sort -> order, block} on two threads.
func recording() *export.Report {
	names := []string{"shop.Front.serve()V", "shop.Front.sort()V", "shop.Front.order()V", "shop.Front.block()V"}
	tree := func(calls int64) []*cct.Node {
		return []*cct.Node{{Method: 0, Calls: calls, Self: 1000, Children: []*cct.Node{
			{Method: 1, Calls: calls, Self: 5000, Children: []*cct.Node{{Method: 2, Calls: 40 * calls, Self: 3000}}},
			{Method: 3, Calls: calls, Self: 2000},
		}}}
	}
	r := &export.Report{
		Roots: names[:1], Scheme: "A", Clock: "tick", Time: time.Second,
		Tree: &cct.Snapshot{Threads: []*cct.Thread{
			{ID: 1, Name: "worker-number-one", Roots: tree(7), RootEntries: 7, RootReturns: 7}, {ID: 2, Name: "worker-number-two", Roots: tree(9), RootEntries: 9, RootReturns: 9},
		}},
		Lookup: func(id int32) (cct.Method, bool) { return cct.Method{Name: names[id], Loader: "app"}, true },
	}
	cct.Totals(r.Tree.Roots())
	return r
}

func samples(all []stack.Stack) *export.Report {
	c := collect.New(export.Target{}, pcct.Options{States: true, Lines: true})
	c.Add(all)
	return c.Report(collect.Source{Name: "perf", Mode: export.WallMode, Hz: 100}, "")
}

// TestJoin places samples by their frames.
func TestJoin(t *testing.T) {
	const front = "java/lang/Thread.run shop/Main.loop shop/Front.serve "
	var all []stack.Stack
	for i, s := range []struct {
		path  string
		state stack.State
	}{
		{front, stack.Running},
		{front + "shop/Front.sort java/util/Arrays.sort java/util/TimSort.sort shop/Front.order", stack.Running},
		{front + "shop/Front.sort java/util/Arrays.sort java/util/TimSort.sort", stack.Running},
		{front + "shop/Front.sort java/util/Arrays.sort", stack.Running},
		{front + "shop/Front.sort java/lang/Rivulet$1.enter jdk/internal/misc/Unsafe.getInt", stack.Running},
		{front + "shop/Front.block", stack.Blocked},
		{front + "shop/Front.block", stack.Blocked},
		{"java/lang/Thread.run shop/Main.loop shop/Front.sort", stack.Running}, // outside
		{"shop/Other.idle", stack.Waiting},
	} {
		all = append(all, sample(i+1, "worker-number-one", s.state, s.path, uint64(i)))
	}
	r, s := recording(), samples(all)
	if n := Join(r, s); n != 7 {
		t.Errorf("%d samples are inside", n)
	}
	root := r.Tree.Threads[0].Roots[0]
	sort, block := root.Children[0], root.Children[1]
	order := sort.Children[0]
	for _, c := range []struct {
		node  *cct.Node
		count int64
		ran   int64
	}{{root, 1, 1}, {sort, 3, 3}, {order, 1, 1}, {block, 2, 0}} {
		if k := c.node.Sample(); k == nil || k.Count != c.count || k.Ran != c.ran*period || k.Wall != c.count*period {
			t.Errorf("method %d: %+v", c.node.Method, k)
		}
	}
	if block.Sample().States[stack.Blocked] != 2 || !reflect.DeepEqual(block.Sample().Lines, []cct.Line{{Line: 13, Count: 2}}) {
		t.Errorf("%+v", block.Sample())
	}
	// What is below sort without the callback, and without the probes' own code.
	want := &cct.Callee{Callees: []*cct.Callee{{Name: "java.util.Arrays.sort()V", Samples: 2, Ran: 2 * period, Wall: 2 * period, Callees: []*cct.Callee{
		{Name: "java.util.TimSort.sort()V", Samples: 1, Ran: period, Wall: period},
	}}}}
	if !reflect.DeepEqual(sort.Below(), want) {
		t.Errorf("below sort: %+v", sort.Below().Callees)
	}
	// Figures for all forms: parts of the self time.
	if at := r.Tree.Metrics.Index("below"); at < 0 || sort.Counts.Own[at] != 5000*2/3 || order.Counts.Own[at] != 0 {
		t.Errorf("below: %+v", sort.Counts)
	}
	if at := r.Tree.Metrics.Index("blocked"); block.Counts.Own[at] != 2000 || root.Counts.Own[at] != 0 {
		t.Errorf("blocked: %+v", block.Counts)
	}
	if at := r.Tree.Metrics.Index("core"); root.Counts.Own[at] != 1000 || root.Counts.Total[at] != 1000+5000+3000 {
		t.Errorf("core: %+v", root.Counts)
	}
	if other := r.Tree.Threads[1].Roots[0]; other.Sample() != nil {
		t.Error("another thread has samples")
	}
	if root.Calls != 7 || sort.Self != 5000 || r.Estimates.Hz != 100 || r.CPU.Samples != 7 {
		t.Errorf("%+v %+v", r.Estimates, r.CPU)
	}
}

// TestForms writes estimates, reads them again and adds them up.
func TestForms(t *testing.T) {
	r := recording()
	Join(r, samples([]stack.Stack{
		sample(1, "worker-number-t", stack.Running, "shop/Front.serve shop/Front.sort java/util/Arrays.sort", 1), // as the kernel cuts it
		sample(2, "worker-number-t", stack.Waiting, "shop/Front.serve shop/Front.sort", 2),
	}))
	var first, second, text bytes.Buffer
	if err := r.JSON(&first, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"estimates":{"own_samples":1,"states":{"running":1,"waiting":1},"lines":[[11,1]],"callees":[{"method":"java.util.Arrays.sort()V","samples":1,"ran_ns":10000000,"wall_ns":10000000,"callees":[]}]}`,
		`"estimates": {`,
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
	for _, want := range []string{"~ java.util.Arrays.sort\n", "50 %", "~ estimated by 4 samples inside, at 100 Hz by perf"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestLate leaves out the invocation that was on when sampling began.
func TestLate(t *testing.T) {
	l := NewLate([]string{"shop.Front.serve", "shop.Front.sort()V"})
	const in, out = "shop/Main.loop shop/Front.serve shop/Front.sort", "shop/Main.loop"
	for i, s := range []struct {
		path  string
		words uint64
		left  bool
	}{
		{in, 1, true},
		{in + " java/util/Arrays.sort", 1, true},
		{in, 2, false}, // its caller went on
		{in, 1, false},
		{out, 1, false},
		{in, 1, false},
	} {
		if n := len(l.Filter([]stack.Stack{sample(i, "a", stack.Running, s.path, s.words)})); (n == 0) != s.left {
			t.Errorf("sample %d: %d are kept", i, n)
		}
	}
	if n := len(l.Filter([]stack.Stack{sample(1, "bb", stack.Running, out, 1), sample(2, "bb", stack.Running, in, 1)})); n != 2 {
		t.Error("an invocation that began later is left out")
	}
	if l.Left != 2 {
		t.Error(l.Left)
	}
}

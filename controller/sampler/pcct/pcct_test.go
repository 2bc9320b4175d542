package pcct

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

var methods = map[string]*stack.Method{}

func method(name string) *stack.Method {
	if methods[name] == nil {
		methods[name] = &stack.Method{Class: "C", Name: name, Desc: "()V"}
	}
	return methods[name]
}

// of makes a stack of "main a b", outermost first. A letter's frame lies at a place
// by its depth; "a2" is method a with other words, "a'" another return address.
func of(at int64, text string) *stack.Stack {
	s := &stack.Stack{Time: at, Weight: 10, TID: 1, Thread: "main", Java: true, State: stack.Running, Complete: true}
	for i, name := range strings.Fields(text) {
		bare := strings.TrimRight(name, "'0123456789")
		f := stack.Frame{Method: method(bare), Kind: stack.C1, BCI: -1, Slot: uint64(1<<20 - 64*i), Return: 1, Words: 1}
		if strings.Contains(name, "'") {
			f.Return = 2
		}
		if digits := strings.Trim(name, "'abcdefghijklmnopqrstuvwxyz"); digits != "" {
			f.Words = uint64(digits[0])
		}
		s.Frames = append([]stack.Frame{f}, s.Frames...)
	}
	return s
}

// text is the tree as "main 1/0+0 a 1/2+1": entries, samples, unsure, in preorder.
func text(t *Tree) string {
	var out []string
	for path, k := range paths(t) {
		path = strings.NewReplacer("C.", "", "()V", "").Replace(path)
		out = append(out, path+" "+itoa(k.entries)+"+"+itoa(k.unsure)+" "+itoa(k.samples))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func itoa(n int64) string { return string(rune('0' + n)) }

func TestEntries(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []string
		want    string // path entries+unsure samples
	}{
		{
			"one long activation is entered once",
			[]string{"main a b", "main a b2", "main a b3"},
			"main 1+0 0\nmain;a 1+0 0\nmain;a;b 1+2 3",
		},
		{
			"a caller that went on calls anew",
			[]string{"main a b", "main a2 b", "main a3 b"},
			"main 1+0 0\nmain;a 1+2 0\nmain;a;b 3+0 3",
		},
		{
			"and so is all below",
			[]string{"main a b c d", "main2 a b c d"},
			"main 1+0 0\nmain;a 2+0 0\nmain;a;b 2+0 0\nmain;a;b;c 2+0 0\nmain;a;b;c;d 2+0 2",
		},
		{
			"another call site",
			[]string{"main a b", "main a b'"},
			"main 1+0 0\nmain;a 1+1 0\nmain;a;b 2+0 2",
		},
		{
			"another callee",
			[]string{"main a b", "main a c"},
			"main 1+0 0\nmain;a 1+1 0\nmain;a;b 1+0 1\nmain;a;c 1+0 1",
		},
		{
			"the thread's first frame is sure",
			[]string{"main a", "main2 b"},
			"main 1+0 0\nmain;a 1+0 1\nmain;b 1+0 1",
		},
		{
			"recursion has contexts of its own",
			[]string{"main a a", "main a a a"},
			"main 1+0 0\nmain;a 1+0 0\nmain;a;a 1+1 1\nmain;a;a;a 1+0 1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := New(Options{Present: none})
			for i, s := range c.samples {
				tree.Add(of(int64(i+1), s))
			}
			if got := text(tree); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// none says that threads came after sampling had begun.
var none = map[int]bool{}

// TestPresent: what a thread does at its first sample may have begun before, unless
// it came later.
func TestPresent(t *testing.T) {
	for _, c := range []struct {
		present map[int]bool
		want    string
	}{
		{nil, "main 0+1 0\nmain;a 0+2 0\nmain;a;b 1+1 2"},
		{map[int]bool{1: true}, "main 0+1 0\nmain;a 0+2 0\nmain;a;b 1+1 2"},
		{map[int]bool{2: true}, "main 1+0 0\nmain;a 1+1 0\nmain;a;b 2+0 2"},
	} {
		tree := New(Options{Present: c.present})
		tree.Add(of(1, "main a b"))
		tree.Add(of(2, "main a b'"))
		if got := text(tree); got != c.want {
			t.Errorf("with %v: got\n%s\nwant\n%s", c.present, got, c.want)
		}
	}
}

// TestMoved: after a collection, other words prove nothing.
func TestMoved(t *testing.T) {
	tree := New(Options{Present: none})
	tree.Add(of(1, "main a b"))
	tree.Moved(1, 2)
	tree.Add(of(3, "main2 a2 b2"))
	tree.Add(of(4, "main2 a2 b2"))
	tree.Add(of(5, "main3 a2 b2"))
	if got, want := text(tree), "main 1+0 0\nmain;a 2+1 0\nmain;a;b 2+2 4"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMovedOften: what was long ago is not forgotten.
func TestMovedOften(t *testing.T) {
	tree := New(Options{Present: none})
	tree.Add(of(1, "main a b"))
	for i := range int64(1000) {
		tree.Moved(2+2*i, 3+2*i)
	}
	if len(tree.moves) > mostMoves || !tree.moved(1, 5) || !tree.moved(100, 5000) || tree.moved(2001, 5000) || tree.moved(1999, 2000) {
		t.Errorf("%d spans", len(tree.moves))
	}
	tree.Add(of(5000, "main2 a b"))
	if got, want := text(tree), "main 1+0 0\nmain;a 1+1 0\nmain;a;b 1+1 2"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBytecode: where the caller stands at another bytecode, it is another call.
func TestBytecode(t *testing.T) {
	tree := New(Options{Present: none})
	one, two := of(1, "main a b"), of(2, "main a b")
	one.Frames[1].BCI, two.Frames[1].BCI = 3, 9
	tree.Add(one)
	tree.Add(two)
	if got, want := text(tree), "main 1+0 0\nmain;a 1+1 0\nmain;a;b 2+0 2"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDetached: where outer frames are missing, the thread's previous stack tells
// where the rest belongs.
func TestDetached(t *testing.T) {
	tree := New(Options{Present: none})
	tree.Add(of(1, "main a b c"))
	half := of(2, "main a b d")
	half.Frames, half.Complete, half.Broken = half.Frames[:2], false, "no return address"
	tree.Add(half)
	lost := of(3, "main a x y")
	lost.Frames, lost.Complete, lost.Broken = lost.Frames[:2], false, "no return address"
	tree.Add(lost)
	tree.Add(of(4, "main a x y z"))
	want := "(callers not known) 1+0 0\n(callers not known);x 1+0 0\n(callers not known);x;y 1+0 1\n" +
		"main 1+0 0\nmain;a 1+0 0\nmain;a;b 1+1 0\nmain;a;b;c 1+0 1\nmain;a;b;d 1+0 1\nmain;a;x 0+0 0\nmain;a;x;y 0+1 0\nmain;a;x;y;z 1+0 1"
	if got := text(tree); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if s := tree.Stats(); s.Samples != 4 || s.Complete != 2 || s.Broken["no return address"] != 2 || s.Detached != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestDepth(t *testing.T) {
	tree := New(Options{Depth: 2, Present: none})
	tree.Add(of(1, "main a"))
	tree.Add(of(2, "main a b"))
	tree.Add(of(3, "main a b c"))
	if got, want := text(tree), "main 1+0 0\nmain;a 1+1 1\nmain;a;b 1+1 1\nmain;a;b;c 1+0 1"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestInlined: inlined frames share their caller's words, so that these say
// nothing of them while the code runs.
func TestInlined(t *testing.T) {
	add := func(tree *Tree, at int64, s string) {
		k := of(at, s)
		for i := range k.Frames {
			if k.Frames[i].Method.Name == "i" { // inlined into the next
				out := k.Frames[i+1]
				k.Frames[i].Kind, k.Frames[i].Slot, k.Frames[i].Words, k.Frames[i].Return = stack.Inlined, out.Slot, out.Words, out.Return
			}
		}
		tree.Add(k)
	}
	for _, c := range []struct{ name, one, two, want string }{
		{"innermost", "main a i", "main a i", "main 1+0 0\nmain;a 1+0 0\nmain;a;i 1+1 2"},
		{"innermost, changed", "main a i", "main a2 i", "main 1+0 0\nmain;a 1+0 0\nmain;a;i 1+1 2"},
		{"stands still", "main a i c", "main a i c2", "main 1+0 0\nmain;a 1+0 0\nmain;a;i 1+0 0\nmain;a;i;c 1+1 2"},
		{"went on", "main a i c", "main a2 i c", "main 1+0 0\nmain;a 1+0 0\nmain;a;i 1+1 0\nmain;a;i;c 2+0 2"},
	} {
		tree := New(Options{Present: none})
		add(tree, 1, c.one)
		add(tree, 2, c.two)
		if got := text(tree); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	tree := New(Options{Physical: true, Present: none})
	add(tree, 1, "main a i")
	if got, want := text(tree), "main 1+0 0\nmain;a 1+0 1"; got != want {
		t.Errorf("physical: got\n%s\nwant\n%s", got, want)
	}
}

// TestNoPlace: frames in the heap have no place, and may come back to the stack. They are the
// same activation or another, which nobody can tell.
func TestNoPlace(t *testing.T) {
	mine := &stack.Method{Class: "C", Name: "mine", Desc: "()V"}
	outer := &stack.Method{Class: "C", Name: "outer", Desc: "()V"}
	other := &stack.Method{Class: "C", Name: "other", Desc: "()V"}
	heap := func(m *stack.Method) stack.Frame { return stack.Frame{Method: m, BCI: -1, Return: 5} }
	there := func(m *stack.Method, slot uint64) stack.Frame {
		return stack.Frame{Method: m, BCI: -1, Slot: slot, Return: 6, Words: slot}
	}
	tree := New(Options{Present: map[int]bool{}})
	for i, frames := range [][]stack.Frame{
		{there(mine, 16), heap(outer)},
		{there(mine, 32), there(outer, 48)}, // both came back
		{there(mine, 16), heap(outer)},      // and left
		{there(other, 16), heap(outer)},     // another callee
	} {
		tree.Add(&stack.Stack{Time: int64(i + 1), Weight: 10, TID: 1, Thread: "carrier", Java: true, Frames: frames, Complete: true})
	}
	root := tree.Snapshot().Threads[0].Roots[0]
	if s := root.Sample(); root.Calls != 1 || s.Unsure < 2 {
		t.Errorf("outer: %d entries, %+v", root.Calls, s)
	}
	for _, c := range root.Children {
		if c.Calls < 1 {
			t.Errorf("%+v", c.Sample())
		}
	}
}

// TestReplaced: when the interpreter's frame is replaced by one of compiled code, it may be
// the same activation.
func TestReplaced(t *testing.T) {
	for _, c := range []struct {
		name, two string
		kind      stack.Kind
		want      string
	}{
		{"compiled now", "main a b", stack.C2, "main 1+0 0\nmain;a 1+1 0\nmain;a;b 2+0 2"},
		{"the caller went on", "main2 a b", stack.C2, "main 1+0 0\nmain;a 2+0 0\nmain;a;b 2+0 2"},
		{"the same kind elsewhere", "main a b", stack.Interpreted, "main 1+0 0\nmain;a 2+0 0\nmain;a;b 2+0 2"},
	} {
		tree := New(Options{Present: none})
		one, two := of(1, "main a b"), of(2, c.two)
		one.Frames[1].Kind, two.Frames[1].Kind = stack.Interpreted, c.kind
		two.Frames[1].Slot -= 8
		tree.Add(one)
		tree.Add(two)
		if got := text(tree); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestWithoutPlaces: a source that has no addresses says what it can.
func TestWithoutPlaces(t *testing.T) {
	tree := New(Options{Present: none})
	for i, s := range []string{"main a b", "main a b", "main a c"} {
		k := of(int64(i), s)
		for j := range k.Frames {
			k.Frames[j].Slot, k.Frames[j].Return, k.Frames[j].Words = 0, 0, 0
		}
		tree.Add(k)
	}
	if got, want := text(tree), "main 1+0 0\nmain;a 1+2 0\nmain;a;b 1+1 2\nmain;a;c 1+0 1"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOwnThreads(t *testing.T) {
	tree := New(Options{Present: none})
	for at := range int64(3) {
		tree.Add(&stack.Stack{Time: at, Weight: 5, TID: 3, Thread: "C2 CompilerThre", Java: true, Complete: true})
		tree.Add(&stack.Stack{Time: at, Weight: 5, TID: 4, Thread: "G1 Service"})
	}
	if got, want := text(tree), "(JIT compiler C2) 1+0 3\n(garbage collector) 1+0 3"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if s := tree.Stats(); s.Frameless != 6 {
		t.Errorf("%d samples without frames, want 6", s.Frameless)
	}
}

func TestLines(t *testing.T) {
	tree := New(Options{Lines: true})
	for i, line := range []int{7, 9, 7, 0} {
		s := of(int64(i), "main a")
		s.Frames[0].Line = line
		tree.Add(s)
	}
	lines := tree.Snapshot().Threads[0].Roots[0].Children[0].Sample().Lines
	if !slices.Equal(lines, []cct.Line{{Line: 7, Count: 2}, {Line: 9, Count: 1}}) {
		t.Errorf("lines %v", lines)
	}
}

func TestClassName(t *testing.T) {
	for class, want := range map[string]string{
		"a/B":                                "a/B",
		"a/B$$Lambda$13+0x00007f20100bfc58":  "a/B$$Lambda",
		"a/B$$Lambda+0x00007f20100bfc58":     "a/B$$Lambda",
		"a/B$$Lambda$14/0x0000000800c0":      "a/B$$Lambda",
		"a/B$$Lambda$14/1234567":             "a/B$$Lambda",
		"a/Hidden/0x7f20":                    "a/Hidden",
		"a/B$$Lambda$Thing":                  "a/B$$Lambda$Thing",
		"a/x0x1":                             "a/x0x1",
		"+0x1":                               "+0x1",
		"java/lang/invoke/LambdaForm$MH+0x1": "java/lang/invoke/LambdaForm$MH",
	} {
		if got := ClassName(class); got != want {
			t.Errorf("ClassName(%q) = %q, want %q", class, got, want)
		}
	}
}

// TestRanking holds the order against sorting.
func TestRanking(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	r := newRanking(bySamples)
	nodes := make([]*node, 50)
	for i := range nodes {
		nodes[i] = &node{hotAt: -1, busyAt: -1}
	}
	for range 3000 {
		n := nodes[rnd.IntN(len(nodes))]
		n.samples++
		r.rise(n)
		for i := range r.nodes {
			if int(r.nodes[i].hotAt) != i || i > 0 && r.nodes[i].samples > r.nodes[i-1].samples {
				t.Fatalf("out of order at %d", i)
			}
		}
	}
}

// TestMonitor has what a thread waits for below the method that waits, and counts no entries of it.
func TestMonitor(t *testing.T) {
	tree := New(Options{})
	m := &stack.Method{Class: "a/Main", Name: "take", Desc: "()V"}
	for i := range int64(3) {
		s := stack.Stack{Time: i + 1, Weight: 10, TID: 1, Thread: "main", Java: true, State: stack.Blocked, Complete: true, Monitor: "shop/Stock$Lock"}
		s.Frames = []stack.Frame{{Method: m, BCI: 3, Slot: 64, Return: 1, Words: 1}}
		if i == 2 {
			s.State = stack.Waiting
		}
		tree.Add(&s)
	}
	root := tree.Snapshot().Threads[0].Roots[0]
	lookup := tree.Lookup()
	got := map[string]int64{}
	for _, c := range root.Children {
		name, _ := lookup(c.Method)
		got[name.Name] = c.Sample().Count
		if c.Calls > 1 {
			t.Errorf("%s was entered %d times", name.Name, c.Calls)
		}
	}
	if len(got) != 2 || got["(blocked by the monitor of a shop.Stock$Lock)"] != 2 || got["(waits at a shop.Stock$Lock)"] != 1 || root.Sample() != nil && root.Sample().Count > 0 {
		t.Errorf("%v, %+v", got, root.Sample())
	}
}

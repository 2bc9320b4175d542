package pcct

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A program is a simulated thread: methods call each other at random, each frame
// has an address, and words that change whenever its method goes on.
type program struct {
	rnd     *rand.Rand
	methods []*stack.Method
	frames  []activation // outermost first
	calls   int64        // begun, by number
	words   uint64       // the last that was given out
}

type activation struct {
	number  int64
	method  int
	slot    uint64
	ret     uint64
	words   uint64
	inlined bool
}

func newProgram(seed uint64, methods int) *program {
	p := &program{rnd: rand.New(rand.NewPCG(seed, 1)), words: 1}
	for i := range methods {
		p.methods = append(p.methods, &stack.Method{Class: "p/C", Name: fmt.Sprint("m", i), Desc: "()V"})
	}
	p.call(0, false)
	return p
}

// call begins an activation. An inlined one lies in its caller's frame.
func (p *program) call(method int, inlined bool) {
	p.calls++
	a := activation{number: p.calls, method: method, slot: 1 << 40, ret: uint64(p.rnd.IntN(2) + 1)}
	if k := len(p.frames); k > 0 {
		above := p.frames[k-1]
		a.slot = above.slot - uint64(16+8*(method%3))
		if inlined {
			a.slot, a.ret, a.inlined = above.slot, above.ret, true
		}
	}
	p.frames = append(p.frames, a)
	p.goOn()
}

// goOn changes the words of the innermost physical frame.
func (p *program) goOn() {
	p.words++
	slot := p.frames[len(p.frames)-1].slot
	for i := len(p.frames) - 1; i >= 0 && p.frames[i].slot == slot; i-- {
		p.frames[i].words = p.words
	}
}

// step is a call, a return, or something that the innermost method does.
func (p *program) step() {
	switch k := len(p.frames); {
	case k < 3 || k < 12 && p.rnd.IntN(2) == 0:
		p.call(p.rnd.IntN(len(p.methods)), p.rnd.IntN(4) == 0)
	case p.rnd.IntN(5) > 0:
		p.frames = p.frames[:k-1]
		p.goOn()
	default:
		p.goOn()
	}
}

// sample is what a sampler sees.
func (p *program) sample(at int64) *stack.Stack {
	s := &stack.Stack{Time: at, Weight: 1000, TID: 7, Thread: "worker", Java: true, State: stack.Running, Complete: true}
	for i := len(p.frames) - 1; i >= 0; i-- {
		a := p.frames[i]
		f := stack.Frame{Method: p.methods[a.method], Kind: stack.C2, BCI: -1, Line: 10 + a.method, Slot: a.slot, Return: a.ret, Words: a.words}
		if a.inlined {
			f.Kind = stack.Inlined
		}
		s.Frames = append(s.Frames, f)
	}
	return s
}

func (p *program) path(upTo int) string {
	var names []string
	for _, a := range p.frames[:upTo+1] {
		names = append(names, fmt.Sprintf("p.C.m%d()V", a.method))
	}
	return strings.Join(names, ";")
}

// seen is what the tree has of each path.
type seen struct{ samples, entries, unsure int64 }

func paths(t *Tree) map[string]seen {
	out := map[string]seen{}
	lookup := t.Lookup()
	for _, th := range t.Snapshot().Threads {
		var path []string
		cct.Walk(th.Roots, func(n *cct.Node, _ int) bool {
			m, _ := lookup(n.Method)
			path = append(path, m.Name)
			k := seen{entries: n.Calls}
			if n.Sample() != nil {
				k.samples, k.unsure = n.Sample().Count, n.Sample().Unsure
			}
			out[strings.Join(path, ";")] = k
			return true
		}, func(*cct.Node, int) { path = path[:len(path)-1] })
	}
	return out
}

// TestOracle holds the tree against a program whose activations are known: samples
// by path are exact, and the activations that the samples met lie between the
// entries and the entries with those that are unsure.
func TestOracle(t *testing.T) {
	for seed := range uint64(40) {
		p := newProgram(seed, 2+int(seed%7))
		tree := New(Options{Present: none})
		samples := map[string]int64{}
		met := map[string]map[int64]bool{}
		for at := range int64(300) {
			for range p.rnd.IntN(6) {
				p.step()
			}
			tree.Add(p.sample(at))
			samples[p.path(len(p.frames)-1)]++
			for i, a := range p.frames {
				path := p.path(i)
				if met[path] == nil {
					met[path] = map[int64]bool{}
				}
				met[path][a.number] = true
			}
		}
		got := paths(tree)
		if len(got) != len(met) {
			t.Fatalf("seed %d: %d contexts, want %d", seed, len(got), len(met))
		}
		for path, numbers := range met {
			k, want := got[path], int64(len(numbers))
			if k.samples != samples[path] {
				t.Errorf("seed %d: %s has %d samples, want %d", seed, path, k.samples, samples[path])
			}
			if k.entries > want || k.entries+k.unsure < want {
				t.Errorf("seed %d: %s has %d entries and %d unsure, want %d", seed, path, k.entries, k.unsure, want)
			}
		}
	}
}

// TestUnsureIsTheEndOnly: without inlining, hardly anything is unsure but the end of
// what two stacks have in common.
func TestUnsureIsTheEndOnly(t *testing.T) {
	p := newProgram(5, 6)
	tree := New(Options{Present: none})
	for at := range int64(500) {
		p.step()
		if p.frames[len(p.frames)-1].inlined {
			p.frames[len(p.frames)-1].inlined = false
			p.frames[len(p.frames)-1].slot -= 16
		}
		tree.Add(p.sample(at))
	}
	var unsure int64
	for _, k := range paths(tree) {
		unsure += k.unsure
	}
	if unsure > 500 {
		t.Errorf("%d activations are unsure in 500 samples, want one in each at the most", unsure)
	}
}

// TestPurge fills a small tree: sums stay, and the bound holds.
func TestPurge(t *testing.T) {
	p := newProgram(9, 60)
	tree := New(Options{Nodes: LeastNodes})
	own := map[string]int64{}
	const samples = 20000
	for at := range int64(samples) {
		for range 3 {
			p.step()
		}
		tree.Add(p.sample(at))
		own[fmt.Sprintf("p.C.m%d()V", p.frames[len(p.frames)-1].method)]++
		if tree.Nodes() > LeastNodes {
			t.Fatalf("%d nodes, more than %d", tree.Nodes(), LeastNodes)
		}
	}
	s := tree.Snapshot()
	if st := tree.Stats(); st.Purges == 0 || st.Purged == 0 || st.Purged >= samples {
		t.Errorf("%d purges of %d samples", st.Purges, st.Purged)
	}
	nodes, self, purged := 0, int64(0), int64(0)
	for n := range cct.All(s.Roots()) {
		nodes++
		self += n.Self
		if n.Method == cct.Unplaced && n.Sample() != nil {
			purged += n.Sample().Count
		}
	}
	if nodes != tree.Nodes() || self != samples*1000 || purged != tree.Stats().Purged {
		t.Errorf("%d nodes, %d ns, %d purged; the tree says %d nodes, %d purged", nodes, self, purged, tree.Nodes(), tree.Stats().Purged)
	}
	lookup := tree.Lookup()
	got := map[string]int64{}
	for id, m := range tree.Methods() {
		if k, _ := lookup(int32(id)); m.Self > 0 {
			got[k.Name] = m.Self
		}
	}
	if !maps.Equal(got, own) {
		t.Errorf("samples by method are %v, want %v", got, own)
	}
	for i, c := range tree.Hot(1 << 20) {
		if next := tree.Hot(i + 2); i+1 < len(next) && next[i+1].Samples > c.Samples {
			t.Fatalf("hot contexts are out of order at %d", i)
		}
		if i > 200 {
			break
		}
	}
}

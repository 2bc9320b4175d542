package pcct

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// TestKept holds what is made of samples that share their frames against what is made of copies: everything is equal,
// whatever comes between, while objects are moved, in a tree that is purged, with frames whose places are not known.
func TestKept(t *testing.T) {
	repeated, purged := 0, false
	for seed := range uint64(60) {
		p := newProgram(seed, 2+int(seed%7))
		o := Options{Present: none, Lines: true, States: true, Physical: seed%3 == 1}
		if seed%5 == 4 {
			o.Depth = 4
		}
		kept, copied := New(o), New(o)
		if seed%2 == 1 {
			kept.o.Nodes, copied.o.Nodes = 40, 40 // New would not take as few
		}
		var shared *stack.Stack
		for at := range int64(600) {
			s := shared
			if shared == nil || p.rnd.IntN(6) == 0 {
				for range p.rnd.IntN(6) {
					p.step()
				}
				s = p.sample(at)
				shared = nil
				if p.rnd.IntN(3) > 0 {
					s.Kept, s.State = true, stack.Waiting
					if p.rnd.IntN(3) == 0 {
						s.Monitor = "p/Lock"
					}
					if p.rnd.IntN(4) == 0 {
						s.Frames[p.rnd.IntN(len(s.Frames))].Slot = 0
					}
					s.Complete = p.rnd.IntN(8) > 0
					shared = s
				}
			} else {
				repeated++
				if p.rnd.IntN(20) == 0 {
					s.Monitor = "p/Other"
				}
			}
			if p.rnd.IntN(10) == 0 {
				kept.Moved(at-1, at)
				copied.Moved(at-1, at)
			}
			s.Time = at
			plain := *s
			plain.Kept, plain.Frames = false, slices.Clone(s.Frames)
			kept.Add(s)
			copied.Add(&plain)
		}
		purged = purged || kept.Stats().Purges > 0
		if a, b := paths(kept), paths(copied); !maps.Equal(a, b) {
			t.Fatalf("seed %d: %v, want %v", seed, a, b)
		}
		if a, b := kept.Methods(), copied.Methods(); !slices.Equal(a, b) {
			t.Fatalf("seed %d: %v, want %v", seed, a, b)
		}
		if !reflect.DeepEqual(kept.Snapshot(), copied.Snapshot()) {
			t.Fatalf("seed %d: snapshots differ", seed)
		}
		if a, b := kept.Stats(), copied.Stats(); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: %+v, want %+v", seed, a, b)
		}
	}
	if repeated == 0 || !purged {
		t.Fatalf("%d samples shared their frames; purged: %t", repeated, purged)
	}
}

package session

import (
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// TestFirstPlan: Scheme A's closure, by which probes are chosen, is the recording's
// first plan, unless classes have come since or the recording is another one.
func TestFirstPlan(t *testing.T) {
	root := cha.MethodID{Class: cha.ClassID{Loader: 1, Name: "A"}, Name: "root", Desc: "()V"}
	for _, c := range []struct {
		name   string
		make   func(*cha.Hierarchy) scheme.Scheme
		change bool
		same   bool
		again  bool
	}{
		{"A", scheme.NewA, false, true, false},
		{"A, with a new class", scheme.NewA, true, false, true},
		{"C", scheme.NewC, false, false, true},
		{"a timing", scheme.NewTimed, false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := cha.New()
			h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderApp})
			h.Add(&cha.ClassMirror{ID: root.Class, Methods: []cha.Method{{Name: root.Name, Desc: root.Desc, Access: 8, HasCode: true}}})
			l := &loop{h: h}
			a := scheme.NewA(h)
			l.closure = closure{a, a.Roots([]cha.MethodID{root}), h.Epoch()}
			if c.change {
				h.Add(&cha.ClassMirror{ID: cha.ClassID{Loader: 1, Name: "B"}, Methods: []cha.Method{}})
			}
			p, again := l.firstPlan(c.make, []cha.MethodID{root})
			if again != c.again || (l.scheme == a) != c.same || l.scheme.Name() != c.make(h).Name() {
				t.Errorf("made again %t, the same scheme %t", again, l.scheme == a)
			}
			if len(p.Steps) != 1 || p.Steps[0].Method != root || !p.Steps[0].Root {
				t.Errorf("steps %v", p.Steps)
			}
			if p, again := l.firstPlan(scheme.NewA, []cha.MethodID{root}); again || !slices.ContainsFunc(p.Steps, func(s scheme.Step) bool { return s.Method == root }) {
				t.Errorf("another recording: %v, made again %t", p.Steps, again)
			}
		})
	}
}

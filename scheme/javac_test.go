package scheme

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/cha/chatest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

var compile = cha.MethodID{
	Class: cha.ClassID{Loader: 1, Name: "com/sun/tools/javac/main/JavaCompiler"}, Name: "compile",
	Desc: "(Ljava/util/Collection;Ljava/util/Collection;Ljava/lang/Iterable;Ljava/util/Collection;)V",
}

// javac returns the hierarchy of a JVM that has loaded all of java.base, of
// whose classes only names are known unless more is needed, and javac as an
// application.
func javac(t testing.TB, j jvmtest.JDK) *cha.Hierarchy {
	t.Helper()
	h := cha.New()
	h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderApp})
	base := map[string]*classfile.Class{}
	for _, b := range chatest.Dump(t, j, "module:java.base", "module:java.compiler") {
		c, err := classfile.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		base[c.Name()] = c
		h.Add(&cha.ClassMirror{ID: cha.ClassID{Name: c.Name()}, Super: c.Super(), Interfaces: c.Interfaces(), Access: uint16(c.Access)})
	}
	files := chatest.Dump(t, j, "module:jdk.compiler")
	start := time.Now()
	for _, b := range files {
		h.Add(chatest.Mirror(t, 1, b))
	}
	need := h.NeedBytes()
	for _, id := range need {
		m, err := cha.NewMirror(id, base[id.Name])
		if err != nil {
			t.Fatal(err)
		}
		h.Add(m)
	}
	t.Logf("%d classes, %d with lambdas; %d mirrored, %d more needed, in %v", len(base)+len(files), h.Len(), len(files), len(need), time.Since(start))
	if need := h.NeedBytes(); len(need) > 0 {
		t.Errorf("still needed: %v", need)
	}
	return h
}

// TestClosure checks that A, at once, and B and C, when each method that they
// give is entered, instrument the same methods of javac.
func TestClosure(t *testing.T) {
	h := javac(t, jvmtest.Any(t))
	start := time.Now()
	a := map[cha.MethodID]bool{}
	for _, s := range NewA(h).Roots([]cha.MethodID{compile}).Steps {
		if a[s.Method] {
			t.Errorf("%v twice", s.Method)
		}
		a[s.Method] = true
	}
	t.Logf("A: %d methods in %v", len(a), time.Since(start))
	for _, b := range []Scheme{NewB(h), NewC(h)} {
		start = time.Now()
		all, traps, longest := 0, 0, time.Duration(0)
		fresh := map[cha.MethodID]bool{}
		do := func(p Plan) (steps []Step) {
			for _, s := range p.Steps {
				fresh[s.Method] = s.Fresh
			}
			for _, m := range p.Revealed {
				fresh[m] = false
			}
			return p.Steps
		}
		for steps := do(b.Roots([]cha.MethodID{compile})); len(steps) > 0; steps = steps[1:] {
			s := steps[0]
			all++
			if !a[s.Method] {
				t.Errorf("%v is not in A", s.Method)
			}
			if fresh[s.Method] {
				before := time.Now()
				steps = append(steps, do(b.Entered(s.Method))...)
				longest = max(longest, time.Since(before))
				traps++
			}
		}
		t.Logf("%s: %d methods, %d traps in %v, longest %v", b.Name(), all, traps, time.Since(start), longest)
		if all != len(a) || all < 5000 {
			t.Errorf("A has %d methods, %s %d", len(a), b.Name(), all)
		}
	}
}

func BenchmarkA(b *testing.B) {
	h := javac(b, jvmtest.Any(b))
	for b.Loop() {
		NewA(h).Roots([]cha.MethodID{compile})
	}
}

// BenchmarkC plans the root with its look ahead.
func BenchmarkC(b *testing.B) {
	h := javac(b, jvmtest.Any(b))
	for b.Loop() {
		NewC(h).Roots([]cha.MethodID{compile})
	}
}

// BenchmarkLoaded announces the second half of javac's classes, in an order
// without regard to their supertypes, to a scheme that is at work.
func BenchmarkLoaded(b *testing.B) {
	h := javac(b, jvmtest.Any(b))
	var late []*cha.ClassMirror
	h.Classes(func(m *cha.ClassMirror) bool {
		if m.ID.Loader == 1 && len(late) < 800 && m.ID != compile.Class {
			late = append(late, m)
		}
		return true
	})
	for b.Loop() {
		b.StopTimer()
		for _, m := range late {
			h.Remove(m.ID)
		}
		s := NewA(h)
		s.Roots([]cha.MethodID{compile})
		b.StartTimer()
		var entered, steps int
		var longest time.Duration
		for _, m := range late {
			before := time.Now()
			h.Add(m)
			h.NeedBytes()
			p := s.Loaded(m.ID)
			for _, st := range p.Steps {
				if st.Fresh && steps%3 == 0 {
					s.Entered(st.Method)
					entered++
				}
				steps++
			}
			longest = max(longest, time.Since(before))
		}
		b.ReportMetric(float64(steps), "steps")
		b.ReportMetric(float64(entered), "entered")
		b.ReportMetric(float64(longest.Microseconds()), "longest-us")
	}
}

package cha_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/cha/chatest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestTargets compiles each case and compares what the calls of the methods
// named in "methods" reach with "want". A call that reaches nothing has a line
// of its own; calls of the JDK are left out unless they reach the program. The
// classes that a method can initialize follow.
// To accept new answers: go test ./cha -update
func TestTargets(t *testing.T) {
	j := jvmtest.Any(t)
	for _, file := range jvmtest.Cases(t, "testdata/*.txtar") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar := jvmtest.Open(t, file)
			h := chatest.Hierarchy(t, j, ar.Compile(t, j, 17))
			if need := h.NeedBytes(); need != nil {
				t.Errorf("NeedBytes() = %v", need)
			}
			var got []string
			for _, name := range ar.Lines("methods") {
				lines := answers(h, name)
				if lines == nil {
					t.Errorf("no method %s with code", name)
				}
				got = append(got, lines...)
			}
			ar.Golden(t, "want", got)
		})
	}
}

// answers lists what the methods called pkg.Class.name reach.
func answers(h *cha.Hierarchy, name string) (lines []string) {
	var ms []*cha.ClassMirror
	h.Classes(func(m *cha.ClassMirror) bool { ms = append(ms, m); return true })
	slices.SortFunc(ms, func(a, b *cha.ClassMirror) int { return a.ID.Compare(b.ID) })
	for _, m := range ms {
		for _, d := range m.Methods {
			if m.Excluded || !d.HasCode || m.ID.String()+"."+d.Name != name {
				continue
			}
			lines = append(lines, cha.MethodID{Class: m.ID, Name: d.Name, Desc: d.Desc}.String()+":")
			for _, c := range d.Calls {
				lines = append(lines, answer(h, m.ID, c)...)
			}
			for _, name := range d.Inits {
				if !strings.HasPrefix(name, "java/") {
					lines = append(lines, "  init "+strings.ReplaceAll(name, "/", "."))
				}
			}
		}
	}
	return lines
}

func answer(h *cha.Hierarchy, from cha.ClassID, c cha.Call) (lines []string) {
	for _, id := range h.Targets(from, c) {
		if !h.Class(id.Class).Excluded {
			lines = append(lines, "  "+c.String()+" -> "+id.String())
		}
	}
	if lines == nil && !strings.HasPrefix(c.Owner, "java/") {
		lines = append(lines, "  "+c.String()+" ->")
	}
	return lines
}

// TestMirrorJDK mirrors every class of java.base.
func TestMirrorJDK(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		h, calls, lambdas := cha.New(), 0, 0
		for _, b := range chatest.Dump(t, j, "module:java.base") {
			m := chatest.Mirror(t, 0, b)
			h.Add(m)
			for i := range m.Methods {
				calls += len(m.Methods[i].Calls)
			}
			lambdas += len(m.Lambdas)
		}
		if calls < 100_000 || lambdas < 500 {
			t.Errorf("%d calls, %d lambdas in %d classes", calls, lambdas, h.Len())
		}
		h.Classes(func(m *cha.ClassMirror) bool {
			if missing := h.Missing(m.ID); missing != nil {
				t.Errorf("%v: missing %v", m.ID, missing)
			}
			return true
		})
	}, 17, 25)
}

// FuzzMirror mirrors whatever parses.
func FuzzMirror(f *testing.F) {
	for _, b := range chatest.Dump(f, jvmtest.Any(f), "java/lang/Object", "java/util/function/Function", "java/util/Comparator", "java/lang/Enum") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		cf, err := classfile.Parse(b)
		if err != nil {
			return
		}
		m, err := cha.NewMirror(cha.ClassID{Loader: 1, Name: cf.Name()}, cf)
		if err != nil {
			if m != nil {
				t.Error("a mirror with an error")
			}
			return
		}
		h := cha.New()
		h.Add(m)
		for i := range m.Methods {
			for _, c := range m.Methods[i].Calls {
				h.Targets(m.ID, c)
			}
		}
		h.Callbacks(func(cha.Hit) {})
	})
}

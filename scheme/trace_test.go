package scheme

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/cha/chatest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestTrace runs programs in a JVM, tells the schemes which classes were loaded
// and which methods were entered, in the order in which it happened, and checks
// that each method was planned before it was entered.
func TestTrace(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		for _, file := range jvmtest.Cases(t, "testdata/*.txtar") {
			t.Run(filepath.Base(file), func(t *testing.T) { trace(t, j, jvmtest.Open(t, file)) })
		}
	}, 17, 25)
}

func trace(t *testing.T, j jvmtest.JDK, ar *jvmtest.Archive) {
	files := ar.Java()
	files["truth/T.java"] = chatest.Truth
	dir := jvmtest.Compile(t, j, 17, files)
	f := strings.Fields(ar.Lines("root")[0])
	root := cha.MethodID{Class: cha.ClassID{Loader: 1, Name: f[0]}, Name: f[1], Desc: f[2]}

	app, classes, platform := map[string]bool{}, map[string]*cha.ClassMirror{}, []string{"java/lang/Object"}
	for _, m := range chatest.Mirrors(t, dir, 1) {
		if !strings.HasPrefix(m.ID.Name, "truth/") {
			app[m.ID.Name], classes[m.ID.Name] = true, m
			platform = append(append(platform, m.Super), m.Interfaces...)
			for _, l := range m.Lambdas {
				platform = append(platform, l.Interfaces...)
			}
		}
	}
	platform = slices.DeleteFunc(platform, func(name string) bool { return app[name] })
	boot := map[string]*cha.ClassMirror{}
	for _, m := range chatest.Platform(t, j, platform...) {
		boot[m.ID.Name] = m
	}
	events := chatest.Trace(t, j, dir, strings.ReplaceAll(f[0], "/", "."), app)
	for _, make := range []func(*cha.Hierarchy) Scheme{NewA, NewB, NewC} {
		h := cha.New()
		h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderApp})
		h.SetPolicy(func(id cha.ClassID, l cha.Loader) bool {
			for _, prefix := range ar.Lines("exclude") {
				if strings.HasPrefix(id.Name, prefix) {
					return true
				}
			}
			return cha.ExcludeJDK(id, l)
		})
		r := &replay{t: t, h: h, s: make(h), root: root, classes: classes, boot: boot, planned: map[cha.MethodID]bool{}, called: map[cha.MethodID]bool{}}
		r.do(r.s.Roots([]cha.MethodID{root}))
		for _, e := range events {
			r.event(e)
		}
		t.Logf("%s: %d instrumented, %d called, %d traps, late %v", r.s.Name(), len(r.planned), len(r.called), r.traps, r.also)
		if len(r.called) < 10 {
			t.Error("the program was not traced")
		}
	}
}

type replay struct {
	t             *testing.T
	h             *cha.Hierarchy
	s             Scheme
	root          cha.MethodID
	classes, boot map[string]*cha.ClassMirror
	planned       map[cha.MethodID]bool // true while fresh
	called        map[cha.MethodID]bool
	traps         int
	also          []cha.MethodID
}

func (r *replay) do(p Plan) {
	for _, s := range slices.Concat(p.Steps, p.Also) {
		if _, ok := r.planned[s.Method]; ok && !s.Root {
			r.t.Errorf("%v is given twice", s.Method)
		}
		r.planned[s.Method] = s.Fresh
	}
	for _, s := range p.Also {
		r.also = append(r.also, s.Method)
	}
	for _, m := range p.Revealed {
		r.planned[m] = false
	}
}

func (r *replay) event(e chatest.Event) {
	m := r.classes[e.Class]
	if m == nil {
		m = r.boot[e.Class]
	}
	if m != nil {
		c := *m
		c.Methods = slices.Clone(c.Methods) // the hierarchy's own
		r.h.Add(&c)
		if l, ok := r.s.(Loader); ok && slices.Contains(e.Stack, r.root) {
			r.do(l.LoadedInside(c.ID))
		} else {
			r.do(r.s.Loaded(c.ID))
		}
	}
	i := slices.Index(e.Stack, r.root)
	if i < 0 {
		return
	}
	for _, m := range e.Stack[i:] {
		if m.Class.Loader == 0 || strings.Contains(m.Class.Name, "$$Lambda") {
			continue
		}
		fresh, ok := r.planned[m]
		if c := r.h.Class(m.Class); c != nil && c.Excluded {
			if ok {
				r.t.Errorf("%v is excluded, and a step", m)
			}
			continue
		}
		if !ok {
			r.t.Errorf("%s: %v is not instrumented; stack %v", r.s.Name(), m, e.Stack[i:])
			r.planned[m] = false
			continue
		}
		r.called[m] = true
		if fresh {
			r.traps++
			r.do(r.s.Entered(m))
		}
	}
}

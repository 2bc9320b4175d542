package cha_test

import (
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
)

func TestStrings(t *testing.T) {
	id := cha.MethodID{Class: cha.ClassID{Loader: 3, Name: "p/Outer$Inner"}, Name: "m", Desc: "(Ljava/lang/String;)I"}
	if got, want := id.String(), "p.Outer$Inner.m(Ljava/lang/String;)I"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c := cha.Call{Kind: cha.Handle, Ref: cha.Static, Owner: "p/C", Name: "m", Desc: "()V"}
	if got, want := c.String(), "handle/static p.C.m()V"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPolymorphic calls methods that have any descriptor, and some beside them
// that don't.
func TestPolymorphic(t *testing.T) {
	object := cha.ClassID{Name: "java/lang/Object"}
	handle := cha.ClassID{Name: "java/lang/invoke/MethodHandle"}
	h := cha.New()
	h.Add(&cha.ClassMirror{ID: object, Methods: []cha.Method{}})
	h.Add(&cha.ClassMirror{ID: handle, Super: object.Name, Methods: []cha.Method{
		{Name: "invokeExact", Desc: "(I)V", HasCode: true, Access: 1},
		{Name: "invokeWithArguments", Desc: "(I)V", HasCode: true, Access: 1},
	}})
	for name, want := range map[string]int{"invokeExact": 0, "invokeWithArguments": 1} {
		c := cha.Call{Kind: cha.Virtual, Owner: handle.Name, Name: name, Desc: "(I)V"}
		if got := h.Targets(object, c); len(got) != want {
			t.Errorf("%v reaches %v", c, got)
		}
		if got := cha.Reflective(&cha.Method{Calls: []cha.Call{c}}); len(got) != 1 {
			t.Errorf("%v is not among the reflective calls", c)
		}
	}
}

func TestMerge(t *testing.T) {
	h := cha.New()
	h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderApp})
	id := cha.ClassID{Loader: 1, Name: "p/C"}
	list := func() *cha.ClassMirror {
		return &cha.ClassMirror{ID: id, Super: "p/B", Exact: []cha.ClassID{{Loader: 1, Name: "p/B"}}}
	}
	h.Add(list())
	if got := h.NeedBytes(); !slices.Equal(got, []cha.ClassID{id}) {
		t.Errorf("NeedBytes() = %v", got)
	}
	h.Add(&cha.ClassMirror{ID: id, Super: "p/B", Methods: []cha.Method{{Name: "m", Desc: "()V", HasCode: true}}, Initialized: true})
	if got := h.Missing(id); !slices.Equal(got, []string{"p/B"}) {
		t.Errorf("Missing() = %v", got)
	}
	before := h.Epoch()
	h.Add(list())
	if c := h.Class(id); c.Methods == nil || c.Exact == nil || !c.Initialized || h.Epoch() == before {
		t.Errorf("after a second listing: %+v", c)
	}
	if got := h.NeedBytes(); got != nil {
		t.Errorf("NeedBytes() = %v", got)
	}
	h.Add(&cha.ClassMirror{ID: cha.ClassID{Loader: 1, Name: "p/B"}, Super: "java/lang/Object", NoBytes: true})
	h.Remove(id)
	if h.Class(id) != nil || h.Len() != 1 || len(h.Named("p/C")) != 0 || h.NeedBytes() != nil {
		t.Errorf("%d classes after Remove, NeedBytes() = %v", h.Len(), h.NeedBytes())
	}
	h.Add(&cha.ClassMirror{ID: cha.ClassID{Name: "[I"}})
	if h.Len() != 1 {
		t.Error("an array is a class")
	}
}

// TestCircle adds classes that the JVM will refuse.
func TestCircle(t *testing.T) {
	h := cha.New()
	for loader := range uint32(3) {
		h.AddLoader(cha.Loader{ID: loader + 1})
		for _, c := range [][2]string{{"A", "B"}, {"B", "C"}, {"C", "A"}} {
			h.Add(&cha.ClassMirror{ID: cha.ClassID{Loader: loader + 1, Name: c[0]}, Super: c[1], Methods: []cha.Method{}})
		}
	}
	h.Remove(cha.ClassID{Loader: 1, Name: "A"})
	for _, kind := range []cha.CallKind{cha.Virtual, cha.Special, cha.Static} {
		if got := h.Targets(cha.ClassID{Loader: 1, Name: "B"}, cha.Call{Kind: kind, Owner: "C", Name: "m", Desc: "()V"}); got != nil {
			t.Errorf("Targets = %v", got)
		}
	}
}

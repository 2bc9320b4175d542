package scheme

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
)

// TestFilter hides methods: they get no probes, what they call does, in the
// plan of their caller; a root is never hidden.
func TestFilter(t *testing.T) {
	mirrors := func() *cha.Hierarchy {
		h := app(
			class("A", object, 0, "root static >H.one >A.two", "two static >H.two"),
			class("H", object, 0, "one static >H.two >B.b", "two static ~H.v", "v", "nat static native"),
			class("B", object, 0, "b static >B.c", "c static"),
		)
		h.SetFilter(func(c *cha.ClassMirror, m *cha.Method) bool { return c.ID.Name == "H" })
		return h
	}
	const hidden = "H.one!hidden by the filter H.two!hidden by the filter H.v!hidden by the filter"
	roots := []cha.MethodID{mid("A.root")}

	h := mirrors()
	want(t, "A", NewA(h).Roots(roots), "A.two B.b B.c "+hidden+" root:A.root")
	for _, late := range []*cha.ClassMirror{class("H2", "H", 0, "v >B.b"), class("H3", "H", 0, "v >B.b")} {
		h.Add(late)
	}
	if m := h.Method(mid("H2.v")); m == nil || m.Filtered {
		t.Error("a later class is filtered by another's name")
	}

	s := NewB(mirrors())
	s.Roots(roots)
	want(t, "B", s.Entered(mid("A.root")), "=A.root "+hidden+" fresh:A.two fresh:B.b")
	want(t, "a hidden method as a root", s.Roots([]cha.MethodID{mid("H.two")}), "root:H.two")

	s = NewC(mirrors())
	want(t, "C", s.Roots(roots), "=A.root =A.two =B.b B.c "+hidden+" fresh:A.two fresh:B.b fresh:root:A.root")

	s = NewB(mirrors())
	want(t, "hidden root first", s.Roots([]cha.MethodID{mid("H.one")}), "fresh:root:H.one")
	want(t, "its entry", s.Entered(mid("H.one")), "=H.one H.two!hidden by the filter H.v!hidden by the filter fresh:B.b")

	h = mirrors()
	h.SetFilter(nil)
	want(t, "no filter", NewA(h).Roots(roots), "A.two B.b B.c H.one H.two H.v root:A.root")
}

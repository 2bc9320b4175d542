package session

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
)

// TestTypes asks for classes as the verifier does.
func TestTypes(t *testing.T) {
	h := cha.New()
	for _, id := range []uint32{1, 2} {
		h.AddLoader(cha.Loader{ID: id, Kind: cha.LoaderOther})
	}
	for _, m := range []*cha.ClassMirror{
		{ID: cha.ClassID{Loader: 1, Name: "a/Twice"}, Super: "a/One"},
		{ID: cha.ClassID{Loader: 2, Name: "a/Twice"}, Super: "a/Other"},
		{ID: cha.ClassID{Loader: 1, Name: "a/One"}, Super: "java/lang/Object"},
		{ID: cha.ClassID{Name: "java/lang/Runnable"}, Super: "java/lang/Object", Access: 0x0600},
	} {
		h.Add(m)
	}
	for _, c := range []struct {
		loader      uint32
		name, super string
		iface, ok   bool
	}{
		{1, "a/Twice", "a/One", false, true},
		{2, "a/Twice", "a/Other", false, true},
		{0, "a/Twice", "", false, false}, // it can be either
		{2, "a/One", "java/lang/Object", false, true},
		{2, "java/lang/Runnable", "java/lang/Object", true, true},
		{2, "a/None", "", false, false},
	} {
		super, iface, ok := types{h, c.loader}.Class(c.name)
		if super != c.super || iface != c.iface || ok != c.ok {
			t.Errorf("%s in loader %d: %q %v %v", c.name, c.loader, super, iface, ok)
		}
	}
}

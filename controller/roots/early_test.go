package roots

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
)

// TestHanging has classes that are above themselves, as class files may claim.
func TestHanging(t *testing.T) {
	c := New(cha.New(), nil, false)
	c.h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderApp})
	for name, super := range map[string]string{
		"a/Self": "a/Self", "a/One": "a/Two", "a/Two": "a/One", "a/Whole": "java/lang/Object", "a/Below": "a/Whole", "a/Open": "a/Unknown", "a/Under": "a/Open",
	} {
		c.h.Add(&cha.ClassMirror{ID: cha.ClassID{Loader: 1, Name: name}, Super: super})
	}
	for name, want := range map[string]bool{
		"a/Self": true, "a/One": true, "a/Two": true, "a/Whole": false, "a/Below": false, "a/Open": true, "a/Under": true,
	} {
		if got := c.Hanging(c.h.Class(cha.ClassID{Loader: 1, Name: name})); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

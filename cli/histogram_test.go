package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// TestByLoader: arrays count for their elements' loader, and a class that several loaders have loaded for none of them.
func TestByLoader(t *testing.T) {
	count := func(class string, objects, more int64) classCountJSON {
		return classCountJSON{ClassCount: attach.ClassCount{Class: class, Objects: objects, Bytes: 10 * objects}, MoreObjects: more, MoreBytes: 10 * more}
	}
	j := &histogramJSON{Classes: []classCountJSON{count("byte[]", 5, 0), count("a.B", 3, 2), count("a.B[][]", 1, 0), count("a.Two", 7, 1), count("java.lang.String", 4, -1)}}
	first, second := vmstructs.Loader{Number: 1, Class: "x/Loader"}, vmstructs.Loader{Number: 2, Class: "x/Loader"}
	j.sumLoaders([]vmstructs.Class{{Name: "java/lang/String"}, {Name: "a/B", Loader: first}, {Name: "a/Two", Loader: first}, {Name: "a/Two", Loader: second}})
	want := []loaderCountJSON{
		{"x.Loader #1", 2, 4, 40, 2, 20}, {severalLoaders, 1, 7, 70, 1, 10}, {"", 2, 9, 90, -1, -10},
	}
	if !slices.Equal(j.Loaders, want) || j.Classes[2].Loader != "x.Loader #1" {
		t.Errorf("%+v\n%+v", j.Loaders, j.Classes)
	}
	var b strings.Builder
	if err := writeHistogram(&b, j, 2, true); err != nil || !strings.Contains(b.String(), "+20 B  +2       40 B") || strings.Contains(b.String(), "the JVM's own") {
		t.Errorf("%v: %s", err, b.String())
	}
}

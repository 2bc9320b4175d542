package heap

import (
	"errors"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
	"github.com/rivulet-profiler/rivulet/controller/hprof/hproftest"
)

func TestFind(t *testing.T) {
	w := hproftest.New(8)
	w.Class(0x1000, "java/lang/Object", 0, 0, nil, nil, 0)
	w.Class(0x1100, "java/lang/String", 0x1000, 0, nil, []hproftest.Field{hproftest.Of("value", hprof.Object, 0)}, 8)
	w.Class(0x1200, "p/Session", 0x1000, 0, []hproftest.Field{hproftest.Of("all", hprof.Object, 0x2000)},
		[]hproftest.Field{hproftest.Of("user", hprof.Object, 0), hproftest.Of("age", hprof.Int, 0), hproftest.Of("open", hprof.Boolean, 0)}, 13)
	w.Class(0x1300, "[Ljava/lang/Object;", 0x1000, 0, nil, nil, 0)
	w.Prims(0x3000, hprof.Byte, []byte("Ada"))
	w.Instance(0x3100, 0x1100, hproftest.Refs(0x3000))
	for i := range 5 {
		user := uint64(0)
		if i == 3 {
			user = 0x3100
		}
		w.Instance(0x4000+64*uint64(i), 0x1200, append(hproftest.Refs(user), hproftest.Bits(hprof.Int, uint64(10*i)), hproftest.Bits(hprof.Boolean, uint64(i%2))))
	}
	w.Objects(0x2000, 0x1300, 0x4000, 0x4040, 0x4080, 0x40c0, 0x4100)
	h, err := openBytes(t, w.Bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		class, find string
		matching    int64
		first       string
	}{
		{"p.Session", "", 5, "0x40c0"},
		{"p.*", "fields.age > 15 and not fields.open", 2, "0x4080"},
		{"", `fields.user == "Ada"`, 1, "0x40c0"},
		{"", "fields.age >= 40", 1, "0x4100"},
		{"", "length == 5 and class contains '[]'", 1, "0x2000"},
		{"*", "retained > shallow", 3, "0x2000"},
		{"no.Such", "true", 0, ""},
	} {
		got, err := h.Find(t.Context(), c.class, c.find, 10, Options{})
		if err != nil {
			t.Errorf("%s %s: %v", c.class, c.find, err)
			continue
		}
		first := ""
		if len(got.Objects) > 0 {
			first = got.Objects[0].Object
		}
		if got.Matching != c.matching || first != c.first {
			t.Errorf("%s %s: %d match, %+v", c.class, c.find, got.Matching, got.Objects)
		}
	}
	for _, c := range [][2]string{{"p.*", "fields.nonsense > 3"}, {"", "lenght > 3"}, {"", "length"}, {"[", "true"}} {
		if _, err := h.Find(t.Context(), c[0], c[1], 10, Options{}); !errors.Is(err, ErrQuery) {
			t.Errorf("%q: %v", c, err)
		}
	}
}

package heap

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
	"github.com/rivulet-profiler/rivulet/controller/hprof/hproftest"
)

// TestSections: duplicate strings, collections, boxed values, paths and sizes of a heap that
// is laid out as HotSpot does it.
func TestSections(t *testing.T) {
	w := hproftest.New(8)
	field := func(name string) []hproftest.Field { return []hproftest.Field{hproftest.Of(name, hprof.Object, 0)} }
	const object, str, list, array, integer, bytes, app, arrays = 0x10_000, 0x10_100, 0x10_200, 0x10_300, 0x10_400, 0x10_500, 0x10_600, 0x10_700
	w.Class(object, "java/lang/Object", 0, 0, nil, nil, 0)
	w.Class(0x10_800, "java/lang/Class", object, 0, nil, nil, 0)
	w.Class(str, "java/lang/String", object, 0, nil, append(field("value"), hproftest.Of("hash", hprof.Int, 0)), 12)
	w.Class(list, "java/util/ArrayList", object, 0, nil, append(field("elementData"), hproftest.Of("size", hprof.Int, 0)), 12)
	w.Class(array, "[Ljava/lang/Object;", object, 0, nil, nil, 0)
	w.Class(integer, "java/lang/Integer", object, 0, nil, []hproftest.Field{hproftest.Of("value", hprof.Int, 0)}, 4)
	w.Class(bytes, "[B", object, 0, nil, nil, 0)
	// Objects side by side, headers of 12 bytes and references of 4.
	at := uint64(0x20_000)
	put := func(size uint64) uint64 {
		at += size
		return at - size
	}
	var all []uint64
	for i := range 40 {
		text, value := "the same text", put(24)
		if i >= 10 {
			text = strings.Repeat("x", i) // each once
		}
		characters := put(uint64(align(int64(16+len(text)), 8)))
		w.Instance(value, str, append(hproftest.Refs(characters), hproftest.Bits(hprof.Int, 0)))
		w.Prims(characters, hprof.Byte, []byte(text))
		all = append(all, value)
	}
	for i := range 20 {
		o := put(16)
		w.Instance(o, integer, []hproftest.Value{hproftest.Bits(hprof.Int, uint64(uint32(int32(i*100-100))))})
		all = append(all, o)
	}
	for size := range 5 {
		o, a := put(24), put(16+4*10)
		elements := make([]uint64, 10)
		copy(elements, all[:size])
		w.Instance(o, list, append(hproftest.Refs(a), hproftest.Bits(hprof.Int, uint64(size))))
		w.Objects(a, array, elements...)
		all = append(all, o)
	}
	everything := put(uint64(align(int64(16+4*len(all)), 8)))
	w.Objects(everything, array, all...)
	w.Instance(put(16), object, nil) // a neighbour, which nothing reaches
	w.Class(app, "p/App", object, 0, []hproftest.Field{hproftest.Of("all", hprof.Object, everything)}, nil, 0)
	w.Root(hprof.RootStickyClass, app)
	h, err := openBytes(t, w.Bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Layout{4, 12, 16, 8}); h.Layout != want {
		t.Fatalf("layout %+v", h.Layout)
	}
	r := h.Report(ReportOptions{Top: 10})
	if d := r.Duplicates; d.Strings != 40 || len(d.Top) != 1 || d.Top[0].Text != "the same text" || d.Top[0].Copies != 10 || d.Top[0].Wasted != 9*(24+32) || d.Wasted != 9*(24+32) {
		t.Errorf("%+v", d)
	}
	// 56 bytes for room for 10; 0 to 4 elements need 16, 24, 24, 32, 32.
	if want := []CollectionStat{{"java.util.ArrayList", 5, 1, 5, 40 + 32 + 32 + 24 + 24}}; !slices.Equal(r.Collections, want) {
		t.Errorf("%+v", r.Collections)
	}
	if want := []BoxStat{{"java.lang.Integer", 20, 320, 3}}; !slices.Equal(r.Boxed, want) {
		t.Errorf("%+v", r.Boxed)
	}
	if len(r.Suspects) == 0 || r.Suspects[0].Class != "p.App" || !strings.Contains(r.Suspects[0].Why, "by static all (java.lang.Object[])") {
		t.Errorf("%+v", r.Suspects)
	}
	if u := r.Unreachable; u.Objects != 1 || u.Bytes != 16 || len(u.Classes) != 1 {
		t.Errorf("%+v", u)
	}
	o, _ := h.v.ids.find(all[3])
	want := []string{"system class: class p.App", "static all: java.lang.Object[65]", `[3]: java.lang.String "the same text"`}
	if got := h.path(o); !slices.Equal(got, want) {
		t.Errorf("path %q", got)
	}
	var text strings.Builder
	if err := r.Text(&text, TextOptions{Top: 5, Width: 80}); err != nil || !strings.Contains(text.String(), "duplicate strings: 504 B") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// TestCompare: a class that grew, an object that retains more.
func TestCompare(t *testing.T) {
	dump := func(n int) *Report {
		w := hproftest.New(8)
		w.Class(0x1000, "java/lang/Object", 0, 0, nil, nil, 0)
		w.Class(0x1100, "[Ljava/lang/Object;", 0x1000, 0, nil, nil, 0)
		w.Class(0x1200, "p/A", 0x1000, 0, []hproftest.Field{hproftest.Of("all", hprof.Object, 0x2000)}, nil, 0)
		var ids []uint64
		for i := range n {
			ids = append(ids, 0x9000+16*uint64(i))
			w.Instance(ids[i], 0x1200, nil)
		}
		w.Objects(0x2000, 0x1100, ids...)
		h, err := openBytes(t, w.Bytes(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return h.Report(ReportOptions{Top: 10})
	}
	d := Compare(dump(10), dump(30))
	i := slices.IndexFunc(d.Classes, func(c ClassDiff) bool { return c.Class == "p.A" })
	if i < 0 || d.Classes[i].Objects != [2]int64{10, 30} || d.Classes[i].Shallow != [2]int64{160, 480} {
		t.Errorf("%+v", d.Classes)
	}
	if len(d.Dominators) != 1 || d.Dominators[0].What != "class p.A" || d.Dominators[0].more() <= 320 {
		t.Errorf("%+v", d.Dominators)
	}
}

// TestKeepTop keeps the largest, in order, of equal ones those that came first.
func TestKeepTop(t *testing.T) {
	var list []int64
	for _, v := range []int64{3, 9, 1, 9, 4, 0, 5} {
		list = keepTop(list, v, 4, func(a, b int64) int { return cmp.Compare(b, a) })
	}
	if !slices.Equal(list, []int64{9, 9, 5, 4}) {
		t.Errorf("%v", list)
	}
	if got := keepTop(nil, 1, 0, func(a, b int64) int { return cmp.Compare(b, a) }); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestRead finds every object of a dump in order, with segments and classes in between,
// and of one that is in order except for its halves, as if two threads had written it.
func TestRead(t *testing.T) {
	for _, halves := range []bool{false, true} {
		w := hproftest.New(8)
		w.Segment = 700
		w.Class(0x10000, "java/lang/Object", 0, 0, nil, nil, 0)
		for i := range 50 {
			w.Class(0x10000+16*40*uint64(i+1), "p/C", 0x10000, 0, nil, nil, 0)
		}
		const n = 3000
		for i := range n {
			if halves {
				i = (i + n/2) % n
			}
			if i%40 != 0 {
				w.Instance(0x10000+16*uint64(i), 0x10000, nil)
			}
		}
		h, err := openBytes(t, w.Bytes(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if h.g.every == 0 {
			t.Error("each object has its place kept")
		}
		wrong := 0
		for o := range uint32(h.g.n) {
			if _, r, err := h.read(o); err != nil || r.ID != h.v.ids.id(o) {
				wrong++
			}
		}
		if wrong > 0 || h.searches > 0 && !halves {
			t.Errorf("halves %v: %d not found, %d searches", halves, wrong, h.searches)
		}
	}
}

// TestHTML: names of the target's can't do anything on the page.
func TestHTML(t *testing.T) {
	r := &Report{File: "</title><script>alert(1)</script>", Classes: []ClassStat{{Class: "</script><b>"}}, Tree: &TreeNode{Class: "heap"}}
	r.fill()
	var out strings.Builder
	if err := r.HTML(&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "</script><b>") || strings.Contains(text, "<script>alert") || strings.Contains(text, "/*DATA*/") || !strings.Contains(text, `\u003cb\u003e`) {
		t.Error(text[len(text)-2000:])
	}
}

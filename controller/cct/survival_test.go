package cct_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// follow gives the node of a type a block that says what became of objects.
func (m *image) follow(method int32, words map[int]int64) {
	for i := uint32(1); i < m.nextNode; i++ {
		if off := offNode(i); *(*int32)(unsafe.Pointer(&m.mem[off])) == method {
			m.sides -= wire.TrackNodes
			m.put32(off+wire.NCache, uint32(offNode(m.sides)))
			for w, v := range words {
				m.put64(offNode(m.sides)+w, v)
			}
		}
	}
}

// survivorsIn reads an image in which context 1 allocates type 5, Points of 24 bytes, and 6, arrays.
func survivorsIn(t *testing.T, m *image) map[string]*cct.Survival {
	t.Helper()
	allocations, _ := metric.Asked(metric.CountAllocations)
	survivors, _ := metric.Asked(metric.CountSurvivors)
	s, err := cct.ReadWith(m.mem, cct.Options{
		Metrics: metric.NewTable(append(allocations.Rows, survivors.Rows...)...),
		Types:   []*cct.Type{5: {Name: "Point", Size: 24}, 6: {Name: "int[]", Array: true, Size: cct.NotKnown}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*cct.Survival{}
	var survived, live int64
	for _, a := range cct.TypesOf(s.Roots()) {
		got[a.Type.Name] = a.Survival
		_, bytes := a.Survival.Older()
		_, left := a.Survival.Remaining()
		survived, live = survived+bytes, live+left
	}
	sums := cct.Sum(s.Roots()).Counts
	if sums.Own[3] != survived || sums.Own[4] != live {
		t.Errorf("sums %v, by type %d survived and %d live", sums.Own, survived, live)
	}
	return got
}

func allocating(points, arrays int64) *image {
	m := newImage(100)
	m.thread(&cct.Thread{ID: 1, RootEntries: 1, RootReturns: 1, Roots: []*cct.Node{
		{Method: 1, Calls: 1, Children: []*cct.Node{{Method: 5, Calls: points}, {Method: 6, Calls: arrays, Self: 100 * arrays}}},
	}})
	return m
}

// TestSurvival makes estimates of all objects of those that were followed.
func TestSurvival(t *testing.T) {
	m := allocating(4000, 3)
	m.follow(5, map[int]int64{ // 40 objects that stand for 50 each
		wire.KTracked: 40, wire.KSurvived: 10, wire.KSquares: 40 * 50 * 50,
		wire.KLive: 500, wire.KLive + 8*3: 250, wire.KGone: 1000, wire.KGone + 8: 250,
	})
	m.follow(6, map[int]int64{wire.KTracked: 3, wire.KSurvived: 2, wire.KSquares: 3, wire.KLive + 8: 2, wire.KLiveBytes + 8: 160, wire.KGone: 1, wire.KGoneBytes: 140})
	got := survivorsIn(t, m)
	point := got["Point"]
	want := &cct.Survival{
		Tracked: 40, Survived: 10, Variance: point.Variance,
		Live: cct.Aged{Objects: [6]int64{1000, 0, 0, 500}, Bytes: [6]int64{24000, 0, 0, 12000}},
		Gone: cct.Aged{Objects: [6]int64{2000, 500}, Bytes: [6]int64{48000, 12000}},
	}
	if diff := cmp.Diff(want, point); diff != "" {
		t.Errorf("points, -want +got:\n%s", diff)
	}
	// Of 44 with the four that are added, 12 have survived.
	if want := 1.96 * 4000 * math.Sqrt(12./44*32/44/44); math.Abs(point.Error()-want) > 1e-6 {
		t.Errorf("error %v, want %v", point.Error(), want)
	}
	if diff := cmp.Diff(&cct.Survival{Tracked: 3, Survived: 2, Live: cct.Aged{Objects: [6]int64{0, 2}, Bytes: [6]int64{0, 160}}, Gone: cct.Aged{Objects: [6]int64{1}, Bytes: [6]int64{140}}}, got["int[]"]); diff != "" {
		t.Errorf("arrays that were all followed, -want +got:\n%s", diff)
	}
}

// TestSurvivalOfFew: what few objects of a context stand for is taken as it is, since other contexts may
// have lost all of theirs.
func TestSurvivalOfFew(t *testing.T) {
	m := allocating(10, 1)
	m.follow(5, map[int]int64{wire.KTracked: 3, wire.KSurvived: 3, wire.KSquares: 48, wire.KLive + 8: 12})
	got := survivorsIn(t, m)
	if n, _ := got["Point"].Older(); n != 12 || got["Point"].Error() <= 0 || got["int[]"] != nil {
		t.Errorf("%+v", got)
	}
}

// TestSurvivalDamaged takes no harm from blocks that are not there, or make no sense.
func TestSurvivalDamaged(t *testing.T) {
	for _, at := range []uint32{1, 63, wire.OffNodes - 64, wire.OffNodes + 98<<wire.NodeShift, wire.OffNodes + 1<<30, 1 << 31, math.MaxUint32} {
		m := allocating(10, 1)
		m.follow(5, nil)
		for i := uint32(1); i < m.nextNode; i++ {
			if off := offNode(i); *(*int32)(unsafe.Pointer(&m.mem[off])) == 5 {
				m.put32(off+wire.NCache, at)
			}
		}
		if got := survivorsIn(t, m); got["Point"] != nil {
			t.Errorf("at %#x: %+v", at, got["Point"])
		}
	}
	m := allocating(10, 1)
	m.follow(5, map[int]int64{wire.KTracked: math.MaxInt64, wire.KSurvived: -1, wire.KSquares: -5, wire.KLive: -1, wire.KGone + 8: math.MaxInt64, wire.KGone + 16: math.MaxInt64})
	survivorsIn(t, m)
}

// TestSurvivalSums adds contexts up and leaves each as it was.
func TestSurvivalSums(t *testing.T) {
	point := &cct.Type{Name: "Point", Size: 24}
	a := cct.Alloc{Type: point, Objects: 5, Bytes: 120, Survival: &cct.Survival{Tracked: 5, Survived: 1, Variance: 2, Live: cct.Aged{Objects: [6]int64{4, 1}, Bytes: [6]int64{96, 24}}}}
	b := cct.Alloc{Type: point, Objects: 2, Bytes: 48, Survival: &cct.Survival{Tracked: 2, Survived: 2, Variance: 3, Gone: cct.Aged{Objects: [6]int64{0, 0, 2}, Bytes: [6]int64{0, 0, 48}}}}
	sum := a.Plus(b)
	if n, bytes := sum.Survival.Older(); n != 3 || bytes != 72 || sum.Survival.Variance != 5 || sum.Survival.Tracked != 7 {
		t.Errorf("%+v", sum.Survival)
	}
	if n, _ := a.Survival.Older(); n != 1 {
		t.Errorf("a summand has %d", n)
	}
	if none := a.Plus(cct.Alloc{Type: point, Objects: 1, Bytes: 24}); none.Survival != a.Survival {
		t.Errorf("with one of which nothing is known: %+v", none.Survival)
	}
}

// TestAgeRanges: each age is of one range.
func TestAgeRanges(t *testing.T) {
	next := int64(0)
	for i := range cct.Ages {
		least, most := cct.AgeRange(i)
		if least != next || most >= 0 && most < least || (most < 0) != (i == cct.Ages-1) {
			t.Errorf("range %d is %d to %d, the one before ends at %d", i, least, most, next-1)
		}
		next = most + 1
	}
}

// TestSurvivalReflected: objects that were created by reflection get their size with their type, and so do those of
// them that survived.
func TestSurvivalReflected(t *testing.T) {
	allocations, _ := metric.Asked(metric.CountAllocations)
	survivors, _ := metric.Asked(metric.CountSurvivors)
	table := metric.NewTable(append(allocations.Rows, survivors.Rows...)...)
	n := (&cct.Node{
		Method: 1, Calls: 1, Counts: &metric.Values{Table: table}, Children: []*cct.Node{{Method: 2, Calls: 3}},
	}).With(cct.Details{
		Allocs: []cct.Alloc{{
			Type: &cct.Type{Name: cct.Reflected, Size: cct.NotKnown}, Objects: 3, Bytes: cct.NotKnown,
			Survival: &cct.Survival{Tracked: 3, Survived: 2, Live: cct.Aged{Objects: [6]int64{0, 1}}, Gone: cct.Aged{Objects: [6]int64{1, 1}}},
		}},
	})
	n.Allocated(n.Allocs()[0])
	s := &cct.Snapshot{Metrics: table, Threads: []*cct.Thread{{Roots: []*cct.Node{n}}}}
	s.NameReflected(func(method int32) (string, bool) { return "Made", method == 2 }, func(string) *cct.Type { return &cct.Type{Name: "Made", Size: 40} })
	if got, want := n.Counts.Total[:5], []int64{3, 0, 120, 80, 40}; !cmp.Equal(got, want) {
		t.Errorf("objects, arrays, bytes, survived and live bytes %v, want %v", got, want)
	}
	if objects, bytes := n.Allocs()[0].Survival.Older(); objects != 2 || bytes != 80 {
		t.Errorf("%d survived, %d bytes", objects, bytes)
	}
}

package cct_test

import (
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// taken is main (0) that calls a (1), which calls b (2), and c (3) of another thread.
func taken() *cct.Taken {
	return &cct.Taken{
		Step: 10, Until: 45, Parents: []int32{-1, 0, 1, -1}, Methods: []int32{0, 1, 2, 3},
		Steps: []cct.TakenStep{{At: 0, Node: 2, Count: 2, Wall: 20, Ran: 20}, {At: 1, Node: 1, Count: 1, Wall: 10}, {At: 1, Node: 3, Count: 4, Wall: 40}, {At: 4, Node: 2, Count: 1, Wall: 10}},
	}
}

// TestTaken makes trees of ranges of time, and counts samples over time.
func TestTaken(t *testing.T) {
	k := taken()
	type sum struct{ total, self, samples int64 }
	for _, c := range []struct {
		from, to int64
		want     map[int32]sum
	}{
		{0, 10, map[int32]sum{0: {20, 0, 0}, 1: {20, 0, 0}, 2: {20, 20, 2}}},
		{10, 20, map[int32]sum{0: {10, 0, 0}, 1: {10, 10, 1}, 3: {40, 40, 4}}},
		{20, 40, map[int32]sum{}},
		{0, 50, map[int32]sum{0: {40, 0, 0}, 1: {40, 10, 1}, 2: {30, 30, 3}, 3: {40, 40, 4}}},
	} {
		got := map[int32]sum{}
		for n := range cct.All(k.Within(c.from, c.to)) {
			s := sum{total: n.Total, self: n.Self}
			if n.Sample() != nil {
				s.samples = n.Sample().Count
			}
			got[n.Method] = s
		}
		for m, want := range c.want {
			if got[m] != want {
				t.Errorf("%d to %d: method %d has %v, want %v", c.from, c.to, m, got[m], want)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%d to %d: %v", c.from, c.to, got)
		}
	}
	for _, c := range [][4]int64{{3, 7, 0, 10}, {12, 30, 10, 30}, {0, 50, 0, 0}, {-5, 44, 0, 0}, {30, 99, 30, 50}, {50, 60, 0, 0}, {7, 7, 0, 0}} {
		if from, to := k.Snap(c[0], c[1]); from != c[2] || to != c[3] {
			t.Errorf("%d to %d is taken as %d to %d", c[0], c[1], from, to)
		}
	}
	for most, want := range map[int][]int64{10: {2, 5, 0, 0, 1}, 4: {7, 0, 1}, 1: {8}} {
		if got, piece := k.Counts(most); !slices.Equal(got, want) || piece != map[int]int64{10: 10, 4: 20, 1: 80}[most] {
			t.Errorf("in %d pieces: %v of %d ns", most, got, piece)
		}
	}
	var none cct.Taken
	if got, _ := none.Counts(5); got != nil || len(none.Within(0, 10)) > 0 {
		t.Error("there is something where nothing was taken")
	}
}

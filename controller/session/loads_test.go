package session

import (
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/flight"
)

// TestLoadWaits takes the waits of loads from what their threads' records say, as far as these are theirs.
func TestLoadWaits(t *testing.T) {
	k := loads{
		at:    []flight.Load{{Node: 1}, {Node: 2}, {Node: 1}, {Node: 3}, {Node: 9}},
		waits: []int64{10, 10, 10, 10, 10},
		sums:  []waitSum{{100, 5}, {200, 7}, {100, 45}, {200, 9}, {}},
	}
	got := k.waited(func(node uint32) (int64, uint32, bool) {
		switch node {
		case 1:
			return 75, 100, true
		case 3:
			return 99, 300, true // another thread's by now
		}
		return 0, 0, false
	})
	if want := []int64{40, 10, 30, 10, 10}; !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

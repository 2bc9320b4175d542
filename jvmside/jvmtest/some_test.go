package jvmtest

import (
	"fmt"
	"slices"
	"testing"
)

// TestSome wants every pair of versions, and each alone, to be taken by some name, and
// always the same by one name.
func TestSome(t *testing.T) {
	for _, n := range []int{1, 2} {
		seen := map[string]bool{}
		for i := range 400 {
			name := fmt.Sprint("Test", i)
			p := some(Versions, n, name)
			if len(p) != n || !slices.IsSorted(p) || !slices.Equal(p, some(Versions, n, name)) {
				t.Fatalf("%d of %v: %v", n, Versions, p)
			}
			seen[fmt.Sprint(p)] = true
		}
		if want := map[int]int{1: 5, 2: 10}[n]; len(seen) != want {
			t.Errorf("%d: %d ways, want %d: %v", n, len(seen), want, seen)
		}
	}
	if p := some([]int{8, 25}, 2, "x"); fmt.Sprint(p) != "[8 25]" {
		t.Error(p)
	}
}

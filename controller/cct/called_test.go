package cct_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestCalled: each method that has a node is returned once, until calls find no room.
func TestCalled(t *testing.T) {
	m := newImage(64)
	m.thread(sample())
	seen := map[int32]struct{}{4: {}}
	got, complete, err := cct.Called(m.mem, seen)
	slices.Sort(got)
	if want := []int32{1, 2, 3}; !slices.Equal(got, want) || !complete || err != nil { // 0 is no method's id
		t.Errorf("%v, %v, %v, want %v", got, complete, err, want)
	}
	m.put64(wire.HOverflow, 1)
	if got, complete, err := cct.Called(m.mem, seen); len(got) != 0 || complete || err != nil || len(seen) != 4 {
		t.Errorf("%v, %v, %v, and %v seen", got, complete, err, seen)
	}
	m.put64(wire.HNextNode, 1<<40) // more than there is
	if _, _, err := cct.Called(m.mem, seen); err != nil {
		t.Error(err)
	}
	if _, _, err := cct.Called(m.mem[:100], seen); !errors.Is(err, cct.ErrFormat) {
		t.Error(err)
	}
}

package cct_test

import (
	"testing"
	"unsafe"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// TestNodeSize holds the size of a usual node to one of the allocator's classes: a page of a recording has millions of them.
func TestNodeSize(t *testing.T) {
	if size := unsafe.Sizeof(cct.Node{}); size > 112 {
		t.Errorf("a node has %d bytes; what few nodes have belongs into Details", size)
	}
}

// TestDetails: a node without details has none of each, and gets none by being merged or copied; a copy's are its own.
func TestDetails(t *testing.T) {
	n := &cct.Node{Method: 1}
	if n.Allocs() != nil || n.Heap() != nil || n.Loads() != nil || n.Waits() != nil || n.Back() != nil || n.Async() != nil || n.Sample() != nil || n.Below() != nil {
		t.Error("a node begins with details")
	}
	n.Details().Sample = &cct.Sample{Count: 3}
	c := n.WithChildren(nil)
	c.Details().Async = &cct.Handover{}
	if n.Async() != nil || c.Sample().Count != 3 {
		t.Errorf("%+v %+v", n, c)
	}
	if m := cct.Merge([]*cct.Node{n, {Method: 1}}); len(m) != 1 || m[0].Sample().Count != 3 {
		t.Errorf("%+v", m)
	}
}

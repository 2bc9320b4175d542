package unwinder

import (
	"encoding/binary"
	"testing"
)

// TestUnmoved reads objects while a collection moves them, before one, and during one that begins, or begins and ends:
// only what no collection can have moved is sure.
func TestUnmoved(t *testing.T) {
	const root, heap, collecting, collections = 0x10000, 0x20000, 8, 12
	for _, c := range []struct {
		name          string
		before, after byte // a collection moves objects
		began         uint32
		read, sure    bool
	}{
		{"none", 0, 0, 0, true, true},
		{"all the time", 1, 1, 0, false, false},
		{"begins", 0, 1, 1, true, false},
		{"begins and ends", 0, 0, 1, true, false},
		{"is about to begin", 0, 1, 0, true, false},
	} {
		mem := image{root: make([]byte, 8), heap: make([]byte, 32)}
		binary.LittleEndian.PutUint64(mem[root], heap)
		mem[heap][collecting] = c.before
		u := New(&Layout{JavaHeap: root, Collecting: collecting, Collections: collections}, mem, nil, false)
		read := false
		sure := u.Unmoved(func() {
			read = true
			mem[heap][collecting] = c.after
			binary.LittleEndian.PutUint32(mem[heap][collections:], c.began)
		})
		if read != c.read || sure != c.sure {
			t.Errorf("%s: read %v, sure %v", c.name, read, sure)
		}
	}
	read := false
	if u := New(&Layout{JavaHeap: none, Collecting: none, Collections: none}, image{}, nil, false); !u.Unmoved(func() { read = true }) || !read {
		t.Error("where nothing is known of collections, nothing is read")
	}
}

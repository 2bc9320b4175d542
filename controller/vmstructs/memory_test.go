package vmstructs

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"
)

// holed reads as ones, except its odd pages, which can't be read.
type holed struct{}

func (holed) Read(p []byte, at uint64) error {
	for i := range p {
		if (at+uint64(i))/pageSize%2 == 1 {
			return unix.EFAULT
		}
		p[i] = 1
	}
	return nil
}

// TestBuffers reads into the buffers of a reading before: nothing of that one is left in
// what can't be read.
func TestBuffers(t *testing.T) {
	first := newMemory(holed{})
	for n := range uint64(3) {
		copy(first.chunk(n+1), bytes.Repeat([]byte{9}, chunkSize))
	}
	m := newMemory(holed{})
	m.spare = first.buffers()
	if len(m.spare) != 3 {
		t.Fatalf("%d buffers, want 3", len(m.spare))
	}
	for n := range uint64(4) { // one more than there are
		b := m.bytes((n+1)*chunkSize, chunkSize)
		for page := range chunkSize / pageSize {
			want := bytes.Repeat([]byte{byte(1 - page%2)}, pageSize)
			if !bytes.Equal(b[page*pageSize:][:pageSize], want) {
				t.Errorf("chunk %d, page %d: %v..., want %v", n, page, b[page*pageSize], want[0])
			}
		}
	}
	if len(m.spare) != 0 || m.err != nil {
		t.Errorf("%d buffers left, %v", len(m.spare), m.err)
	}
}

package unwinder

import (
	"cmp"
	"slices"
)

// A heap is a part of the code cache.
type heap struct {
	low, end uint64 // reserved
	segmap   uint64
	shift    uint
	at       uint64 // CodeHeap
}

// findHeaps reads where the code cache is. It does not move once the JVM has begun.
func (u *Unwinder) findHeaps() {
	u.heaps = u.heaps[:0]
	var at []uint64
	if u.l.Heap != none {
		if h, ok := u.u64(u.l.Heap); ok {
			at = append(at, h)
		}
	} else if list, ok := u.u64(u.l.Heaps); ok {
		size := int(max(u.l.ArrayLen+4, u.l.ArrayData+8))
		p := u.bytes(list, size)
		n := min(half(p, u.l.ArrayLen), maxHeaps)
		q := u.bytes(word(p, u.l.ArrayData), int(n)*8)
		for i := 0; i+8 <= len(q); i += 8 {
			at = append(at, u64(q[i:]))
		}
	}
	for _, a := range at {
		h := heap{at: a}
		size := int(max(u.l.HeapMemory, u.l.HeapSegmap)+max(u.l.SpaceHigh, u.l.SpaceHighBoundary, u.l.SpaceLow)) + 8
		p := u.bytes(a, max(size, int(u.l.HeapShift)+4))
		h.low, h.end = word(p, u.l.HeapMemory+u.l.SpaceLow), word(p, u.l.HeapMemory+u.l.SpaceHighBoundary)
		h.segmap = word(p, u.l.HeapSegmap+u.l.SpaceLow)
		h.shift = uint(half(p, u.l.HeapShift))
		if h.low >= minAddress && h.low < h.end && h.end < maxAddress && h.shift >= 4 && h.shift <= 16 {
			u.heaps = append(u.heaps, h)
		}
	}
	if p, ok := u.u64(u.l.Interpreter); ok {
		u.interpreter, _ = u.u64(p + u.l.StubBuffer)
	}
	u.callStubReturn, _ = u.u64(u.l.CallStubReturn)
	if u.l.ContinuationReturn != none {
		u.continuationReturn, _ = u.u64(u.l.ContinuationReturn)
	}
}

// heapOf returns the heap that an address is in.
func (u *Unwinder) heapOf(pc uint64) *heap {
	for i := range u.heaps {
		if h := &u.heaps[i]; pc >= h.low && pc < h.end {
			return h
		}
	}
	return nil
}

// InCode reports whether an address is in the code cache.
func (u *Unwinder) InCode(pc uint64) bool { return u.heapOf(pc) != nil }

// blobOf returns the blob that holds an address of the code cache, or nil.
func (u *Unwinder) blobOf(pc uint64) *blob {
	h := u.heapOf(pc)
	if h == nil {
		return nil
	}
	// Those that are known are in order of their addresses.
	i, found := slices.BinarySearchFunc(u.blobs, pc, func(b *blob, pc uint64) int { return cmp.Compare(b.at, pc) })
	if !found {
		i--
	}
	if i >= 0 && pc < u.blobs[i].at+u.blobs[i].size {
		return u.blobs[i]
	}
	at := u.block(h, pc)
	if at == 0 {
		return nil
	}
	b := u.readBlob(at, h.end)
	if b == nil || pc < b.codeBegin || pc >= b.at+b.size {
		return nil
	}
	// A block that overlaps others means that those are gone.
	for _, o := range u.blobs {
		if o.at < b.at+b.size && b.at < o.at+o.size {
			o.dead = true
		}
	}
	u.blobs = slices.DeleteFunc(u.blobs, func(o *blob) bool { return o.dead })
	i, _ = slices.BinarySearchFunc(u.blobs, b.at, func(o *blob, at uint64) int { return cmp.Compare(o.at, at) })
	u.blobs = slices.Insert(u.blobs, i, b)
	return b
}

// block returns where the CodeBlob of the block is that holds pc, 0 if there is none.
func (u *Unwinder) block(h *heap, pc uint64) uint64 {
	const window = 512
	segment := (pc - h.low) >> h.shift
	var p []byte
	first := segment + 1 // of what p has
	for range maxHops {
		if segment < first {
			if first = 0; segment+1 > window {
				first = segment + 1 - window
			}
			if p = u.bytes(h.segmap+first, int(segment+1-first)); p == nil {
				return 0
			}
		}
		switch n := uint64(p[segment-first]); {
		case n == 0xFF || n > segment:
			return 0
		case n != 0:
			segment -= n
		default:
			at := h.low + segment<<h.shift
			header := u.bytes(at, int(u.l.BlockUsed)+1)
			if header == nil || header[u.l.BlockUsed] == 0 {
				return 0
			}
			return at + u.l.BlockSize
		}
	}
	return 0
}

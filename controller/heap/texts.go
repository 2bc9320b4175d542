package heap

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// A textFinder reads the characters of all strings: the third pass over the dump, which
// runs beside the search for dominators.
type textFinder struct {
	found *block // u64: hash, object
	n     atomic.Int64
	done  chan struct{}
	err   error
}

// textSeed makes hashes of one process comparable with each other.
var textSeed = maphash.MakeSeed()

// startTexts starts a goroutine, which wait waits for.
func startTexts(ctx context.Context, h *Heap, o Options) *textFinder {
	f := &textFinder{done: make(chan struct{})}
	count := int64(h.g.text.count())
	if f.found, f.err = h.pool.get(count*16, count*16, true); f.err != nil || count == 0 {
		close(f.done)
		return f
	}
	// One core is left to the dominators.
	workers := max(o.Workers-1, 1)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(h.v.marks) {
					return
				}
				end := h.v.end
				if i+1 < len(h.v.marks) {
					end = h.v.marks[i+1].Offset
				}
				f.read(h, h.f.Scan().From(h.v.marks[i]), end)
			}
		})
	}
	go func() {
		wg.Wait()
		close(f.done)
	}()
	return f
}

func (f *textFinder) wait() error {
	<-f.done
	return f.err
}

// read hashes the strings of a part of the dump.
func (f *textFinder) read(h *Heap, s *hprof.Scanner, end int64) {
	found := f.found.u64()
	var sum maphash.Hash
	sum.SetSeed(textSeed)
	for s.Mark().Offset < end {
		r, err := s.Next()
		if err != nil {
			return
		}
		if r.Kind != hprof.KindPrimArray || r.Elem != hprof.Byte && r.Elem != hprof.Char {
			continue
		}
		o, ok := h.v.ids.find(r.ID)
		if !ok || !h.g.text.has(o) {
			continue
		}
		sum.Reset()
		_ = sum.WriteByte(byte(r.Elem))
		for {
			b, err := s.Elements()
			if err != nil || b == nil {
				break
			}
			_, _ = sum.Write(b)
		}
		i := f.n.Add(1) - 1
		if 2*i+1 >= int64(len(found)) {
			return // more than there are: a damaged dump has some twice
		}
		found[2*i], found[2*i+1] = sum.Sum64(), uint64(o)
	}
}

// A Duplicate is a text that several strings have, each for itself.
type Duplicate struct {
	Text   string `json:"text"` // its beginning
	Copies int64  `json:"copies"`
	Wasted int64  `json:"wasted_bytes"` // by all but one copy, their String objects included
	object uint32
}

// Duplicates are the strings that occur more than once.
type Duplicates struct {
	Strings int64       `json:"strings"` // arrays of characters, in all
	Bytes   int64       `json:"bytes"`   // of these and their String objects
	Wasted  int64       `json:"wasted_bytes"`
	Top     []Duplicate `json:"top"`
}

type textHash struct{ hash, object uint64 }

// Duplicates finds the strings that waste most.
func (h *Heap) Duplicates(top int) Duplicates {
	found := pairs(h.texts.found)
	found = found[:min(h.texts.n.Load(), int64(len(found)))]
	slices.SortFunc(found, func(a, b textHash) int {
		if c := cmp.Compare(a.hash, b.hash); c != 0 {
			return c
		}
		return cmp.Compare(a.object, b.object)
	})
	object := int64(0)
	if s, ok := h.t.names["java.lang.String"]; ok {
		object = int64(h.t.all[s].units) * 8
	}
	units, places := h.g.units.u32(), h.tree.place.u32()
	var d Duplicates
	for i := 0; i < len(found); {
		k, copies := i, int64(0)
		first, bytes := none, int64(0)
		for ; k < len(found) && found[k].hash == found[i].hash; k++ {
			o := uint32(found[k].object)
			if places[o] == 0 {
				continue // not reachable
			}
			if copies++; first == none {
				first, bytes = o, int64(units[o])*8+object
			}
		}
		d.Strings += copies
		d.Bytes += copies * bytes
		if copies > 1 {
			wasted := (copies - 1) * bytes
			d.Wasted += wasted
			d.Top = keepTop(d.Top, Duplicate{Copies: copies, Wasted: wasted, object: first}, top, func(d Duplicate) int64 { return d.Wasted })
		}
		i = k
	}
	for i := range d.Top {
		d.Top[i].Text = h.arrayText(d.Top[i].object)
	}
	return d
}

// keepTop inserts v into a list in descending order that has at most n entries.
func keepTop[T any](list []T, v T, n int, key func(T) int64) []T {
	if len(list) == n && (n == 0 || key(list[n-1]) >= key(v)) {
		return list
	}
	i, _ := slices.BinarySearchFunc(list, key(v), func(t T, k int64) int {
		if key(t) >= k {
			return -1
		}
		return 1
	})
	list = slices.Insert(list, i, v)
	return list[:min(len(list), n)]
}

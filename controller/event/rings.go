package event

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// ErrGone marks a data file whose pages went away while they were read.
var ErrGone = errors.New("the data file was truncated")

// idleFor is after how long a record without words loses a large ring.
const idleFor = 250 * time.Millisecond

// pushes is how often it is tried to hand a ring back; it stays unused if others
// are always faster.
const pushes = 100

// takeAtMost is how many words are taken before the writer is told.
const takeAtMost = 1 << 14

// Stats are what the rings of one recording have carried so far.
type Stats struct {
	Words   int64 // of 8 bytes
	Dropped int64 // events for which there was no room in time
	Waits   int64 // of writers for the reader
	Waited  int64 // ns of these waits
	Muted   int64 // root calls without events, for want of a ring
	Rings   int64 // rings that were opened
	Bytes   int64 // that they take of the room
	Bad     int64 // rings that are none: the target's memory is damaged
}

// Rings drain the streams of one recording's records out of a mapped data
// file. Not safe for concurrent use.
type Rings struct {
	mem     []byte
	epoch   uint32
	records []ring
	past    Stats // of rings that were left
	places  map[int64]bool
}

// A ring is how far one record's stream was read.
type ring struct {
	at    int64 // offset in the file, 0 none
	words []Word
	read  int64
	last  time.Time // when words came
	least int       // words of the ring before, in a chain: the next one has more
	dead  bool
}

// NewRings reads the streams of the recording with that number (H_EPOCH). mem
// must begin at a multiple of 8, as mappings do.
func NewRings(mem []byte, epoch uint32) *Rings {
	return &Rings{mem: mem[:len(mem)&^7], epoch: epoch, places: map[int64]bool{}}
}

func (r *Rings) word(off int64) int64 {
	return atomic.LoadInt64((*int64)(unsafe.Pointer(&r.mem[off])))
}

func (r *Rings) half(off int64) uint32 {
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.mem[off])))
}

// Drain takes what has come since the last call and hands it to take, stream
// by stream and in order. The words are the target's memory: take must read
// each once and keep none. It returns how many words there were. It ends
// whatever the target does meanwhile: what comes during the call is left to
// the next. [ErrGone] if the file was truncated.
func (r *Rings) Drain(take func(record int, words []Word)) (n int64, err error) {
	if len(r.mem) < wire.OffNodes {
		return 0, fmt.Errorf("%d bytes are no data file", len(r.mem))
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if _, fault := p.(interface{ Addr() uintptr }); !fault {
				panic(p)
			}
			err = ErrGone
		}
	}()
	records := min(max(r.word(wire.HNextRecord), 1), wire.Records)
	for len(r.records) < int(records) {
		r.records = append(r.records, ring{})
	}
	now := time.Now()
	for i := 1; i < int(records); i++ {
		k := &r.records[i]
		if k.at == 0 && !k.dead {
			r.adopt(i, k)
		}
		for k.at != 0 && !k.dead {
			m := r.ring(i, k, take)
			n += m
			if m > 0 || k.last.IsZero() {
				k.last = now
			}
			if !r.follow(k) {
				break
			}
		}
		if len(k.words) > wire.RingFirst && !k.dead && now.Sub(k.last) > idleFor {
			r.reclaim(i, k)
		}
	}
	r.past.Words += n
	return n, nil
}

// adopt finds a record's first ring, if the record is of this recording. A
// record that begins another tree clears the ring before it tells the epoch.
func (r *Rings) adopt(i int, k *ring) {
	rec := int64(wire.OffRecords) + int64(i)<<wire.RecordShift
	first := r.half(rec + wire.RFirstRing)
	if first == 0 || r.half(rec+wire.REpoch) != r.epoch || r.half(rec+wire.RFirstRing) != first {
		return
	}
	r.open(k, first)
}

// open begins with a ring, unless it is none.
func (r *Rings) open(k *ring, place uint32) {
	at := int64(place)
	end := min(int64(len(r.mem)), int64(wire.OffNodes)+min(max(r.word(wire.HNodeLimit), 0), 1<<32)<<wire.NodeShift)
	if at < wire.OffNodes || at%(1<<wire.NodeShift) != 0 || at+wire.RingHeader > end {
		r.bad(k)
		return
	}
	size := r.word(at+wire.EMask) + 1
	if size <= int64(k.least) || size > wire.RingMost || bits.OnesCount64(uint64(size)) != 1 || at+wire.RingHeader+size<<3 > end {
		r.bad(k)
		return
	}
	k.at, k.read = at, 0
	k.words = unsafe.Slice((*Word)(unsafe.Pointer(&r.mem[at+wire.RingHeader])), size)
	r.past.Rings++
	if !r.places[at] {
		r.places[at] = true
		r.past.Bytes += wire.RingHeader + size<<3
	}
}

func (r *Rings) bad(k *ring) {
	k.dead = true
	r.past.Bad++
}

// ring takes what a ring has.
func (r *Rings) ring(i int, k *ring, take func(int, []Word)) int64 {
	size, at := int64(len(k.words)), r.word(k.at+wire.EAt)
	n := at - k.read
	if n < 0 || n > size {
		r.bad(k)
		return 0
	}
	for k.read < at {
		from := k.read & (size - 1)
		to := min(from+min(at-k.read, takeAtMost), size)
		take(i, k.words[from:to:to])
		k.read += to - from
		atomic.StoreInt64((*int64)(unsafe.Pointer(&r.mem[k.at+wire.ERead])), k.read)
	}
	return n
}

// follow goes on to the ring after this one, once this one is empty and will
// be written no more. Each is larger than the one before, so there is an end.
func (r *Rings) follow(k *ring) bool {
	next := r.half(k.at + wire.ENext)
	if next == 0 || r.word(k.at+wire.EAt) != k.read {
		return false
	}
	r.free(k)
	r.open(k, next)
	return true
}

// reclaim takes the ring of a record away that has been idle, and is leased to
// nobody: its thread may have ended. If it hasn't, it gets another ring.
func (r *Rings) reclaim(i int, k *ring) {
	rec := int64(wire.OffRecords) + int64(i)<<wire.RecordShift
	if r.half(rec+wire.RFlags)&wire.RVirtual != 0 {
		return // those are handed on, and found by a list that a lease takes them off
	}
	lease := (*uint32)(unsafe.Pointer(&r.mem[rec+wire.RLease]))
	moving := int32(wire.LeaseMoving)
	if !atomic.CompareAndSwapUint32(lease, 0, uint32(moving)) {
		return
	}
	defer atomic.StoreUint32(lease, 0)
	if int64(r.half(rec+wire.RRing)) != k.at || r.half(rec+wire.REpoch) != r.epoch || r.word(k.at+wire.EAt) != k.read || r.half(k.at+wire.ENext) != 0 {
		return
	}
	r.set32(rec+wire.RFirstRing, 0)
	r.set32(rec+wire.RRing, 0)
	r.free(k)
	k.least, k.last = 0, time.Time{}
}

// free hands a ring back that its writer has left.
func (r *Rings) free(k *ring) {
	r.leave(&r.past, k)
	at, size := k.at, len(k.words)
	k.at, k.words, k.least = 0, nil, size
	class := 0
	for wire.RingFirst<<(2*class) < size {
		class++
	}
	if class >= wire.RingSizes || wire.RingFirst<<(2*class) != size {
		return
	}
	for _, off := range []int64{wire.EAt, wire.EStop, wire.ETime, wire.ETid, wire.EDropped, wire.EDropping, wire.ERead, wire.EWaited, wire.EWaits} {
		atomic.StoreInt64((*int64)(unsafe.Pointer(&r.mem[at+off])), 0)
	}
	list := (*int64)(unsafe.Pointer(&r.mem[wire.HFreeRings+8*class]))
	for range pushes {
		head := atomic.LoadInt64(list)
		r.set32(at+wire.ENext, uint32(head))
		if atomic.CompareAndSwapInt64(list, head, (head>>32+1)<<32|at) {
			return
		}
	}
}

func (r *Rings) set32(off int64, v uint32) {
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&r.mem[off])), v)
}

// leave adds up what a ring's writer has noted.
func (r *Rings) leave(s *Stats, k *ring) {
	s.Dropped += max(r.word(k.at+wire.EDropped), 0)
	s.Waits += max(r.word(k.at+wire.EWaits), 0)
	s.Waited += max(r.word(k.at+wire.EWaited), 0)
}

// Stats sums up what was read so far, and what the writers have noted.
func (r *Rings) Stats() (s Stats, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if _, fault := p.(interface{ Addr() uintptr }); !fault {
				panic(p)
			}
			s, err = r.past, ErrGone
		}
	}()
	s = r.past
	for i := range r.records {
		if k := &r.records[i]; k.at != 0 && !k.dead {
			r.leave(&s, k)
		}
	}
	s.Muted = max(r.word(wire.HMute), 0)
	return s, nil
}

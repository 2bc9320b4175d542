package cct

import (
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A MethodTotal is what a method did over all contexts.
type MethodTotal struct {
	Calls int64
	Self  int64 // ns, uncorrected
}

// MethodTotals adds up calls and self times by method over the trees in mem, without making
// any of them: for those who look often. Errors are those of [Read].
func MethodTotals(mem []byte) (totals map[int32]MethodTotal, err error) {
	if len(mem) < wire.OffNodes || uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%8 != 0 {
		return nil, fmt.Errorf("%w: %d bytes", ErrFormat, len(mem))
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if _, fault := p.(interface{ Addr() uintptr }); !fault {
				panic(p)
			}
			totals, err = nil, ErrGone
		}
	}()
	r := &reader{mem: mem[:len(mem)&^7]}
	if magic, version := r.word(wire.HMagic), r.half(wire.HVersion); magic != wire.Magic || version != wire.Version {
		return nil, fmt.Errorf("%w: magic %#x, version %d instead of %d", ErrFormat, uint64(magic), version, wire.Version)
	}
	r.grow()
	epoch := r.half(wire.HEpoch)
	var calls, self [wire.MaxMethods]int64
	var stack []uint32
	records := min(max(r.word(wire.HNextRecord), 1), wire.Records)
	for i := int64(1); i < records; i++ {
		rec := wire.OffRecords + int(i)<<wire.RecordShift
		top := r.half(rec + wire.RTop)
		if r.half(rec+wire.REpoch) != epoch || top == 0 || !r.take(top) {
			continue
		}
		for stack = append(stack[:0], top); len(stack) > 0; {
			above := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for next := r.half(int(above) + wire.NChild); next != 0 && r.take(next); next = r.half(int(next) + wire.NSibling) {
				method := r.half(int(next) + wire.NMethod)
				switch {
				case int32(method) < 0: // an unplaced one or a hand-over: what lies below counts
					stack = append(stack, next)
					continue
				case method&wire.MethodBack != 0: // the ancestor's node has the calls
					continue
				}
				if method &^= wire.MethodFold; method < wire.MaxMethods {
					calls[method] += count(r.word(int(next) + wire.NCalls))
					self[method] += count(r.word(int(next) + wire.NSelf))
				}
				stack = append(stack, next)
			}
		}
	}
	totals = map[int32]MethodTotal{}
	for id, n := range calls {
		if n > 0 {
			totals[int32(id)] = MethodTotal{n, self[id]}
		}
	}
	return totals, nil
}

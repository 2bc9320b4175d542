package cct

import (
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Called adds to seen the ids of all methods that have a node in a mapped data file, and returns
// those that were not in it. Recordings before this one in the same file count, and tasks whose
// place in the tree is not known yet. It costs one pass over the nodes. complete is false where
// calls found no room in the tree: any method may have been called then. The target may write
// meanwhile. It fails as [Read] does; with [ErrGone] what was found before is in seen. seen must
// not be used by anybody else meanwhile.
func Called(mem []byte, seen map[int32]struct{}) (fresh []int32, complete bool, err error) {
	if len(mem) < wire.OffNodes {
		return nil, false, fmt.Errorf("%w: %d bytes, its fixed part alone has %d", ErrFormat, len(mem), wire.OffNodes)
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%8 != 0 {
		return nil, false, fmt.Errorf("%w: mapped at an address that is no multiple of 8", ErrFormat)
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
	r := &reader{mem: mem[:len(mem)&^7]}
	if magic, version := r.word(wire.HMagic), r.half(wire.HVersion); magic != wire.Magic || version != wire.Version {
		return nil, false, fmt.Errorf("%w: magic %#x, version %d instead of %d", ErrFormat, uint64(magic), version, wire.Version)
	}
	end := min(r.word(wire.HNextNode), r.word(wire.HNodeLimit), int64(len(r.mem)-wire.OffNodes)>>wire.NodeShift)
	for n := int64(1); n < end; n++ {
		id := int32(r.half(wire.OffNodes + int(n)<<wire.NodeShift + wire.NMethod))
		if id <= 0 {
			continue
		}
		id &^= wire.MethodBack | wire.MethodFold
		if _, there := seen[id]; !there && id > 0 && id < wire.MaxMethods {
			seen[id] = struct{}{}
			fresh = append(fresh, id)
		}
	}
	return fresh, r.word(wire.HOverflow) == 0 && r.word(wire.HUncounted) == 0, nil
}

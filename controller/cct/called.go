package cct

import "github.com/rivulet-profiler/rivulet/jvmside/wire"

// Called adds to seen the ids of all methods that have a node in a mapped data file, and returns
// those that were not in it. Recordings before this one in the same file count, and tasks whose
// place in the tree is not known yet. It costs one pass over the nodes. complete is false where
// calls found no room in the tree: any method may have been called then. The target may write
// meanwhile. It fails as [Read] does; with [ErrGone] what was found before is in seen. seen must
// not be used by anybody else meanwhile.
func Called(mem []byte, seen map[int32]struct{}) (fresh []int32, complete bool, err error) {
	err = reading(mem, func(r *reader) {
		r.grow()
		for n := 1; n < int(min(r.word(wire.HNextNode), int64(r.limit))); n++ {
			id := int32(r.half(wire.OffNodes + n<<wire.NodeShift + wire.NMethod))
			if id <= 0 {
				continue
			}
			id &^= wire.MethodBack | wire.MethodFold
			if _, there := seen[id]; !there && id > 0 && id < wire.MaxMethods {
				seen[id] = struct{}{}
				fresh = append(fresh, id)
			}
		}
		complete = r.word(wire.HOverflow) == 0 && r.word(wire.HUncounted) == 0
	})
	return fresh, complete, err
}

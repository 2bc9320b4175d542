package event

// An index finds nodes by their parent and method: a table with open
// addressing that is never more than half full. 0 is a free place.
type index []int32

func (x index) place(parent, method int32) uint32 {
	h := uint64(uint32(parent))<<32 | uint64(uint32(method))
	return uint32(h*0x9e3779b97f4a7c15>>32) & uint32(len(x)-1)
}

func (x index) find(nodes []node, parent, method int32) int32 {
	if len(x) == 0 {
		return 0
	}
	for i := x.place(parent, method); ; i = (i + 1) & uint32(len(x)-1) {
		k := x[i]
		if k == 0 || nodes[k].parent == parent && nodes[k].method == method {
			return k
		}
	}
}

// add enters the last of the nodes, which must not be there yet.
func (x *index) add(nodes []node, k int32) {
	if 2*len(nodes) > len(*x) {
		*x = make(index, max(64, 2*len(*x)))
		for j := int32(1); j < k; j++ {
			x.put(nodes, j)
		}
	}
	x.put(nodes, k)
}

func (x index) put(nodes []node, k int32) {
	i := x.place(nodes[k].parent, nodes[k].method)
	for x[i] != 0 {
		i = (i + 1) & uint32(len(x)-1)
	}
	x[i] = k
}

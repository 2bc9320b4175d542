package cct

import "github.com/rivulet-profiler/rivulet/jvmside/wire"

// A Handover says that a node's calls are executions of tasks that were handed
// over at its parent, on whatever thread (decision 16). Their time is in the
// totals above, as work that was caused there; it is no time that anybody above
// waited.
type Handover struct {
	Waited  int64 // ns from handing over to execution, of all executions
	Longest int64 // ns, of one

	At uint32 // offset in the file of the hand-over's node, in a tree that was read InPlace; else 0
}

// InPlace marks an execution that lies where its thread was, with the offset of
// its hand-over's node. See [Options.InPlace].
func InPlace(offset uint32) *Handover { return &Handover{At: offset} }

func (h *Handover) plus(o *Handover) *Handover {
	if h == nil || o == nil {
		if h == nil {
			h = o
		}
		return h
	}
	return &Handover{h.Waited + o.Waited, max(h.Longest, o.Longest), h.At}
}

// Key tells children of one node apart: a method may be called and be executed
// as a task below the same node.
func (n *Node) Key() int64 {
	k := int64(uint32(n.Method))
	if n.Async() != nil {
		k |= 1<<32 | int64(n.Async().At)<<33
	}
	return k
}

// executed are executions that still hang where their thread was.
type executed struct {
	in    *Node  // the node where the thread was
	from  uint32 // the node where they were handed over
	above Node   // stands for the hand-over: the execution is its only child
}

// A place is a node with the number, from 1, of the execution that it belongs
// to, 0 for a root invocation.
type place struct {
	node *Node
	in   int32
}

// handover reads the node of a hand-over.
func (r *reader) handover(off int, in *Node) *executed {
	e := &executed{in: in, from: r.half(off + wire.NFlags)}
	place := uint32(0)
	if r.InPlace {
		place = uint32(off)
	}
	e.above.Self = count(r.word(off + wire.NSelf))
	e.above.Details().Async = &Handover{count(r.word(off + wire.NCalls)), count(r.word(off + wire.NCount)), place}
	r.executed = append(r.executed, e)
	return e
}

// put remembers where the node at an offset is, if tasks are followed.
func (r *reader) put(off uint32, n *Node, in int32) {
	if !r.follow {
		return
	}
	i := index(off)
	if int(i) >= len(r.places) {
		r.places = append(r.places, make([]place, int(i)+1-len(r.places)+1<<10)...)
	}
	r.places[i] = place{n, in}
}

// attach puts every execution below the node where it was handed over. That
// node may have been read too early, when it wasn't there yet: detached counts
// such executions, which are in no tree. What would be a ring is damaged.
func (r *reader) attach() (detached int64) {
	const unknown, onWay, good, bad = 0, 1, 2, 3
	state := make([]byte, len(r.executed)+1)
	state[0] = good
	up := make([]int32, len(r.executed)+1)
	at := func(k int32) *Node {
		i := index(r.executed[k-1].from)
		if i == 0 || int(i) >= len(r.places) {
			return nil
		}
		up[k] = r.places[i].in
		return r.places[i].node
	}
	nodes := make([]*Node, len(r.executed)+1)
	for k := range r.executed {
		nodes[k+1] = at(int32(k + 1))
	}
	var way []int32
	for k := int32(1); int(k) <= len(r.executed); k++ {
		way = way[:0]
		i := k
		for ; state[i] == unknown && nodes[i] != nil; i = up[i] {
			state[i] = onWay
			way = append(way, i)
		}
		end := state[i]
		if end != good { // a ring, or a hand-over that leads nowhere
			end = bad
			if nodes[i] == nil {
				state[i] = bad
			}
		}
		for _, w := range way {
			state[w] = end
		}
	}
	for k, e := range r.executed {
		n := nodes[k+1]
		if r.InPlace {
			n = e.in
		} else if state[k+1] != good {
			detached++
			continue
		}
		n.Children = append(n.Children, e.above.Children...)
	}
	return detached
}

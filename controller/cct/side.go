package cct

import (
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// side reads what a node has beside its own words, and its further metrics.
func (r *reader) side(n *Node, node, flags uint32) {
	side := flags & wire.NSide
	// It takes two nodes, both of which have to be there.
	if i := index(side); i == 0 || i+1 >= r.limit {
		if side != 0 {
			if r.grow(); i == 0 || i+1 >= r.limit {
				r.bad++
				side = 0
			}
		}
	}
	if side != 0 {
		n.Thrown = count(r.word(int(side) + wire.XThrown))
	}
	if r.Metrics == nil {
		return
	}
	if len(r.values) == 0 {
		r.values = make([]metric.Values, 1<<10)
	}
	v := &r.values[0]
	r.values = r.values[1:]
	v.Table = r.Metrics
	for i, m := range r.Metrics.Rows {
		switch at := m.Word.Offset; {
		case at < 0 || at > wire.XEnd-8 || !m.Word.Side && at > 1<<wire.NodeShift-8:
		case !m.Word.Side:
			v.Own[i] = count(r.word(int(node) + at))
		case side != 0:
			v.Own[i] = count(r.word(int(side) + at))
		}
	}
	if side != 0 {
		v.Unwound = count(r.word(int(side) + wire.XUnwound))
		v.Open = count(r.word(int(side) + wire.XCut))
	}
	if _, open := r.open[node]; open {
		v.Open++
	}
	n.Counts = v
}

// path notes which nodes have an invocation that is open: those from the cursor
// upwards.
func (r *reader) path(cursor int64) {
	if r.Metrics == nil {
		return
	}
	r.open = map[uint32]struct{}{}
	if cursor != int64(uint32(cursor)) {
		return
	}
	for at := uint32(cursor); index(at) != 0 && index(at) < r.limit; at = r.half(int(at) + wire.NParent) {
		if _, ring := r.open[at]; ring {
			return
		}
		r.open[at] = struct{}{}
	}
}

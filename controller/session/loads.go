package session

import (
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/flight"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// mostLoads bounds the class loads of a recording that are kept; later ones are counted.
const mostLoads = 100_000

// loads are the classes that came while a recording was on. The thread that loads a class waits for
// the class's bytes in any case, so telling where it was costs nobody a wait.
type loads struct {
	epoch   uint32
	at      []flight.Load // only grows, until the recording begins anew; what is in it stays
	waits   []int64       // of each, ns that its thread waited at the least for the class's bytes
	sums    []waitSum
	left    int64 // loads inside the subgraph beyond mostLoads
	outside int64 // loads of threads outside of the subgraph
}

// A waitSum is what a record says of its thread's waits when a load begins.
type waitSum struct {
	record uint32 // 0: nothing
	ns     int64
}

// waited is how long the thread of each load waited for the class's bytes: what its record says more when the next
// one begins, or by end at the end. Where threads wait elsewhere, too, as at fresh methods, that is in it. An answer's way back to the thread is only
// in the record: on a machine whose cores are busy it takes longer than the answer.
func (k *loads) waited(end func(node uint32) (ns int64, record uint32, ok bool)) []int64 {
	out := slices.Clone(k.waits)
	last := map[uint32]int{} // by record, the load before
	for i, s := range k.sums {
		if s.record == 0 {
			continue
		}
		if j, ok := last[s.record]; ok {
			out[j] = max(out[j], s.ns-k.sums[j].ns)
		}
		last[s.record] = i
	}
	for record, j := range last {
		if ns, same, ok := end(k.at[j].Node); ok && same == record {
			out[j] = max(out[j], ns-k.sums[j].ns)
		}
	}
	return out
}

// noteLoad takes down which context has caused a class to be loaded.
func (l *loop) noteLoad(q *link.Transform) (told func()) {
	told = func() {}
	if q.Flags&wire.HookRedefined != 0 || !l.armed || l.rec.since == 0 {
		return told
	}
	if epoch := l.s.data.Epoch(); epoch != l.loads.epoch {
		l.loads = loads{epoch: epoch}
	}
	k := &l.loads
	switch part := q.Token >> wire.IndexBits << wire.IndexBits; {
	case q.Token == 0 || part != l.s.data.Part():
		k.outside++
		return told
	case len(k.at) >= mostLoads:
		k.left++
		return told
	}
	loader := l.loaders[q.ID.Loader]
	k.at = append(k.at, flight.Load{
		Load: cct.Load{
			Class: cct.SourceType(q.ID.Name), Loader: loader, From: strings.TrimSuffix(q.Place, "!/"),
			At: q.Nano - l.rec.began, Took: cct.NotKnown, Own: cct.NotKnown,
		},
		Node: uint32(q.Token), Thread: q.Thread,
	})
	k.waits = append(k.waits, 0)
	ns, record, _ := l.s.data.SuspendedAt(uint32(q.Token))
	k.sums = append(k.sums, waitSum{record, ns})
	epoch, i := k.epoch, len(k.waits)-1
	return func() {
		if k.epoch == epoch {
			k.waits[i] = max(l.s.now()-q.Nano, 0)
		}
	}
}

// loadsByNode is what a tree is read with.
func loadsByNode(list []flight.Load) map[uint32]*cct.Loads {
	if len(list) == 0 {
		return nil
	}
	by := map[uint32]*cct.Loads{}
	for _, k := range list {
		n := by[k.Node]
		if n == nil {
			n = &cct.Loads{}
			by[k.Node] = n
		}
		n.List = append(n.List, k.Load)
	}
	return by
}

// reportLoads adds what a report says of class loads beside its tree.
func (l *loop) reportLoads(r *export.Report) {
	if l.loads.epoch != l.s.data.Epoch() || len(l.loads.at)+int(l.loads.outside) == 0 {
		return
	}
	r.Loads = &export.ClassLoads{Inside: int64(len(l.loads.at)) + l.loads.left, Left: l.loads.left, Outside: l.loads.outside}
}

// loaded are the loads of the recording that is on. The list is not changed any more.
func (l *loop) loaded() []flight.Load {
	if l.loads.epoch != l.s.data.Epoch() {
		return nil
	}
	return l.loads.at[:len(l.loads.at):len(l.loads.at)]
}

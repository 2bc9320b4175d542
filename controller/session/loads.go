package session

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// mostLoads bounds the class loads of a recording that are kept; later ones are counted.
const mostLoads = 100_000

// loads are the classes that came while a recording was on. The thread that loads a class waits for
// the class's bytes in any case, so telling where it was costs nobody a wait.
type loads struct {
	epoch   uint32
	at      []loadAt // only grows, until the recording begins anew; what is in it stays
	waits   []int64  // of each, ns that its thread waited for the class's bytes
	left    int64    // loads inside the subgraph beyond mostLoads
	outside int64    // loads of threads outside of the subgraph
}

// loadAt is a load with its context.
type loadAt struct {
	cct.Load
	node   uint32 // its offset in the data file
	thread int64
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
	k.at = append(k.at, loadAt{
		Load: cct.Load{
			Class: cct.SourceType(q.ID.Name), Loader: loader, From: strings.TrimSuffix(q.Place, "!/"),
			At: q.Nano - l.rec.began, Took: cct.NotKnown, Own: cct.NotKnown,
		},
		node: uint32(q.Token), thread: q.Thread,
	})
	k.waits = append(k.waits, 0)
	epoch, i := k.epoch, len(k.waits)-1
	return func() {
		if k.epoch == epoch {
			k.waits[i] = max(l.s.now()-q.Nano, 0)
		}
	}
}

// loadsByNode is what a tree is read with.
func loadsByNode(list []loadAt) map[uint32]*cct.Loads {
	if len(list) == 0 {
		return nil
	}
	by := map[uint32]*cct.Loads{}
	for _, k := range list {
		n := by[k.node]
		if n == nil {
			n = &cct.Loads{}
			by[k.node] = n
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
func (l *loop) loaded() []loadAt {
	if l.loads.epoch != l.s.data.Epoch() {
		return nil
	}
	return l.loads.at[:len(l.loads.at):len(l.loads.at)]
}

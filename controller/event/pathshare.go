package event

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// run adds that a part's thread ran.
func (w *walker) run(p *part, t *track, from, to int64) {
	if to <= from {
		return
	}
	w.add(Segment{Kind: Run, Thread: p.thread, Method: w.charge(p, t, from, to), From: from, To: to})
}

// charge shares a stretch of a part's thread out among methods, and returns the
// innermost one that has nine tenths of it.
func (w *walker) charge(p *part, t *track, from, to int64) int32 {
	if t == nil {
		w.share(-1).Run += to - from
		w.path.Run += to - from
		return -1
	}
	spent := map[int32]int64{}
	i, _ := slices.BinarySearchFunc(t.samples, from, func(s sample, at int64) int {
		if s.until <= at {
			return -1
		}
		return 1
	})
	at, node := from, int32(0)
	for ; at < to; i++ {
		until := to
		if i < len(t.samples) {
			node, until = t.samples[i].node, min(until, t.samples[i].until)
		} else if node <= 0 {
			node = t.near(to)
		}
		if node < 0 {
			w.path.Profiler += until - at
		} else {
			m := t.method(node)
			if m < 0 {
				m = p.label()
			}
			w.share(m).Run += until - at
			w.path.Run += until - at
			spent[node] += until - at
		}
		at = until
	}
	return t.most(spent, p)
}

// near is the node that the step next to a time was at, 0 if there is none.
func (t *track) near(at int64) int32 {
	i, _ := slices.BinarySearchFunc(t.steps, at, func(st step, at int64) int { return cmp.Compare(st.at, at) })
	if i = min(i, len(t.steps)-1); i < 0 {
		return 0
	}
	return t.steps[i].node
}

// most is the method of the innermost node that has nine tenths of what was
// spent in it and below.
func (t *track) most(spent map[int32]int64, p *part) int32 {
	var all int64
	within := map[int32]int64{}
	for k, ns := range spent {
		all += ns
		for ; k > 0; k = t.s.nodes[k].parent {
			within[k] += ns
		}
	}
	best := int32(0)
	for k, ns := range within {
		if 10*ns >= 9*all && t.s.nodes[k].method >= 0 && k > best { // a callee comes after its caller
			best = k
		}
	}
	if best == 0 {
		return p.label()
	}
	return t.s.nodes[best].method
}

// method is a node's, of a hand-over's node that of its caller; -1 above the roots.
func (t *track) method(node int32) int32 {
	for node > 0 && t.s.nodes[node].method < 0 {
		node = t.s.nodes[node].parent
	}
	return t.s.nodes[node].method
}

func (w *walker) share(method int32) *Share {
	s := w.shares[method]
	if s == nil {
		s = &Share{Method: method}
		w.shares[method] = s
	}
	return s
}

func (w *walker) add(s Segment) {
	ns := s.To - s.From
	if ns <= 0 && s.Cause == NoCause {
		return
	}
	switch s.Kind {
	case Queue:
		w.share(s.Method).Queue += ns
		w.path.Queue += ns
	case Wait:
		w.share(s.Method).Wait += ns
		w.path.Wait += ns
	}
	w.path.Segments = append(w.path.Segments, s)
}

// finish puts the path in the order of time, within its bound.
func (w *walker) finish() *Path {
	out := &w.path
	slices.Reverse(out.Segments)
	if n := len(out.Segments); n > mostSegments {
		took := make([]int64, 0, n)
		for _, s := range out.Segments {
			took = append(took, s.To-s.From)
		}
		slices.Sort(took)
		least, room := took[n-mostSegments], mostSegments // room is for those as long as the shortest that stays
		for _, ns := range took[n-mostSegments:] {
			if ns > least {
				room--
			}
		}
		out.Segments = slices.DeleteFunc(out.Segments, func(s Segment) bool {
			ns := s.To - s.From
			if ns == least && room > 0 {
				room--
				return false
			}
			if ns > least {
				return false
			}
			out.Left++
			out.LeftTime += ns
			return true
		})
	}
	for _, s := range w.shares {
		out.Shares = append(out.Shares, *s)
	}
	slices.SortFunc(out.Shares, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Run+b.Queue+b.Wait, a.Run+a.Queue+a.Wait), cmp.Compare(a.Method, b.Method))
	})
	return out
}

// label is the method by which people know an execution: what the JDK's method
// that executes tasks calls.
func (p *part) label() int32 {
	if p.tree == nil {
		return -1
	}
	if p.up == nil || len(p.tree.Children) == 0 {
		return p.tree.Method
	}
	return slices.MaxFunc(p.tree.Children, func(a, b *cct.Node) int { return cmp.Compare(a.Total, b.Total) }).Method
}

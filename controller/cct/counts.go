package cct

import "github.com/rivulet-profiler/rivulet/controller/metric"

// below puts the totals of a callee's further metrics into the node's.
func (n *Node) below(callee *Node) {
	n.belowParts(callee)
	if callee.Counts == nil {
		return
	}
	if n.Counts == nil { // a node that was made to put others together
		n.Counts = &metric.Values{Table: callee.Counts.Table}
	}
	n.Counts.Below(callee.Counts)
}

// addCounts puts a context's own figures into those of several. The first
// argument is changed, or made; either may be nil.
func addCounts(to, o *metric.Values) *metric.Values {
	if o == nil {
		return to
	}
	if to == nil {
		to = &metric.Values{Table: o.Table}
	}
	to.Add(o)
	return to
}

// An Executed says what invocations of a method count that no probe has to
// count while they run.
type Executed struct {
	Each  int64 // of each invocation that returns
	Super int64 // of each that ended by an exception out of its super()

	SuperVaries bool // Super is not the same for all, and left out
}

// AddExecuted adds, to a metric of the snapshot's table, what follows from how
// often methods were invoked (all paths through a method may be equally
// long), and computes the totals anew. Invocations that have not ended count
// nothing. It changes the snapshot; call it once, before anything is merged. It
// returns how many invocations of which methods ended by an exception out of
// super(), where what they had executed varies: they lack that.
func (s *Snapshot) AddExecuted(name string, of func(method int32) Executed) (lost map[int32]int64) {
	at := s.Metrics.Index(name)
	if at < 0 {
		return nil
	}
	lost = map[int32]int64{}
	for n := range All(s.Roots()) {
		if n.Method == Unplaced || n.Counts == nil {
			continue
		}
		e := of(n.Method)
		ended := max(n.Calls-n.Thrown-n.Counts.Open, 0)
		n.Counts.Own[at] += e.Each*ended + e.Super*n.Counts.Unwound
		if e.SuperVaries && n.Counts.Unwound > 0 {
			lost[n.Method] += n.Counts.Unwound
		}
	}
	for _, t := range s.Threads {
		computeTotals(t.Roots)
	}
	return lost
}

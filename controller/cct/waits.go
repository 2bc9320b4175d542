package cct

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// A LockWait is waits of a context for a lock that another thread held.
type LockWait struct {
	Lock  string // its class, as in sources
	Via   string // the method without probes that the context had called and that wants it; "" for the context's own code
	Owner string // the method in which the owner had got it; "" where nobody knows
	Count int64
	Took  int64 // ns, in all
}

// Waits are waits for locks of one context, each lock, method and owner once. A list is never changed.
type Waits struct{ List []LockWait }

// plus puts the waits of two contexts together, either of which may be nil.
func (w *Waits) plus(o *Waits) *Waits {
	switch {
	case o == nil:
		return w
	case w == nil:
		return o
	}
	sum := &Waits{slices.Clone(w.List)}
	for _, k := range o.List {
		sum.Add(k)
	}
	return sum
}

// Add puts another wait into a list that nobody else has.
func (w *Waits) Add(k LockWait) {
	i := slices.IndexFunc(w.List, func(h LockWait) bool { return h.Lock == k.Lock && h.Via == k.Via && h.Owner == k.Owner })
	if i < 0 {
		w.List = append(w.List, k)
		return
	}
	w.List[i].Count += k.Count
	w.List[i].Took += k.Took
}

// All are the waits; none of nil.
func (w *Waits) All() []LockWait {
	if w == nil {
		return nil
	}
	return w.List
}

// Waited adds waits of the node's own, also to its figures where its recording has such. Totals are not changed.
func (n *Node) Waited(w *Waits) {
	if w != nil {
		n.Details().Waits = n.Waits().plus(w)
	}
	if n.Counts == nil || w == nil {
		return
	}
	count, took := n.Counts.Table.Index(metric.LockWaits.Name), n.Counts.Table.Index(metric.LockTime.Name)
	for _, k := range w.List {
		if count >= 0 {
			n.Counts.Own[count] += k.Count
		}
		if took >= 0 {
			n.Counts.Own[took] += k.Took
		}
	}
}

// A WaitSum is what the contexts of one method have waited for a lock.
type WaitSum struct {
	LockWait
	Method   int32
	Contexts int64
}

// WaitsOf adds up the waits of trees by lock, method and owner, the longest in all first.
func WaitsOf(roots []*Node) (sums []WaitSum) {
	type key struct {
		method           int32
		lock, via, owner string
	}
	at := map[key]int{}
	for n := range All(roots) {
		for _, k := range n.Waits().All() {
			i, ok := at[key{n.Method, k.Lock, k.Via, k.Owner}]
			if !ok {
				i = len(sums)
				at[key{n.Method, k.Lock, k.Via, k.Owner}] = i
				sums = append(sums, WaitSum{LockWait: LockWait{Lock: k.Lock, Via: k.Via, Owner: k.Owner}, Method: n.Method})
			}
			sums[i].Count += k.Count
			sums[i].Took += k.Took
			sums[i].Contexts++
		}
	}
	slices.SortStableFunc(sums, func(a, b WaitSum) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Lock, b.Lock), cmp.Compare(a.Via, b.Via), cmp.Compare(a.Owner, b.Owner))
	})
	return sums
}

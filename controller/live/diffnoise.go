package live

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/noise"
)

// A methodChange is a method in two recordings, with the uncertainty of both self times.
type methodChange struct {
	Change
	errors [2]int64
}

func (c *methodChange) pair() noise.Pair {
	return noise.Pair{Before: c.Change[3], After: c.Change[4], ErrorBefore: c.errors[0], ErrorAfter: c.errors[1]}
}

// changesOf are all methods of two frames; b's figures are scaled.
func changesOf(a, b *Frame, same matching, scale float64) (out []methodChange) {
	by := func(v int64) int64 { return int64(float64(v) * scale) }
	at := map[int32]int{}
	for _, e := range a.flat(flatKey{}) {
		method := same.edge(e.Method)
		at[method] = len(out)
		out = append(out, methodChange{Change{int64(method), e.Calls, 0, e.Self, 0, e.Total, 0}, [2]int64{e.Error}})
	}
	for _, e := range b.flat(flatKey{}) {
		i, ok := at[e.Method]
		if !ok {
			i = len(out)
			out = append(out, methodChange{Change: Change{int64(e.Method)}})
		}
		out[i].Change[2], out[i].Change[4], out[i].Change[6], out[i].errors[1] = by(e.Calls), by(e.Self), by(e.Total), by(e.Error)
	}
	return out
}

// A diffNoise says which differences between two frames are noise.
type diffNoise struct {
	band   noise.Band
	grave  bool
	errors [2]float64 // the mean uncertainty of a ns, before and after
}

func newNoise(a, b *Frame, all []methodChange, scale float64, grave bool) diffNoise {
	n := diffNoise{band: noise.Unknown(), grave: grave}
	if grave {
		return n
	}
	var sums [4]float64
	pairs := make([]noise.Pair, 0, len(all))
	for i := range all {
		p := all[i].pair()
		pairs = append(pairs, p)
		for k, v := range []int64{p.Before, p.After, p.ErrorBefore, p.ErrorAfter} {
			sums[k] += float64(v)
		}
	}
	for k := range n.errors {
		if sums[k] > 0 {
			n.errors[k] = sums[k+2] / sums[k]
		}
	}
	n.band = noise.Of(pairs, a.openShare()+b.openShare())
	return n
}

// openShare is by how much time for each root invocation may be off since some of them are
// unfinished, as a logarithm.
func (f *Frame) openShare() float64 {
	if f.open <= 0 || f.invocations <= f.open {
		return 0
	}
	return math.Log(float64(f.invocations) / float64(f.invocations-f.open))
}

// total is the bound of two total times. A context is taken to be as uncertain as all are in
// the mean, since to sum up everything below each is dear.
func (n *diffNoise) total(before, after int64) int64 {
	return n.band.Bound(noise.Pair{
		Before: before, After: after, ErrorBefore: int64(float64(before) * n.errors[0]), ErrorAfter: int64(float64(after) * n.errors[1]),
	})
}

const mostChanges = 100

// takeChanges lists the methods that differ beyond noise, and says how it looks in all.
func (v *CompareView) takeChanges(all []methodChange, n diffNoise) {
	v.Changes = []Change{}
	for i := range all {
		c := &all[i]
		c.Change[7] = n.band.Bound(c.pair())
		switch {
		case n.band.Beyond(c.pair()):
			v.Changes = append(v.Changes, c.Change)
		case c.Change[3] != c.Change[4]:
			v.Within++
		}
	}
	weight := func(c Change) int64 { return max(c[3]-c[4], c[4]-c[3]) }
	slices.SortFunc(v.Changes, func(x, y Change) int {
		return cmp.Or(cmp.Compare(weight(y), weight(x)), cmp.Compare(x[0], y[0]))
	})
	v.Differ = len(v.Changes)
	v.Changes = v.Changes[:min(v.Differ, mostChanges)]
	v.More = v.Differ - len(v.Changes)
	v.Verdict = n.verdict(v.Differ, v.Within)
}

// tooWide is a variation that only recordings which are too short have.
const tooWide = 10

// verdict says in a sentence what two recordings show.
func (n *diffNoise) verdict(differ, within int) string {
	if n.grave {
		return "Their times can't be compared."
	}
	span := fmt.Sprintf("an unchanged program may read between %.0f %% less and %.0f %% more in the second of these two recordings", 100*(1-math.Exp(-n.band.Down)), 100*(math.Exp(n.band.Up)-1))
	if max(n.band.Up, n.band.Down) > math.Log(tooWide) {
		span = fmt.Sprintf("methods vary more than %d-fold between these two recordings, so they hardly show changes; record more root calls", tooWide)
	}
	switch {
	case differ == 0 && within == 0:
		return "No difference in time."
	case differ == 0:
		return "No difference beyond noise: " + span + "."
	case differ == 1:
		return fmt.Sprintf("1 method differs beyond noise, %d lie within it: %s.", within, span)
	}
	return fmt.Sprintf("%d methods differ beyond noise, %d lie within it: %s.", differ, within, span)
}

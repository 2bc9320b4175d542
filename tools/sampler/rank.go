package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// An entry is a method in both rankings. Shares are of all self time and of
// all samples.
type entry struct {
	method      string // with its descriptor
	calls       int64
	rank        int // by corrected self time, from 1
	share       float64
	off         cct.Uncertainty
	uncertain   float64 // by which share may be off
	samples     int
	sampled     float64 // share
	sampledRank float64 // equal numbers of samples share a rank
	total       int     // samples of all methods
}

// beyond reports whether both shares differ by more than twice the uncertainty
// of their difference.
func (e *entry) beyond() bool {
	n := float64(max(1, e.samples)) // none seen is no certainty
	sampling := math.Sqrt(n) / float64(max(1, e.total))
	return math.Abs(e.share-e.sampled) > 2*math.Hypot(sampling, e.uncertain)
}

// rank orders all methods of either by corrected self time.
func rank(flat []bench.Method, s samples) []entry {
	all := 0.0
	for _, f := range flat {
		all += float64(f.Self)
	}
	byName := map[string]*entry{}
	at := func(name string) *entry {
		e := byName[name]
		if e == nil {
			e = &entry{method: name, samples: s.of[name], total: s.total, sampled: float64(s.of[name]) / float64(max(1, s.total))}
			byName[name] = e
		}
		return e
	}
	for _, f := range flat {
		e := at(f.Method) // the same of several loaders are one, as in the samples
		e.calls += f.Calls
		e.share += float64(f.Self) / all
		e.off = e.off.Plus(cct.Uncertainty{Error: f.Error, Spread: f.Spread})
		e.uncertain = float64(e.off.Error) / all
	}
	for name := range s.of {
		at(name)
	}
	list := make([]entry, 0, len(byName))
	for _, e := range byName {
		list = append(list, *e)
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(b.samples, a.samples), cmp.Compare(a.method, b.method))
	})
	var counts []float64
	for _, e := range list {
		counts = append(counts, float64(e.samples))
	}
	for i, r := range bench.Ranks(counts) {
		list[i].rank, list[i].sampledRank = i+1, r
	}
	return list
}

// A summary is what the rankings have in common.
type summary struct {
	correlation float64 // of the ranks of the hottest ones
	distance    float64 // half the sum of the differences of all shares: 0 alike, 1 nothing in common
	common      int     // of the sampler's hottest ones, how many are among ours
	missing     []entry // those that are not
}

func summarize(list []entry) (s summary) {
	var ours, theirs []float64
	for i := range list {
		e := &list[i]
		s.distance += math.Abs(e.share-e.sampled) / 2
		if i < top {
			ours, theirs = append(ours, e.share), append(theirs, e.sampled)
		}
		switch {
		case e.samples == 0 || e.sampledRank > top:
		case i < top:
			s.common++
		default:
			s.missing = append(s.missing, *e)
		}
	}
	s.correlation = bench.Spearman(ours, theirs)
	return s
}

package main

import (
	"log"
	"math"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// leastSamples is how often a method must have been met to be compared.
const leastSamples = 5

// A comparison is what samples say of calls, beside what is true.
type comparison struct {
	methods        int
	fresh, samples float64 // rank correlation with calls: of entries by samples, of samples
	long           int     // methods with no more calls than samples: their mean time is a period at least
	share          float64 // of the calls of long ones, that are entries
	excess         int     // methods with more entries than calls
}

// against compares a report of samples with exact counts by method.
func against(r *export.Report, calls map[string]int64) (c comparison) {
	entries, samples := byMethod(r)
	var f, s, n []float64
	var met, all int64
	for method, k := range samples {
		want := calls[method]
		if !application(method) || want == 0 || k < leastSamples {
			continue
		}
		f, s, n = append(f, float64(entries[method])/float64(k)), append(s, float64(k)), append(n, float64(want))
		if want <= k {
			c.long++
			met, all = met+entries[method], all+want
		}
		if entries[method] > want {
			c.excess++
			log.Printf("%s has %d entries and %d calls, in %d samples", method, entries[method], want, k)
		}
	}
	c.methods = len(n)
	c.fresh, c.samples = bench.Spearman(f, n), bench.Spearman(s, n)
	c.share = float64(met) / float64(all)
	return c
}

// byMethod adds entries up, and samples that met the method, recursion counted once.
func byMethod(r *export.Report) (entries, samples map[string]int64) {
	entries, samples = map[string]int64{}, map[string]int64{}
	roots := r.Tree.Roots()
	sums, open := cct.SampleTotals(roots), map[int32]int{}
	cct.Walk(roots, func(n *cct.Node, _ int) bool {
		name := r.Method(n.Method).Name
		entries[name] += n.Calls
		if open[n.Method] == 0 {
			samples[name] += sums[n].Count
		}
		open[n.Method]++
		return true
	}, func(n *cct.Node, _ int) { open[n.Method]-- })
	return entries, samples
}

// alike correlates two reports: self samples by method, and samples and entries by
// context, nodes and edges as Whaley's paper compares them.
func alike(a, b *export.Report) (flat, contexts float64) {
	flatA, pathsA := vectors(a)
	flatB, pathsB := vectors(b)
	return pearson(flatA, flatB), pearson(pathsA, pathsB)
}

func vectors(r *export.Report) (flat, contexts map[string]float64) {
	flat, contexts = map[string]float64{}, map[string]float64{}
	var path []string
	cct.Walk(cct.Merge(r.Tree.Roots()), func(n *cct.Node, _ int) bool {
		name := r.Method(n.Method).Name
		path = append(path, name)
		at := strings.Join(path, ";")
		if n.Sample() != nil {
			flat[name] += float64(n.Sample().Count)
			contexts[at] += float64(n.Sample().Count)
		}
		contexts[at+" edge"] += float64(n.Calls)
		return true
	}, func(*cct.Node, int) { path = path[:len(path)-1] })
	return flat, contexts
}

// pearson is the correlation of two vectors, over the names that either has; NaN
// where one of them is all alike.
func pearson(a, b map[string]float64) float64 {
	names := map[string]bool{}
	for k := range a {
		names[k] = true
	}
	for k := range b {
		names[k] = true
	}
	n := float64(len(names))
	var meanA, meanB float64
	for k := range names {
		meanA, meanB = meanA+a[k]/n, meanB+b[k]/n
	}
	var ab, aa, bb float64
	for k := range names {
		x, y := a[k]-meanA, b[k]-meanB
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

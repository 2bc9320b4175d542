// Package noise tells a change of a program from what two recordings of an unchanged
// program differ by.
//
// Recordings of an unchanged program differ for three reasons: each figure has its own
// uncertainty; the machine, the JVM's compiler and the collector are in another state, which
// makes most methods slower or faster by one factor; and each method varies beside that.
// [Of] estimates the second and third from the two recordings themselves: the factor is the
// median change of all methods that both have, the variation their spread around it. What
// lies between no change and that factor, widened by the variation, is noise.
//
// This is a bound, not a test: it assumes that most methods did not change. A change that
// slows all of a program by one factor can't be told from a slower machine by two recordings,
// and counts as noise. All functions are pure.
package noise

import (
	"math"
	"slices"
)

// A Pair is one time in two recordings, in ns, scaled so that they compare. The errors are
// the uncertainty of each figure by itself.
type Pair struct {
	Before, After           int64
	ErrorBefore, ErrorAfter int64
}

// A Band is how far times of an unchanged program go apart in two recordings, as natural
// logarithms of their ratio: upwards and downwards, both at least 0. The zero Band has
// nothing but the figures' own errors.
type Band struct{ Up, Down float64 }

const (
	// least is the variation that is taken for granted: a tenth.
	least = 0.1
	// few methods say nothing about the variation. Times vary up to twofold on a shared
	// machine, so that is what is taken for granted then.
	few       = 8
	unknown   = math.Ln2
	deviation = 4      // so many standard deviations are noise
	sigma     = 1.4826 // of a normal distribution, in median absolute deviations
	share     = 1e-3   // methods with a smaller part of all time don't vote
)

// Unknown is the band of recordings that can't be compared: everything is noise.
func Unknown() Band { return Band{math.Inf(1), math.Inf(1)} }

// Of estimates the band from the self times of all methods. scale is by how much the two
// scales may be off against each other, as a natural logarithm.
func Of(methods []Pair, scale float64) Band {
	var before, after float64
	for _, p := range methods {
		before += float64(p.Before)
		after += float64(p.After)
	}
	var ratios []float64
	for _, p := range methods {
		a, b := float64(p.Before), float64(p.After)
		if a <= 0 || b <= 0 || max(a/before, b/after) < share || float64(p.ErrorBefore) > a/2 || float64(p.ErrorAfter) > b/2 {
			continue
		}
		ratios = append(ratios, math.Log(b/a))
	}
	if len(ratios) < few {
		return Band{unknown + scale, unknown + scale}
	}
	factor := median(ratios)
	for i, r := range ratios {
		ratios[i] = math.Abs(r - factor)
	}
	width := max(least, deviation*sigma*median(ratios)) + scale
	return Band{max(factor, 0) + width, max(-factor, 0) + width}
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Bound is by how much the two times of a pair may differ without a change of the program,
// in ns.
func (b Band) Bound(p Pair) int64 {
	width := b.Up
	if p.After < p.Before {
		width = b.Down
	}
	larger := float64(max(p.Before, p.After))
	return int64(math.Ceil(larger*(1-math.Exp(-width)))) + p.ErrorBefore + p.ErrorAfter
}

// Beyond tells whether a pair differs by more than its bound.
func (b Band) Beyond(p Pair) bool {
	return max(p.After-p.Before, p.Before-p.After) > b.Bound(p)
}

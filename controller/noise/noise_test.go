package noise

import (
	"math"
	"math/rand/v2"
	"testing"
)

// varied are n methods whose times after are those before, by a factor and by a random
// variation around it.
func varied(n int, factor, spread float64) []Pair {
	r := rand.New(rand.NewPCG(1, 2))
	var out []Pair
	for range n {
		before := 1e6 * (1 + 9*r.Float64())
		out = append(out, Pair{Before: int64(before), After: int64(before * factor * math.Exp(spread*r.NormFloat64()))})
	}
	return out
}

func beyond(b Band, pairs []Pair) (n int) {
	for _, p := range pairs {
		if b.Beyond(p) {
			n++
		}
	}
	return n
}

// TestUnchanged wants no difference where all methods differ by one factor and a variation
// around it: the same program on a machine in another state.
func TestUnchanged(t *testing.T) {
	for _, factor := range []float64{0.3, 0.48, 1, 1.2, 3} {
		for _, spread := range []float64{0, 0.02, 0.2} {
			pairs := varied(200, factor, spread)
			if n := beyond(Of(pairs, 0), pairs); n > 1 {
				t.Errorf("factor %v, spread %v: %d of 200 methods differ", factor, spread, n)
			}
		}
	}
}

// TestChanged wants the methods to be found that do change, also where one of them has
// most of the time, and where all others have another factor.
func TestChanged(t *testing.T) {
	for _, factor := range []float64{0.8, 1, 1.25} {
		pairs := varied(200, factor, 0.03)
		pairs[7] = Pair{Before: 1e9, After: 3e9}
		pairs[8] = Pair{Before: 2e6, After: 2e5}
		pairs[9] = Pair{After: 5e6}
		b := Of(pairs, 0)
		for _, i := range []int{7, 8, 9} {
			if !b.Beyond(pairs[i]) {
				t.Errorf("factor %v: %+v is within %+v", factor, pairs[i], b)
			}
		}
		if n := beyond(b, pairs); n > 5 {
			t.Errorf("factor %v: %d methods differ, 3 do", factor, n)
		}
	}
}

func TestBound(t *testing.T) {
	for _, c := range []struct {
		band Band
		pair Pair
		want int64
	}{
		{Band{}, Pair{Before: 100, After: 90, ErrorBefore: 3, ErrorAfter: 4}, 7},
		{Band{Up: math.Ln2}, Pair{Before: 50, After: 100}, 50},
		{Band{Up: math.Ln2}, Pair{Before: 100, After: 50}, 0},
		{Band{Down: math.Ln2}, Pair{Before: 100, After: 50, ErrorAfter: 2}, 52},
		{Unknown(), Pair{Before: 100, After: 500}, 500},
	} {
		if got := c.band.Bound(c.pair); got != c.want {
			t.Errorf("%+v of %+v: %d, want %d", c.band, c.pair, got, c.want)
		}
	}
	// The errors of its figures keep a method from voting; so few methods say nothing.
	few := []Pair{{Before: 100, After: 100}, {Before: 100, After: 100, ErrorBefore: 60}}
	if got := Of(few, 0.5); got != (Band{unknown + 0.5, unknown + 0.5}) {
		t.Errorf("of two methods: %+v", got)
	}
}

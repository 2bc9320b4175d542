package event

import (
	"math/rand/v2"
	"testing"
)

// TestWithin compares the bounds with every place at which the pause can have
// been: no place is outside of them, and of one collection each bound is some
// place's.
func TestWithin(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		took := 1 + rnd.Int64N(9)
		k := Mark{Kind: GC, Start: rnd.Int64N(30), Took: took, Pause: took, Count: 1, Off: rnd.Int64N(8)}
		from := rnd.Int64N(30)
		to := from + 1 + rnd.Int64N(20)
		least, most := k.Within(from, to)
		lo, hi := int64(99), int64(-1)
		for at := k.Start - k.Off; at <= k.Start+k.Off; at++ {
			n := overlap(at, at+took, from, to)
			lo, hi = min(lo, n), max(hi, n)
		}
		if least != lo || most != hi {
			t.Fatalf("%+v in %d to %d: %d to %d, it is %d to %d", k, from, to, least, most, lo, hi)
		}
		// Two collections of the same room: any two that don't overlap.
		if took < 2 {
			continue
		}
		k.Count = 2
		least, most = k.Within(from, to)
		first, end := k.Start-k.Off, k.Start+took+k.Off
		a := 1 + rnd.Int64N(took-1)
		b := took - a
		at := first + rnd.Int64N(end-first-took+1)
		next := at + a + rnd.Int64N(end-(at+a)-b+1)
		if n := overlap(at, at+a, from, to) + overlap(next, next+b, from, to); n < least || n > most {
			t.Fatalf("%+v in %d to %d: %d to %d, but %d with pauses at %d and %d", k, from, to, least, most, n, at, next)
		}
	}
	for _, k := range []Mark{{Start: 5, Took: 5, Pause: -1, Count: 1}, {Start: 5, Count: 1}} {
		if least, most := k.Within(0, 100); least != 0 || most != 0 {
			t.Errorf("%+v: %d to %d", k, least, most)
		}
	}
}

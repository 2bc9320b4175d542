package wire

import (
	"math"
	"testing"
)

// Each place begins where the one before ends, and its bounds and middle lie in it.
func TestTimes(t *testing.T) {
	end := int64(0)
	for i := range Times {
		low, above := TimesRange(i)
		if low != end || TimesOf(low) != i {
			t.Fatalf("place %d begins at %d, the one before ends at %d; %d lies at place %d", i, low, end, low, TimesOf(low))
		}
		if i == Times-1 {
			break
		}
		if TimesOf(above-1) != i {
			t.Fatalf("place %d: %d lies at place %d", i, above-1, TimesOf(above-1))
		}
		if i > 0 && float64(above-low)/float64(low) > 1.0/(1<<TimesBits) {
			t.Fatalf("place %d, %d to %d, is too wide", i, low, above)
		}
		end = above
	}
	if i := TimesOf(math.MaxInt64); i != Times-1 {
		t.Errorf("the longest time lies at place %d", i)
	}
	if HTimes+8*Times > HSlow || HSlowRound+8 > OffSlow {
		t.Error("they reach into what lies behind them")
	}
}

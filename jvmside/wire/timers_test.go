package wire_test

import (
	"math"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestBuckets checks that the buckets cover every time once, in order, and are
// as narrow as is promised.
func TestBuckets(t *testing.T) {
	next := int64(0)
	for i := range wire.CellBuckets {
		low, high := wire.BucketRange(i)
		if low != next || high < low {
			t.Fatalf("bucket %d: %d to %d, want it to begin at %d", i, low, high, next)
		}
		for _, ns := range []int64{low, low + (high-low)/2, high} {
			if got := wire.BucketOf(ns); got != i {
				t.Fatalf("%d ns: bucket %d, want %d", ns, got, i)
			}
		}
		if half := (high - low + 1) / 2; half*128 > low && half > 0 {
			t.Fatalf("bucket %d: %d to %d is wider than 1/64 of its times", i, low, high)
		}
		if high == math.MaxInt64 {
			if i != wire.CellBuckets-1 {
				t.Fatalf("the last bucket is %d of %d", i, wire.CellBuckets)
			}
			return
		}
		next = high + 1
	}
	t.Fatal("the highest times have no bucket")
}

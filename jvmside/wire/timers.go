package wire

import "math/bits"

// Timers are what "rivulet time" records instead of a tree: for each method,
// cells with a histogram of its invocations' times. A session either records
// a tree or times methods; the cells lie where the nodes would.
//
// A method has twice T_STRIPES cells. One of the first half belongs to the
// thread that claimed it, which alone writes it, by plain stores. All other
// threads add to those of the second half atomically. Either is chosen by the
// thread's id. A method's figures are the sums and maxima over its cells.
//
// The histogram is log-linear: each power of two has 64 buckets, so a bucket's
// middle is at most 1/128 (0.8 %) away from what it counts; below 128 ns every
// ns has its own. [BucketOf] and [BucketRange] are the formula.
const (
	CellShift   = 15 // a cell is 32 KiB
	CellBuckets = 58 << bucketBits
	bucketBits  = 6

	// TimerSample is the method whose times say what the timer itself takes;
	// the ledger's ids begin above it.
	TimerSample = 0
)

// Words of the header that timers use, on a cache line of their own.
const (
	TMethods = 2048
	TStripes = 2052
	TSince   = 2056
	TCells   = 2064
)

// Words of a cell.
const (
	COwner   = 0
	CTotal   = 8
	CThrown  = 16
	CMost    = 24
	CLeast   = 32
	CBuckets = 64
)

// Timers is the part of the data file's table that timers add.
var Timers = []Const{
	{"T_METHODS", TMethods, "u32: methods that have cells; ids are below this; 0 where a tree is recorded"},
	{"T_STRIPES", TStripes, "u32: threads that can have cells of their own, a power of two"},
	{"T_SINCE", TSince, "i64: the target's nanoTime when the gate opened; earlier invocations don't count"},
	{"T_CELLS", TCells, "i64: where the cells lie, from the start of the file"},
	{"T_SAMPLE", TimerSample, "the method that measures the timer"},

	{"CELL_SHIFT", CellShift, "log2 of a cell's size"},
	{"CELL_BUCKETS", CellBuckets, "buckets of a cell"},
	{"BUCKET_BITS", bucketBits, "log2 of the buckets that a power of two has"},
	{"C_OWNER", COwner, "i64: id of the thread that alone writes the cell, 0 none or many"},
	{"C_TOTAL", CTotal, "i64: ns of all invocations"},
	{"C_THROWN", CThrown, "i64: of those, ended by an exception"},
	{"C_MOST", CMost, "i64: ns of the longest"},
	{"C_LEAST", CLeast, "i64: the highest long less the ns of the shortest, so that 0 is none"},
	{"C_BUCKETS", CBuckets, "i64[]: invocations by their time"},
}

// BucketOf is the bucket of a time in ns, which must not be negative.
func BucketOf(ns int64) int {
	shift := bits.Len64(uint64(ns|1<<bucketBits)) - bucketBits - 1
	return shift<<bucketBits + int(ns>>shift)
}

// BucketRange returns the lowest and the highest time in ns that bucket i
// counts, 0 <= i < CellBuckets.
func BucketRange(i int) (low, high int64) {
	shift := max(i>>bucketBits-1, 0)
	low = int64(i-shift<<bucketBits) << shift
	return low, low + 1<<shift - 1
}

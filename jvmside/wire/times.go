package wire

import "math/bits"

// Root calls are counted by how long they took in a histogram of the header. It is
// log-linear: each power of two from 128 ns to 137 s has eight counts, so that a
// count's middle is at most 6.3 % away from what it counts.
const (
	TimesLow  = 7
	TimesBits = 3
	timesHigh = 37
	Times     = (timesHigh-TimesLow)<<TimesBits + 2
)

// Words of the header, after those of [Timers].
const (
	HTimesSum  = 2104
	HTimes     = 2112
	HSlow      = 4048
	HSlowRound = 4056
)

// The slowest root calls are kept in a few places behind the header, each of which
// some root calls share.
const (
	OffSlow    = 4096
	SlowShift  = 6
	SlowPlaces = 64

	LRound  = 0
	LTook   = 8
	LBegan  = 16
	LWaited = 24
	LThread = 32
	LMethod = 40
	LCheck  = 48

	LThrown = MaxMethods // flag of L_METHOD
)

// Flags of H_EXITS.
const (
	ExitTell  = 1
	ExitCount = 2
)

// RootTimes is the part of the data file's table that this adds.
var RootTimes = []Const{
	{"EXIT_TELL", ExitTell, "flag: each says it in R_TOOK, and may be held"},
	{"EXIT_COUNT", ExitCount, "flag: each is counted by its time, H_TIMES"},
	{"H_TIMES", HTimes, "i64[TIMES]: with EXIT_COUNT, root calls by how long they took, less what the profiler made them wait; the first are those below 2 to the power of TIMES_LOW, then each power of two has 2 to the power of TIMES_BITS, the last are all that are longer"},
	{"H_TIMES_SUM", HTimesSum, "i64: ns of all these"},
	{"TIMES", Times, "how many there are"},
	{"TIMES_LOW", TimesLow, "log2 of the first time, in ns, that is told from shorter ones"},
	{"H_SLOW", HSlow, "i64: with EXIT_COUNT, root calls that took so many ns or longer are kept among the slowest"},
	{"H_SLOW_ROUND", HSlowRound, "i64: a place has the slowest root call of the round; the controller begins another one when it has read the places"},
	{"SLOW", OffSlow, "area of the slowest root calls"},
	{"SLOW_SHIFT", SlowShift, "log2 of a place's size"},
	{"SLOW_MASK", SlowPlaces - 1, "place of a root call: 31 times its record's number and R_RETURNS, and this"},
	{"L_ROUND", LRound, "i64: H_SLOW_ROUND when it was written"},
	{"L_TOOK", LTook, "i64: ns, less L_WAITED"},
	{"L_BEGAN", LBegan, "i64: R_BEGAN"},
	{"L_WAITED", LWaited, "i64: ns that the profiler made it wait"},
	{"L_THREAD", LThread, "i64: R_TID"},
	{"L_METHOD", LMethod, "i64: the root's method id, 0 if unknown; with L_THROWN"},
	{"L_CHECK", LCheck, "i64: round ^ took ^ began ^ waited ^ thread << 20 ^ method << 40, written last; where it differs, the place is being written"},
	{"L_THROWN", LThrown, "flag: it ended by an exception"},
	{"TIMES_BITS", TimesBits, "log2 of the counts that a power of two has"},
}

// TimesOf is the place of a time in ns, which must not be negative.
func TimesOf(ns int64) int {
	if ns < 1<<TimesLow {
		return 0
	}
	power := bits.Len64(uint64(ns)) - 1
	if power >= timesHigh {
		return Times - 1
	}
	return 1 + (power-TimesLow)<<TimesBits + int(ns>>(power-TimesBits))&(1<<TimesBits-1)
}

// TimesRange returns the lowest time in ns that place i counts, 0 <= i < Times, and the
// first one above; of the last place that is 0, no bound.
func TimesRange(i int) (low, above int64) {
	switch i {
	case 0:
		return 0, 1 << TimesLow
	case Times - 1:
		return 1 << timesHigh, 0
	}
	power, part := TimesLow+(i-1)>>TimesBits, int64((i-1)&(1<<TimesBits-1))
	low = 1<<power + part<<(power-TimesBits)
	return low, low + 1<<(power-TimesBits)
}

package wire

// Events are what "--record events" writes beside the tree: for each thread
// record a stream of words, in a ring of the nodes' area. The thread that has
// the record is the only writer; the controller is the only reader. Neither
// waits for an acknowledgement: the writer publishes E_AT by a release store
// after the words, the reader E_READ after it has taken them. A ring that is
// full is followed by one four times as large (E_NEXT), up to RING_MOST; then
// the writer waits, bounded, and at last drops. The controller frees rings that
// were left, and those of records that have been idle (H_FREE_RINGS).
//
// A word is 8 bytes: bits 0 to 3 are its kind. Kinds with a method have it in
// the 18 bits above, and in the highest 42 a time in ns: what has been charged
// to the invocation on top since the word before. All others have a value in
// the highest 60 bits.
const (
	RingHeader = 192
	RingFirst  = 2048    // words of a record's first ring: 16 KiB
	RingMost   = 2097152 // of its largest: 16 MiB
	RingGrowth = 4
	RingSizes  = 6
	RingSlack  = 8 // words that may be written after one look at E_STOP

	KindBits   = 4
	MethodBits = 18
	DeltaShift = KindBits + MethodBits
	DeltaBits  = 64 - DeltaShift
)

// Words of a ring.
const (
	EAt       = 0
	EStop     = 8
	EMask     = 16
	ENext     = 24
	ETime     = 32
	ETid      = 40
	EDropped  = 48
	EDropping = 56
	ERead     = 64
	EWaited   = 128
	EWaits    = 136
)

// Kinds of words. 0 is none: a word that was never written.
const (
	EvEnter   = 1
	EvExit    = 2
	EvThrown  = 3
	EvLate    = 4
	EvSuspend = 5
	EvAdjust  = 6
	EvRoot    = 7
	EvThread  = 8
	EvCut     = 9
	EvLost    = 10
	EvTime    = 11
	EvCharge  = 12
	EvSubmit  = 13
	EvExecute = 14
	EvBelong  = 15
)

// What an EV_CHARGE says besides, where its method is: waits and what ends them,
// and what becomes of the time between the last tick and a root invocation's end
// (R_CARRY): it is part of the invocation, and its nodes' only with the next tick.
const (
	MarkPark   = 1
	MarkTask   = 2
	MarkThread = 3
	MarkWoke   = 4
	MarkWakes  = 5
	MarkPasses = 6
	MarkEnds   = 7
	MarkTail   = 8
	MarkCarry  = 9

	MarkTraceHigh  = 10
	MarkTraceLow   = 11
	MarkSpan       = 12
	MarkSpanWithin = 13
)

// Events is the part of the data file's table that streams of events add.
var Events = []Const{
	{"RING_HEADER", RingHeader, "where a ring's words begin"},
	{"RING_FIRST", RingFirst, "words of a record's first ring"},
	{"RING_MOST", RingMost, "words of its largest ring"},
	{"RING_GROWTH", RingGrowth, "a full ring is followed by one so many times as large"},
	{"RING_SIZES", RingSizes, "sizes that there are"},
	{"RING_SLACK", RingSlack, "words that may be written after one look at E_STOP"},
	{"KIND_BITS", KindBits, "low bits of a word: its kind"},
	{"DELTA_SHIFT", DeltaShift, "where a time begins, in words with a method"},
	{"DELTA_BITS", DeltaBits, "bits of such a time"},

	{"E_AT", EAt, "i64: words written; published by a release store"},
	{"E_STOP", EStop, "i64: the writer's own: up to where it may write before it looks at E_READ; -1 while it drops"},
	{"E_MASK", EMask, "i64: words of the ring less 1; a power of two less 1"},
	{"E_NEXT", ENext, "u32: node where the ring lies that follows this one, 0 none"},
	{"E_TIME", ETime, "i64: the writer's own: up to when the stream accounts for time, ns"},
	{"E_TID", ETid, "i64: the writer's own: the thread that the stream named last"},
	{"E_DROPPED", EDropped, "i64: events for which there was no room in time"},
	{"E_DROPPING", EDropping, "u32: 1 while events are dropped: until a root call finds half of the ring free"},
	{"E_READ", ERead, "i64: words that the controller has taken"},
	{"E_WAITED", EWaited, "i64: ns that the writer has waited for the reader"},
	{"E_WAITS", EWaits, "i64: how often"},

	{"EV_ENTER", EvEnter, "method, time: an invocation begins"},
	{"EV_EXIT", EvExit, "method, time: the one on top returns"},
	{"EV_THROWN", EvThrown, "method, time: the one on top ends by an exception"},
	{"EV_LATE", EvLate, "method, time: its last invocation from here, which has returned, ended by an exception after all"},
	{"EV_SUSPEND", EvSuspend, "method 0, time: the profiler's own work begins on the thread"},
	{"EV_ADJUST", EvAdjust, "signed value: ns that are nobody's: the profiler's work, and waits for the reader"},
	{"EV_ROOT", EvRoot, "value: a root call begins now, ns on the target's nanoTime; whatever is open was cut off"},
	{"EV_THREAD", EvThread, "value: id of the thread whose events follow; it has come into the record"},
	{"EV_CUT", EvCut, "value: ns charged to the invocation on top up to a pause, which cut all off that are open"},
	{"EV_LOST", EvLost, "value: events dropped before this one; whatever is open was cut off"},
	{"EV_CHARGE", EvCharge, "mark, time: it is charged to the invocation on top; the mark, where a method would be, is 0 or one of the MARK_ rows"},
	{"EV_SUBMIT", EvSubmit, "value: the invocation on top hands a task over, of this number; an odd one is executed again and again"},
	{"EV_BELONG", EvBelong, "value: the number of the task whose execution is about to begin, or what a mark is about"},
	{"EV_EXECUTE", EvExecute, "value: the METHOD_HANDOVER node below which it does, as if it were an invocation; it ends with the one above it"},
	{"EV_TIME", EvTime, "value: ns to add to the time of the next word"},
	{"MARK_PARK", MarkPark, "the thread parks"},
	{"MARK_TASK", MarkTask, "it waits on the monitor of the task with the identity hash in EV_BELONG before"},
	{"MARK_THREAD", MarkThread, "it waits for the end of the thread with the id in EV_BELONG before"},
	{"MARK_WOKE", MarkWoke, "the wait that began last is over"},
	{"MARK_WAKES", MarkWakes, "it lets the thread with the id in EV_BELONG before go on, which is inside, too"},
	{"MARK_PASSES", MarkPasses, "it hands the task with the number in EV_BELONG before on, which has been handed over before: a stage of a CompletableFuture can begin"},
	{"MARK_ENDS", MarkEnds, "it notifies those that wait on the monitor of the task with that hash"},
	{"MARK_TAIL", MarkTail, "the root call on top ends so long after the last tick: its length, but no node's time yet"},
	{"MARK_CARRY", MarkCarry, "no time goes by: so much of the tails before is charged to the invocation on top, as a tick is"},
	{"MARK_TRACE_HIGH", MarkTraceHigh, "no time goes by: the high half of a trace id of OpenTelemetry, its highest 60 bits in EV_BELONG before, its lowest 4 in the time"},
	{"MARK_TRACE_LOW", MarkTraceLow, "the low half, in the same way"},
	{"MARK_SPAN", MarkSpan, "the id of the span that was current when the root call began, in the same way; it is of the trace before"},
	{"MARK_SPAN_WITHIN", MarkSpanWithin, "the id of the first span that became current during the root call, if there was none before"},
}

// Package wire describes what the controller and the agent share: the data
// file's layout, the messages, and how a message is encoded.
//
// Every offset, size and message number is a row of a table in this package.
// The Java side's constants (Layout.java, Wire.java) and docs/formats.md are
// generated from the same rows by "go tool task generate", so the two sides
// cannot drift apart.
//
// All words of the data file are in the machine's byte order, since both
// sides run on one machine; messages are big-endian, as DataOutputStream
// writes them. Offsets are bytes. The package knows no I/O.
package wire

// Version is the version of everything in this package. The agent refuses a
// data file of another version; it is part of the shipped agent, so the two
// only differ when somebody mixes files by hand.
const Version = 1

// Magic begins every data file.
const Magic = 0x52495655_4c455431 // "RIVULET1"

// Sizes and bounds of the data file (docs/formats.md).
const (
	SlotShift   = 6       // a slot is 64 bytes: one cache line
	Slots       = 1 << 14 // threads that can be known at one time
	SlotProbe   = 32      // slots searched besides the home slot
	MaxMethods  = 1 << 18
	Sample      = MaxMethods - 2 // what the probes' cost is measured with, and no method of the program
	RecordShift = 8              // a thread record is 256 bytes
	Records     = 1 << 14
	NodeShift   = 6  // a node is 64 bytes
	NodeChunk   = 64 // nodes that a record takes at a time
	Boxes       = 16 // mailbox: requests under way at one time
	BoxShift    = 16 // a box is 64 KiB
	BoxHeader   = 64
	BoxData     = 1<<BoxShift - BoxHeader
	NameMax     = 36 // UTF-16 units of a thread's name that are kept
	IndexBits   = 40 // of a token: flags and the node; the bits above are the tag

	// Flags of a token; the bits below them are the node's index.
	TokenPrecise = 1 << (IndexBits - 1)
	TokenTop     = 1 << (IndexBits - 2)
	TokenBack    = 1 << (IndexBits - 3)
	TokenOver    = 1 << (IndexBits - 4)
	TokenOwn     = 1 << (IndexBits - 5)
	TokenEvent   = 1 << (IndexBits - 6)
	FlagBits     = IndexBits - 6 // of a token, below its flags

	OverTable = 64   // nodes that the first table of a record's unplaced methods takes
	OverDepth = 4096 // unplaced invocations of one record that can be open at a time
)

// Areas of the data file, in the order in which they lie there.
const (
	OffSlots   = OffSlow + SlowPlaces<<SlowShift
	OffModes   = OffSlots + Slots<<SlotShift
	OffRecords = OffModes + MaxMethods
	OffBoxes   = OffRecords + Records<<RecordShift
	OffNodes   = OffBoxes + Boxes<<BoxShift // node 0 is never used
)

// A Const is one number that both sides know.
type Const struct {
	Name  string // in Java: upper case with underscores
	Value int64
	Doc   string
}

// Layout is the data file's table: every offset and bound by which the probe
// and the agent address it.
var Layout = []Const{
	{"MAGIC", Magic, "first word of the file"},
	{"VERSION", Version, "of layout and messages"},

	{"H_MAGIC", HMagic, "u64: MAGIC"},
	{"H_VERSION", HVersion, "u32: VERSION"},
	{"H_TAG", HTag, "u64: the tag of the part of the recording that is on, shifted left by INDEX_BITS; 0 silences every probe"},
	{"H_CLOCK", HClock, "u32: the recording's clock, MODE_TICK or MODE_PRECISE"},
	{"H_EPOCH", HEpoch, "u32: number of the recording; a record of another one begins a new tree"},
	{"H_EVENTS", HEvents, "u32: 0 where a tree alone is recorded; with events beside it the mode of methods that no rule gives another"},
	{"H_FREE_RINGS", HFreeRings, "i64[6]: for each size of rings, the smallest first, those that are free: in the low half the first one's node, which goes on at E_NEXT; above it a number that each change raises"},
	{"H_MUTE", HMute, "i64: root calls without events, for want of a ring"},
	{"H_FOLLOW", HFollow, "u32: 1 where tasks are followed to the threads that execute them"},
	{"H_UNFOLLOWED", HUnfollowed, "i64: tasks that were handed over and could not be followed, for want of room"},
	{"H_TASKS", HTasks, "i64: tasks that were handed over with events: each gets the next number"},
	{"H_LONGEST_WAIT", HLongestWait, "i64: the longest, in ns, that a thread of the program was made to wait at once, inside the subgraph or not: at a fresh method, for the targets of reflection or a handle, for the bytes of a class that it loads"},
	{"H_SIDELESS", HSideless, "i64: invocations ended by an exception that no node counts as such, for want of room"},
	{"H_UNANSWERED", HUnanswered, "i64: classes that were loaded or redefined without an answer, since there was none in time: they may lack probes"},
	{"H_PATIENCE", HPatience, "i64: for how many ns a thread of the program waits for answers in all during one root call: at fresh methods, for the targets of reflection or a handle, about classes that it loads; outside, so many at once and a tenth of its time; 0: for as long as an answer takes, within bounds of the agent's"},
	{"H_GIVEN_UP", HGivenUp, "i64: waits at a fresh method, or for targets, that ended without probes since H_PATIENCE had run out"},
	{"H_UNTOLD", HUntold, "i64: requests about targets that no box was free for and that are to be repeated, and objects whose targets could not be found"},
	{"H_REDEFINED", HRedefined, "i64: how often classes were redefined; raised when the new code is in force, before the controller hears of it"},
	{"H_FOLD", HFold, "u32: 1 folds recursion"},
	{"H_TICK", HTick, "i64: the tick clock, written by the controller, ns on the target's nanoTime"},
	{"H_GATE", HGate, "u64: the tag again, and in its low half how many threads are inside in that part; 0 there silences all probes but roots'"},
	{"H_STATE", HState, "u32: the agent's state, one of the STATE_ rows"},
	{"H_REASON", HReason, "u32: why it stopped, one of the REASON_ rows"},
	{"H_HEARTBEAT", HHeartbeat, "i64: written by the controller, ns on the target's nanoTime"},
	{"H_CONTROLLER", HController, "i32: the controller's process number as the target's PID namespace has it; 0 where that is not known"},
	{"H_ENDED", HEnded, "i64: the target's nanoTime when the agent began to stop"},
	{"H_BUDGET", HBudget, "i64: root calls still admitted"},
	{"H_EVERY", HEvery, "u32: of so many root calls one is recorded; 0: each, and nobody counts how many there are"},
	{"H_SEEN", HSeen, "i64: root calls that there were, while H_EVERY is not 0"},
	{"H_EXITS", HExits, "u32: who wants to know how long root calls took: EXIT_TELL, EXIT_COUNT"},
	{"H_HOLD", HHold, "i64: for how many ns at the most a thread is held at the end of a root call, outside of the subgraph; 0: none is"},
	{"H_OVER", HOver, "i64: root calls shorter than so many ns are not held"},
	{"H_UNHELD", HUnheld, "i64: threads that went on by themselves after H_HOLD"},
	{"H_REFUSED", HRefused, "i64: root calls not recorded since the budget was used up"},
	{"H_NEXT_NODE", HNextNode, "i64: first node that no record has taken"},
	{"H_NODE_LIMIT", HNodeLimit, "i64: nodes whose pages are allocated; grows"},
	{"H_NODE_MAX", HNodeMax, "i64: nodes that the file can hold at the most"},
	{"H_RESERVE_NEXT", HReserveNext, "i64: first free node of the reserve, from which contexts that find no room are counted by method"},
	{"H_RESERVE_END", HReserveEnd, "i64: end of the reserve, 0 until it is allocated"},
	{"H_NEXT_RECORD", HNextRecord, "i64: first record that was never leased"},
	{"H_RECORD_LIMIT", HRecordLimit, "i64: records whose pages are allocated; grows"},
	{"H_RECORD_MAX", HRecordMax, "i64: records that there can be at the most"},
	{"H_FREE_RECORD", HFreeRecord, "i64: first of the virtual threads' records that are free, 0 none"},
	{"H_OVERFLOW", HOverflow, "i64: calls for which there was no room"},
	{"H_LOST", HLost, "i64: root calls, and executions of tasks, for which there was no record"},
	{"H_INCOMPLETE", HIncomplete, "i64: waits for a reveal that timed out"},
	{"H_UNCOUNTED", HUncounted, "i64: of the calls without room, those that are counted nowhere else"},
	{"H_BELL", HBell, "u32: 1 from a ring until the controller has heard it"},
	{"H_LOCK", HLock, "u32: spin lock of slots and records; 2 when its holder is taken for dead"},

	{"SLOTS", OffSlots, "area of slots: thread id -> record"},
	{"SLOT_SHIFT", SlotShift, "log2 of a slot's size"},
	{"SLOT_MASK", Slots - 1, "home slot of a thread: its id and this"},
	{"SLOT_PROBE", SlotProbe, "slots searched besides the home slot"},
	{"S_TID", STid, "i64: the thread's id, 0 when free"},
	{"S_RECORD", SRecord, "i64: address of its record in the target"},
	{"S_KEY", SKey, "i64: R_KEY while the thread is inside the subgraph, else 0 or out of date"},
	{"S_DISPLACED", SDisplaced, "i32: threads that have this home slot but lie elsewhere"},

	{"MODES", OffModes, "area of modes: one byte a method"},
	{"MAX_METHODS", MaxMethods, "method ids are below this"},
	{"SAMPLE", Sample, "the first of the two ids of the sample by which the probes' cost is measured; its root calls are none of the recording's, and count nowhere"},
	{"MODE_OFF", ModeOff, "not recorded"},
	{"MODE_FRESH", ModeFresh, "first call not seen: it waits until its callees are instrumented"},
	{"MODE_EVENT_TICK", ModeEventTick, "recorded with the tick clock, with events"},
	{"MODE_EVENT_PRECISE", ModeEventPrecise, "recorded with System.nanoTime, with events"},
	{"MODE_TICK", ModeTick, "recorded with the tick clock"},
	{"MODE_PRECISE", ModePrecise, "recorded with System.nanoTime"},
	{"MODE_MASK", ModeMask, "what the target minds of a mode but its root flag; the rest is the controller's: 16 is counted, MODE_TICK whose time is its caller's, 48 a leaf that is counted and has no exit"},
	{"MODE_ROOT", ModeRoot, "flag, the sign bit: an invocation from outside enters the subgraph"},

	{"RECORDS", OffRecords, "area of thread records"},
	{"RECORD_SHIFT", RecordShift, "log2 of a record's size"},
	{"R_CURSOR", RCursor, "i64: node of the current invocation, 0 outside the subgraph"},
	{"R_LAST", RLast, "i64: up to when time was charged, ns"},
	{"R_KEY", RKey, "i64: the part's tag and R_TID, or'ed: whose cursor it is, and of when"},
	{"R_TID", RTid, "i64: id of the thread that has the record"},
	{"R_LEASE", RLease, "i32: while leased to a root call the part's tag, shifted right by INDEX_BITS; LEASE_MOVING while it changes hands; else 0"},
	{"LEASE_MOVING", LeaseMoving, "the record is being given to another thread"},
	{"R_FLAGS", RFlags, "u32: R_VIRTUAL, R_SHARED, R_QUIET, R_BEGUN, R_SPAN"},
	{"R_TOP", RTop, "u32: node above this record's roots"},
	{"R_BUSY", RBusy, "u32: while the thread does the profiler's own work its node, else 0"},
	{"R_NODE_NEXT", RNodeNext, "i64: next free node of the chunk"},
	{"R_TICK", RTick, "i64: the tick that was noticed last, as H_TICK had it"},
	{"R_ENTRIES", REntries, "i64: root calls entered from outside"},
	{"R_RETURNS", RReturns, "i64: of those, ended (exceptions included)"},
	{"R_BEGAN", RBegan, "i64: when the last root call, or execution of a task, began, ns"},
	{"R_TOOK", RTook, "i64: with H_EXITS, how long the last root call took, ns; written before R_RETURNS"},
	{"R_HELD", RHeld, "i64: while the thread is held at the end of a root call, R_RETURNS with it, written before that; else 0; the controller writes 0 to let it go on"},
	{"R_SUSPENDED", RSuspended, "i64: ns that the profiler made the thread wait inside the subgraph"},
	{"R_SLOT", RSlot, "i64: address of the record's slot in the target, 0 none"},
	{"R_EPOCH", REpoch, "u32: the recording that the tree belongs to; with all bits inverted it is that of the sample, measured while this recording was on"},
	{"R_OVER", ROver, "u32: node where the table of unplaced methods lies, 0 none"},
	{"R_STACK", RStack, "u32: node where the stack of unplaced invocations lies, 0 none"},
	{"R_DEPTH", RDepth, "u32: unplaced invocations that are open"},
	{"R_FREE", RFree, "i32: the next free one while it is in that list, -1 at its end; else 0"},
	{"R_NAME_LENGTH", RNameLength, "u32: UTF-16 units of the name"},
	{"R_NAME", RName, "u16[]: the thread's name"},
	{"R_NODE_END", RNodeEnd, "i64: end of the chunk"},
	{"R_CARRY", RCarry, "i64: ns between the last tick and the end of root calls, which the next tick that is noticed inside charges"},
	{"R_FIRST_RING", RFirstRing, "u32: node where its first ring of events lies, 0 none; written by a release store"},
	{"R_RING", RRing, "u32: node where the ring lies that is being written"},
	{"R_WAITED", RWaited, "i64: R_SUSPENDED as it was when the root call began"},
	{"R_CLOSED", RClosed, "i64: when the part ended in which a root call was cut off that is still open here, ns on the target's nanoTime; written by the controller"},
	{"NAME_MAX", NameMax, "units of the name that are kept"},
	{"R_VIRTUAL", RVirtual, "flag: leased to virtual threads in turn"},
	{"R_SHARED", RShared, "flag: has served more than one platform thread"},
	{"R_QUIET", RQuiet, "flag, the thread's own: it starts a worker of a pool, which is no task"},
	{"R_BEGUN", RBegun, "flag, the thread's own: it is a pool's worker, and has begun the execution of a task before it calls run"},
	{"R_SPAN", RSpan, "flag, the thread's own: the span of the root call under way is known"},

	{"BOXES", OffBoxes, "area of the mailbox"},
	{"BOX_COUNT", Boxes, "requests under way at one time"},
	{"BOX_SHIFT", BoxShift, "log2 of a box's size"},
	{"BOX_HEADER", BoxHeader, "where a box's data begins"},
	{"BOX_DATA", BoxData, "bytes of data that fit in one go"},
	{"B_STATE", BState, "u32: one of the BOX_ rows"},
	{"B_TYPE", BType, "u32: message number"},
	{"B_LENGTH", BLength, "u32: bytes in this part"},
	{"B_TOTAL", BTotal, "u32: bytes of the whole message"},
	{"B_OWNER", BOwner, "i64: id of the thread that has the box"},
	{"BOX_FREE", BoxFree, "nobody has it"},
	{"BOX_CLAIMED", BoxClaimed, "the target writes a request"},
	{"BOX_REQUEST", BoxRequest, "a part of a request is there for the controller"},
	{"BOX_MORE", BoxMore, "the controller has taken the part and wants the next"},
	{"BOX_REPLY", BoxReply, "a part of the reply is there for the target"},
	{"BOX_NEXT", BoxNext, "the target has taken the part and wants the next"},
	{"BOX_ABANDONED", BoxAbandoned, "the target has given up waiting"},
	{"BOX_LEFT", BoxLeft, "the same, when the last part that it has written may not have been read"},

	{"NODES", OffNodes, "area of nodes; a node is referred to by its offset in the file"},
	{"NODE_SHIFT", NodeShift, "log2 of a node's size"},
	{"NODE_CHUNK", NodeChunk, "nodes that a record takes at a time"},
	{"N_METHOD", NMethod, "i32: method id, -1 above the roots, METHOD_UNPLACED above the methods of unplaced invocations, METHOD_HANDOVER above an execution of tasks; with METHOD_BACK a way back to a folded ancestor; METHOD_FOLD in all others where recursion is folded"},
	{"METHOD_UNPLACED", MethodUnplaced, "what lies below has no context: there was no room"},
	{"METHOD_HANDOVER", MethodHandover, "the one callee is the execution of tasks that were handed over at the node in N_FLAGS; N_CALLS has the ns that they waited, N_COUNT those of the longest wait, N_SELF what is the callee's own"},
	{"METHOD_FOLD", MethodFold, "flag: recursion is folded, so the hot path doesn't know the method"},
	{"METHOD_BACK", MethodBack, "flag: the callee is the ancestor in N_CACHE, whose node counts the call"},
	{"N_PARENT", NParent, "u32: the caller's node"},
	{"N_CHILD", NChild, "u32: first callee"},
	{"N_SIBLING", NSibling, "u32: next callee of the same caller"},
	{"N_CACHE", NCache, "i16[8]: of the callees with the same method id modulo 8, how many nodes beyond the caller the one is that was entered more often than others; 0 for none"},
	{"CACHE_MASK", CacheMask, "of a method id: its place in N_CACHE"},
	{"N_RECORD", NRecord, "u32: the thread record that owns the tree, its offset in the file"},
	{"N_CALLS", NCalls, "i64: invocations begun; of a type objects allocated"},
	{"N_COUNT", NCount, "i64: what is counted beside calls and time (metric.Bytecodes); of a type that is allocated the elements of all arrays"},
	{"N_SELF", NSelf, "i64: ns of its own; of an array's type bytes of all arrays"},
	{"N_FLAGS", NFlags, "u32: N_INCOMPLETE, N_FOLDED, N_SIDE; of a hand-over the node where it happened"},
	{"N_INCOMPLETE", NIncomplete, "flag: a wait for its callees timed out"},
	{"N_FOLDED", NFolded, "flag: recursion was folded into the node"},
	{"N_SIDE", NSide, "flags: the place of two nodes that have what few nodes need, u32[16], callees that have no place in N_CACHE, by the method id modulo 16, and the X_ words behind them; 0 for none"},
	{"X_THROWN", XThrown, "i64: invocations ended by an exception, from N_SIDE"},
	{"X_UNWOUND", XUnwound, "i64: of those, the ones without an exit of their own: the exception came out of their super()"},
	{"X_CUT", XCut, "i64: invocations that were open when a part of the recording ended: they have no end, as far as probes know"},
	{"X_FREE", XFree, "i64[5]: for further metrics"},
	{"INDEX_BITS", IndexBits, "low bits of a token: flags and the node where the invocation began; above is the tag"},
	{"PRECISE", TokenPrecise, "flag of a token: its invocation is recorded with System.nanoTime"},
	{"TOP", TokenTop, "flag of a token: a root call"},
	{"OWN", TokenOwn, "flag of a token: recursion is folded; its node is the invocation's own"},
	{"BACK", TokenBack, "flag of a token: folded recursion; its node is the way back"},
	{"OVER", TokenOver, "flag of a token: there was no room; the index is a place on the record's stack of unplaced invocations"},
	{"EVENT", TokenEvent, "flag of a token: the invocation's begin is in the record's stream of events; its node is the invocation's own"},
	{"FLAG_BITS", FlagBits, "low bits of a token: the node's place; above are flags"},
	{"INDEX_MASK", 1<<FlagBits - 1, "a token's node"},
	{"OVER_TABLE", OverTable, "nodes that the first table of unplaced methods takes"},
	{"OVER_DEPTH", OverDepth, "places on the stack of unplaced invocations, 8 bytes each: node, and caller's node"},

	{"STATE_UP", StateUp, "the agent answers"},
	{"STATE_STOPPING", StateStopping, "classes are being restored"},
	{"STATE_WINDING", StateWinding, "nobody touches the file any more; the agent restores classes by itself, and needs no controller"},
	{"STATE_STOPPED", StateStopped, "the agent is gone"},
	{"REASON_COMMAND", ReasonCommand, "told so by the controller"},
	{"REASON_HEARTBEAT", ReasonHeartbeat, "the controller fell silent"},
	{"REASON_EOF", ReasonEOF, "the controller's end was closed"},
	{"REASON_FAILED", ReasonFailed, "the agent failed"},
}

// Words of the header. Its first 64 bytes look like a node that is none: what a
// probe reads there for a thread outside, whose cursor is 0, is no node's place
// and no method's id. Words that probes read on every call share one cache line
// with nothing that is written often.
const (
	HMagic       = 0
	HVersion     = 8
	HTag         = 64
	HClock       = 72
	HFold        = 76
	HEpoch       = 80
	HHeartbeat   = 128
	HState       = 136
	HReason      = 140
	HEnded       = 144
	HSideless    = 152
	HController  = 160
	HBudget      = 192
	HRefused     = 200
	HSeen        = 208
	HEvery       = 216
	HExits       = 220
	HHold        = 224
	HOver        = 232
	HUnheld      = 240
	HNextNode    = 256
	HNodeLimit   = 264
	HNodeMax     = 272
	HNextRecord  = 280
	HReserveNext = 288
	HReserveEnd  = 296
	HRecordLimit = 304
	HRecordMax   = 312
	HOverflow    = 320
	HLost        = 328
	HIncomplete  = 336
	HUncounted   = 344
	HPatience    = 352
	HGivenUp     = 360
	HUntold      = 368
	HRedefined   = 376
	HBell        = 384
	HLock        = 388
	HFreeRecord  = 392
	HEvents      = 400
	HFollow      = 404
	HMute        = 408
	HUnfollowed  = 416
	HTasks       = 424
	HLongestWait = 432
	HUnanswered  = 440
	HTick        = 448
	HGate        = 576
	HFreeRings   = 1088
)

// Words of a slot.
const (
	STid       = 0
	SRecord    = 8
	SDisplaced = 16
	SKey       = 24
)

// Modes of a method. The root flag is the sign bit of the mode's byte; the
// target minds only that and what is in ModeMask. So a counted method is
// recorded as cheaply as any, and what time it is charged is given to its
// caller when the tree is read. A leaf is a counted method whose probe has no
// exit.
const (
	ModeOff          = 0
	ModeFresh        = 1
	ModeEventTick    = 2 // up to here a probe takes the slow way
	ModeEventPrecise = 3
	ModeTick         = 4
	ModePrecise      = 5
	ModeMask         = 0x0f
	ModeCounted      = 0x10 | ModeTick // with the tick clock, be it standing still
	ModeLeaf         = 0x20 | ModeCounted
	ModeRoot         = 0x80
)

// Words of a thread record.
const (
	RCursor     = 0
	RLast       = 8
	RKey        = 16
	RTid        = 24
	RLease      = 32
	RFlags      = 36
	RTop        = 40
	RBusy       = 44
	RNodeNext   = 48
	RTick       = 56
	REntries    = 64
	RReturns    = 72
	RSuspended  = 80
	RSlot       = 88
	REpoch      = 96
	ROver       = 100
	RStack      = 104
	RDepth      = 108
	RNameLength = 112
	RFree       = 116
	RName       = 120
	RBegan      = 192
	RTook       = 200
	RHeld       = 208
	RWaited     = 216
	RClosed     = 224
	RNodeEnd    = 232
	RCarry      = 240
	RFirstRing  = 248
	RRing       = 252

	LeaseMoving = -1

	RVirtual = 1
	RShared  = 2
	RQuiet   = 4
	RBegun   = 8
	RSpan    = 16
)

// Generated from jvmside/wire by "go tool task generate". Do not edit.
package rivulet.probe;

/** The data file's layout: package wire, table Layout. */
public final class Layout {
    private Layout() {}

    /** first word of the file. */
    public static final long MAGIC = 5929365308761789489L;
    /** of layout and messages. */
    public static final int VERSION = 1;
    /** u64: MAGIC. */
    public static final int H_MAGIC = 0;
    /** u32: VERSION. */
    public static final int H_VERSION = 8;
    /** u64: the tag of the part of the recording that is on, shifted left by INDEX_BITS; 0 silences every probe. */
    public static final int H_TAG = 64;
    /** u32: the recording's clock, MODE_TICK or MODE_PRECISE. */
    public static final int H_CLOCK = 72;
    /** u32: number of the recording; a record of another one begins a new tree. */
    public static final int H_EPOCH = 80;
    /** u32: 0 where a tree alone is recorded; with events beside it the mode of methods that no rule gives another. */
    public static final int H_EVENTS = 400;
    /** i64[6]: for each size of rings, the smallest first, those that are free: in the low half the first one's node, which goes on at E_NEXT; above it a number that each change raises. */
    public static final int H_FREE_RINGS = 1088;
    /** i64: root calls without events, for want of a ring. */
    public static final int H_MUTE = 408;
    /** u32: 1 where tasks are followed to the threads that execute them. */
    public static final int H_FOLLOW = 404;
    /** i64: tasks that were handed over and could not be followed, for want of room. */
    public static final int H_UNFOLLOWED = 416;
    /** i64: tasks that were handed over with events: each gets the next number. */
    public static final int H_TASKS = 424;
    /** i64: the longest, in ns, that a thread of the program was made to wait at once, inside the subgraph or not: at a fresh method, for the targets of reflection or a handle, for the bytes of a class that it loads. */
    public static final int H_LONGEST_WAIT = 432;
    /** i64: invocations ended by an exception that no node counts as such, for want of room. */
    public static final int H_SIDELESS = 152;
    /** i64: classes that were loaded or redefined without an answer, since there was none in time: they may lack probes. */
    public static final int H_UNANSWERED = 440;
    /** i64: for how many ns a thread of the program waits for answers in all during one root call: at fresh methods, for the targets of reflection or a handle, about classes that it loads; outside, so many at once and a tenth of its time; 0: for as long as an answer takes, within bounds of the agent's. */
    public static final int H_PATIENCE = 352;
    /** i64: waits at a fresh method, or for targets, that ended without probes since H_PATIENCE had run out. */
    public static final int H_GIVEN_UP = 360;
    /** i64: requests about targets that no box was free for and that are to be repeated, and objects whose targets could not be found. */
    public static final int H_UNTOLD = 368;
    /** i64: how often classes were redefined; raised when the new code is in force, before the controller hears of it. */
    public static final int H_REDEFINED = 376;
    /** u32: 1 folds recursion. */
    public static final int H_FOLD = 76;
    /** i64: the tick clock, written by the controller, ns on the target's nanoTime. */
    public static final int H_TICK = 448;
    /** u64: the tag again, and in its low half how many threads are inside in that part; 0 there silences all probes but roots'. */
    public static final int H_GATE = 576;
    /** u32: the agent's state, one of the STATE_ rows. */
    public static final int H_STATE = 136;
    /** u32: why it stopped, one of the REASON_ rows. */
    public static final int H_REASON = 140;
    /** i64: written by the controller, ns on the target's nanoTime. */
    public static final int H_HEARTBEAT = 128;
    /** i32: the controller's process number as the target's PID namespace has it; 0 where that is not known. */
    public static final int H_CONTROLLER = 160;
    /** i64: the target's nanoTime when the agent began to stop. */
    public static final int H_ENDED = 144;
    /** i64: root calls still admitted. */
    public static final int H_BUDGET = 192;
    /** u32: of so many root calls one is recorded; 0: each, and nobody counts how many there are. */
    public static final int H_EVERY = 216;
    /** i64: root calls that there were, while H_EVERY is not 0. */
    public static final int H_SEEN = 208;
    /** u32: who wants to know how long root calls took: EXIT_TELL, EXIT_COUNT. */
    public static final int H_EXITS = 220;
    /** i64: for how many ns at the most a thread is held at the end of a root call, outside of the subgraph; 0: none is. */
    public static final int H_HOLD = 224;
    /** i64: root calls shorter than so many ns are not held. */
    public static final int H_OVER = 232;
    /** i64: threads that went on by themselves after H_HOLD. */
    public static final int H_UNHELD = 240;
    /** i64: root calls not recorded since the budget was used up. */
    public static final int H_REFUSED = 200;
    /** i64: first node that no record has taken. */
    public static final int H_NEXT_NODE = 256;
    /** i64: nodes whose pages are allocated; grows. */
    public static final int H_NODE_LIMIT = 264;
    /** i64: nodes that the file can hold at the most. */
    public static final int H_NODE_MAX = 272;
    /** i64: first free node of the reserve, from which contexts that find no room are counted by method. */
    public static final int H_RESERVE_NEXT = 288;
    /** i64: end of the reserve, 0 until it is allocated. */
    public static final int H_RESERVE_END = 296;
    /** i64: first record that was never leased. */
    public static final int H_NEXT_RECORD = 280;
    /** i64: records whose pages are allocated; grows. */
    public static final int H_RECORD_LIMIT = 304;
    /** i64: records that there can be at the most. */
    public static final int H_RECORD_MAX = 312;
    /** i64: first of the virtual threads' records that are free, 0 none. */
    public static final int H_FREE_RECORD = 392;
    /** i64: calls for which there was no room. */
    public static final int H_OVERFLOW = 320;
    /** i64: root calls, and executions of tasks, for which there was no record. */
    public static final int H_LOST = 328;
    /** i64: waits for a reveal that timed out. */
    public static final int H_INCOMPLETE = 336;
    /** i64: of the calls without room, those that are counted nowhere else. */
    public static final int H_UNCOUNTED = 344;
    /** u32: 1 from a ring until the controller has heard it. */
    public static final int H_BELL = 384;
    /** u32: spin lock of slots and records; 2 when its holder is taken for dead. */
    public static final int H_LOCK = 388;
    /** area of slots: thread id -> record. */
    public static final long SLOTS = 8192L;
    /** log2 of a slot's size. */
    public static final int SLOT_SHIFT = 6;
    /** home slot of a thread: its id and this. */
    public static final long SLOT_MASK = 16383L;
    /** slots searched besides the home slot. */
    public static final int SLOT_PROBE = 32;
    /** i64: the thread's id, 0 when free. */
    public static final int S_TID = 0;
    /** i64: address of its record in the target. */
    public static final int S_RECORD = 8;
    /** i64: R_KEY while the thread is inside the subgraph, else 0 or out of date. */
    public static final int S_KEY = 24;
    /** i32: threads that have this home slot but lie elsewhere. */
    public static final int S_DISPLACED = 16;
    /** area of modes: one byte a method. */
    public static final long MODES = 1056768L;
    /** method ids are below this. */
    public static final int MAX_METHODS = 262144;
    /** the first of the two ids of the sample by which the probes' cost is measured; its root calls are none of the recording's, and count nowhere. */
    public static final int SAMPLE = 262142;
    /** not recorded. */
    public static final int MODE_OFF = 0;
    /** first call not seen: it waits until its callees are instrumented. */
    public static final int MODE_FRESH = 1;
    /** recorded with the tick clock, with events. */
    public static final int MODE_EVENT_TICK = 2;
    /** recorded with System.nanoTime, with events. */
    public static final int MODE_EVENT_PRECISE = 3;
    /** recorded with the tick clock. */
    public static final int MODE_TICK = 4;
    /** recorded with System.nanoTime. */
    public static final int MODE_PRECISE = 5;
    /** what the target minds of a mode but its root flag; the rest is the controller's: 16 is counted, MODE_TICK whose time is its caller's, 48 a leaf that is counted and has no exit. */
    public static final int MODE_MASK = 15;
    /** flag, the sign bit: an invocation from outside enters the subgraph. */
    public static final int MODE_ROOT = 128;
    /** area of thread records. */
    public static final long RECORDS = 1318912L;
    /** log2 of a record's size. */
    public static final int RECORD_SHIFT = 8;
    /** i64: node of the current invocation, 0 outside the subgraph. */
    public static final int R_CURSOR = 0;
    /** i64: up to when time was charged, ns. */
    public static final int R_LAST = 8;
    /** i64: the part's tag and R_TID, or'ed: whose cursor it is, and of when. */
    public static final int R_KEY = 16;
    /** i64: id of the thread that has the record. */
    public static final int R_TID = 24;
    /** i32: while leased to a root call the part's tag, shifted right by INDEX_BITS; LEASE_MOVING while it changes hands; else 0. */
    public static final int R_LEASE = 32;
    /** the record is being given to another thread. */
    public static final int LEASE_MOVING = -1;
    /** u32: R_VIRTUAL, R_SHARED, R_QUIET, R_BEGUN, R_SPAN. */
    public static final int R_FLAGS = 36;
    /** u32: node above this record's roots. */
    public static final int R_TOP = 40;
    /** u32: while the thread does the profiler's own work its node, else 0. */
    public static final int R_BUSY = 44;
    /** i64: next free node of the chunk. */
    public static final int R_NODE_NEXT = 48;
    /** i64: the tick that was noticed last, as H_TICK had it. */
    public static final int R_TICK = 56;
    /** i64: root calls entered from outside. */
    public static final int R_ENTRIES = 64;
    /** i64: of those, ended (exceptions included). */
    public static final int R_RETURNS = 72;
    /** i64: when the last root call, or execution of a task, began, ns. */
    public static final int R_BEGAN = 192;
    /** i64: with H_EXITS, how long the last root call took, ns; written before R_RETURNS. */
    public static final int R_TOOK = 200;
    /** i64: while the thread is held at the end of a root call, R_RETURNS with it, written before that; else 0; the controller writes 0 to let it go on. */
    public static final int R_HELD = 208;
    /** i64: ns that the profiler made the thread wait inside the subgraph. */
    public static final int R_SUSPENDED = 80;
    /** i64: address of the record's slot in the target, 0 none. */
    public static final int R_SLOT = 88;
    /** u32: the recording that the tree belongs to; with all bits inverted it is that of the sample, measured while this recording was on. */
    public static final int R_EPOCH = 96;
    /** u32: node where the table of unplaced methods lies, 0 none. */
    public static final int R_OVER = 100;
    /** u32: node where the stack of unplaced invocations lies, 0 none. */
    public static final int R_STACK = 104;
    /** u32: unplaced invocations that are open. */
    public static final int R_DEPTH = 108;
    /** i32: the next free one while it is in that list, -1 at its end; else 0. */
    public static final int R_FREE = 116;
    /** u32: UTF-16 units of the name. */
    public static final int R_NAME_LENGTH = 112;
    /** u16[]: the thread's name. */
    public static final int R_NAME = 120;
    /** i64: end of the chunk. */
    public static final int R_NODE_END = 232;
    /** i64: ns between the last tick and the end of root calls, which the next tick that is noticed inside charges. */
    public static final int R_CARRY = 240;
    /** u32: node where its first ring of events lies, 0 none; written by a release store. */
    public static final int R_FIRST_RING = 248;
    /** u32: node where the ring lies that is being written. */
    public static final int R_RING = 252;
    /** i64: R_SUSPENDED as it was when the root call began. */
    public static final int R_WAITED = 216;
    /** i64: when the part ended in which a root call was cut off that is still open here, ns on the target's nanoTime; written by the controller. */
    public static final int R_CLOSED = 224;
    /** units of the name that are kept. */
    public static final int NAME_MAX = 36;
    /** flag: leased to virtual threads in turn. */
    public static final int R_VIRTUAL = 1;
    /** flag: has served more than one platform thread. */
    public static final int R_SHARED = 2;
    /** flag, the thread's own: it starts a worker of a pool, which is no task. */
    public static final int R_QUIET = 4;
    /** flag, the thread's own: it is a pool's worker, and has begun the execution of a task before it calls run. */
    public static final int R_BEGUN = 8;
    /** flag, the thread's own: the span of the root call under way is known. */
    public static final int R_SPAN = 16;
    /** area of the mailbox. */
    public static final long BOXES = 5513216L;
    /** requests under way at one time. */
    public static final int BOX_COUNT = 16;
    /** log2 of a box's size. */
    public static final int BOX_SHIFT = 16;
    /** where a box's data begins. */
    public static final int BOX_HEADER = 64;
    /** bytes of data that fit in one go. */
    public static final int BOX_DATA = 65472;
    /** u32: one of the BOX_ rows. */
    public static final int B_STATE = 0;
    /** u32: message number. */
    public static final int B_TYPE = 4;
    /** u32: bytes in this part. */
    public static final int B_LENGTH = 8;
    /** u32: bytes of the whole message. */
    public static final int B_TOTAL = 12;
    /** i64: id of the thread that has the box. */
    public static final int B_OWNER = 16;
    /** nobody has it. */
    public static final int BOX_FREE = 0;
    /** the target writes a request. */
    public static final int BOX_CLAIMED = 1;
    /** a part of a request is there for the controller. */
    public static final int BOX_REQUEST = 2;
    /** the controller has taken the part and wants the next. */
    public static final int BOX_MORE = 3;
    /** a part of the reply is there for the target. */
    public static final int BOX_REPLY = 4;
    /** the target has taken the part and wants the next. */
    public static final int BOX_NEXT = 5;
    /** the target has given up waiting. */
    public static final int BOX_ABANDONED = 6;
    /** the same, when the last part that it has written may not have been read. */
    public static final int BOX_LEFT = 7;
    /** area of nodes; a node is referred to by its offset in the file. */
    public static final long NODES = 6561792L;
    /** log2 of a node's size. */
    public static final int NODE_SHIFT = 6;
    /** nodes that a record takes at a time. */
    public static final int NODE_CHUNK = 64;
    /** i32: method id, -1 above the roots, METHOD_UNPLACED above the methods of unplaced invocations, METHOD_HANDOVER above an execution of tasks; with METHOD_BACK a way back to a folded ancestor; METHOD_FOLD in all others where recursion is folded. */
    public static final int N_METHOD = 0;
    /** what lies below has no context: there was no room. */
    public static final int METHOD_UNPLACED = -2;
    /** the one callee is the execution of tasks that were handed over at the node in N_FLAGS; N_CALLS has the ns that they waited, N_COUNT those of the longest wait, N_SELF what is the callee's own. */
    public static final int METHOD_HANDOVER = -3;
    /** flag: recursion is folded, so the hot path doesn't know the method. */
    public static final int METHOD_FOLD = 536870912;
    /** flag: the callee is the ancestor in N_CACHE, whose node counts the call. */
    public static final int METHOD_BACK = 1073741824;
    /** u32: the caller's node. */
    public static final int N_PARENT = 4;
    /** u32: first callee. */
    public static final int N_CHILD = 8;
    /** u32: next callee of the same caller. */
    public static final int N_SIBLING = 12;
    /** i16[8]: of the callees with the same method id modulo 8, how many nodes beyond the caller the one is that was entered more often than others; 0 for none. */
    public static final int N_CACHE = 16;
    /** of a method id: its place in N_CACHE. */
    public static final int CACHE_MASK = 7;
    /** u32: the thread record that owns the tree, its offset in the file. */
    public static final int N_RECORD = 32;
    /** i64: invocations begun; of a type objects allocated. */
    public static final int N_CALLS = 40;
    /** i64: what is counted beside calls and time (metric.Bytecodes); of a type that is allocated the elements of all arrays. */
    public static final int N_COUNT = 48;
    /** i64: ns of its own; of an array's type bytes of all arrays. */
    public static final int N_SELF = 56;
    /** u32: N_INCOMPLETE, N_FOLDED, N_SIDE; of a hand-over the node where it happened. */
    public static final int N_FLAGS = 36;
    /** flag: a wait for its callees timed out. */
    public static final int N_INCOMPLETE = 1;
    /** flag: recursion was folded into the node. */
    public static final int N_FOLDED = 2;
    /** flags: the place of two nodes that have what few nodes need, u32[16], callees that have no place in N_CACHE, by the method id modulo 16, and the X_ words behind them; 0 for none. */
    public static final int N_SIDE = 2147483584;
    /** i64: invocations ended by an exception, from N_SIDE. */
    public static final int X_THROWN = 64;
    /** i64: of those, the ones without an exit of their own: the exception came out of their super(). */
    public static final int X_UNWOUND = 72;
    /** i64: invocations that were open when a part of the recording ended: they have no end, as far as probes know. */
    public static final int X_CUT = 80;
    /** i64[5]: for further metrics. */
    public static final int X_FREE = 88;
    /** low bits of a token: flags and the node where the invocation began; above is the tag. */
    public static final int INDEX_BITS = 40;
    /** flag of a token: its invocation is recorded with System.nanoTime. */
    public static final long PRECISE = 549755813888L;
    /** flag of a token: a root call. */
    public static final long TOP = 274877906944L;
    /** flag of a token: recursion is folded; its node is the invocation's own. */
    public static final long OWN = 34359738368L;
    /** flag of a token: folded recursion; its node is the way back. */
    public static final long BACK = 137438953472L;
    /** flag of a token: there was no room; the index is a place on the record's stack of unplaced invocations. */
    public static final long OVER = 68719476736L;
    /** flag of a token: the invocation's begin is in the record's stream of events; its node is the invocation's own. */
    public static final long EVENT = 17179869184L;
    /** low bits of a token: the node's place; above are flags. */
    public static final int FLAG_BITS = 34;
    /** a token's node. */
    public static final long INDEX_MASK = 17179869183L;
    /** nodes that the first table of unplaced methods takes. */
    public static final int OVER_TABLE = 64;
    /** places on the stack of unplaced invocations, 8 bytes each: node, and caller's node. */
    public static final int OVER_DEPTH = 4096;
    /** the agent answers. */
    public static final int STATE_UP = 1;
    /** classes are being restored. */
    public static final int STATE_STOPPING = 2;
    /** nobody touches the file any more; the agent restores classes by itself, and needs no controller. */
    public static final int STATE_WINDING = 4;
    /** the agent is gone. */
    public static final int STATE_STOPPED = 3;
    /** told so by the controller. */
    public static final int REASON_COMMAND = 1;
    /** the controller fell silent. */
    public static final int REASON_HEARTBEAT = 2;
    /** the controller's end was closed. */
    public static final int REASON_EOF = 3;
    /** the agent failed. */
    public static final int REASON_FAILED = 4;
    /** u32: methods that have cells; ids are below this; 0 where a tree is recorded. */
    public static final int T_METHODS = 2048;
    /** u32: threads that can have cells of their own, a power of two. */
    public static final int T_STRIPES = 2052;
    /** i64: the target's nanoTime when the gate opened; earlier invocations don't count. */
    public static final int T_SINCE = 2056;
    /** i64: where the cells lie, from the start of the file. */
    public static final int T_CELLS = 2064;
    /** the method that measures the timer. */
    public static final int T_SAMPLE = 0;
    /** log2 of a cell's size. */
    public static final int CELL_SHIFT = 15;
    /** buckets of a cell. */
    public static final int CELL_BUCKETS = 3712;
    /** log2 of the buckets that a power of two has. */
    public static final int BUCKET_BITS = 6;
    /** i64: id of the thread that alone writes the cell, 0 none or many. */
    public static final int C_OWNER = 0;
    /** i64: ns of all invocations. */
    public static final int C_TOTAL = 8;
    /** i64: of those, ended by an exception. */
    public static final int C_THROWN = 16;
    /** i64: ns of the longest. */
    public static final int C_MOST = 24;
    /** i64: the highest long less the ns of the shortest, so that 0 is none. */
    public static final int C_LEAST = 32;
    /** i64[]: invocations by their time. */
    public static final int C_BUCKETS = 64;
    /** flag: each says it in R_TOOK, and may be held. */
    public static final int EXIT_TELL = 1;
    /** flag: each is counted by its time, H_TIMES. */
    public static final int EXIT_COUNT = 2;
    /** i64[TIMES]: with EXIT_COUNT, root calls by how long they took, less what the profiler made them wait; the first are those below 2 to the power of TIMES_LOW, then each power of two has 2 to the power of TIMES_BITS, the last are all that are longer. */
    public static final int H_TIMES = 2112;
    /** i64: ns of all these. */
    public static final int H_TIMES_SUM = 2104;
    /** how many there are. */
    public static final int TIMES = 242;
    /** log2 of the first time, in ns, that is told from shorter ones. */
    public static final int TIMES_LOW = 7;
    /** i64: with EXIT_COUNT, root calls that took so many ns or longer are kept among the slowest. */
    public static final int H_SLOW = 4048;
    /** i64: a place has the slowest root call of the round; the controller begins another one when it has read the places. */
    public static final int H_SLOW_ROUND = 4056;
    /** area of the slowest root calls. */
    public static final int SLOW = 4096;
    /** log2 of a place's size. */
    public static final int SLOW_SHIFT = 6;
    /** place of a root call: 31 times its record's number and R_RETURNS, and this. */
    public static final int SLOW_MASK = 63;
    /** i64: H_SLOW_ROUND when it was written. */
    public static final int L_ROUND = 0;
    /** i64: ns, less L_WAITED. */
    public static final int L_TOOK = 8;
    /** i64: R_BEGAN. */
    public static final int L_BEGAN = 16;
    /** i64: ns that the profiler made it wait. */
    public static final int L_WAITED = 24;
    /** i64: R_TID. */
    public static final int L_THREAD = 32;
    /** i64: the root's method id, 0 if unknown; with L_THROWN. */
    public static final int L_METHOD = 40;
    /** i64: round ^ took ^ began ^ waited ^ thread << 20 ^ method << 40, written last; where it differs, the place is being written. */
    public static final int L_CHECK = 48;
    /** flag: it ended by an exception. */
    public static final int L_THROWN = 262144;
    /** log2 of the counts that a power of two has. */
    public static final int TIMES_BITS = 3;
    /** where a ring's words begin. */
    public static final int RING_HEADER = 192;
    /** words of a record's first ring. */
    public static final int RING_FIRST = 2048;
    /** words of its largest ring. */
    public static final int RING_MOST = 2097152;
    /** a full ring is followed by one so many times as large. */
    public static final int RING_GROWTH = 4;
    /** sizes that there are. */
    public static final int RING_SIZES = 6;
    /** words that may be written after one look at E_STOP. */
    public static final int RING_SLACK = 8;
    /** low bits of a word: its kind. */
    public static final int KIND_BITS = 4;
    /** where a time begins, in words with a method. */
    public static final int DELTA_SHIFT = 22;
    /** bits of such a time. */
    public static final int DELTA_BITS = 42;
    /** i64: words written; published by a release store. */
    public static final int E_AT = 0;
    /** i64: the writer's own: up to where it may write before it looks at E_READ; -1 while it drops. */
    public static final int E_STOP = 8;
    /** i64: words of the ring less 1; a power of two less 1. */
    public static final int E_MASK = 16;
    /** u32: node where the ring lies that follows this one, 0 none. */
    public static final int E_NEXT = 24;
    /** i64: the writer's own: up to when the stream accounts for time, ns. */
    public static final int E_TIME = 32;
    /** i64: the writer's own: the thread that the stream named last. */
    public static final int E_TID = 40;
    /** i64: events for which there was no room in time. */
    public static final int E_DROPPED = 48;
    /** u32: 1 while events are dropped: until a root call finds half of the ring free. */
    public static final int E_DROPPING = 56;
    /** i64: words that the controller has taken. */
    public static final int E_READ = 64;
    /** i64: ns that the writer has waited for the reader. */
    public static final int E_WAITED = 128;
    /** i64: how often. */
    public static final int E_WAITS = 136;
    /** method, time: an invocation begins. */
    public static final int EV_ENTER = 1;
    /** method, time: the one on top returns. */
    public static final int EV_EXIT = 2;
    /** method, time: the one on top ends by an exception. */
    public static final int EV_THROWN = 3;
    /** method, time: its last invocation from here, which has returned, ended by an exception after all. */
    public static final int EV_LATE = 4;
    /** method 0, time: the profiler's own work begins on the thread. */
    public static final int EV_SUSPEND = 5;
    /** signed value: ns that are nobody's: the profiler's work, and waits for the reader. */
    public static final int EV_ADJUST = 6;
    /** value: a root call begins now, ns on the target's nanoTime; whatever is open was cut off. */
    public static final int EV_ROOT = 7;
    /** value: id of the thread whose events follow; it has come into the record. */
    public static final int EV_THREAD = 8;
    /** value: ns charged to the invocation on top up to a pause, which cut all off that are open. */
    public static final int EV_CUT = 9;
    /** value: events dropped before this one; whatever is open was cut off. */
    public static final int EV_LOST = 10;
    /** mark, time: it is charged to the invocation on top; the mark, where a method would be, is 0 or one of the MARK_ rows. */
    public static final int EV_CHARGE = 12;
    /** value: the invocation on top hands a task over, of this number; an odd one is executed again and again. */
    public static final int EV_SUBMIT = 13;
    /** value: the number of the task whose execution is about to begin, or what a mark is about. */
    public static final int EV_BELONG = 15;
    /** value: the METHOD_HANDOVER node below which it does, as if it were an invocation; it ends with the one above it. */
    public static final int EV_EXECUTE = 14;
    /** value: ns to add to the time of the next word. */
    public static final int EV_TIME = 11;
    /** the thread parks. */
    public static final int MARK_PARK = 1;
    /** it waits on the monitor of the task with the identity hash in EV_BELONG before. */
    public static final int MARK_TASK = 2;
    /** it waits for the end of the thread with the id in EV_BELONG before. */
    public static final int MARK_THREAD = 3;
    /** the wait that began last is over. */
    public static final int MARK_WOKE = 4;
    /** it lets the thread with the id in EV_BELONG before go on, which is inside, too. */
    public static final int MARK_WAKES = 5;
    /** it hands the task with the number in EV_BELONG before on, which has been handed over before: a stage of a CompletableFuture can begin. */
    public static final int MARK_PASSES = 6;
    /** it notifies those that wait on the monitor of the task with that hash. */
    public static final int MARK_ENDS = 7;
    /** the root call on top ends so long after the last tick: its length, but no node's time yet. */
    public static final int MARK_TAIL = 8;
    /** no time goes by: so much of the tails before is charged to the invocation on top, as a tick is. */
    public static final int MARK_CARRY = 9;
    /** no time goes by: the high half of a trace id of OpenTelemetry, its highest 60 bits in EV_BELONG before, its lowest 4 in the time. */
    public static final int MARK_TRACE_HIGH = 10;
    /** the low half, in the same way. */
    public static final int MARK_TRACE_LOW = 11;
    /** the id of the span that was current when the root call began, in the same way; it is of the trace before. */
    public static final int MARK_SPAN = 12;
    /** the id of the first span that became current during the root call, if there was none before. */
    public static final int MARK_SPAN_WITHIN = 13;
    /** ranges of ages: 0, 1, 2 to 3, 4 to 7, 8 to 15, 16 and more collections survived. */
    public static final int AGES = 6;
    /** objects of a node that are all followed. */
    public static final int TRACK_FIRST = 32;
    /** places that are tried for an object; behind each one that is taken, half of the objects are given up, and the others stand for twice as many. */
    public static final int TRACK_TRIES = 8;
    /** nodes of a block of K_ words. */
    public static final int TRACK_NODES = 4;
    /** u32: 0: no object is followed; else 1 more than the highest level of an object: it stands for 2^level. */
    public static final int H_TRACK = 84;
    /** u32: places of the agent's table, 0 before there is one. */
    public static final int H_FOLLOWING = 88;
    /** u32: 1 while the agent looks at what became of objects, and writes K_ words. */
    public static final int H_LOOKING = 1144;
    /** i64: collections that it has noticed in this recording. */
    public static final int H_COLLECTIONS = 1152;
    /** i64: objects that are not followed, for want of a place. */
    public static final int H_UNTRACKED = 1160;
    /** i64: places of the table that were tried. */
    public static final int H_PLACES = 1168;
    /** i64: objects that are followed, or were until they were gone. */
    public static final int K_TRACKED = 0;
    /** i64: of those, the ones that have survived a collection. */
    public static final int K_SURVIVED = 8;
    /** i64[6]: by age, how many objects those stand for that are not known to be gone. */
    public static final int K_LIVE = 16;
    /** i64[6]: of arrays their bytes. */
    public static final int K_LIVE_BYTES = 64;
    /** i64[6]: by the age that they reached, how many objects those stand for that are gone. */
    public static final int K_GONE = 112;
    /** i64[6]: of arrays their bytes. */
    public static final int K_GONE_BYTES = 160;
    /** i64: of all these objects the squares of how many each stands for, summed. */
    public static final int K_SQUARES = 208;
}

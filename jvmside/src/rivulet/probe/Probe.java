package rivulet.probe;

import java.util.function.LongBinaryOperator;
import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.ForceInline;
import rivulet.probe.stub.Unsafe;

/**
 * The recorder: what instrumented methods call. It is defined in the bootstrap loader under a java.lang name that
 * carries the agent's version, lives as long as the JVM, and costs two loads and a branch when no session is on.
 *
 * A thread's record is written by that thread alone; nodes are published by release stores, so that the controller
 * can read the tree at any moment. The hot paths (enter, exit) call only intrinsics. Everything that can block,
 * allocate or search is in methods of its own, which leave a thread outside of the subgraph while they work, so that
 * no probe below them records anything.
 *
 * A token is the node where an invocation began, its caller's, tagged with the part of the recording: so an exit knows
 * where to go back to without a look at the tree, and the next entry needn't wait for one. The invocation's own node
 * is the callee of that one on the way up from the cursor; where folded recursion makes that unsure, or events are
 * written, the token is the own node. 0 means that the invocation is not recorded. Nodes are referred to by their place
 * in the file, in bytes, which is below 2 GB. Modes with events, and their tokens, leave the hot paths for the class Events.
 */
public final class Probe {
    private static final Unsafe U = Unsafe.getUnsafe();
    static final long TID;
    /** Address of the cell that holds the address of the current session's data file, or EMPTY. */
    static final long CELL;
    /** What looks like a data file whose gate is shut. */
    private static final long EMPTY;
    /** Flags of tokens whose exit isn't the usual one. */
    private static final long SLOW = Layout.TOP | Layout.BACK | Layout.OVER | Layout.OWN | Layout.EVENT;
    private static final int MODE = Layout.MODE_MASK;
    private static final boolean BIG_ENDIAN = java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.BIG_ENDIAN;
    /** In the cell, beside the agent's own words: threads that wait for a reveal. */
    static final int USERS = 16;

    /** Waits until a fresh method's callees are instrumented, for so many ns at most: (method, ns) to 1 when done, 0 when given up. */
    private static volatile LongBinaryOperator revealer;

    static {
        try {
            TID = U.objectFieldOffset(Thread.class.getDeclaredField("tid"));
        } catch (NoSuchFieldException e) {
            throw new NoSuchFieldError(e.getMessage());
        }
        long a = U.allocateMemory(768);
        U.setMemory(a, 768, (byte) 0);
        CELL = (a + 63) & ~63L;
        EMPTY = CELL + 64;
        U.putLong(CELL, EMPTY);
    }

    private Probe() {}

    /** The cell's address. */
    public static long cell() {
        return CELL;
    }

    /** What is in the cell without a session. */
    public static long empty() {
        return EMPTY;
    }

    /** Threads wait for a reveal, or have just done so. */
    public static boolean busy() {
        return U.getLongVolatile(null, CELL + USERS) != 0;
    }

    public static void revealer(LongBinaryOperator r) {
        revealer = r;
    }

    // ---- hot paths ----

    // Each has one call of anything that isn't inlined, and as few branches as can be: these are what costs a compiler
    // most, and what a probe takes of its budget the program's own methods lose. A thread outside, with cursor 0, reads
    // the file's first bytes as a node; they are no node's (package wire).

    @ForceInline
    public static long enter(int method) {
        long s = U.getLong(CELL);
        return U.getInt(s + Layout.H_GATE) == 0 ? 0 : inside(s, method, 0);
    }

    /** Of a root. */
    @ForceInline
    public static long enterRoot(int method) {
        long s = U.getLong(CELL);
        if (U.getInt(s + Layout.H_GATE) != 0) return inside(s, method, Layout.MODE_ROOT);
        return U.getLong(s + Layout.H_TAG) == 0 ? 0 : any(method);
    }

    /** Some thread is inside, this one perhaps. root is what a root's mode has. */
    @ForceInline
    private static long inside(long s, int method, int root) {
        int mode = U.getByte(s + Layout.MODES + method);
        if (mode == Layout.MODE_OFF) return 0;
        long tag = U.getLong(s + Layout.H_TAG), tid = U.getLong(Thread.currentThread(), TID);
        long slot = s + Layout.SLOTS + ((tid & Layout.SLOT_MASK) << Layout.SLOT_SHIFT);
        if (U.getLong(slot + Layout.S_KEY) == (tag | tid)) {
            long record = U.getLong(slot + Layout.S_RECORD), current = U.getLong(record + Layout.R_CURSOR);
            long near = U.getShort(s + current + Layout.N_CACHE + ((method & Layout.CACHE_MASK) << 1));
            long index = current + (near << Layout.NODE_SHIFT), node = s + index;
            long late = U.getLong(record + Layout.R_TICK) - U.getLong(s + Layout.H_TICK) >>> 63;
            if ((late | U.getLong(node + Layout.N_METHOD) ^ (current << 32 | method) | mode & MODE ^ Layout.MODE_TICK) == 0) {
                U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
                U.putLong(record + Layout.R_CURSOR, index);
                return tag | current;
            }
        } else if ((U.getInt(slot + Layout.S_DISPLACED) | mode & root) == 0) {
            return 0;
        }
        return any(method);
    }

    /**
     * As enter, where many methods are instrumented: called, not inlined, but for a dormant probe's way. What each
     * method would grow by costs a big program more than the calls do (docs/decisions).
     */
    @ForceInline
    public static long enterCall(int method) {
        return U.getInt(U.getLong(CELL) + Layout.H_GATE) == 0 ? 0 : entry(method);
    }

    @DontInline
    private static long entry(int method) {
        return enter(method);
    }

    @ForceInline
    public static void exit(long token) {
        if (token == 0) return;
        long s = U.getLong(CELL), to = token ^ U.getLong(s + Layout.H_TAG);
        if (to >>> Layout.FLAG_BITS == 0) {
            long record = s + U.getInt(s + to + Layout.N_RECORD);
            long late = U.getLong(record + Layout.R_TICK) - U.getLong(s + Layout.H_TICK) >>> 63;
            if ((late | U.getInt(s + U.getLong(record + Layout.R_CURSOR) + Layout.N_PARENT) ^ (int) to) == 0) {
                U.putLong(record + Layout.R_CURSOR, to);
                return;
            }
        }
        quit(token, 0);
    }

    /** As exit, for enterCall. */
    @ForceInline
    public static void exitCall(long token) {
        if (token != 0) departure(token);
    }

    @DontInline
    private static void departure(long token) {
        exit(token);
    }

    /** Every entry that isn't within one tick, of a thread inside, to a node that was entered before. */
    @DontInline
    static long any(int method) {
        long s = U.getLong(CELL), tag = U.getLong(s + Layout.H_TAG);
        if (tag == 0) return 0;
        long tid = U.getLong(Thread.currentThread(), TID), slot = Records.slot(s, tid);
        int mode = U.getByte(s + Layout.MODES + method);
        long record = Records.of(slot, s, tag, tid), current = record == 0 ? 0 : U.getLong(record + Layout.R_CURSOR);
        if (current == 0) return mode >= 0 ? 0 : root(s, tag, slot, tid, method);
        mode &= MODE;
        if (mode < Layout.MODE_TICK) return other(s, tag, record, current, method);
        long index = Callees.find(s, current, method);
        if (index == 0) return child(s, tag, record, current, method);
        long node = node(s, index), token = tag | current;
        if (mode == Layout.MODE_PRECISE) {
            charge(s, record, current, System.nanoTime());
            token |= Layout.PRECISE;
        } else {
            tick(s, record, current);
        }
        U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
        U.putLong(record + Layout.R_CURSOR, index);
        return token;
    }

    /** Every exit that isn't within one tick of an invocation whose token has no flags. */
    @DontInline
    static void quit(long token, long executed) {
        long s = U.getLong(CELL);
        if ((token ^ U.getLong(s + Layout.H_TAG)) >>> Layout.INDEX_BITS != 0) return;
        long to = token & Layout.INDEX_MASK;
        if ((token & SLOW) == 0) {
            long record = record(s, to), current = U.getLong(record + Layout.R_CURSOR);
            if (U.getInt(node(s, current) + Layout.N_PARENT) == (int) to) {
                if ((token & Layout.PRECISE) != 0) charge(s, record, current, System.nanoTime());
                else tick(s, record, current);
                if (executed != 0) Executed.add(s, current, executed);
                U.putLong(record + Layout.R_CURSOR, to);
                return;
            }
        }
        leave(s, token, false, executed);
    }

    /** The invocation ends by an exception. */
    @DontInline
    public static void thrown(long token) {
        ended(token, 0);
    }

    /** The same, of a method whose executed bytecodes are counted: it has executed so many. */
    static void ended(long token, long executed) {
        if (token == 0) return;
        long s = U.getLong(CELL);
        if ((token ^ U.getLong(s + Layout.H_TAG)) >>> Layout.INDEX_BITS != 0) return;
        leave(s, token, true, executed);
    }

    /** An exception was caught in the invocation: frames above it that had no exit are gone. */
    @DontInline
    public static void resync(long token) {
        if (token == 0) return;
        long s = U.getLong(CELL);
        if ((token ^ U.getLong(s + Layout.H_TAG)) >>> Layout.INDEX_BITS != 0) return;
        if ((token & Layout.EVENT) != 0 && Events.resync(s, token)) return;
        long index = token & Layout.INDEX_MASK, record, current;
        if ((token & Layout.OVER) != 0) {
            record = mine(s, token);
            if (record == 0 || (current = cursor(s, record)) == 0) return;
            U.putInt(record + Layout.R_DEPTH, (int) index + 1);
            index = U.getInt(Unplaced.place(s, record, index));
            if (current != index) charge(s, record, current, precise(s, current));
        } else {
            record = record(s, index);
            if ((current = cursor(s, record)) == 0) return;
            if ((token & (Layout.BACK | Layout.OWN)) != 0) {
                if ((token & Layout.BACK) != 0) index = U.getInt(node(s, index) + Layout.N_CACHE);
                if (current == index) return;
                charge(s, record, current, precise(s, current));
            } else {
                if (U.getInt(node(s, current) + Layout.N_PARENT) == (int) index) return;
                charge(s, record, current, precise(s, current));
                long own = own(s, record, current, index);
                if (own != 0) index = own; // else it had ended: an exception of the return itself
            }
            unwind(s, record, current, index);
        }
        U.putLong(record + Layout.R_CURSOR, index);
    }

    // ---- leaving ----

    static long record(long s, long index) {
        return s + U.getInt(s + index + Layout.N_RECORD);
    }

    static long node(long s, long index) {
        return s + index;
    }

    /** The current thread's record if it is inside with the tag of this token, else 0. */
    static long mine(long s, long token) {
        long tid = U.getLong(Thread.currentThread(), TID), home = Records.slot(s, tid);
        long record = U.getLong(home + Layout.S_TID) == tid ? U.getLong(home + Layout.S_RECORD) : Records.displaced(home, s, tid);
        if (record == 0 || U.getLong(record + Layout.R_KEY) != (token >>> Layout.INDEX_BITS << Layout.INDEX_BITS | tid)) return 0;
        return record;
    }

    /** Whether an invocation can end where its token was made: it can't when the recording has gone on to another part. */
    static boolean on(long s, long tag) {
        return U.getLong(s + Layout.H_TAG) == tag;
    }

    /** The clock for all that isn't a hot path: the recording's, or that of a precise method whose time begins or ends here. */
    static long time(long s, boolean precise) {
        return !precise && U.getInt(s + Layout.H_CLOCK) == Layout.MODE_TICK ? U.getLong(s + Layout.H_TICK) : System.nanoTime();
    }

    static void charge(long s, long record, long current, boolean precise) {
        if (!precise && U.getInt(s + Layout.H_CLOCK) == Layout.MODE_TICK) tick(s, record, current);
        else charge(s, record, current, System.nanoTime());
    }

    /** Whether a node is of a method that has the precise clock. */
    static boolean precise(long s, long index) {
        int method = U.getInt(node(s, index) + Layout.N_METHOD);
        if (method < 0) return false; // a node that stands for something else
        int mode = U.getByte(s + Layout.MODES + (method & Layout.MAX_METHODS - 1)) & MODE;
        return mode == Layout.MODE_PRECISE || mode == Layout.MODE_EVENT_PRECISE;
    }

    /**
     * Charges by the tick clock, and what root invocations that have ended had left over; no part of that above the roots.
     * A tick may say a time from before the root invocation began, but come to be seen since: it is a tick all the same.
     */
    private static void tick(long s, long record, long current) {
        long now = U.getLong(s + Layout.H_TICK);
        if (now <= U.getLong(record + Layout.R_TICK)) return;
        U.putLong(record + Layout.R_TICK, now);
        long last = U.getLong(record + Layout.R_LAST), spent = now > last ? now - last : 0, node = node(s, current);
        boolean carries = current != U.getInt(record + Layout.R_TOP);
        U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + spent + (carries ? U.getLong(record + Layout.R_CARRY) : 0));
        if (carries) U.putLong(record + Layout.R_CARRY, 0);
        U.putLong(record + Layout.R_LAST, last + spent);
    }

    /** What went by until now is nobody's time, nor is a tick that fell in it anybody's. */
    static void skip(long s, long record, boolean precise) {
        long now = time(s, precise);
        if (now > U.getLong(record + Layout.R_LAST)) U.putLong(record + Layout.R_LAST, now);
        U.putLong(record + Layout.R_TICK, U.getLong(s + Layout.H_TICK));
    }

    /**
     * A root invocation ends. Its whole is exact with either clock, but where it is shorter than the time between two
     * ticks, what comes after the last one is no more the root's than its callees': the next tick that is noticed inside,
     * which comes anywhere, charges it.
     */
    private static void chargeLast(long s, long record, long current, long token) {
        if (whole(s, record, token) || precise(s, current)) {
            charge(s, record, current, System.nanoTime());
            return;
        }
        tick(s, record, current);
        long rest = System.nanoTime() - U.getLong(record + Layout.R_LAST);
        if (rest > 0) U.putLong(record + Layout.R_CARRY, U.getLong(record + Layout.R_CARRY) + rest);
    }

    /** Whether all of a root invocation's end is charged to where it is: the sample is measured by its wholes. */
    static boolean whole(long s, long record, long token) {
        return U.getInt(s + Layout.H_CLOCK) != Layout.MODE_TICK || (token & Layout.PRECISE) != 0 || U.getInt(record + Layout.R_EPOCH) < 0;
    }

    private static void charge(long s, long record, long current, long now) {
        long spent = now - U.getLong(record + Layout.R_LAST);
        if (spent <= 0) return;
        long node = node(s, current);
        U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + spent);
        U.putLong(record + Layout.R_LAST, now);
    }

    /** Ends the invocation of a token wherever the cursor is. */
    @DontInline
    private static void leave(long s, long token, boolean thrown, long executed) {
        if ((token & Layout.EVENT) != 0 && Events.leave(s, token, thrown, executed)) return;
        long index = token & Layout.INDEX_MASK, to, record;
        boolean known = (token & (Layout.BACK | Layout.OVER | Layout.OWN)) != 0;
        if ((token & Layout.OVER) != 0) {
            record = mine(s, token);
            if (record == 0 || U.getInt(record + Layout.R_DEPTH) <= (int) index) return; // it has ended
            long place = Unplaced.place(s, record, index);
            U.putInt(record + Layout.R_DEPTH, (int) index);
            index = U.getInt(place);
            to = U.getInt(place + 4);
        } else {
            record = record(s, index);
            to = index;
            if (known) to = above(s, index);
            if ((token & Layout.BACK) != 0) index = U.getInt(node(s, index) + Layout.N_CACHE);
        }
        long current = cursor(s, record);
        if (current == 0) return;
        if (!known) index = own(s, record, current, to);
        if ((token & Layout.TOP) != 0) chargeLast(s, record, current, token);
        else charge(s, record, current, (token & Layout.PRECISE) != 0 || precise(s, current));
        if (index != 0) {
            if ((token & Layout.OVER) == 0) unwind(s, record, current, index);
            if (thrown) Side.add(s, record, index, Layout.X_THROWN);
            if (executed != 0) U.putLong(node(s, index) + Layout.N_COUNT, U.getLong(node(s, index) + Layout.N_COUNT) + executed);
        } else if (current != to) {
            return; // an exit that was followed by an exception of the return itself (IllegalMonitorStateException)
        }
        if ((token & Layout.TOP) != 0) end(s, record, known ? index : 0, thrown ? -index : index);
        else U.putLong(record + Layout.R_CURSOR, to);
    }

    /** Where an invocation goes back to: its node's parent, and for a task's execution what the thread was doing before. */
    static long above(long s, long index) {
        long parent = U.getInt(node(s, index) + Layout.N_PARENT);
        return U.getInt(node(s, parent) + Layout.N_METHOD) == Layout.METHOD_HANDOVER ? U.getInt(node(s, parent) + Layout.N_PARENT) : parent;
    }

    /**
     * The node of the invocation that began at a caller's node: its callee on the way up from the cursor. 0 if there is
     * none: the invocation has ended. Unplaced ones that are open were all begun within it, the first at a node that is placed.
     */
    private static long own(long s, long record, long current, long from) {
        long i = U.getInt(record + Layout.R_DEPTH) == 0 ? current : U.getInt(Unplaced.place(s, record, 0) + 4);
        while (i != 0) {
            long parent = U.getInt(node(s, i) + Layout.N_PARENT);
            if (parent == from) return i;
            i = parent;
        }
        return 0;
    }

    /**
     * Where the thread is, 0 outside. A thread leaves the subgraph for the profiler's own work and comes back; if an
     * overflow of its stack kept it from coming back, the next boundary below does that.
     */
    static long cursor(long s, long record) {
        long current = U.getLong(record + Layout.R_CURSOR);
        if (current == 0 && (current = U.getInt(record + Layout.R_BUSY)) != 0) {
            skip(s, record, precise(s, current));
            U.putInt(record + Layout.R_BUSY, 0);
            U.putLong(record + Layout.R_CURSOR, current);
        }
        return current;
    }

    /**
     * The invocations from current up to index, which stays, were ended by an exception without an exit of their
     * own: it came out of their super(). Unplaced ones say themselves how they ended, but for such.
     */
    private static void unwind(long s, long record, long current, long index) {
        if (U.getInt(record + Layout.R_DEPTH) != 0) {
            current = U.getInt(Unplaced.place(s, record, 0) + 4);
            U.putInt(record + Layout.R_DEPTH, 0);
        }
        for (long i = current; i != index; i = U.getInt(node(s, i) + Layout.N_PARENT)) {
            if (i == 0) return;
            Side.ready(s, record, i);
        }
        for (long i = current; i != index; i = U.getInt(node(s, i) + Layout.N_PARENT)) {
            int side = Side.none(s, i) ? 0 : U.getInt(node(s, i) + Layout.N_FLAGS) & Layout.N_SIDE;
            Side.count(s, side, i, Layout.X_THROWN);
            Side.count(s, side, i, Layout.X_UNWOUND);
        }
    }

    /**
     * The root invocation ends, or the execution of a task with this node: the thread is outside again, and its record
     * may serve others. root is the root invocation's node, less than 0 if it ended by an exception, 0 if unknown.
     */
    static void end(long s, long record, long index, long root) {
        outside(s, record);
        U.putLong(record + Layout.R_CURSOR, 0);
        U.putInt(record + Layout.R_DEPTH, 0);
        if (index == 0 || above(s, index) == U.getInt(node(s, index) + Layout.N_PARENT)) {
            boolean held = U.getInt(s + Layout.H_EXITS) != 0 && Exits.took(s, record, root);
            U.putLongRelease(null, record + Layout.R_RETURNS, U.getLong(record + Layout.R_RETURNS) + 1);
            if (held) Exits.hold(s, record);
        }
        Records.release(s, record);
    }

    /**
     * A thread more or less is inside in a part. Once the part is over nobody counts: the word is another's, or shut.
     * The count is never too low, threads inside rely on it.
     */
    private static void count(long s, long tag, long n) {
        for (long g; ((g = U.getLongVolatile(null, s + Layout.H_GATE)) ^ tag) >>> Layout.INDEX_BITS == 0; ) {
            if (U.compareAndSetLong(null, s + Layout.H_GATE, g, g + n)) return;
        }
    }

    /** Marks the record's thread, which calls this, as outside. */
    static void outside(long s, long record) {
        count(s, U.getLong(record + Layout.R_KEY), -1);
        long slot = U.getLong(record + Layout.R_SLOT);
        if (slot != 0) U.putLong(slot + Layout.S_KEY, 0);
    }

    // ---- entering, slow ----

    /** The thread is outside, the method is a root. */
    @DontInline
    private static long root(long s, long tag, long home, long tid, int method) {
        boolean sample = method >= Layout.SAMPLE;
        if (!on(s, tag) || !sample && !chosen(s)) return 0;
        try {
            reserve(40, 0, 0, 0);
        } catch (StackOverflowError e) {
            return 0; // the target's own overflow is a few frames away
        }
        long record = lease(s, tag, home, tid, sample);
        if (record == 0) return 0;
        boolean bounded = !sample && U.getLong(s + Layout.H_BUDGET) != Long.MAX_VALUE;
        if (bounded && U.getAndAddLong(null, s + Layout.H_BUDGET, -1) <= 0) {
            U.getAndAddLong(null, s + Layout.H_REFUSED, 1);
            close(s, record);
            U.putLong(record + Layout.R_CURSOR, 0);
            Records.release(s, record);
            return 0;
        }
        long top = admit(s, tag, tid, record);
        long[] span = sample || U.getInt(s + Layout.H_EVENTS) == 0 ? null : Spans.begin(s, record, top);
        U.putLong(record + Layout.R_ENTRIES, U.getLong(record + Layout.R_ENTRIES) + 1);
        U.putLong(record + Layout.R_CURSOR, top);
        if (U.getInt(s + Layout.H_EVENTS) != 0) Events.begin(s, record, tid, span);
        long token = other(s, tag, record, top, method);
        if (token == 0) {
            if (!on(s, tag)) { // it never began
                U.putLong(record + Layout.R_ENTRIES, U.getLong(record + Layout.R_ENTRIES) - 1);
                U.putLong(record + Layout.R_CURSOR, 0);
                if (bounded) U.getAndAddLong(null, s + Layout.H_BUDGET, 1);
                outside(s, record);
                Records.release(s, record);
            } else {
                end(s, record, 0, 0);
            }
        }
        return token == 0 ? 0 : token | Layout.TOP;
    }

    /**
     * Of each H_EVERY root invocations in a row one is recorded. Which one is as good as random, so that it does not keep
     * in step with the program.
     */
    private static boolean chosen(long s) {
        int every = U.getInt(s + Layout.H_EVERY);
        if (every == 0) return true;
        long n = U.getAndAddLong(null, s + Layout.H_SEEN, 1), x = (n / every + 1) * 0x9E3779B97F4A7C15L;
        x = (x ^ x >>> 29) * 0xBF58476D1CE4E5B9L; // splitmix64
        return ((x ^ x >>> 32) >>> 1) % every == n % every;
    }

    /**
     * A record with a tree of this recording for a thread outside, 0 if it is busy, or can't have one. The sample has trees
     * of its own, whose recording has a number that is none, and never drops one of the program's.
     */
    static long lease(long s, long tag, long home, long tid, boolean sample) {
        int part = (int) (tag >>> Layout.INDEX_BITS);
        long record = U.getLong(home + Layout.S_TID) == tid ? U.getLong(home + Layout.S_RECORD) : Records.displaced(home, s, tid);
        if (record != 0) {
            // Busy with the profiler's own work for this very thread.
            if (U.getLong(record + Layout.R_TID) == tid && U.getInt(record + Layout.R_BUSY) != 0) return 0;
            int lease = U.getIntVolatile(null, record + Layout.R_LEASE);
            for (int i = 0; lease == Layout.LEASE_MOVING && i < 100 && U.getInt(s + Layout.H_EVENTS) != 0; i++) {
                pause(20_000); // the controller takes its idle ring away
                lease = U.getIntVolatile(null, record + Layout.R_LEASE);
            }
            if (lease == part || lease == Layout.LEASE_MOVING || !U.compareAndSetInt(null, record + Layout.R_LEASE, lease, part)) {
                record = 0; // being given to another
            } else if (U.getLong(record + Layout.R_TID) != tid || U.getLong(record + Layout.R_SLOT) == 0) {
                U.putIntRelease(null, record + Layout.R_LEASE, 0); // it was taken away
                record = 0;
            }
        }
        if (record == 0) record = Records.register(s, tid, part);
        // The number of the recording is read before the tag: with this tag it is no later one's, whose first act would
        // be to drop a tree that is still to be read.
        int epoch = U.getIntVolatile(null, s + Layout.H_EPOCH);
        if (!on(s, tag)) {
            if (record != 0) Records.release(s, record);
            return 0;
        }
        int has = record == 0 ? 0 : U.getInt(record + Layout.R_EPOCH), wants = sample ? ~epoch : epoch;
        if (record != 0 && has != wants && (sample && has == epoch || !renew(s, record, wants))) {
            Records.release(s, record);
            record = 0;
        }
        if (record == 0) {
            if (!sample) U.getAndAddLong(null, s + Layout.H_LOST, 1);
            return 0;
        }
        return record;
    }

    /** The thread with this record is inside from now on. The node above its roots, where its cursor is to go. */
    static long admit(long s, long tag, long tid, long record) {
        close(s, record);
        U.putLong(record + Layout.R_CURSOR, 0);
        U.putInt(record + Layout.R_DEPTH, 0);
        U.putLong(record + Layout.R_WAITED, U.getLong(record + Layout.R_SUSPENDED));
        U.putLongRelease(null, record + Layout.R_KEY, tag | tid);
        U.putLong(U.getLong(record + Layout.R_SLOT) + Layout.S_KEY, tag | tid);
        count(s, tag, 1);
        // A root invocation's whole is exact with either clock. The tick clock is slow while nobody is inside.
        long now = System.nanoTime();
        U.putLong(record + Layout.R_LAST, now);
        U.putLong(record + Layout.R_BEGAN, now);
        U.putLong(record + Layout.R_TICK, U.getLong(s + Layout.H_TICK));
        return U.getInt(record + Layout.R_TOP);
    }

    /**
     * A root invocation that was open when an earlier part ended gets its time up to then. What R_CLOSED says of another
     * one is from before it began, and charges nothing.
     */
    private static void close(long s, long record) {
        long current = U.getLong(record + Layout.R_CURSOR);
        if (current == 0) return;
        for (long i = current; i != 0 && i != U.getInt(record + Layout.R_TOP); i = U.getInt(node(s, i) + Layout.N_PARENT)) {
            Side.add(s, record, i, Layout.X_CUT);
        }
        long spent = U.getLong(record + Layout.R_CLOSED) - U.getLong(record + Layout.R_LAST);
        if (spent <= 0) return;
        if (U.getInt(record + Layout.R_RING) != 0) Events.cut(s, record, spent);
        long node = node(s, current);
        U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + spent);
    }

    /** Begins a tree of the present recording in a record that the thread has leased. */
    private static boolean renew(long s, long record, int epoch) {
        U.putLong(record + Layout.R_KEY, 0); // whatever its cursor says
        U.putLong(record + Layout.R_CURSOR, 0);
        U.putInt(record + Layout.R_RING, 0);
        U.putInt(record + Layout.R_FIRST_RING, 0);
        U.putLong(record + Layout.R_NODE_NEXT, 0);
        U.putLong(record + Layout.R_NODE_END, 0);
        long top = add(s, record, 0, -1);
        if (top == 0) {
            top = Unplaced.reserved(s, 1);
            if (top == 0) return false;
            link(s, record, top, 0, -1);
        }
        U.putInt(record + Layout.R_TOP, (int) top);
        U.putLong(record + Layout.R_CARRY, 0);
        U.putLong(record + Layout.R_ENTRIES, 0);
        U.putLong(record + Layout.R_RETURNS, 0);
        U.putLong(record + Layout.R_SUSPENDED, 0);
        U.putInt(record + Layout.R_OVER, 0);
        U.putInt(record + Layout.R_STACK, 0);
        U.putIntRelease(null, record + Layout.R_EPOCH, epoch);
        return true;
    }

    /** Throws StackOverflowError here rather than in the middle of something. */
    static long reserve(int depth, long a, long b, long c) {
        if (depth == 0) return a + b + c;
        return reserve(depth - 1, b + 1, c + 1, a + 1) + a;
    }

    /** The thread is inside, or about to be, and the method may be off, fresh, or in a mode with events. */
    @DontInline
    static long other(long s, long tag, long record, long current, int method) {
        int mode = U.getByte(s + Layout.MODES + method) & MODE;
        if (mode == Layout.MODE_OFF || !on(s, tag)) return 0;
        if (mode != Layout.MODE_FRESH && mode < Layout.MODE_TICK) return Events.enter(s, tag, record, current, method, mode);
        boolean incomplete = false;
        if (mode == Layout.MODE_FRESH && !fresh(s, tag, record, current, method)) {
            if (!on(s, tag)) return 0;
            incomplete = giveUp(s, method);
        }
        mode = U.getByte(s + Layout.MODES + method) & MODE; // since it was revealed
        boolean events = mode == Layout.MODE_EVENT_TICK || mode == Layout.MODE_EVENT_PRECISE;
        long token = events ? Events.enter(s, tag, record, current, method, mode) : child(s, tag, record, current, method);
        if (incomplete && token != 0 && (token & Layout.OVER) == 0) {
            long node = node(s, U.getLong(record + Layout.R_CURSOR));
            U.putInt(node + Layout.N_FLAGS, U.getInt(node + Layout.N_FLAGS) | Layout.N_INCOMPLETE);
        }
        return token;
    }

    /**
     * The callees of a fresh method have no probes yet, and the thread goes on: once is enough, nobody waits for it again.
     * True where its node is to say so. With a patience the controller lists the callees: it is told once, by whoever takes
     * the method's freshness. If that is gone, all is well by now, or another thread has done so.
     */
    private static boolean giveUp(long s, int method) {
        boolean patient = U.getLong(s + Layout.H_PATIENCE) != 0;
        long at = s + Layout.MODES + (method & ~3);
        int shift = (BIG_ENDIAN ? 3 - (method & 3) : method & 3) << 3;
        int events = U.getInt(s + Layout.H_EVENTS), then = events != 0 ? events : U.getInt(s + Layout.H_CLOCK);
        boolean mine = false;
        for (int w; !mine && ((w = U.getIntVolatile(null, at)) >>> shift & MODE) == Layout.MODE_FRESH; ) {
            int mode = w >>> shift & Layout.MODE_ROOT | then;
            mine = U.compareAndSetInt(null, at, w, w & ~(0xff << shift) | mode << shift);
        }
        if (patient && mine) U.getAndAddLong(null, s + Layout.H_GIVEN_UP, 1);
        else if (!patient) U.getAndAddLong(null, s + Layout.H_INCOMPLETE, 1);
        return !patient;
    }

    /** For how many ns more a thread with this record may be made to wait in this root invocation; as good as for ever without a bound. */
    static long patience(long s, long record) {
        long ns = U.getLong(s + Layout.H_PATIENCE);
        if (ns == 0) return Long.MAX_VALUE;
        return Math.max(0, ns - (U.getLong(record + Layout.R_SUSPENDED) - U.getLong(record + Layout.R_WAITED)));
    }

    /** The same of the current thread; -1 if it is outside of the subgraph. */
    public static long patience() {
        long s = U.getLong(CELL), tag = U.getLong(s + Layout.H_TAG), record = tag == 0 ? 0 : mine(s, tag);
        if (record == 0 || U.getLong(record + Layout.R_CURSOR) == 0 && U.getInt(record + Layout.R_BUSY) == 0) return -1;
        return patience(s, record);
    }

    /** Waits until the method's callees are instrumented, as long as the patience lasts; the wait is left out of the profile. */
    private static boolean fresh(long s, long tag, long record, long current, int method) {
        long patience = patience(s, record);
        if (patience == 0) return false;
        boolean done = false, precise = precise(s, current);
        if (U.getInt(record + Layout.R_RING) != 0) Events.suspend(s, record, current, precise);
        else charge(s, record, current, precise);
        long from = System.nanoTime();
        U.getAndAddLong(null, CELL + USERS, 1);
        try {
            U.putInt(record + Layout.R_BUSY, (int) current);
            U.putLong(record + Layout.R_CURSOR, 0);
            try {
                reserve(200, 0, 0, 0);
                LongBinaryOperator r = revealer;
                done = r != null && r.applyAsLong(method, patience) != 0;
            } catch (Throwable t) {
                // StackOverflowError, OutOfMemoryError: the subtree is marked, the target goes on
            }
            U.putLong(record + Layout.R_CURSOR, current);
            U.putInt(record + Layout.R_BUSY, 0);
            long to = System.nanoTime();
            U.putLong(record + Layout.R_SUSPENDED, U.getLong(record + Layout.R_SUSPENDED) + (to - from));
            skip(s, record, precise);
            if (U.getInt(record + Layout.R_RING) != 0) Events.resume(s, record);
        } finally {
            U.getAndAddLong(null, CELL + USERS, -1);
        }
        return done;
    }

    /** Finds or makes the callee's node, counts the call and moves the cursor. */
    @DontInline
    private static long child(long s, long tag, long record, long current, int method) {
        if (!on(s, tag)) return 0;
        int mode = U.getByte(s + Layout.MODES + method) & MODE;
        if (mode == Layout.MODE_OFF) return 0; // since it was revealed
        boolean precise = mode == Layout.MODE_PRECISE;
        charge(s, record, current, precise);
        long caller = node(s, current), flags = precise ? Layout.PRECISE : 0;
        boolean fold = U.getInt(s + Layout.H_FOLD) != 0;
        if (fold) flags |= Layout.OWN;
        int own = fold ? method | Layout.METHOD_FOLD : method, found = own;
        long index = Callees.find(s, current, own);
        boolean keep = index == 0;
        if (keep) {
            index = Callees.listed(s, current, own, method | Layout.METHOD_BACK);
            if (index != 0) found = U.getInt(node(s, index) + Layout.N_METHOD);
        }
        if (index == 0) {
            long again = fold ? nearest(s, current, own) : 0;
            found = again == 0 ? own : method | Layout.METHOD_BACK;
            index = add(s, record, current, found);
            if (index != 0 && again != 0) {
                long node = node(s, index);
                U.putInt(node + Layout.N_CACHE, (int) again);
                node = node(s, again);
                U.putInt(node + Layout.N_FLAGS, U.getInt(node + Layout.N_FLAGS) | Layout.N_FOLDED);
            }
            skip(s, record, precise);
            if (index == 0) return Unplaced.enter(s, tag | flags, record, current, method);
        }
        long node = node(s, index), into = index;
        if (found != own) {
            flags |= Layout.BACK;
            into = U.getInt(node + Layout.N_CACHE);
            U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
        } else if (keep) {
            Callees.keep(s, record, current, own, index);
        }
        node = node(s, into);
        U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
        U.putLong(record + Layout.R_CURSOR, into);
        return tag | flags | (fold ? index : current);
    }

    /** The nearest node from current upwards that is the method's, or 0. */
    private static long nearest(long s, long current, int method) {
        for (long i = current; i != 0; i = U.getInt(node(s, i) + Layout.N_PARENT)) {
            int at = U.getInt(node(s, i) + Layout.N_METHOD);
            if (at == method) return i;
            if (at == Layout.METHOD_HANDOVER) return 0; // above is another execution
        }
        return 0;
    }

    /**
     * Adds a node below parent, 0 when the room is full. The index is used up before anything points to the node,
     * so that an overflow of the stack in between costs a node and no more.
     */
    static long add(long s, long record, long parent, int method) {
        long index = fresh(s, record);
        if (index != 0) link(s, record, index, parent, method);
        return index;
    }

    /** A node that nothing points to, 0 when the room is full. */
    static long fresh(long s, long record) {
        return nodes(s, record, 1, true);
    }

    /** So many nodes that follow each other and that nothing points to, 0 when the room is full, or without a wait if its next part isn't there yet. */
    static long nodes(long s, long record, int n, boolean wait) {
        long index = U.getLong(record + Layout.R_NODE_NEXT);
        if (U.getLong(record + Layout.R_NODE_END) - index < (long) n << Layout.NODE_SHIFT) {
            if (!wait && U.getLongVolatile(null, s + Layout.H_NEXT_NODE) + Layout.NODE_CHUNK > U.getLongVolatile(null, s + Layout.H_NODE_LIMIT)) return 0;
            index = chunk(s, record);
            if (index == 0) return 0;
        }
        U.putLong(record + Layout.R_NODE_NEXT, index + ((long) n << Layout.NODE_SHIFT));
        return index;
    }

    /** Takes a chunk of nodes, waiting up to a second for the controller to allocate more of the file. */
    private static long chunk(long s, long record) {
        long index = U.getLongVolatile(null, s + Layout.H_NEXT_NODE);
        for (int i = 0; ; ) {
            if (index + Layout.NODE_CHUNK > U.getLong(s + Layout.H_NODE_MAX)) return 0;
            if (index + Layout.NODE_CHUNK > U.getLongVolatile(null, s + Layout.H_NODE_LIMIT)) {
                if (++i > 10_000 || U.getLong(s + Layout.H_TAG) == 0) return 0;
                pause(100_000);
                index = U.getLongVolatile(null, s + Layout.H_NEXT_NODE);
            } else if (U.compareAndSetLong(null, s + Layout.H_NEXT_NODE, index, index + Layout.NODE_CHUNK)) {
                break;
            } else {
                index = U.getLongVolatile(null, s + Layout.H_NEXT_NODE);
            }
        }
        index = Layout.NODES + (index << Layout.NODE_SHIFT);
        U.putLong(record + Layout.R_NODE_END, index + (Layout.NODE_CHUNK << Layout.NODE_SHIFT));
        return index;
    }

    static void link(long s, long record, long index, long parent, int method) {
        long node = node(s, index);
        U.putInt(node + Layout.N_METHOD, method);
        U.putInt(node + Layout.N_PARENT, (int) parent);
        U.putInt(node + Layout.N_RECORD, (int) (record - s));
        if (parent == 0) return;
        long p = node(s, parent);
        U.putInt(node + Layout.N_SIBLING, U.getInt(p + Layout.N_CHILD));
        U.putIntRelease(null, p + Layout.N_CHILD, (int) index);
    }

    // ---- the agent's work on the program's threads ----

    /**
     * Parks for so many ns. A permit, which the program may have given its thread, ends the first park at once; one is
     * given back, so that the next of the program's own is not lost.
     */
    public static void pause(long ns) {
        long from = System.nanoTime();
        U.park(false, ns);
        if (System.nanoTime() - from < ns / 2) U.park(false, ns);
        U.unpark(Thread.currentThread());
    }

    /** Takes the current thread out of the subgraph; what to give to resume afterwards. */
    public static long suspend() {
        long s = U.getLong(CELL), tag = U.getLong(s + Layout.H_TAG), record = tag == 0 ? 0 : mine(s, tag);
        if (record == 0) return 0;
        long current = U.getLong(record + Layout.R_CURSOR);
        if (current == 0) return 0;
        boolean precise = precise(s, current);
        if (U.getInt(record + Layout.R_RING) != 0) Events.suspend(s, record, current, precise);
        else charge(s, record, current, precise);
        U.putInt(record + Layout.R_BUSY, (int) current);
        U.putLong(record + Layout.R_CURSOR, 0);
        return tag | current;
    }

    /** Puts it back; the time between is left out of its profile. */
    public static void resume(long token) {
        long s = U.getLong(CELL);
        if (token == 0 || s == EMPTY) return;
        long record = mine(s, token); // by its own tag, which may not be the present one any more
        if (record == 0) return;
        long before = U.getLong(record + Layout.R_LAST);
        skip(s, record, precise(s, token & Layout.INDEX_MASK));
        U.putLong(record + Layout.R_CURSOR, token & Layout.INDEX_MASK);
        U.putInt(record + Layout.R_BUSY, 0);
        U.putLong(record + Layout.R_SUSPENDED, U.getLong(record + Layout.R_SUSPENDED) + U.getLong(record + Layout.R_LAST) - before);
        if (U.getInt(record + Layout.R_RING) != 0) Events.resume(s, record);
    }
}

package rivulet.probe;

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
 *
 * Root invocations begin and end in Roots, nodes are made in Nodes, Clock charges time, and Suspension takes a thread
 * out of the subgraph.
 */
public final class Probe {
    private static final Unsafe U = Unsafe.getUnsafe();
    static final long TID;
    /** Address of the cell that holds the address of the current session's data file, or EMPTY. */
    static final long CELL;
    /** What looks like a data file whose gate is shut. */
    static final long EMPTY;
    /** Flags of tokens whose exit isn't the usual one. */
    private static final long SLOW = Layout.TOP | Layout.BACK | Layout.OVER | Layout.OWN | Layout.EVENT;
    private static final int MODE = Layout.MODE_MASK;
    /** In the cell, beside the agent's own words: threads that wait for a reveal. */
    static final int USERS = 16;

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
     * As enter, where many methods are instrumented: called, not inlined, except for a dormant probe's way. What each
     * method would grow by costs a big program more than the calls do (docs/decisions).
     */
    @ForceInline
    public static long enterCall(int method) {
        long s = U.getLong(CELL);
        return U.getInt(s + Layout.H_GATE) == 0 || isOutside(s) ? 0 : entry(method);
    }

    /**
     * Whether the current thread is surely not inside, found without a call: no thread of its home slot is. Where several
     * threads run the root, one of them mostly is inside, so the gate alone would have all others make the call.
     */
    @ForceInline
    static boolean isOutside(long s) {
        long slot = s + Layout.SLOTS + ((U.getLong(Thread.currentThread(), TID) & Layout.SLOT_MASK) << Layout.SLOT_SHIFT);
        return (U.getLong(slot + Layout.S_KEY) | U.getInt(slot + Layout.S_DISPLACED)) == 0;
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
        if (current == 0) return mode >= 0 ? 0 : Roots.root(s, tag, slot, tid, method);
        mode &= MODE;
        if (mode < Layout.MODE_TICK) return other(s, tag, record, current, method);
        long index = Callees.find(s, current, method);
        if (index == 0) return child(s, tag, record, current, method);
        long node = Nodes.node(s, index), token = tag | current;
        if (mode == Layout.MODE_PRECISE) {
            Clock.charge(s, record, current, System.nanoTime());
            token |= Layout.PRECISE;
        } else {
            Clock.tick(s, record, current);
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
            long record = Nodes.record(s, to), current = U.getLong(record + Layout.R_CURSOR);
            if (U.getInt(Nodes.node(s, current) + Layout.N_PARENT) == (int) to) {
                if ((token & Layout.PRECISE) != 0) Clock.charge(s, record, current, System.nanoTime());
                else Clock.tick(s, record, current);
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
            if (current != index) Clock.charge(s, record, current, Clock.precise(s, current));
        } else {
            record = Nodes.record(s, index);
            if ((current = cursor(s, record)) == 0) return;
            if ((token & (Layout.BACK | Layout.OWN)) != 0) {
                if ((token & Layout.BACK) != 0) index = U.getInt(Nodes.node(s, index) + Layout.N_CACHE);
                if (current == index) return;
                Clock.charge(s, record, current, Clock.precise(s, current));
            } else {
                if (U.getInt(Nodes.node(s, current) + Layout.N_PARENT) == (int) index) return;
                Clock.charge(s, record, current, Clock.precise(s, current));
                long own = Nodes.own(s, record, current, index);
                if (own != 0) index = own; // else it had ended: an exception of the return itself
            }
            unwind(s, record, current, index);
        }
        U.putLong(record + Layout.R_CURSOR, index);
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
            record = Nodes.record(s, index);
            to = index;
            if (known) to = Nodes.above(s, index);
            if ((token & Layout.BACK) != 0) index = U.getInt(Nodes.node(s, index) + Layout.N_CACHE);
        }
        long current = cursor(s, record);
        if (current == 0) return;
        if (!known) index = Nodes.own(s, record, current, to);
        if ((token & Layout.TOP) != 0) Clock.chargeLast(s, record, current, token);
        else Clock.charge(s, record, current, (token & Layout.PRECISE) != 0 || Clock.precise(s, current));
        if (index != 0) {
            if ((token & Layout.OVER) == 0) unwind(s, record, current, index);
            if (thrown) Side.add(s, record, index, Layout.X_THROWN);
            if (executed != 0) U.putLong(Nodes.node(s, index) + Layout.N_COUNT, U.getLong(Nodes.node(s, index) + Layout.N_COUNT) + executed);
        } else if (current != to) {
            return; // an exit that was followed by an exception of the return itself (IllegalMonitorStateException)
        }
        if ((token & Layout.TOP) != 0) Roots.end(s, record, known ? index : 0, thrown ? -index : index);
        else U.putLong(record + Layout.R_CURSOR, to);
    }

    /**
     * Where the thread is, 0 outside. A thread leaves the subgraph for the profiler's own work and comes back; if an
     * overflow of its stack kept it from coming back, the next boundary below does that.
     */
    static long cursor(long s, long record) {
        long current = U.getLong(record + Layout.R_CURSOR);
        if (current == 0 && (current = U.getInt(record + Layout.R_BUSY)) != 0) {
            Clock.skip(s, record, Clock.precise(s, current));
            U.putInt(record + Layout.R_BUSY, 0);
            U.putLong(record + Layout.R_CURSOR, current);
        }
        return current;
    }

    /**
     * The invocations from current up to index, which stays, were ended by an exception without an exit of their
     * own: it came out of their super(). Unplaced ones say themselves how they ended, except for such.
     */
    private static void unwind(long s, long record, long current, long index) {
        if (U.getInt(record + Layout.R_DEPTH) != 0) {
            current = U.getInt(Unplaced.place(s, record, 0) + 4);
            U.putInt(record + Layout.R_DEPTH, 0);
        }
        for (long i = current; i != index; i = U.getInt(Nodes.node(s, i) + Layout.N_PARENT)) {
            if (i == 0) return;
            Side.ready(s, record, i);
        }
        for (long i = current; i != index; i = U.getInt(Nodes.node(s, i) + Layout.N_PARENT)) {
            int side = Side.none(s, i) ? 0 : U.getInt(Nodes.node(s, i) + Layout.N_FLAGS) & Layout.N_SIDE;
            Side.count(s, side, i, Layout.X_THROWN);
            Side.count(s, side, i, Layout.X_UNWOUND);
        }
    }

    /** The thread is inside, or about to be, and the method may be off, fresh, or in a mode with events. */
    @DontInline
    static long other(long s, long tag, long record, long current, int method) {
        int mode = U.getByte(s + Layout.MODES + method) & MODE;
        if (mode == Layout.MODE_OFF || !on(s, tag)) return 0;
        if (mode != Layout.MODE_FRESH && mode < Layout.MODE_TICK) return Events.enter(s, tag, record, current, method, mode);
        boolean incomplete = false;
        if (mode == Layout.MODE_FRESH && !Suspension.await(s, tag, record, current, method)) {
            if (!on(s, tag)) return 0;
            incomplete = Suspension.giveUp(s, method);
        }
        mode = U.getByte(s + Layout.MODES + method) & MODE; // since it was revealed
        boolean events = mode == Layout.MODE_EVENT_TICK || mode == Layout.MODE_EVENT_PRECISE;
        long token = events ? Events.enter(s, tag, record, current, method, mode) : child(s, tag, record, current, method);
        if (incomplete && token != 0 && (token & Layout.OVER) == 0) {
            long node = Nodes.node(s, U.getLong(record + Layout.R_CURSOR));
            U.putInt(node + Layout.N_FLAGS, U.getInt(node + Layout.N_FLAGS) | Layout.N_INCOMPLETE);
        }
        return token;
    }

    /** Finds or makes the callee's node, counts the call and moves the cursor. */
    @DontInline
    private static long child(long s, long tag, long record, long current, int method) {
        if (!on(s, tag)) return 0;
        int mode = U.getByte(s + Layout.MODES + method) & MODE;
        if (mode == Layout.MODE_OFF) return 0; // since it was revealed
        boolean precise = mode == Layout.MODE_PRECISE;
        Clock.charge(s, record, current, precise);
        long caller = Nodes.node(s, current), flags = precise ? Layout.PRECISE : 0;
        boolean fold = U.getInt(s + Layout.H_FOLD) != 0;
        if (fold) flags |= Layout.OWN;
        int own = fold ? method | Layout.METHOD_FOLD : method, found = own;
        long index = Callees.find(s, current, own);
        boolean keep = index == 0;
        if (keep) {
            index = Callees.listed(s, current, own, method | Layout.METHOD_BACK);
            if (index != 0) found = U.getInt(Nodes.node(s, index) + Layout.N_METHOD);
        }
        if (index == 0) {
            long again = fold ? Nodes.nearest(s, current, own) : 0;
            found = again == 0 ? own : method | Layout.METHOD_BACK;
            index = Nodes.add(s, record, current, found);
            if (index != 0 && again != 0) {
                long node = Nodes.node(s, index);
                U.putInt(node + Layout.N_CACHE, (int) again);
                node = Nodes.node(s, again);
                U.putInt(node + Layout.N_FLAGS, U.getInt(node + Layout.N_FLAGS) | Layout.N_FOLDED);
            }
            Clock.skip(s, record, precise);
            if (index == 0) return Unplaced.enter(s, tag | flags, record, current, method);
        }
        long node = Nodes.node(s, index), into = index;
        if (found != own) {
            flags |= Layout.BACK;
            into = U.getInt(node + Layout.N_CACHE);
            U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
        } else if (keep) {
            Callees.keep(s, record, current, own, index);
        }
        node = Nodes.node(s, into);
        U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
        U.putLong(record + Layout.R_CURSOR, into);
        return tag | flags | (fold ? index : current);
    }
}

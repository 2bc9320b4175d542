package rivulet.probe;

import java.util.function.LongBinaryOperator;
import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.ForceInline;
import rivulet.probe.stub.Unsafe;

/**
 * The recorder: what instrumented methods call. It is defined in the bootstrap loader under a java.lang name that
 * carries the agent's version, lives as long as the JVM, and costs a load and a branch when no session is on.
 *
 * A thread's record is written by that thread alone; nodes are published by release stores, so that the controller
 * can read the tree at any moment. The hot paths (enter, exit) call only intrinsics. Everything that can block,
 * allocate or search is in methods of its own, which leave a thread outside of the subgraph while they work, so that
 * no probe below them records anything.
 *
 * A token is the node of an invocation, tagged with the session; 0 means that the invocation is not recorded.
 */
public final class Probe {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long TID;
    /** Address of the cell that holds the address of the current session's data file, or 0. */
    private static final long CELL;
    private static final long INDEX = Layout.PRECISE - 1;
    private static final int MODE = 0x7f;
    /** In the cell, beside the agent's own words: threads that wait for a reveal. */
    private static final int USERS = 16;

    /** Waits until a fresh method's callees are instrumented: (method, 0) to 1 when done, 0 when given up. */
    private static volatile LongBinaryOperator revealer;

    static {
        try {
            TID = U.objectFieldOffset(Thread.class.getDeclaredField("tid"));
        } catch (NoSuchFieldException e) {
            throw new NoSuchFieldError(e.getMessage());
        }
        long a = U.allocateMemory(192);
        U.setMemory(a, 192, (byte) 0);
        CELL = (a + 63) & ~63L;
    }

    private Probe() {}

    /** The cell's address. */
    public static long cell() {
        return CELL;
    }

    /** Threads wait for a reveal, or have just done so. */
    public static boolean busy() {
        return U.getLongVolatile(null, CELL + USERS) != 0;
    }

    public static void revealer(LongBinaryOperator r) {
        revealer = r;
    }

    // ---- hot paths ----

    @ForceInline
    public static long enter(int method) {
        long s = U.getLong(CELL);
        if (s == 0) return 0;
        long tid = U.getLong(Thread.currentThread(), TID);
        long slot = s + Layout.SLOTS + ((tid & Layout.SLOT_MASK) << Layout.SLOT_SHIFT);
        long record = 0;
        if (U.getLong(slot + Layout.S_TID) == tid) record = U.getLong(slot + Layout.S_RECORD);
        else if (U.getInt(slot + Layout.S_DISPLACED) != 0) record = displaced(slot, s, tid);
        int mode = U.getByte(s + Layout.MODES + method);
        long current = 0;
        if (record != 0) current = U.getLong(record + Layout.R_CURSOR);
        if (current == 0 || U.getLong(record + Layout.R_TID) != tid) return mode >= 0 ? 0 : root(s, record, tid, method);
        mode &= MODE;
        if (mode < Layout.MODE_TICK) return other(s, record, current, method);
        if (U.getInt(s + Layout.H_GATE) == 0) return 0;
        long caller = s + Layout.NODES + (current << Layout.NODE_SHIFT);
        long index = U.getInt(caller + Layout.N_CACHE) & 0xffffffffL;
        long node = s + Layout.NODES + (index << Layout.NODE_SHIFT);
        if (index == 0 || U.getInt(node + Layout.N_METHOD) != method) return child(s, record, current, method);
        long now, token = U.getLong(s + Layout.H_TAG) | index;
        if (mode == Layout.MODE_TICK) {
            now = U.getLong(s + Layout.H_TICK);
        } else {
            now = System.nanoTime();
            token |= Layout.PRECISE;
        }
        long spent = now - U.getLong(record + Layout.R_LAST);
        if (spent > 0) {
            U.putLong(caller + Layout.N_SELF, U.getLong(caller + Layout.N_SELF) + spent);
            U.putLong(record + Layout.R_LAST, now);
        }
        U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
        U.putLong(record + Layout.R_CURSOR, index);
        return token;
    }

    @ForceInline
    public static void exit(long token) {
        if (token == 0) return;
        long s = U.getLong(CELL);
        if (s == 0 || (token ^ U.getLong(s + Layout.H_TAG)) >>> Layout.INDEX_BITS != 0) return;
        if (U.getInt(s + Layout.H_GATE) == 0) return;
        long index = token & INDEX;
        long node = s + Layout.NODES + (index << Layout.NODE_SHIFT);
        long record = s + Layout.RECORDS + ((long) U.getInt(node + Layout.N_RECORD) << Layout.RECORD_SHIFT);
        if (U.getLong(record + Layout.R_CURSOR) != index) {
            leave(s, record, index, false);
            return;
        }
        long now = (token & Layout.PRECISE) == 0 ? U.getLong(s + Layout.H_TICK) : System.nanoTime();
        long spent = now - U.getLong(record + Layout.R_LAST);
        if (spent > 0) {
            U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + spent);
            U.putLong(record + Layout.R_LAST, now);
        }
        int parent = U.getInt(node + Layout.N_PARENT);
        if (parent == U.getInt(record + Layout.R_TOP)) end(s, record);
        else U.putLong(record + Layout.R_CURSOR, parent & 0xffffffffL);
    }

    /** The invocation ends by an exception. */
    @DontInline
    public static void thrown(long token) {
        if (token == 0) return;
        long s = U.getLong(CELL);
        if (s == 0 || (token ^ U.getLong(s + Layout.H_TAG)) >>> Layout.INDEX_BITS != 0) return;
        if (U.getInt(s + Layout.H_GATE) == 0) return;
        long index = token & INDEX;
        leave(s, record(s, index), index, true);
    }

    /** An exception was caught in the invocation: frames above it that had no exit are gone. */
    @DontInline
    public static void resync(long token) {
        if (token == 0) return;
        long s = U.getLong(CELL);
        if (s == 0 || (token ^ U.getLong(s + Layout.H_TAG)) >>> Layout.INDEX_BITS != 0) return;
        if (U.getInt(s + Layout.H_GATE) == 0) return;
        long index = token & INDEX;
        long record = record(s, index);
        long current = U.getLong(record + Layout.R_CURSOR);
        if (current == index) return;
        if (current == 0) {
            if (!recover(s, record)) return;
        } else {
            charge(s, record, current);
            unwind(s, current, index);
        }
        U.putLong(record + Layout.R_CURSOR, index);
    }

    // ---- leaving ----

    private static long record(long s, long index) {
        return s + Layout.RECORDS + ((long) U.getInt(node(s, index) + Layout.N_RECORD) << Layout.RECORD_SHIFT);
    }

    private static long node(long s, long index) {
        return s + Layout.NODES + (index << Layout.NODE_SHIFT);
    }

    /** The recording's clock, for all that isn't a hot path. */
    private static long time(long s) {
        return U.getInt(s + Layout.H_CLOCK) == Layout.MODE_TICK ? U.getLong(s + Layout.H_TICK) : System.nanoTime();
    }

    private static void charge(long s, long record, long current) {
        long now = time(s);
        long spent = now - U.getLong(record + Layout.R_LAST);
        if (spent <= 0) return;
        long node = node(s, current);
        U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + spent);
        U.putLong(record + Layout.R_LAST, now);
    }

    /** Ends the invocation at index wherever the cursor is. */
    @DontInline
    private static void leave(long s, long record, long index, boolean thrown) {
        long current = U.getLong(record + Layout.R_CURSOR);
        if (current == 0) {
            if (!recover(s, record)) return;
            U.putLong(record + Layout.R_CURSOR, current = index);
        }
        charge(s, record, current);
        long node = node(s, index);
        if (current != index && !unwind(s, current, index)) {
            // An exit that was followed by an exception of the return itself (IllegalMonitorStateException): the
            // cursor is above already.
            if (current != (U.getInt(node + Layout.N_PARENT) & 0xffffffffL)) return;
        }
        if (thrown) U.putLong(node + Layout.N_THROWN, U.getLong(node + Layout.N_THROWN) + 1);
        int parent = U.getInt(node + Layout.N_PARENT);
        if (parent == U.getInt(record + Layout.R_TOP)) end(s, record);
        else U.putLong(record + Layout.R_CURSOR, parent & 0xffffffffL);
    }

    /**
     * A thread leaves the subgraph for the profiler's own work and comes back. If an overflow of its stack kept it from
     * coming back, the next boundary below does that.
     */
    private static boolean recover(long s, long record) {
        if (U.getInt(record + Layout.R_BUSY) == 0) return false;
        U.putInt(record + Layout.R_BUSY, 0);
        U.putLong(record + Layout.R_LAST, time(s));
        return true;
    }

    /**
     * The invocations from current up to index, which stays, were ended by an exception without an exit of their
     * own: it came out of their super(). False if index is not above current.
     */
    private static boolean unwind(long s, long current, long index) {
        for (long i = current; i != index; i = U.getInt(node(s, i) + Layout.N_PARENT) & 0xffffffffL) {
            if (i == 0) return false;
        }
        for (long i = current; i != index; i = U.getInt(node(s, i) + Layout.N_PARENT) & 0xffffffffL) {
            long node = node(s, i);
            U.putLong(node + Layout.N_THROWN, U.getLong(node + Layout.N_THROWN) + 1);
        }
        return true;
    }

    /** The root invocation ends: the thread is outside again, and its record may serve others. */
    @DontInline
    private static void end(long s, long record) {
        U.putLong(record + Layout.R_CURSOR, 0);
        U.putLong(record + Layout.R_RETURNS, U.getLong(record + Layout.R_RETURNS) + 1);
        release(s, record);
    }

    private static void release(long s, long record) {
        if ((U.getInt(record + Layout.R_FLAGS) & Layout.R_VIRTUAL) != 0 && lock(s)) {
            unbind(s, record);
            unlock(s);
        }
        U.putIntRelease(null, record + Layout.R_LEASE, 0);
    }

    // ---- entering, slow ----

    /** The thread is outside, the method is a root. */
    @DontInline
    private static long root(long s, long record, long tid, int method) {
        if (U.getInt(s + Layout.H_GATE) == 0) return 0;
        try {
            reserve(40, 0, 0, 0);
        } catch (StackOverflowError e) {
            return 0; // the target's own overflow is a few frames away
        }
        if (record != 0) {
            if (!U.compareAndSetInt(null, record + Layout.R_LEASE, 0, 1)) {
                // Busy with the profiler's own work for this very thread, or being given to another.
                if (U.getLong(record + Layout.R_TID) == tid && U.getInt(record + Layout.R_BUSY) != 0) return 0;
                record = 0;
            } else if (U.getLong(record + Layout.R_TID) != tid || U.getLong(record + Layout.R_SLOT) == 0) {
                U.putIntRelease(null, record + Layout.R_LEASE, 0); // it was taken away
                record = 0;
            }
        }
        if (record == 0) record = register(s, tid);
        if (record == 0) {
            U.getAndAddLong(null, s + Layout.H_LOST, 1);
            return 0;
        }
        if (U.getLong(s + Layout.H_BUDGET) != Long.MAX_VALUE && U.getAndAddLong(null, s + Layout.H_BUDGET, -1) <= 0) {
            U.getAndAddLong(null, s + Layout.H_REFUSED, 1);
            release(s, record);
            return 0;
        }
        U.putLong(record + Layout.R_ENTRIES, U.getLong(record + Layout.R_ENTRIES) + 1);
        long top = U.getInt(record + Layout.R_TOP) & 0xffffffffL;
        U.putLong(record + Layout.R_LAST, time(s));
        U.putLong(record + Layout.R_CURSOR, top);
        long token = other(s, record, top, method);
        if (token == 0) {
            if (U.getInt(s + Layout.H_GATE) == 0) { // it never began
                U.putLong(record + Layout.R_ENTRIES, U.getLong(record + Layout.R_ENTRIES) - 1);
                U.putLong(record + Layout.R_CURSOR, 0);
                release(s, record);
            } else {
                end(s, record);
            }
        }
        return token;
    }

    /** Throws StackOverflowError here rather than in the middle of something. */
    private static long reserve(int depth, long a, long b, long c) {
        if (depth == 0) return a + b + c;
        return reserve(depth - 1, b + 1, c + 1, a + 1) + a;
    }

    /** The thread is inside, or about to be, and the method may be off or fresh. */
    @DontInline
    private static long other(long s, long record, long current, int method) {
        int mode = U.getByte(s + Layout.MODES + method) & MODE;
        if (mode == Layout.MODE_OFF || U.getInt(s + Layout.H_GATE) == 0) return 0;
        boolean incomplete = false;
        if (mode == Layout.MODE_FRESH && !fresh(s, record, current, method)) {
            incomplete = true; // once is enough: nobody waits for it again
            int root = U.getByte(s + Layout.MODES + method) & Layout.MODE_ROOT;
            U.putByte(s + Layout.MODES + method, (byte) (root | U.getInt(s + Layout.H_CLOCK)));
        }
        long token = child(s, record, current, method);
        if (incomplete && token != 0) {
            long node = node(s, token & INDEX);
            U.putLong(node + Layout.N_FLAGS, U.getLong(node + Layout.N_FLAGS) | Layout.N_INCOMPLETE);
        }
        return token;
    }

    /** Waits until the method's callees are instrumented; the wait is left out of the profile. */
    private static boolean fresh(long s, long record, long current, int method) {
        charge(s, record, current);
        boolean done = false;
        long from = System.nanoTime();
        U.getAndAddLong(null, CELL + USERS, 1);
        try {
            U.putInt(record + Layout.R_BUSY, 1);
            U.putLong(record + Layout.R_CURSOR, 0);
            try {
                reserve(200, 0, 0, 0);
                LongBinaryOperator r = revealer;
                done = r != null && r.applyAsLong(method, 0) != 0;
            } catch (Throwable t) {
                // StackOverflowError, OutOfMemoryError: the subtree is marked, the target goes on
            }
            U.putLong(record + Layout.R_CURSOR, current);
            U.putInt(record + Layout.R_BUSY, 0);
            long to = System.nanoTime();
            U.putLong(record + Layout.R_SUSPENDED, U.getLong(record + Layout.R_SUSPENDED) + (to - from));
            U.putLong(record + Layout.R_LAST, time(s));
            if (!done && U.getInt(s + Layout.H_GATE) != 0) U.getAndAddLong(null, s + Layout.H_INCOMPLETE, 1);
        } finally {
            U.getAndAddLong(null, CELL + USERS, -1);
        }
        return done;
    }

    /** Finds or makes the callee's node, counts the call and moves the cursor. */
    @DontInline
    private static long child(long s, long record, long current, int method) {
        if (U.getInt(s + Layout.H_GATE) == 0) return 0;
        charge(s, record, current);
        long caller = node(s, current);
        long index = U.getInt(caller + Layout.N_CHILD) & 0xffffffffL;
        while (index != 0) {
            long node = node(s, index);
            if (U.getInt(node + Layout.N_METHOD) == method) break;
            index = U.getInt(node + Layout.N_SIBLING) & 0xffffffffL;
        }
        if (index == 0) {
            index = add(s, record, current, method);
            long now = time(s);
            if (now > U.getLong(record + Layout.R_LAST)) U.putLong(record + Layout.R_LAST, now);
            if (index == 0) {
                U.getAndAddLong(null, s + Layout.H_OVERFLOW, 1);
                return 0;
            }
        }
        U.putInt(caller + Layout.N_CACHE, (int) index);
        long node = node(s, index);
        U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
        U.putLong(record + Layout.R_CURSOR, index);
        long token = U.getLong(s + Layout.H_TAG) | index;
        return (U.getByte(s + Layout.MODES + method) & MODE) == Layout.MODE_PRECISE ? token | Layout.PRECISE : token;
    }

    /**
     * Adds a node below parent, 0 when the room is full. The index is used up before anything points to the node,
     * so that an overflow of the stack in between costs a node and no more.
     */
    private static long add(long s, long record, long parent, int method) {
        long index = U.getLong(record + Layout.R_NODE_NEXT);
        if (index == U.getLong(record + Layout.R_NODE_END)) {
            index = chunk(s, record);
            if (index == 0) return 0;
        }
        U.putLong(record + Layout.R_NODE_NEXT, index + 1);
        long node = node(s, index);
        U.putInt(node + Layout.N_METHOD, method);
        U.putInt(node + Layout.N_PARENT, (int) parent);
        U.putInt(node + Layout.N_RECORD, (int) ((record - s - Layout.RECORDS) >> Layout.RECORD_SHIFT));
        if (parent != 0) {
            long p = node(s, parent);
            U.putInt(node + Layout.N_SIBLING, U.getInt(p + Layout.N_CHILD));
            U.putIntRelease(null, p + Layout.N_CHILD, (int) index);
        }
        return index;
    }

    /** Takes a chunk of nodes, waiting up to 200 ms for the controller to allocate more of the file. */
    private static long chunk(long s, long record) {
        long index = U.getLongVolatile(null, s + Layout.H_NEXT_NODE);
        for (int i = 0; ; ) {
            if (index + Layout.NODE_CHUNK > U.getLong(s + Layout.H_NODE_MAX)) return 0;
            if (index + Layout.NODE_CHUNK > U.getLongVolatile(null, s + Layout.H_NODE_LIMIT)) {
                if (++i > 2000 || U.getInt(s + Layout.H_GATE) == 0) return 0;
                U.park(false, 100_000);
                U.unpark(Thread.currentThread()); // a permit that the program has given may be the one just used up
                index = U.getLongVolatile(null, s + Layout.H_NEXT_NODE);
            } else if (U.compareAndSetLong(null, s + Layout.H_NEXT_NODE, index, index + Layout.NODE_CHUNK)) {
                break;
            } else {
                index = U.getLongVolatile(null, s + Layout.H_NEXT_NODE);
            }
        }
        U.putLong(record + Layout.R_NODE_END, index + Layout.NODE_CHUNK);
        return index;
    }

    // ---- threads ----

    /** The record of a thread that has this home slot, or 0. */
    @DontInline
    private static long displaced(long home, long s, long tid) {
        for (int i = 1; i <= Layout.SLOT_PROBE; i++) {
            long slot = slot(s, tid + i);
            if (U.getLong(slot + Layout.S_TID) == tid) return U.getLong(slot + Layout.S_RECORD);
        }
        return 0;
    }

    private static long slot(long s, long n) {
        return s + Layout.SLOTS + ((n & Layout.SLOT_MASK) << Layout.SLOT_SHIFT);
    }

    /** False if the lock can't be had: its holder died or is held by a debugger. Then nobody waits for it again. */
    private static boolean lock(long s) {
        long from = 0;
        for (int i = 1; !U.compareAndSetInt(null, s + Layout.H_LOCK, 0, 1); i++) {
            if (i % 64 != 0) continue;
            if (U.getIntVolatile(null, s + Layout.H_LOCK) == 2) return false;
            long now = System.nanoTime();
            if (from == 0) from = now;
            if (now - from > 1_000_000_000L) {
                U.compareAndSetInt(null, s + Layout.H_LOCK, 1, 2);
                return false;
            }
            U.park(false, 50_000);
            U.unpark(Thread.currentThread());
        }
        return true;
    }

    private static void unlock(long s) {
        U.putIntRelease(null, s + Layout.H_LOCK, 0);
    }

    /** Leases a record to the current thread, 0 when there is none. */
    private static long register(long s, long tid) {
        Thread t = Thread.currentThread();
        boolean virtual = virtual(t);
        String name = virtual ? "" : t.getName();
        if (!lock(s)) return 0;
        long record = 0;
        try {
            long slot = free(s, tid);
            if (slot != 0) record = pick(s, virtual);
            if (record != 0) bind(s, record, slot, tid, name);
        } finally {
            unlock(s);
        }
        return record;
    }

    private static boolean virtual(Thread t) {
        for (Class<?> c = t.getClass(); c != null && c != Thread.class; c = c.getSuperclass()) {
            if (c.getClassLoader() == null && c.getName().equals("java.lang.BaseVirtualThread")) return true;
        }
        return false;
    }

    private static long free(long s, long tid) {
        for (int i = 0; i <= Layout.SLOT_PROBE; i++) {
            if (U.getLong(slot(s, tid + i) + Layout.S_TID) == 0) return slot(s, tid + i);
        }
        // Idle threads keep their slots; one of them gives way.
        for (int i = 0; i <= Layout.SLOT_PROBE; i++) {
            long slot = slot(s, tid + i);
            long record = U.getLong(slot + Layout.S_RECORD);
            if (U.compareAndSetInt(null, record + Layout.R_LEASE, 0, 1)) {
                unbind(s, record);
                U.putIntRelease(null, record + Layout.R_LEASE, 0);
                return slot;
            }
        }
        return 0;
    }

    /** A record of this kind that nobody uses, leased; with the lock held. */
    private static long pick(long s, boolean virtual) {
        int flag = virtual ? Layout.R_VIRTUAL : 0;
        long next = U.getLong(s + Layout.H_NEXT_RECORD);
        for (int round = virtual ? 0 : 1; round < 3; round++) {
            if (round == 1 && next < Layout.MAX_RECORDS) {
                long record = s + Layout.RECORDS + (next << Layout.RECORD_SHIFT);
                U.putInt(record + Layout.R_LEASE, 1);
                U.putInt(record + Layout.R_FLAGS, flag);
                long top = add(s, record, 0, -1);
                if (top == 0) return 0;
                U.putInt(record + Layout.R_TOP, (int) top);
                U.putLongRelease(null, s + Layout.H_NEXT_RECORD, next + 1);
                return record;
            }
            if (round == 1) continue;
            for (long i = 1; i < next; i++) { // first virtual threads' free records, at last anybody's
                long record = s + Layout.RECORDS + (i << Layout.RECORD_SHIFT);
                if ((U.getInt(record + Layout.R_FLAGS) & Layout.R_VIRTUAL) != flag) continue;
                if (U.getInt(record + Layout.R_LEASE) != 0) continue;
                if (!U.compareAndSetInt(null, record + Layout.R_LEASE, 0, 1)) continue;
                if (!virtual) U.putInt(record + Layout.R_FLAGS, flag | Layout.R_SHARED);
                unbind(s, record);
                return record;
            }
        }
        return 0;
    }

    private static void bind(long s, long record, long slot, long tid, String name) {
        int n = Math.min(name.length(), Layout.NAME_MAX);
        for (int i = 0; i < n; i++) U.putChar(record + Layout.R_NAME + 2 * i, name.charAt(i));
        U.putInt(record + Layout.R_NAME_LENGTH, n);
        U.putLong(record + Layout.R_TID, tid);
        U.putLong(record + Layout.R_SLOT, slot);
        U.putLong(slot + Layout.S_RECORD, record);
        U.putLongRelease(null, slot + Layout.S_TID, tid);
        long home = slot(s, tid);
        if (slot != home) U.putInt(home + Layout.S_DISPLACED, U.getInt(home + Layout.S_DISPLACED) + 1);
    }

    /** Frees the slot of a record; with the lock and the lease held. */
    private static void unbind(long s, long record) {
        long slot = U.getLong(record + Layout.R_SLOT);
        if (slot == 0) return;
        long tid = U.getLong(record + Layout.R_TID);
        long home = slot(s, tid);
        U.putLong(record + Layout.R_SLOT, 0);
        U.putLongRelease(null, slot + Layout.S_TID, 0);
        if (slot != home) U.putInt(home + Layout.S_DISPLACED, U.getInt(home + Layout.S_DISPLACED) - 1);
    }

    // ---- the agent's work on the program's threads ----

    /** Takes the current thread out of the subgraph; what to give to resume afterwards. */
    public static long suspend() {
        long s = U.getLong(CELL);
        if (s == 0) return 0;
        long tid = U.getLong(Thread.currentThread(), TID);
        long home = slot(s, tid);
        long record = U.getLong(home + Layout.S_TID) == tid ? U.getLong(home + Layout.S_RECORD) : displaced(home, s, tid);
        if (record == 0) return 0;
        long current = U.getLong(record + Layout.R_CURSOR);
        if (current == 0 || U.getLong(record + Layout.R_TID) != tid || U.getInt(s + Layout.H_GATE) == 0) return 0;
        charge(s, record, current);
        U.putInt(record + Layout.R_BUSY, 1);
        U.putLong(record + Layout.R_CURSOR, 0);
        return U.getLong(s + Layout.H_TAG) | current;
    }

    /** Puts it back; the time between is left out of its profile. */
    public static void resume(long token) {
        long s = U.getLong(CELL);
        if (token == 0 || s == 0 || (token ^ U.getLong(s + Layout.H_TAG)) >>> Layout.INDEX_BITS != 0) return;
        long index = token & INDEX;
        long record = record(s, index), now = time(s);
        U.putLong(record + Layout.R_CURSOR, index);
        U.putInt(record + Layout.R_BUSY, 0);
        U.putLong(record + Layout.R_SUSPENDED, U.getLong(record + Layout.R_SUSPENDED) + now - U.getLong(record + Layout.R_LAST));
        U.putLong(record + Layout.R_LAST, now);
    }
}

package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.Unsafe;

/**
 * The beginning and the end of root invocations: which of them are recorded, the lease of a record, and the count of the
 * threads that are inside.
 */
final class Roots {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Roots() {}

    /**
     * The root invocation ends, or the execution of a task with this node: the thread is outside again, and its record
     * may serve others. root is the root invocation's node, less than 0 if it ended by an exception, 0 if unknown.
     */
    static void end(long s, long record, long index, long root) {
        outside(s, record);
        U.putLong(record + Layout.R_CURSOR, 0);
        U.putInt(record + Layout.R_DEPTH, 0);
        if (index == 0 || Nodes.above(s, index) == U.getInt(Nodes.node(s, index) + Layout.N_PARENT)) {
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
    static void count(long s, long tag, long n) {
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

    /** The thread is outside, the method is a root. */
    @DontInline
    static long root(long s, long tag, long home, long tid, int method) {
        boolean sample = method >= Layout.SAMPLE;
        if (!Probe.on(s, tag) || !sample && !chosen(s)) return 0;
        try {
            Suspension.reserve(40, 0, 0, 0);
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
        long token = Probe.other(s, tag, record, top, method);
        if (token == 0) {
            if (!Probe.on(s, tag)) { // it never began
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
    static boolean chosen(long s) {
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
                Suspension.pause(20_000); // the controller takes its idle ring away
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
        if (!Probe.on(s, tag)) {
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
    static void close(long s, long record) {
        long current = U.getLong(record + Layout.R_CURSOR);
        if (current == 0) return;
        for (long i = current; i != 0 && i != U.getInt(record + Layout.R_TOP); i = U.getInt(Nodes.node(s, i) + Layout.N_PARENT)) {
            Side.add(s, record, i, Layout.X_CUT);
        }
        long spent = U.getLong(record + Layout.R_CLOSED) - U.getLong(record + Layout.R_LAST);
        if (spent <= 0) return;
        if (U.getInt(record + Layout.R_RING) != 0) Events.cut(s, record, spent);
        long node = Nodes.node(s, current);
        U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + spent);
    }

    /** Begins a tree of the present recording in a record that the thread has leased. */
    static boolean renew(long s, long record, int epoch) {
        U.putLong(record + Layout.R_KEY, 0); // whatever its cursor says
        U.putLong(record + Layout.R_CURSOR, 0);
        U.putInt(record + Layout.R_RING, 0);
        U.putInt(record + Layout.R_FIRST_RING, 0);
        U.putLong(record + Layout.R_NODE_NEXT, 0);
        U.putLong(record + Layout.R_NODE_END, 0);
        long top = Nodes.add(s, record, 0, -1);
        if (top == 0) {
            top = Unplaced.reserved(s, 1);
            if (top == 0) return false;
            Nodes.link(s, record, top, 0, -1);
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
}

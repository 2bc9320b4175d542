package rivulet.probe;

import rivulet.probe.stub.Unsafe;

/** Charges the time of a thread's record to the node where its cursor is, by the tick clock or System.nanoTime. */
final class Clock {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int MODE = Layout.MODE_MASK;

    private Clock() {}

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
        int method = U.getInt(Nodes.node(s, index) + Layout.N_METHOD);
        if (method < 0) return false; // a node that stands for something else
        int mode = U.getByte(s + Layout.MODES + (method & Layout.MAX_METHODS - 1)) & MODE;
        return mode == Layout.MODE_PRECISE || mode == Layout.MODE_EVENT_PRECISE;
    }

    /**
     * Charges by the tick clock, and what root invocations that have ended had left over; no part of that above the roots.
     * A tick may say a time from before the root invocation began, but come to be seen since: it is a tick all the same.
     */
    static void tick(long s, long record, long current) {
        long now = U.getLong(s + Layout.H_TICK);
        if (now <= U.getLong(record + Layout.R_TICK)) return;
        U.putLong(record + Layout.R_TICK, now);
        long last = U.getLong(record + Layout.R_LAST), spent = now > last ? now - last : 0, node = Nodes.node(s, current);
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
    static void chargeLast(long s, long record, long current, long token) {
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

    static void charge(long s, long record, long current, long now) {
        long spent = now - U.getLong(record + Layout.R_LAST);
        if (spent <= 0) return;
        long node = Nodes.node(s, current);
        U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + spent);
        U.putLong(record + Layout.R_LAST, now);
    }
}

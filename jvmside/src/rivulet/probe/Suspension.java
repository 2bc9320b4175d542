package rivulet.probe;

import java.util.function.LongBinaryOperator;
import rivulet.probe.stub.Unsafe;

/**
 * A thread that is taken out of the subgraph for the profiler's own work: it waits until a fresh method's callees have
 * probes, or it does work of the agent. The time is left out of its profile.
 */
public final class Suspension {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int MODE = Layout.MODE_MASK;
    private static final boolean BIG_ENDIAN = java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.BIG_ENDIAN;

    /** Waits until a fresh method's callees are instrumented, for so many ns at most: (method, ns) to 1 when done, 0 when given up. */
    private static volatile LongBinaryOperator revealer;

    private Suspension() {}

    /** How many threads wait for a reveal, or have just done so. */
    public static long waiting() {
        return U.getLongVolatile(null, Probe.CELL + Probe.USERS);
    }

    /** Sets who carries out reveals. */
    public static void revealer(LongBinaryOperator r) {
        revealer = r;
    }

    /** Throws StackOverflowError here rather than in the middle of something. */
    static long reserve(int depth, long a, long b, long c) {
        if (depth == 0) return a + b + c;
        return reserve(depth - 1, b + 1, c + 1, a + 1) + a;
    }

    /**
     * The callees of a fresh method have no probes yet, and the thread goes on: once is enough, nobody waits for it again.
     * True where its node is to say so. With a patience the controller lists the callees: it is told once, by whoever takes
     * the method's freshness. If that is gone, all is well by now, or another thread has done so.
     */
    static boolean giveUp(long s, int method) {
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
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG), record = tag == 0 ? 0 : Probe.mine(s, tag);
        if (record == 0 || U.getLong(record + Layout.R_CURSOR) == 0 && U.getInt(record + Layout.R_BUSY) == 0) return -1;
        return patience(s, record);
    }

    /** Waits until the method's callees are instrumented, as long as the patience lasts; the wait is left out of the profile. */
    static boolean await(long s, long tag, long record, long current, int method) {
        long patience = patience(s, record);
        if (patience == 0) return false;
        boolean done = false, precise = Clock.precise(s, current);
        if (U.getInt(record + Layout.R_RING) != 0) Events.suspend(s, record, current, precise);
        else Clock.charge(s, record, current, precise);
        long from = System.nanoTime();
        U.getAndAddLong(null, Probe.CELL + Probe.USERS, 1);
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
            Clock.skip(s, record, precise);
            if (U.getInt(record + Layout.R_RING) != 0) Events.resume(s, record);
        } finally {
            U.getAndAddLong(null, Probe.CELL + Probe.USERS, -1);
        }
        return done;
    }

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
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG), record = tag == 0 ? 0 : Probe.mine(s, tag);
        if (record == 0) return 0;
        long current = U.getLong(record + Layout.R_CURSOR);
        if (current == 0) return 0;
        boolean precise = Clock.precise(s, current);
        if (U.getInt(record + Layout.R_RING) != 0) Events.suspend(s, record, current, precise);
        else Clock.charge(s, record, current, precise);
        U.putInt(record + Layout.R_BUSY, (int) current);
        U.putLong(record + Layout.R_CURSOR, 0);
        return tag | current;
    }

    /** Puts it back; the time between is left out of its profile. */
    public static void resume(long token) {
        long s = U.getLong(Probe.CELL);
        if (token == 0 || s == Probe.EMPTY) return;
        long record = Probe.mine(s, token); // by its own tag, which may not be the present one any more
        if (record == 0) return;
        long before = U.getLong(record + Layout.R_LAST);
        Clock.skip(s, record, Clock.precise(s, token & Layout.INDEX_MASK));
        U.putLong(record + Layout.R_CURSOR, token & Layout.INDEX_MASK);
        U.putInt(record + Layout.R_BUSY, 0);
        U.putLong(record + Layout.R_SUSPENDED, U.getLong(record + Layout.R_SUSPENDED) + U.getLong(record + Layout.R_LAST) - before);
        if (U.getInt(record + Layout.R_RING) != 0) Events.resume(s, record);
    }
}

package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.ForceInline;
import rivulet.probe.stub.Unsafe;

/** What methods call that "rivulet time" measures (package wire, table Timers): no tree, and nothing beneath them. */
public final class Timers {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Timers() {}

    /** A timed invocation begins: System.nanoTime, or 0 if it isn't recorded. */
    @ForceInline
    public static long clock(int method) {
        long s = U.getLong(Probe.CELL);
        if (U.getLong(s + Layout.H_TAG) == 0 || method >= U.getInt(s + Layout.T_METHODS)) return 0;
        if (U.getLong(s + Layout.H_BUDGET) != Long.MAX_VALUE && !admit(s)) return 0;
        return System.nanoTime();
    }

    @DontInline
    private static boolean admit(long s) {
        if (U.getAndAddLong(null, s + Layout.H_BUDGET, -1) > 0) return true;
        U.getAndAddLong(null, s + Layout.H_REFUSED, 1);
        return false;
    }

    /** A timed invocation returns. */
    @ForceInline
    public static void stop(int method, long from) {
        if (from != 0) time(method, from, System.nanoTime() - from, false);
    }

    /** A timed invocation ends by an exception. */
    @DontInline
    public static void fail(int method, long from) {
        if (from != 0) time(method, from, System.nanoTime() - from, true);
    }

    /**
     * Invocations of before the gate opened, an earlier session's included, began before T_SINCE. The bucket comes
     * last: it is the count, so an overflow of the stack in between counts nothing, and nothing twice.
     */
    @ForceInline
    private static void time(int method, long from, long took, boolean thrown) {
        long s = U.getLong(Probe.CELL);
        if (U.getLong(s + Layout.H_TAG) == 0 || method >= U.getInt(s + Layout.T_METHODS)) return;
        if (from < U.getLong(s + Layout.T_SINCE)) return;
        if (took < 0) took = 0;
        long tid = U.getLong(Thread.currentThread(), Probe.TID), stripes = U.getInt(s + Layout.T_STRIPES);
        long cell = s + U.getLong(s + Layout.T_CELLS) + ((2 * stripes * method + (tid & (stripes - 1))) << Layout.CELL_SHIFT);
        long bucket = bucket(took);
        if (U.getLong(cell + Layout.C_OWNER) != tid && !own(cell, tid)) {
            share(cell + (stripes << Layout.CELL_SHIFT), bucket, took, thrown);
            return;
        }
        U.putLong(cell + Layout.C_TOTAL, U.getLong(cell + Layout.C_TOTAL) + took);
        if (took > U.getLong(cell + Layout.C_MOST)) U.putLong(cell + Layout.C_MOST, took);
        if (Long.MAX_VALUE - took > U.getLong(cell + Layout.C_LEAST)) U.putLong(cell + Layout.C_LEAST, Long.MAX_VALUE - took);
        if (thrown) U.putLong(cell + Layout.C_THROWN, U.getLong(cell + Layout.C_THROWN) + 1);
        U.putLong(cell + bucket, U.getLong(cell + bucket) + 1);
    }

    /** A bucket's place in its cell. */
    @ForceInline
    private static long bucket(long took) {
        int shift = 63 - Layout.BUCKET_BITS - Long.numberOfLeadingZeros(took | 1L << Layout.BUCKET_BITS);
        return Layout.C_BUCKETS + (((long) shift << Layout.BUCKET_BITS) + (took >>> shift) << 3);
    }

    /** Claims a cell for the thread that comes first. */
    @DontInline
    private static boolean own(long cell, long tid) {
        return U.getLong(cell + Layout.C_OWNER) == 0 && U.compareAndSetLong(null, cell + Layout.C_OWNER, 0, tid);
    }

    /** Records in a cell that many threads write. */
    @DontInline
    private static void share(long cell, long bucket, long took, boolean thrown) {
        U.getAndAddLong(null, cell + Layout.C_TOTAL, took);
        raise(cell + Layout.C_MOST, took);
        raise(cell + Layout.C_LEAST, Long.MAX_VALUE - took);
        if (thrown) U.getAndAddLong(null, cell + Layout.C_THROWN, 1);
        U.getAndAddLong(null, cell + bucket, 1);
    }

    private static void raise(long word, long to) {
        for (long was = U.getLong(word); to > was; was = U.getLongVolatile(null, word)) {
            if (U.compareAndSetLong(null, word, was, to)) return;
        }
    }
}

package rivulet.probe;

import rivulet.probe.stub.Unsafe;

/**
 * Ends of root invocations, for whoever wants to look at the tree between two of them: the controller is told how long each
 * took, and can have the thread wait until it has read the tree. The thread is outside of the subgraph then, so the wait is
 * in no figure. It is bounded, and ends at once when the recording does.
 */
final class Exits {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** Between two looks whether to go on, ns. */
    private static final long LOOK = 50_000;

    private Exits() {}

    /** Says how long a root invocation took that ends; whether its thread is to be held. root is as in Probe.end. */
    static boolean took(long s, long record, long root) {
        if (U.getInt(record + Layout.R_EPOCH) < 0) return false; // the sample's
        long took = Math.max(System.nanoTime() - U.getLong(record + Layout.R_BEGAN), 1);
        int who = U.getInt(s + Layout.H_EXITS);
        if ((who & Layout.EXIT_COUNT) != 0) {
            long waited = U.getLong(record + Layout.R_SUSPENDED) - U.getLong(record + Layout.R_WAITED), own = Math.max(took - waited, 1);
            count(s, own);
            if (own >= U.getLong(s + Layout.H_SLOW)) slow(s, record, root, own, waited);
        }
        if ((who & Layout.EXIT_TELL) == 0) return false;
        U.putLong(record + Layout.R_TOOK, took);
        boolean held = U.getLong(s + Layout.H_HOLD) > 0 && took >= U.getLong(s + Layout.H_OVER) && U.getLong(s + Layout.H_TAG) != 0;
        if (held) U.putLongRelease(null, record + Layout.R_HELD, U.getLong(record + Layout.R_RETURNS) + 1);
        return held;
    }

    /** Counts a root invocation by its time. The count comes last: an overflow of the stack in between counts nothing. */
    private static void count(long s, long took) {
        int power = 63 - Long.numberOfLeadingZeros(took);
        long place = power < Layout.TIMES_LOW ? 0 : 1 + ((long) (power - Layout.TIMES_LOW) << Layout.TIMES_BITS) + (took >>> power - Layout.TIMES_BITS & (1 << Layout.TIMES_BITS) - 1);
        U.getAndAddLong(null, s + Layout.H_TIMES_SUM, took);
        U.getAndAddLong(null, s + Layout.H_TIMES + (Math.min(place, Layout.TIMES - 1) << 3), 1);
    }

    /**
     * Keeps a root invocation that is among the slowest so far, unless a slower one of the same round is in its place
     * already: 64 root calls of a thread in a row have places of their own, which other threads share. L_CHECK tells the controller what two threads have written at one time, or an
     * overflow of the stack has left half done.
     */
    private static void slow(long s, long record, long root, long took, long waited) {
        long which = (record >>> Layout.RECORD_SHIFT) * 31 + U.getLong(record + Layout.R_RETURNS);
        long place = s + Layout.SLOW + ((which & Layout.SLOW_MASK) << Layout.SLOW_SHIFT), round = U.getLong(s + Layout.H_SLOW_ROUND);
        if (U.getLong(place + Layout.L_ROUND) == round && U.getLong(place + Layout.L_TOOK) >= took) return;
        long began = U.getLong(record + Layout.R_BEGAN), thread = U.getLong(record + Layout.R_TID), method = 0;
        if (root != 0) method = U.getInt(s + Math.abs(root) + Layout.N_METHOD) & Layout.MAX_METHODS - 1 | (root < 0 ? Layout.L_THROWN : 0);
        U.putLong(place + Layout.L_ROUND, round);
        U.putLong(place + Layout.L_TOOK, took);
        U.putLong(place + Layout.L_BEGAN, began);
        U.putLong(place + Layout.L_WAITED, waited);
        U.putLong(place + Layout.L_THREAD, thread);
        U.putLong(place + Layout.L_METHOD, method);
        U.putLong(place + Layout.L_CHECK, round ^ took ^ began ^ waited ^ thread << 20 ^ method << 40);
    }

    /** Waits until the controller lets the thread go on. Its record stays its own meanwhile. */
    static void hold(long s, long record) {
        long from = System.nanoTime(), tag = U.getLong(s + Layout.H_TAG);
        try {
            while (U.getLongVolatile(null, record + Layout.R_HELD) != 0) {
                if (tag == 0 || !Probe.on(s, tag) || U.getLongVolatile(null, s + Layout.H_HOLD) == 0) break;
                if (System.nanoTime() - from > U.getLong(s + Layout.H_HOLD)) {
                    U.getAndAddLong(null, s + Layout.H_UNHELD, 1);
                    break;
                }
                Suspension.pause(LOOK);
            }
        } catch (Throwable t) {
            // StackOverflowError: the target goes on
        } finally {
            U.putLong(record + Layout.R_HELD, 0);
        }
    }
}

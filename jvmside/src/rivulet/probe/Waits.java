package rivulet.probe;

import rivulet.probe.stub.Unsafe;

/**
 * Says in the streams of events where threads inside the subgraph wait, and who lets them go on, so that the controller
 * finds the critical path of a root invocation (docs/decisions/0018). The JDK's methods in which threads wait call it:
 * {@link #parks}, {@link #joins} or {@link #awaits} before, {@link #woke} after, {@link #wakes} and {@link #ends} where
 * threads are let go on. Nothing is called here but with --follow and --slowest.
 *
 * The thread may have a permit that its next park needs. Only a wait for the reader of events parks here, and that gives
 * it back (Probe.pause).
 */
public final class Waits {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Waits() {}

    /** The thread is about to park. A token for woke. */
    public static long parks() {
        return begin(Layout.MARK_PARK, 0);
    }

    /** It is about to wait on a task's monitor for its end. */
    public static long awaits(Object task) {
        return begin(Layout.MARK_TASK, System.identityHashCode(task));
    }

    /** It is about to wait for a thread's end. */
    public static long joins(Object thread) {
        return begin(Layout.MARK_THREAD, U.getLong(thread, Probe.TID));
    }

    private static long begin(int mark, long about) {
        long record = Follow.inside();
        return record != 0 && say(record, mark, about) ? U.getLong(record + Layout.R_KEY) >>> Layout.INDEX_BITS : 0;
    }

    /** The wait is over. */
    public static void woke(long token) {
        long record = token == 0 ? 0 : Follow.inside();
        if (record != 0 && U.getLong(record + Layout.R_KEY) >>> Layout.INDEX_BITS == token) say(record, Layout.MARK_WOKE, 0);
    }

    /** A thread is let go on: of interest if it is inside, too. */
    public static void wakes(Object thread) {
        long record = thread == null ? 0 : Follow.inside();
        if (record == 0) return;
        long s = U.getLong(Probe.CELL), tid = U.getLong(thread, Probe.TID), home = Records.slot(s, tid);
        long other = U.getLong(home + Layout.S_TID) == tid ? U.getLong(home + Layout.S_RECORD) : Records.displaced(home, s, tid);
        long key = U.getLong(record + Layout.R_KEY) >>> Layout.INDEX_BITS << Layout.INDEX_BITS | tid;
        if (other != 0 && U.getLong(other + Layout.R_KEY) == key && U.getLong(other + Layout.R_CURSOR) != 0) say(record, Layout.MARK_WAKES, tid);
    }

    /** A task is about to be over: who waits on its monitor is notified. */
    public static void ends(Object task) {
        long record = Follow.inside();
        if (record != 0) say(record, Layout.MARK_ENDS, System.identityHashCode(task));
    }

    private static boolean say(long record, int mark, long about) {
        if (U.getInt(record + Layout.R_RING) == 0) return false;
        try {
            Suspension.reserve(40, 0, 0, 0);
        } catch (StackOverflowError e) {
            return false; // the target's own overflow is a few frames away
        }
        Events.mark(U.getLong(Probe.CELL), record, U.getLong(record + Layout.R_CURSOR), mark, about, System.nanoTime());
        return true;
    }
}

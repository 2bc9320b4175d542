package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.Unsafe;

/**
 * Which record a thread has: slots lead from its id to it. Platform threads keep theirs; those of virtual threads are
 * handed on. What finds a record takes no lock; whatever changes hands does so under H_LOCK.
 */
final class Records {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Records() {}

    /** The record of a thread that has this home slot, or 0. */
    @DontInline
    static long displaced(long home, long s, long tid) {
        for (int i = 1; i <= Layout.SLOT_PROBE; i++) {
            long slot = slot(s, tid, i);
            if (U.getLong(slot + Layout.S_TID) == tid) return U.getLong(slot + Layout.S_RECORD);
        }
        return 0;
    }

    /** The record of a thread that has this home slot and is inside the subgraph, or 0. */
    @DontInline
    static long inside(long home, long s, long tag, long tid) {
        long record = displaced(home, s, tid);
        return record != 0 && U.getLong(record + Layout.R_KEY) == (tag | tid) ? record : 0;
    }

    /** The record of a thread that is inside the subgraph, by its home slot, or 0. */
    static long of(long slot, long s, long tag, long tid) {
        if (U.getLong(slot + Layout.S_KEY) == (tag | tid)) return U.getLong(slot + Layout.S_RECORD);
        return U.getInt(slot + Layout.S_DISPLACED) != 0 ? inside(slot, s, tag, tid) : 0;
    }

    /** The current thread's record if it is inside the subgraph, else 0. */
    static long current(long s, long tag) {
        long tid = U.getLong(Thread.currentThread(), Probe.TID);
        return of(slot(s, tid), s, tag, tid);
    }

    static long slot(long s, long n) {
        return s + Layout.SLOTS + ((n & Layout.SLOT_MASK) << Layout.SLOT_SHIFT);
    }

    /**
     * The slots where a thread may lie: number 0 is its home. Threads that begin together have ids in a row, so the others
     * lie anywhere in the table: the next ones would all be taken.
     */
    private static long slot(long s, long tid, int i) {
        return slot(s, i == 0 ? tid : tid * 0x9E3779B97F4A7C15L + i * 0xBF58476D1CE4E5B9L >>> 32);
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
            Suspension.pause(50_000);
        }
        return true;
    }

    private static void unlock(long s) {
        U.putIntRelease(null, s + Layout.H_LOCK, 0);
    }

    /** Leases a record to the current thread, 0 when there is none. Waits up to a second for the controller to allocate more. */
    static long register(long s, long tid, int part) {
        Thread t = Thread.currentThread();
        boolean virtual = virtual(t);
        String name = virtual ? "" : t.getName();
        for (int i = 0; i < 10_000 && U.getLong(s + Layout.H_TAG) != 0; i++) {
            if (!lock(s)) return 0;
            long record = 0;
            try {
                long slot = free(s, tid);
                if (slot != 0) record = pick(s, virtual, part);
                if (record > 0) bind(s, record, slot, tid, name);
            } finally {
                unlock(s);
            }
            if (record >= 0) return record;
            Suspension.pause(100_000);
        }
        return 0;
    }

    private static boolean virtual(Thread t) {
        for (Class<?> c = t.getClass(); c != null && c != Thread.class; c = c.getSuperclass()) {
            if (c.getClassLoader() == null && c.getName().equals("java.lang.BaseVirtualThread")) return true;
        }
        return false;
    }

    private static long free(long s, long tid) {
        for (int i = 0; i <= Layout.SLOT_PROBE; i++) {
            long slot = slot(s, tid, i);
            if (U.getLong(slot + Layout.S_TID) == 0) return slot;
        }
        // Idle threads keep their slots; one of them gives way.
        for (int i = 0; i <= Layout.SLOT_PROBE; i++) {
            long slot = slot(s, tid, i);
            long record = U.getLong(slot + Layout.S_RECORD);
            if (U.compareAndSetInt(null, record + Layout.R_LEASE, 0, Layout.LEASE_MOVING)) {
                unbind(s, record);
                U.putIntRelease(null, record + Layout.R_LEASE, 0);
                return slot;
            }
        }
        return 0;
    }

    /** A record of this kind that nobody uses, leased; with the lock held. 0 if there is none, -1 if there may be soon. */
    private static long pick(long s, boolean virtual, int part) {
        int flag = virtual ? Layout.R_VIRTUAL : 0;
        for (long i; virtual && (i = U.getLong(s + Layout.H_FREE_RECORD)) != 0; ) {
            long record = s + Layout.RECORDS + (i << Layout.RECORD_SHIFT);
            U.putLong(s + Layout.H_FREE_RECORD, Math.max(U.getInt(record + Layout.R_FREE), 0));
            U.putInt(record + Layout.R_FREE, 0);
            if (!U.compareAndSetInt(null, record + Layout.R_LEASE, 0, part)) continue;
            unbind(s, record);
            U.putInt(record + Layout.R_DEPTH, 0);
            return record;
        }
        long next = U.getLong(s + Layout.H_NEXT_RECORD);
        if (next < U.getLongVolatile(null, s + Layout.H_RECORD_LIMIT)) {
            long record = s + Layout.RECORDS + (next << Layout.RECORD_SHIFT);
            U.putInt(record + Layout.R_LEASE, part);
            U.putInt(record + Layout.R_FLAGS, flag);
            U.putLongRelease(null, s + Layout.H_NEXT_RECORD, next + 1);
            return record;
        }
        if (next < U.getLongVolatile(null, s + Layout.H_RECORD_MAX)) return -1;
        // First free ones, at last those of root invocations that a pause cut off.
        for (int round = 0; round < 2; round++) {
            for (long i = 1; i < next; i++) {
                long record = s + Layout.RECORDS + (i << Layout.RECORD_SHIFT);
                if ((U.getInt(record + Layout.R_FLAGS) & Layout.R_VIRTUAL) != flag) continue;
                int lease = U.getInt(record + Layout.R_LEASE);
                if (lease != 0 && (round == 0 || lease == part || lease == Layout.LEASE_MOVING || U.getInt(record + Layout.R_BUSY) != 0)) continue;
                if (!U.compareAndSetInt(null, record + Layout.R_LEASE, lease, part)) continue;
                if (!virtual) U.putInt(record + Layout.R_FLAGS, flag | Layout.R_SHARED);
                unbind(s, record);
                U.putInt(record + Layout.R_DEPTH, 0);
                return record;
            }
        }
        return 0;
    }

    private static void bind(long s, long record, long slot, long tid, String name) {
        int n = Math.min(name.length(), Layout.NAME_MAX);
        for (int i = 0; i < n; i++) U.putChar(record + Layout.R_NAME + 2 * i, name.charAt(i));
        U.putInt(record + Layout.R_NAME_LENGTH, n);
        U.putLong(record + Layout.R_KEY, U.getLong(record + Layout.R_KEY) & -1L << Layout.INDEX_BITS); // nobody's, of that part still
        U.putLong(record + Layout.R_TID, tid);
        U.putLong(record + Layout.R_SLOT, slot);
        U.putLong(slot + Layout.S_KEY, 0);
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

    /** A root invocation's record may serve others. */
    static void release(long s, long record) {
        if ((U.getInt(record + Layout.R_FLAGS) & Layout.R_VIRTUAL) == 0 || !lock(s)) {
            U.putIntRelease(null, record + Layout.R_LEASE, 0);
            return;
        }
        unbind(s, record);
        U.putIntRelease(null, record + Layout.R_LEASE, 0);
        if (U.getInt(record + Layout.R_FREE) == 0) {
            long first = U.getLong(s + Layout.H_FREE_RECORD);
            U.putInt(record + Layout.R_FREE, first == 0 ? -1 : (int) first);
            U.putLong(s + Layout.H_FREE_RECORD, record - s - Layout.RECORDS >> Layout.RECORD_SHIFT);
        }
        unlock(s);
    }
}

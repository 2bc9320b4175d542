package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.Unsafe;

/**
 * Where a caller's node has its callees: those entered most often in the four places of its own, which the hot path looks
 * at, by the lowest bits of the method; of callers whose callees share places, the others in a line, which is a node of its
 * own with sixteen more; all of them in the list of its children.
 */
final class Callees {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** A callee is worth a line when it has been entered so often. */
    private static final int OFTEN = 16;

    private Callees() {}

    /** The place of a method in the node of the caller. */
    static long near(long caller, int method) {
        return caller + Layout.N_CACHE + ((method & Layout.CACHE_MASK) << 2);
    }

    /** The callee of a caller that is in its line, or 0. own is the method as its nodes have it. */
    static long far(long s, long caller, int own) {
        int line = U.getInt(caller + Layout.N_FLAGS) & Layout.N_LINE;
        if (line == 0) return 0;
        long index = U.getInt(place(s, line, own));
        return U.getInt(s + index + Layout.N_METHOD) == own ? index : 0;
    }

    private static long place(long s, int line, int own) {
        return s + line + ((own & 15) << 2);
    }

    /** Notes a callee that was not found by near or far. */
    @DontInline
    static void keep(long s, long record, long caller, int own, long index) {
        long near = near(caller, own), was = s + U.getInt(near), calls = U.getLong(s + index + Layout.N_CALLS);
        if (was == s || calls > U.getLong(was + Layout.N_CALLS)) U.putInt(near, (int) index);
        if (was == s || calls < OFTEN) return;
        int flags = U.getInt(caller + Layout.N_FLAGS), line = flags & Layout.N_LINE;
        if (line == 0) {
            line = (int) Probe.spare(s, record);
            if (line == 0) return;
            U.putInt(caller + Layout.N_FLAGS, flags | line);
        }
        U.putInt(place(s, line, own), (int) index);
    }
}

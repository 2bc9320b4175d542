package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.Unsafe;

/**
 * Where a caller's node has its callees: those entered most often near, in eight places of its own by the lowest bits of
 * the method, which the hot path looks at; of callers whose callees share places, the others far, in sixteen
 * places of the node's side; all of them in the list of its children. A near place has the distance in nodes,
 * so it holds no callee that was made long after its caller.
 */
final class Callees {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** A callee is worth a place in the side when it has been entered so often. */
    private static final int OFTEN = 16;

    private Callees() {}

    /** The callee of a caller's node, 0 if it is neither near nor far. own is the method as its nodes have it. */
    static long find(long s, long caller, int own) {
        long was = at(s, caller, own);
        if (is(s, was, caller, own)) return was;
        int side = U.getInt(s + caller + Layout.N_FLAGS) & Layout.N_SIDE;
        if (side == 0 || Side.none(s, caller)) return 0;
        long index = U.getInt(far(s, side, own));
        if (!is(s, index, caller, own)) return 0;
        prefer(s, caller, near(s, caller, own), was, index);
        return index;
    }

    /** The callee with one of two numbers in the list of a caller's children, 0 if there is none. */
    static long listed(long s, long caller, int own, int other) {
        long index = U.getInt(s + caller + Layout.N_CHILD);
        for (; index != 0; index = U.getInt(s + index + Layout.N_SIBLING)) {
            int method = U.getInt(s + index + Layout.N_METHOD);
            if (method == own || method == other) break;
        }
        return index;
    }

    private static boolean is(long s, long index, long caller, int own) {
        return U.getInt(s + index + Layout.N_METHOD) == own && U.getInt(s + index + Layout.N_PARENT) == (int) caller;
    }

    private static long near(long s, long caller, int own) {
        return s + caller + Layout.N_CACHE + ((own & Layout.CACHE_MASK) << 1);
    }

    private static long far(long s, long side, int own) {
        return s + side + ((own & 15) << 2);
    }

    /** What is in the near place of a method, the caller itself if nothing is. */
    static long at(long s, long caller, int method) {
        return caller + ((long) U.getShort(near(s, caller, method)) << Layout.NODE_SHIFT);
    }

    /** The callee that has been entered more often gets the near place. */
    private static void prefer(long s, long caller, long near, long was, long index) {
        if (was != caller && U.getLong(s + index + Layout.N_CALLS) <= U.getLong(s + was + Layout.N_CALLS)) return;
        set(caller, near, index);
    }

    /** Puts something into the near place of a method that find will not take for its callee. */
    static void put(long s, long caller, int method, long index) {
        set(caller, near(s, caller, method), index);
    }

    private static void set(long caller, long near, long index) {
        long distance = index - caller >> Layout.NODE_SHIFT;
        if (distance == (short) distance) U.putShort(near, (short) distance);
    }

    /** Notes a callee that find has not found. */
    @DontInline
    static void keep(long s, long record, long caller, int own, long index) {
        prefer(s, caller, near(s, caller, own), at(s, caller, own), index);
        if (U.getLong(s + index + Layout.N_CALLS) < OFTEN || Side.none(s, caller)) return;
        long side = Side.make(s, record, caller, false);
        if (side != 0) U.putInt(far(s, side, own), (int) index);
    }
}

package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.Unsafe;

/**
 * What few nodes need, and no hot path: a node's side is two nodes that its N_SIDE leads to, with places for callees
 * (class Callees) and with the words of the X_ rows. So a node stays one cache line.
 */
final class Side {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** Nodes that a side takes. */
    private static final int NODES = 2;

    private Side() {}

    /** A hand-over can't have a side: its N_FLAGS says something else, and it has one callee. */
    static boolean none(long s, long index) {
        return U.getInt(s + index + Layout.N_METHOD) == Layout.METHOD_HANDOVER;
    }

    /** The side of a node that may have one, found or made. 0 if there is no room, or none without a wait for it. */
    static long make(long s, long record, long index, boolean wait) {
        int flags = U.getInt(s + index + Layout.N_FLAGS), side = flags & Layout.N_SIDE;
        if (side == 0) {
            side = (int) Probe.nodes(s, record, NODES, wait);
            if (side != 0) U.putInt(s + index + Layout.N_FLAGS, flags | side);
        }
        return side;
    }

    /** Adds one to a word of a node's side. Where there is no room for it, the header counts. */
    @DontInline
    static void add(long s, long record, long index, int word) {
        if (none(s, index)) return;
        long side = make(s, record, index, false);
        if (side == 0) {
            side = make(s, record, index, true);
            Probe.skip(s, record, Probe.precise(s, index));
        }
        if (side == 0 && (side = Unplaced.reserved(s, NODES)) != 0) {
            long flags = s + index + Layout.N_FLAGS;
            U.putInt(flags, U.getInt(flags) | (int) side);
        }
        if (side == 0) U.getAndAddLong(null, s + Layout.H_SIDELESS, word == Layout.X_THROWN ? 1 : 0);
        else U.putLong(s + side + word, U.getLong(s + side + word) + 1);
    }
}

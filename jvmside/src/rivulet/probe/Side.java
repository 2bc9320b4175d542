package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.ForceInline;
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
            side = (int) Nodes.nodes(s, record, NODES, wait);
            if (side != 0) U.putInt(s + index + Layout.N_FLAGS, flags | side);
        }
        return side;
    }

    /** Adds one to a word of a node's side. Where there is no room for it, the header counts. */
    static void add(long s, long record, long index, int word) {
        count(s, ready(s, record, index), index, word);
    }

    /**
     * The side of a node, made if there is room for it, else 0. All that can end by an overflow of the stack is here:
     * whoever changes something else meanwhile calls this before, and count after it.
     */
    @DontInline
    static long ready(long s, long record, long index) {
        if (none(s, index)) return 0;
        long side = make(s, record, index, false);
        if (side == 0) {
            side = make(s, record, index, true);
            Clock.skip(s, record, Clock.precise(s, index));
        }
        if (side == 0 && (side = Unplaced.reserved(s, NODES)) != 0) {
            long flags = s + index + Layout.N_FLAGS;
            U.putInt(flags, U.getInt(flags) | (int) side);
        }
        return side;
    }

    /** Adds one to a word of a side that is ready. It calls nothing. */
    @ForceInline
    static void count(long s, long side, long index, int word) {
        if (side != 0) U.putLong(s + side + word, U.getLong(s + side + word) + 1);
        else if (word == Layout.X_THROWN && U.getInt(s + index + Layout.N_METHOD) != Layout.METHOD_HANDOVER) U.getAndAddLong(null, s + Layout.H_SIDELESS, 1);
    }
}

package rivulet.probe;

import rivulet.probe.stub.Unsafe;

/**
 * The nodes of the calling context tree: how they are found, made and linked. A thread makes nodes in chunks that it
 * takes from the data file; a node is published by a release store, so that the controller can read it at any moment.
 */
final class Nodes {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Nodes() {}

    /** The record that has a node. */
    static long record(long s, long index) {
        return s + U.getInt(s + index + Layout.N_RECORD);
    }

    /** The address of a node. */
    static long node(long s, long index) {
        return s + index;
    }

    /** Where an invocation goes back to: its node's parent, and for a task's execution what the thread was doing before. */
    static long above(long s, long index) {
        long parent = U.getInt(node(s, index) + Layout.N_PARENT);
        return U.getInt(node(s, parent) + Layout.N_METHOD) == Layout.METHOD_HANDOVER ? U.getInt(node(s, parent) + Layout.N_PARENT) : parent;
    }

    /**
     * The node of the invocation that began at a caller's node: its callee on the way up from the cursor. 0 if there is
     * none: the invocation has ended. Unplaced ones that are open were all begun within it, the first at a node that is placed.
     */
    static long own(long s, long record, long current, long from) {
        long i = U.getInt(record + Layout.R_DEPTH) == 0 ? current : U.getInt(Unplaced.place(s, record, 0) + 4);
        while (i != 0) {
            long parent = U.getInt(node(s, i) + Layout.N_PARENT);
            if (parent == from) return i;
            i = parent;
        }
        return 0;
    }

    /** The nearest node from current upwards that is the method's, or 0. */
    static long nearest(long s, long current, int method) {
        for (long i = current; i != 0; i = U.getInt(node(s, i) + Layout.N_PARENT)) {
            int at = U.getInt(node(s, i) + Layout.N_METHOD);
            if (at == method) return i;
            if (at == Layout.METHOD_HANDOVER) return 0; // above is another execution
        }
        return 0;
    }

    /**
     * Adds a node below parent, 0 when the room is full. The index is used up before anything points to the node,
     * so that an overflow of the stack in between costs a node and no more.
     */
    static long add(long s, long record, long parent, int method) {
        long index = fresh(s, record);
        if (index != 0) link(s, record, index, parent, method);
        return index;
    }

    /** A node that nothing points to, 0 when the room is full. */
    static long fresh(long s, long record) {
        return nodes(s, record, 1, true);
    }

    /** So many nodes that follow each other and that nothing points to, 0 when the room is full, or without a wait if its next part isn't there yet. */
    static long nodes(long s, long record, int n, boolean wait) {
        long index = U.getLong(record + Layout.R_NODE_NEXT);
        if (U.getLong(record + Layout.R_NODE_END) - index < (long) n << Layout.NODE_SHIFT) {
            if (!wait && U.getLongVolatile(null, s + Layout.H_NEXT_NODE) + Layout.NODE_CHUNK > U.getLongVolatile(null, s + Layout.H_NODE_LIMIT)) return 0;
            index = chunk(s, record);
            if (index == 0) return 0;
        }
        U.putLong(record + Layout.R_NODE_NEXT, index + ((long) n << Layout.NODE_SHIFT));
        return index;
    }

    /** Takes a chunk of nodes, waiting up to a second for the controller to allocate more of the file. */
    static long chunk(long s, long record) {
        long index = U.getLongVolatile(null, s + Layout.H_NEXT_NODE);
        for (int i = 0; ; ) {
            if (index + Layout.NODE_CHUNK > U.getLong(s + Layout.H_NODE_MAX)) return 0;
            if (index + Layout.NODE_CHUNK > U.getLongVolatile(null, s + Layout.H_NODE_LIMIT)) {
                if (++i > 10_000 || U.getLong(s + Layout.H_TAG) == 0) return 0;
                Suspension.pause(100_000);
                index = U.getLongVolatile(null, s + Layout.H_NEXT_NODE);
            } else if (U.compareAndSetLong(null, s + Layout.H_NEXT_NODE, index, index + Layout.NODE_CHUNK)) {
                break;
            } else {
                index = U.getLongVolatile(null, s + Layout.H_NEXT_NODE);
            }
        }
        index = Layout.NODES + (index << Layout.NODE_SHIFT);
        U.putLong(record + Layout.R_NODE_END, index + (Layout.NODE_CHUNK << Layout.NODE_SHIFT));
        return index;
    }

    /** Puts a node first among the callees of parent, or below nothing. */
    static void link(long s, long record, long index, long parent, int method) {
        long node = node(s, index);
        U.putInt(node + Layout.N_METHOD, method);
        U.putInt(node + Layout.N_PARENT, (int) parent);
        U.putInt(node + Layout.N_RECORD, (int) (record - s));
        if (parent == 0) return;
        long p = node(s, parent);
        U.putInt(node + Layout.N_SIBLING, U.getInt(p + Layout.N_CHILD));
        U.putIntRelease(null, p + Layout.N_CHILD, (int) index);
    }
}

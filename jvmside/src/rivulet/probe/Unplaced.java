package rivulet.probe;

import rivulet.probe.stub.Unsafe;

/**
 * Calls whose context finds no room. Each is counted in one node for its method, from a reserve: all of a record's lie
 * below one node. Where it goes back to is kept on a stack, since that node's parent can't say.
 */
final class Unplaced {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Unplaced() {}

    /** The method's node for calls that find no room, 0 if not even the reserve has any. */
    static long over(long s, long record, int method) {
        U.getAndAddLong(null, s + Layout.H_OVERFLOW, 1);
        long table = U.getInt(record + Layout.R_OVER);
        if (table == 0) {
            table = reserved(s, Layout.OVER_TABLE);
            long stack = reserved(s, Layout.OVER_DEPTH * 8 >> Layout.NODE_SHIFT), above = reserved(s, 1);
            if (table == 0 || stack == 0 || above == 0) return 0;
            Nodes.link(s, record, above, U.getInt(record + Layout.R_TOP), Layout.METHOD_UNPLACED);
            U.putInt(Nodes.node(s, table), Layout.OVER_TABLE * 16);
            U.putInt(Nodes.node(s, table) + 8, (int) above);
            U.putInt(record + Layout.R_STACK, (int) stack);
            U.putInt(record + Layout.R_OVER, (int) table);
        }
        // Words of a table: its size in words, words used, the node above all; from word 16 on nodes, by hash.
        long words = Nodes.node(s, table);
        int size = U.getInt(words), used = U.getInt(words + 4), above = U.getInt(words + 8);
        if (used > size / 2) {
            long larger = reserved(s, size >> 3);
            if (larger == 0) return 0;
            long to = Nodes.node(s, larger);
            U.putInt(to, size * 2);
            U.putInt(to + 4, used);
            U.putInt(to + 8, above);
            for (int i = 16; i < size; i++) {
                int index = U.getInt(words + 4L * i);
                if (index != 0) U.putInt(hashed(s, to, U.getInt(Nodes.node(s, index) + Layout.N_METHOD)), index);
            }
            U.putInt(record + Layout.R_OVER, (int) larger);
            words = to;
        }
        long at = hashed(s, words, method), index = U.getInt(at);
        if (index == 0) {
            index = reserved(s, 1);
            if (index == 0) return 0;
            Nodes.link(s, record, index, above, method);
            U.putInt(words + 4, U.getInt(words + 4) + 1);
            U.putInt(at, (int) index);
        }
        return index;
    }

    /** The method's node for calls that found no room, 0 if there were none. */
    static long of(long s, long record, int method) {
        int table = U.getInt(record + Layout.R_OVER);
        return table == 0 ? 0 : U.getInt(hashed(s, Nodes.node(s, table), method));
    }

    /** Begins an invocation without room: its token, or 0 if there is no place for it either. */
    static long enter(long s, long token, long record, long current, int method) {
        long index = over(s, record, method);
        if (index != 0) return push(s, token, record, current, index);
        U.getAndAddLong(null, s + Layout.H_UNCOUNTED, 1);
        return 0;
    }

    /** The word of a table where the method's node is or belongs. */
    private static long hashed(long s, long words, int method) {
        int room = U.getInt(words) - 16;
        for (int i = (method * 0x9e3779b1 >>> 8) % room; ; i = i + 1 == room ? 0 : i + 1) {
            long at = words + 4L * (16 + i);
            int index = U.getInt(at);
            if (index == 0 || U.getInt(Nodes.node(s, index) + Layout.N_METHOD) == method) return at;
        }
    }

    /** Nodes of the reserve that follow each other, 0 if there are none. */
    static long reserved(long s, int n) {
        long end = U.getLongVolatile(null, s + Layout.H_RESERVE_END);
        for (;;) {
            long next = U.getLongVolatile(null, s + Layout.H_RESERVE_NEXT);
            if (end - next < n) return 0;
            if (U.compareAndSetLong(null, s + Layout.H_RESERVE_NEXT, next, next + n)) return Layout.NODES + (next << Layout.NODE_SHIFT);
        }
    }

    /** The place at a depth of a record's stack of unplaced invocations: their node, and their caller's. */
    static long place(long s, long record, long depth) {
        return Nodes.node(s, U.getInt(record + Layout.R_STACK)) + (depth << 3);
    }

    /** Begins an unplaced invocation. One too deep for the stack is counted; its time is its caller's. */
    private static long push(long s, long token, long record, long current, long index) {
        long node = Nodes.node(s, index);
        U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
        int depth = U.getInt(record + Layout.R_DEPTH);
        if (depth >= Layout.OVER_DEPTH) return 0;
        long place = place(s, record, depth);
        U.putInt(place, (int) index);
        U.putInt(place + 4, (int) current);
        U.putInt(record + Layout.R_DEPTH, depth + 1);
        U.putLong(record + Layout.R_CURSOR, index);
        return token | Layout.OVER | depth;
    }
}

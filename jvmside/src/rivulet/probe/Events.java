package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.Unsafe;

/**
 * The second recorder: what methods in a mode with events do instead of Probe's hot paths. It keeps the tree as those
 * do, and writes what happens to the stream of the thread's record besides (package wire, table Events). It is defined
 * where Probe is, under a name beside Probe's.
 *
 * The stream says what happens to the tree's cursor and charges, word for word. Where a word and a change of the tree
 * belong together nothing but intrinsics lies between them, so an overflow of the stack comes before both or after.
 * Time that goes by without a word (a new node, a reveal, a wait) is found at the next one, since R_LAST has moved on
 * from E_TIME.
 */
final class Events {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Events() {}

    // ---- entering and leaving ----

    /** Probe.enter of a thread that is inside, or about to be. */
    static long enter(long s, long tag, long record, long current, int method, int mode) {
        if (U.getLong(s + Layout.H_TAG) != tag) return 0;
        long ring = Rings.ready(s, record);
        long caller = s + current;
        long index = Callees.find(s, current, method);
        if (index == 0) {
            index = child(s, record, current, method, mode == Layout.MODE_EVENT_PRECISE);
            if (index == 0) return unplaced(s, tag, record, current, method, mode);
            ring = Rings.ready(s, record);
        }
        long node = s + index;
        long token = tag | index | Layout.EVENT | Layout.OWN, now;
        if (mode == Layout.MODE_EVENT_TICK) {
            now = U.getLong(s + Layout.H_TICK);
        } else {
            now = System.nanoTime();
            token |= Layout.PRECISE;
        }
        long last = U.getLong(record + Layout.R_LAST), spent = now - last;
        if (spent < 0) spent = 0;
        if (mode == Layout.MODE_EVENT_TICK && now > U.getLong(record + Layout.R_TICK)) tick(s, record, ring, current, now);
        if (ring != 0) {
            if ((last ^ U.getLong(ring + Layout.E_TIME) | spent >>> Layout.DELTA_BITS) != 0) Rings.settle(ring, last, spent);
            long at = U.getLong(ring + Layout.E_AT);
            U.putLong(ring + Layout.RING_HEADER + ((at & U.getLong(ring + Layout.E_MASK)) << 3), spent << Layout.DELTA_SHIFT | (long) method << Layout.KIND_BITS | Layout.EV_ENTER);
            U.putLong(ring + Layout.E_TIME, last + spent);
            U.putLongRelease(null, ring + Layout.E_AT, at + 1);
        }
        if (spent > 0) {
            U.putLong(caller + Layout.N_SELF, U.getLong(caller + Layout.N_SELF) + spent);
            U.putLong(record + Layout.R_LAST, last + spent);
        }
        U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
        U.putLong(record + Layout.R_CURSOR, index);
        return token;
    }

    /** Ends the invocation of a token wherever the cursor is. False if the record has no stream now: Probe does it. */
    static boolean leave(long s, long token, boolean thrown, long executed) {
        long index = token & Layout.INDEX_MASK, node = s + index, record = Nodes.record(s, index);
        long side = thrown ? Side.ready(s, record, index) : 0; // first, since the stack may overflow in it
        long ring = Rings.ready(s, record);
        if (ring == 0) return false;
        boolean ticks = (token & Layout.PRECISE) == 0 && ((token & Layout.TOP) == 0 || !Clock.whole(s, record, token));
        long now = ticks ? U.getLong(s + Layout.H_TICK) : System.nanoTime();
        long to = Nodes.above(s, index), current = Probe.cursor(s, record);
        if (current != index) {
            if (current == 0) return true;
            if (above(s, current, index)) {
                unwind(s, record, index, now);
            } else if (current == to) { // an exit that was followed by an exception of the return itself
                if (thrown) word(s, record, Rings.ready(s, record), to, Layout.EV_LATE, U.getInt(node + Layout.N_METHOD), now);
                if (thrown) Side.count(s, side, index, Layout.X_THROWN);
                if ((token & Layout.TOP) != 0) Roots.end(s, record, index, thrown ? -index : index);
                return true;
            } else {
                return true;
            }
            ring = Rings.ready(s, record);
        }
        long last = U.getLong(record + Layout.R_LAST), spent = now - last;
        if (spent < 0) spent = 0;
        if (ticks && now > U.getLong(record + Layout.R_TICK)) tick(s, record, ring, index, now);
        if (ticks && (token & Layout.TOP) != 0) {
            tail(s, record, ring, index, now);
            last = U.getLong(record + Layout.R_LAST);
            spent = 0;
        }
        if (ring != 0) {
            if ((last ^ U.getLong(ring + Layout.E_TIME) | spent >>> Layout.DELTA_BITS) != 0) Rings.settle(ring, last, spent);
            long at = U.getLong(ring + Layout.E_AT);
            U.putLong(ring + Layout.RING_HEADER + ((at & U.getLong(ring + Layout.E_MASK)) << 3),
                spent << Layout.DELTA_SHIFT | (long) U.getInt(node + Layout.N_METHOD) << Layout.KIND_BITS | (thrown ? Layout.EV_THROWN : Layout.EV_EXIT));
            U.putLong(ring + Layout.E_TIME, last + spent);
            U.putLongRelease(null, ring + Layout.E_AT, at + 1);
        }
        if (spent > 0) {
            U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + spent);
            U.putLong(record + Layout.R_LAST, last + spent);
        }
        if (thrown) Side.count(s, side, index, Layout.X_THROWN);
        U.putLong(node + Layout.N_COUNT, U.getLong(node + Layout.N_COUNT) + executed);
        U.putLong(record + Layout.R_CURSOR, to);
        if ((token & Layout.TOP) != 0) Roots.end(s, record, index, thrown ? -index : index);
        return true;
    }

    /** Probe.resync. False if the record has no stream now. */
    static boolean resync(long s, long token) {
        long index = token & Layout.INDEX_MASK, record = Nodes.record(s, index);
        if (U.getLong(record + Layout.R_CURSOR) == index) return true;
        long ring = Rings.ready(s, record);
        if (ring == 0) return false;
        long current = Probe.cursor(s, record);
        if (current != 0 && above(s, current, index)) unwind(s, record, index, Clock.time(s, false));
        return true;
    }

    /** The thread leaves the subgraph for the profiler's own work: its time up to now is charged. */
    static void suspend(long s, long record, long current, boolean precise) {
        long now = Clock.time(s, precise);
        word(s, record, Rings.ready(s, record), current, Layout.EV_SUSPEND, 0, now);
    }

    /** It is back: the time between is nobody's. */
    static void resume(long s, long record) {
        long ring = Rings.ready(s, record), last = U.getLong(record + Layout.R_LAST);
        if (ring != 0 && last != U.getLong(ring + Layout.E_TIME)) Rings.settle(ring, last, 0);
    }

    // ---- between two ticks ----

    /** A tick is noticed here: what tails of root invocations wait for goes to this node, too (Probe.tick). */
    @DontInline
    private static void tick(long s, long record, long ring, long current, long now) {
        U.putLong(record + Layout.R_TICK, now);
        long carry = U.getLong(record + Layout.R_CARRY), node = s + current;
        if (carry == 0 || current == U.getInt(record + Layout.R_TOP)) return;
        if (ring != 0) Rings.put(ring, carry << Layout.DELTA_SHIFT | (long) Layout.MARK_CARRY << Layout.KIND_BITS | Layout.EV_CHARGE, U.getLong(ring + Layout.E_TIME));
        U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + carry);
        U.putLong(record + Layout.R_CARRY, 0);
    }

    /** A root invocation ends: what is before the last tick is charged, what comes after it waits for the next (Probe.chargeLast). */
    @DontInline
    private static void tail(long s, long record, long ring, long index, long tick) {
        if (tick > U.getLong(record + Layout.R_LAST)) word(s, record, ring, index, Layout.EV_CHARGE, 0, tick);
        long last = U.getLong(record + Layout.R_LAST), spent = System.nanoTime() - last;
        if (spent <= 0) return;
        if (ring != 0) {
            if ((last ^ U.getLong(ring + Layout.E_TIME) | spent >>> Layout.DELTA_BITS) != 0) Rings.settle(ring, last, spent);
            Rings.put(ring, spent << Layout.DELTA_SHIFT | (long) Layout.MARK_TAIL << Layout.KIND_BITS | Layout.EV_CHARGE, last + spent);
        }
        U.putLong(record + Layout.R_CARRY, U.getLong(record + Layout.R_CARRY) + spent);
        U.putLong(record + Layout.R_LAST, last + spent);
    }

    // ---- slow parts ----

    /** The callee's node, found or made; 0 if there is no room. */
    @DontInline
    private static long child(long s, long record, long current, int method, boolean precise) {
        long caller = s + current;
        long index = U.getInt(caller + Layout.N_CHILD);
        while (index != 0) {
            long node = s + index;
            if (U.getInt(node + Layout.N_METHOD) == method) break;
            index = U.getInt(node + Layout.N_SIBLING);
        }
        if (index == 0) {
            word(s, record, Rings.ready(s, record), current, Layout.EV_CHARGE, 0, Clock.time(s, precise)); // what follows takes its time out
            index = Nodes.add(s, record, current, method);
            Clock.skip(s, record, precise);
            if (index == 0) return 0;
        }
        Callees.keep(s, record, current, method, index);
        return index;
    }

    /** A call for which the tree has no room: the tree counts it by method, the stream has to stop. */
    private static long unplaced(long s, long tag, long record, long current, int method, int mode) {
        long ring = Rings.ring(s, record);
        if (ring != 0) Rings.drop(ring);
        return Unplaced.enter(s, tag | (mode == Layout.MODE_EVENT_PRECISE ? Layout.PRECISE : 0), record, current, method);
    }

    /** Writes a word with a method, and charges the node of the invocation on top with its time. */
    private static void word(long s, long record, long ring, long current, int kind, int method, long now) {
        long last = U.getLong(record + Layout.R_LAST), spent = now - last;
        if (spent < 0) spent = 0;
        if (ring != 0) {
            if ((last ^ U.getLong(ring + Layout.E_TIME) | spent >>> Layout.DELTA_BITS) != 0) Rings.settle(ring, last, spent);
            Rings.put(ring, spent << Layout.DELTA_SHIFT | (long) method << Layout.KIND_BITS | kind, last + spent);
        }
        long node = s + current;
        U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + spent);
        U.putLong(record + Layout.R_LAST, last + spent);
    }

    private static boolean above(long s, long current, long index) {
        for (long i = current; i != index; i = U.getInt(Nodes.node(s, i) + Layout.N_PARENT)) {
            if (i == 0) return false;
        }
        return true;
    }

    /** Ends the invocations from the cursor up to index, which stays: an exception ended them without an exit of their own. */
    private static void unwind(long s, long record, long index, long now) {
        if (Clock.precise(s, U.getLong(record + Layout.R_CURSOR))) now = System.nanoTime();
        for (long i; (i = U.getLong(record + Layout.R_CURSOR)) != index; ) {
            long node = Nodes.node(s, i);
            if (U.getInt(node + Layout.N_METHOD) == Layout.METHOD_HANDOVER) { // it ends with the execution below it
                U.putLong(record + Layout.R_CURSOR, U.getInt(node + Layout.N_PARENT));
                continue;
            }
            long side = Side.ready(s, record, i);
            word(s, record, Rings.ready(s, record), i, Layout.EV_THROWN, U.getInt(node + Layout.N_METHOD), now);
            Side.count(s, side, i, Layout.X_THROWN);
            Side.count(s, side, i, Layout.X_UNWOUND);
            U.putLong(record + Layout.R_CURSOR, U.getInt(node + Layout.N_PARENT));
        }
    }

    // ---- root invocations ----

    /** A root invocation begins. The caller has made sure of some stack. */
    @DontInline
    static void begin(long s, long record, long tid, long[] span) {
        long ring = Rings.ring(s, record);
        if (ring == 0) {
            long first = Rings.allocate(s, Layout.RING_FIRST, true);
            if (first == 0) {
                U.getAndAddLong(null, s + Layout.H_MUTE, 1);
                return;
            }
            U.putInt(record + Layout.R_RING, (int) first);
            U.putIntRelease(null, record + Layout.R_FIRST_RING, (int) first);
            ring = Nodes.node(s, first);
        }
        if (U.getInt(ring + Layout.E_DROPPING) != 0) {
            long free = U.getLongVolatile(null, ring + Layout.E_READ) + U.getLong(ring + Layout.E_MASK) + 1 - U.getLong(ring + Layout.E_AT);
            if (free <= U.getLong(ring + Layout.E_MASK) >> 1) {
                U.getAndAddLong(null, s + Layout.H_MUTE, 1);
                return;
            }
            U.putLong(ring + Layout.E_STOP, 0);
            U.putInt(ring + Layout.E_DROPPING, 0);
            Rings.put(ring, U.getLong(ring + Layout.E_DROPPED) << Layout.KIND_BITS | Layout.EV_LOST, 0);
        }
        ring = Rings.room(s, record);
        if (ring == 0) return;
        long now = U.getLong(record + Layout.R_LAST);
        if (U.getLong(ring + Layout.E_TID) != tid) {
            U.putLong(ring + Layout.E_TID, tid);
            Rings.put(ring, tid << Layout.KIND_BITS | Layout.EV_THREAD, now);
        }
        Rings.put(ring, now << Layout.KIND_BITS | Layout.EV_ROOT, now);
        if (span != null) Spans.began(s, record, span);
    }

    /** A number of 64 bits that belongs to the root invocation, with the MARK_ that says which: 60 bits, and the 4 lowest. False if events are being dropped. */
    static boolean number(long s, long record, int mark, long number) {
        long ring = Rings.ready(s, record);
        if (ring == 0) return false;
        Rings.put(ring, number & -1L << Layout.KIND_BITS | Layout.EV_BELONG, U.getLong(ring + Layout.E_TIME));
        Rings.put(ring, (number & (1 << Layout.KIND_BITS) - 1) << Layout.DELTA_SHIFT | (long) mark << Layout.KIND_BITS | Layout.EV_CHARGE, U.getLong(ring + Layout.E_TIME));
        return true;
    }

    // ---- tasks ----

    /** The invocation on top hands a task over, of this number. */
    static void submit(long s, long record, long current, long number, long now) {
        long ring = Rings.ready(s, record);
        word(s, record, ring, current, Layout.EV_CHARGE, 0, now);
        if (ring != 0) Rings.put(ring, number << Layout.KIND_BITS | Layout.EV_SUBMIT, U.getLong(ring + Layout.E_TIME));
    }

    /** A MARK_ of a wait or its end. about is a thread or a task, 0 none. */
    static void mark(long s, long record, long current, int mark, long about, long now) {
        long ring = Rings.ready(s, record);
        if (ring != 0 && about != 0) Rings.put(ring, about << Layout.KIND_BITS | Layout.EV_BELONG, U.getLong(ring + Layout.E_TIME));
        word(s, record, ring, current, Layout.EV_CHARGE, mark, now);
    }

    /** An execution of the task begins below a hand-over's node; now is 0 if that is as a root invocation does. */
    static void execute(long s, long record, long current, long number, long handover, long now) {
        long ring = Rings.ready(s, record);
        if (now != 0) word(s, record, ring, current, Layout.EV_CHARGE, 0, now);
        if (ring == 0) return;
        ring = Rings.ready(s, record);
        if (ring == 0) return;
        Rings.put(ring, number << Layout.KIND_BITS | Layout.EV_BELONG, U.getLong(ring + Layout.E_TIME));
        Rings.put(ring, handover << Layout.KIND_BITS | Layout.EV_EXECUTE, U.getLong(ring + Layout.E_TIME));
    }

    /** A pause cut off what is open, after so many ns that are charged to the invocation on top. */
    static void cut(long s, long record, long spent) {
        long ring = Rings.ready(s, record);
        if (ring == 0) return;
        long last = U.getLong(record + Layout.R_LAST);
        if (last != U.getLong(ring + Layout.E_TIME)) Rings.settle(ring, last, 0);
        Rings.put(ring, spent << Layout.KIND_BITS | Layout.EV_CUT, last + spent);
    }
}

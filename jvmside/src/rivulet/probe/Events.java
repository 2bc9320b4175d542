package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.ForceInline;
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
    /** How long a writer waits for the reader before it drops events. */
    private static final long PATIENCE = 2_000_000_000L;

    private Events() {}

    // ---- entering and leaving ----

    /** Probe.enter of a thread that is inside, or about to be. */
    static long enter(long s, long tag, long record, long current, int method, int mode) {
        if (U.getLong(s + Layout.H_TAG) != tag) return 0;
        long ring = ready(s, record);
        long caller = s + current;
        long index = Callees.find(s, current, method);
        if (index == 0) {
            index = child(s, record, current, method, mode == Layout.MODE_EVENT_PRECISE);
            if (index == 0) return unplaced(s, tag, record, current, method, mode);
            ring = ready(s, record);
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
            if ((last ^ U.getLong(ring + Layout.E_TIME) | spent >>> Layout.DELTA_BITS) != 0) settle(ring, last, spent);
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
        long index = token & Layout.INDEX_MASK, node = s + index, record = Probe.record(s, index);
        long side = thrown ? Side.ready(s, record, index) : 0; // first, since the stack may overflow in it
        long ring = ready(s, record);
        if (ring == 0) return false;
        boolean ticks = (token & Layout.PRECISE) == 0 && ((token & Layout.TOP) == 0 || !Probe.whole(s, record, token));
        long now = ticks ? U.getLong(s + Layout.H_TICK) : System.nanoTime();
        long to = Probe.above(s, index), current = Probe.cursor(s, record);
        if (current != index) {
            if (current == 0) return true;
            if (above(s, current, index)) {
                unwind(s, record, index, now);
            } else if (current == to) { // an exit that was followed by an exception of the return itself
                if (thrown) word(s, record, ready(s, record), to, Layout.EV_LATE, U.getInt(node + Layout.N_METHOD), now);
                if (thrown) Side.count(s, side, index, Layout.X_THROWN);
                if ((token & Layout.TOP) != 0) Probe.end(s, record, index, thrown ? -index : index);
                return true;
            } else {
                return true;
            }
            ring = ready(s, record);
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
            if ((last ^ U.getLong(ring + Layout.E_TIME) | spent >>> Layout.DELTA_BITS) != 0) settle(ring, last, spent);
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
        if ((token & Layout.TOP) != 0) Probe.end(s, record, index, thrown ? -index : index);
        return true;
    }

    /** Probe.resync. False if the record has no stream now. */
    static boolean resync(long s, long token) {
        long index = token & Layout.INDEX_MASK, record = Probe.record(s, index);
        if (U.getLong(record + Layout.R_CURSOR) == index) return true;
        long ring = ready(s, record);
        if (ring == 0) return false;
        long current = Probe.cursor(s, record);
        if (current != 0 && above(s, current, index)) unwind(s, record, index, Probe.time(s, false));
        return true;
    }

    /** The thread leaves the subgraph for the profiler's own work: its time up to now is charged. */
    static void suspend(long s, long record, long current, boolean precise) {
        long now = Probe.time(s, precise);
        word(s, record, ready(s, record), current, Layout.EV_SUSPEND, 0, now);
    }

    /** It is back: the time between is nobody's. */
    static void resume(long s, long record) {
        long ring = ready(s, record), last = U.getLong(record + Layout.R_LAST);
        if (ring != 0 && last != U.getLong(ring + Layout.E_TIME)) settle(ring, last, 0);
    }

    // ---- between two ticks ----

    /** A tick is noticed here: what tails of root invocations wait for goes to this node, too (Probe.tick). */
    @DontInline
    private static void tick(long s, long record, long ring, long current, long now) {
        U.putLong(record + Layout.R_TICK, now);
        long carry = U.getLong(record + Layout.R_CARRY), node = s + current;
        if (carry == 0 || current == U.getInt(record + Layout.R_TOP)) return;
        if (ring != 0) put(ring, carry << Layout.DELTA_SHIFT | (long) Layout.MARK_CARRY << Layout.KIND_BITS | Layout.EV_CHARGE, U.getLong(ring + Layout.E_TIME));
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
            if ((last ^ U.getLong(ring + Layout.E_TIME) | spent >>> Layout.DELTA_BITS) != 0) settle(ring, last, spent);
            put(ring, spent << Layout.DELTA_SHIFT | (long) Layout.MARK_TAIL << Layout.KIND_BITS | Layout.EV_CHARGE, last + spent);
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
            word(s, record, ready(s, record), current, Layout.EV_CHARGE, 0, Probe.time(s, precise)); // what follows takes its time out
            index = Probe.add(s, record, current, method);
            Probe.skip(s, record, precise);
            if (index == 0) return 0;
        }
        Callees.keep(s, record, current, method, index);
        return index;
    }

    /** A call for which the tree has no room: the tree counts it by method, the stream has to stop. */
    private static long unplaced(long s, long tag, long record, long current, int method, int mode) {
        long ring = ring(s, record);
        if (ring != 0) drop(ring);
        return Unplaced.enter(s, tag | (mode == Layout.MODE_EVENT_PRECISE ? Layout.PRECISE : 0), record, current, method);
    }

    /** Writes a word with a method, and charges the node of the invocation on top with its time. */
    private static void word(long s, long record, long ring, long current, int kind, int method, long now) {
        long last = U.getLong(record + Layout.R_LAST), spent = now - last;
        if (spent < 0) spent = 0;
        if (ring != 0) {
            if ((last ^ U.getLong(ring + Layout.E_TIME) | spent >>> Layout.DELTA_BITS) != 0) settle(ring, last, spent);
            put(ring, spent << Layout.DELTA_SHIFT | (long) method << Layout.KIND_BITS | kind, last + spent);
        }
        long node = s + current;
        U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + spent);
        U.putLong(record + Layout.R_LAST, last + spent);
    }

    @ForceInline
    private static void put(long ring, long word, long time) {
        long at = U.getLong(ring + Layout.E_AT);
        U.putLong(ring + Layout.RING_HEADER + ((at & U.getLong(ring + Layout.E_MASK)) << 3), word);
        U.putLong(ring + Layout.E_TIME, time);
        U.putLongRelease(null, ring + Layout.E_AT, at + 1);
    }

    /** Accounts for time that went by without a word, and for the part of a time that a word has no bits for (73 minutes and more). */
    @DontInline
    private static void settle(long ring, long last, long spent) {
        long gap = last - U.getLong(ring + Layout.E_TIME), high = spent >>> Layout.DELTA_BITS << Layout.DELTA_BITS;
        if (gap != 0) put(ring, gap << Layout.KIND_BITS | Layout.EV_ADJUST, last);
        if (high != 0) put(ring, high << Layout.KIND_BITS | Layout.EV_TIME, last);
    }

    private static boolean above(long s, long current, long index) {
        for (long i = current; i != index; i = U.getInt(Probe.node(s, i) + Layout.N_PARENT)) {
            if (i == 0) return false;
        }
        return true;
    }

    /** Ends the invocations from the cursor up to index, which stays: an exception ended them without an exit of their own. */
    private static void unwind(long s, long record, long index, long now) {
        if (Probe.precise(s, U.getLong(record + Layout.R_CURSOR))) now = System.nanoTime();
        for (long i; (i = U.getLong(record + Layout.R_CURSOR)) != index; ) {
            long node = Probe.node(s, i);
            if (U.getInt(node + Layout.N_METHOD) == Layout.METHOD_HANDOVER) { // it ends with the execution below it
                U.putLong(record + Layout.R_CURSOR, U.getInt(node + Layout.N_PARENT));
                continue;
            }
            long side = Side.ready(s, record, i);
            word(s, record, ready(s, record), i, Layout.EV_THROWN, U.getInt(node + Layout.N_METHOD), now);
            Side.count(s, side, i, Layout.X_THROWN);
            Side.count(s, side, i, Layout.X_UNWOUND);
            U.putLong(record + Layout.R_CURSOR, U.getInt(node + Layout.N_PARENT));
        }
    }

    // ---- root invocations ----

    /** A root invocation begins. The caller has made sure of some stack. */
    @DontInline
    static void begin(long s, long record, long tid, long[] span) {
        long ring = ring(s, record);
        if (ring == 0) {
            long first = allocate(s, Layout.RING_FIRST, true);
            if (first == 0) {
                U.getAndAddLong(null, s + Layout.H_MUTE, 1);
                return;
            }
            U.putInt(record + Layout.R_RING, (int) first);
            U.putIntRelease(null, record + Layout.R_FIRST_RING, (int) first);
            ring = Probe.node(s, first);
        }
        if (U.getInt(ring + Layout.E_DROPPING) != 0) {
            long free = U.getLongVolatile(null, ring + Layout.E_READ) + U.getLong(ring + Layout.E_MASK) + 1 - U.getLong(ring + Layout.E_AT);
            if (free <= U.getLong(ring + Layout.E_MASK) >> 1) {
                U.getAndAddLong(null, s + Layout.H_MUTE, 1);
                return;
            }
            U.putLong(ring + Layout.E_STOP, 0);
            U.putInt(ring + Layout.E_DROPPING, 0);
            put(ring, U.getLong(ring + Layout.E_DROPPED) << Layout.KIND_BITS | Layout.EV_LOST, 0);
        }
        ring = room(s, record);
        if (ring == 0) return;
        long now = U.getLong(record + Layout.R_LAST);
        if (U.getLong(ring + Layout.E_TID) != tid) {
            U.putLong(ring + Layout.E_TID, tid);
            put(ring, tid << Layout.KIND_BITS | Layout.EV_THREAD, now);
        }
        put(ring, now << Layout.KIND_BITS | Layout.EV_ROOT, now);
        if (span != null) Spans.began(s, record, span);
    }

    /** A number of 64 bits that belongs to the root invocation, with the MARK_ that says which: 60 bits, and the 4 lowest. False if events are being dropped. */
    static boolean number(long s, long record, int mark, long number) {
        long ring = ready(s, record);
        if (ring == 0) return false;
        put(ring, number & -1L << Layout.KIND_BITS | Layout.EV_BELONG, U.getLong(ring + Layout.E_TIME));
        put(ring, (number & (1 << Layout.KIND_BITS) - 1) << Layout.DELTA_SHIFT | (long) mark << Layout.KIND_BITS | Layout.EV_CHARGE, U.getLong(ring + Layout.E_TIME));
        return true;
    }

    // ---- tasks ----

    /** The invocation on top hands a task over, of this number. */
    static void submit(long s, long record, long current, long number, long now) {
        long ring = ready(s, record);
        word(s, record, ring, current, Layout.EV_CHARGE, 0, now);
        if (ring != 0) put(ring, number << Layout.KIND_BITS | Layout.EV_SUBMIT, U.getLong(ring + Layout.E_TIME));
    }

    /** A MARK_ of a wait or its end. about is a thread or a task, 0 none. */
    static void mark(long s, long record, long current, int mark, long about, long now) {
        long ring = ready(s, record);
        if (ring != 0 && about != 0) put(ring, about << Layout.KIND_BITS | Layout.EV_BELONG, U.getLong(ring + Layout.E_TIME));
        word(s, record, ring, current, Layout.EV_CHARGE, mark, now);
    }

    /** An execution of the task begins below a hand-over's node; now is 0 if that is as a root invocation does. */
    static void execute(long s, long record, long current, long number, long handover, long now) {
        long ring = ready(s, record);
        if (now != 0) word(s, record, ring, current, Layout.EV_CHARGE, 0, now);
        if (ring == 0) return;
        ring = ready(s, record);
        if (ring == 0) return;
        put(ring, number << Layout.KIND_BITS | Layout.EV_BELONG, U.getLong(ring + Layout.E_TIME));
        put(ring, handover << Layout.KIND_BITS | Layout.EV_EXECUTE, U.getLong(ring + Layout.E_TIME));
    }

    /** A pause cut off what is open, after so many ns that are charged to the invocation on top. */
    static void cut(long s, long record, long spent) {
        long ring = ready(s, record);
        if (ring == 0) return;
        long last = U.getLong(record + Layout.R_LAST);
        if (last != U.getLong(ring + Layout.E_TIME)) settle(ring, last, 0);
        put(ring, spent << Layout.KIND_BITS | Layout.EV_CUT, last + spent);
    }

    // ---- rings ----

    /** The ring that is being written, 0 if there is none. */
    @ForceInline
    private static long ring(long s, long record) {
        long index = U.getInt(record + Layout.R_RING);
        return index == 0 ? 0 : s + index;
    }

    /** A ring with room for what one event writes, 0 if events are being dropped. May wait. */
    @ForceInline
    private static long ready(long s, long record) {
        long ring = ring(s, record);
        if (ring != 0 && U.getLong(ring + Layout.E_AT) >= U.getLong(ring + Layout.E_STOP)) ring = room(s, record);
        return ring;
    }

    /** Looks how far the reader is. When the ring is full it goes on in a larger one, or waits, or drops. */
    @DontInline
    private static long room(long s, long record) {
        long ring = ring(s, record), from = 0;
        if (U.getInt(ring + Layout.E_DROPPING) != 0) {
            U.putLong(ring + Layout.E_DROPPED, U.getLong(ring + Layout.E_DROPPED) + 1);
            return 0;
        }
        for (;;) {
            long size = U.getLong(ring + Layout.E_MASK) + 1;
            long stop = U.getLongVolatile(null, ring + Layout.E_READ) + size - Layout.RING_SLACK;
            boolean found = U.getLong(ring + Layout.E_AT) < stop;
            if (!found && size < Layout.RING_MOST) {
                long index = allocate(s, size * Layout.RING_GROWTH, false), next = Probe.node(s, index);
                if (index != 0) {
                    U.putLong(next + Layout.E_TIME, U.getLong(ring + Layout.E_TIME));
                    U.putLong(next + Layout.E_TID, U.getLong(ring + Layout.E_TID));
                    U.putInt(record + Layout.R_RING, (int) index);
                    U.putIntRelease(null, ring + Layout.E_NEXT, (int) index);
                    ring = next;
                    stop = U.getLong(ring + Layout.E_MASK) + 1 - Layout.RING_SLACK;
                    found = true;
                }
            }
            long now = found && from == 0 ? 0 : System.nanoTime();
            if (found || from != 0 && now - from > PATIENCE || U.getLong(s + Layout.H_TAG) == 0) {
                if (from != 0) waited(record, ring, now - from);
                if (!found) drop(ring);
                else U.putLong(ring + Layout.E_STOP, stop);
                return found ? ring : 0;
            }
            if (from == 0) from = now;
            Probe.pause(100_000);
        }
    }

    /** A wait for the reader is nobody's time. */
    private static void waited(long record, long ring, long ns) {
        U.putLong(record + Layout.R_LAST, U.getLong(record + Layout.R_LAST) + ns);
        U.putLong(record + Layout.R_SUSPENDED, U.getLong(record + Layout.R_SUSPENDED) + ns);
        U.putLong(ring + Layout.E_WAITED, U.getLong(ring + Layout.E_WAITED) + ns);
        U.putLong(ring + Layout.E_WAITS, U.getLong(ring + Layout.E_WAITS) + 1);
    }

    private static void drop(long ring) {
        U.putLong(ring + Layout.E_DROPPED, U.getLong(ring + Layout.E_DROPPED) + 1);
        U.putLong(ring + Layout.E_STOP, -1);
        U.putInt(ring + Layout.E_DROPPING, 1);
    }

    /** A ring of so many words, as its first node; 0 if there is no room, or if its pages aren't there yet and it isn't worth a wait. */
    private static long allocate(long s, long words, boolean wait) {
        int size = 0;
        while (Layout.RING_FIRST << 2 * size < words) size++; // RING_GROWTH is 4
        long list = s + Layout.H_FREE_RINGS + 8L * size;
        for (long head; (int) (head = U.getLongVolatile(null, list)) != 0; ) {
            long index = head & 0xffffffffL, ring = Probe.node(s, index);
            long rest = U.getInt(ring + Layout.E_NEXT); // if another takes it now, the number differs
            if (!U.compareAndSetLong(null, list, head, (head >>> 32) + 1 << 32 | rest)) continue;
            U.putInt(ring + Layout.E_NEXT, 0);
            return index;
        }
        long chunk = Layout.NODE_CHUNK, n = (Layout.RING_HEADER + (words << 3) >> Layout.NODE_SHIFT) + chunk - 1 & -chunk;
        for (int i = 0; ; ) {
            long index = U.getLongVolatile(null, s + Layout.H_NEXT_NODE), most = U.getLong(s + Layout.H_NODE_MAX);
            if (index + n > (words > Layout.RING_FIRST ? most / 2 : most)) return 0; // contexts need room too
            if (index + n > U.getLongVolatile(null, s + Layout.H_NODE_LIMIT)) {
                if (!wait || ++i > 10_000 || U.getLong(s + Layout.H_TAG) == 0) return 0;
                Probe.pause(100_000);
            } else if (U.compareAndSetLong(null, s + Layout.H_NEXT_NODE, index, index + n)) {
                index = Layout.NODES + (index << Layout.NODE_SHIFT);
                U.putLong(Probe.node(s, index) + Layout.E_MASK, words - 1);
                return index;
            }
        }
    }
}

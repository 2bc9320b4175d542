package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.ForceInline;
import rivulet.probe.stub.Unsafe;

/**
 * The rings of words that a thread's events go to (package wire, table Events). One thread writes a ring, the controller
 * reads it, and neither takes a lock.
 */
final class Rings {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** How long a writer waits for the reader before it drops events. */
    private static final long PATIENCE = 2_000_000_000L;

    private Rings() {}

    /** The ring that is being written, 0 if there is none. */
    @ForceInline
    static long ring(long s, long record) {
        long index = U.getInt(record + Layout.R_RING);
        return index == 0 ? 0 : s + index;
    }

    /** A ring with room for what one event writes, 0 if events are being dropped. May wait. */
    @ForceInline
    static long ready(long s, long record) {
        long ring = ring(s, record);
        if (ring != 0 && U.getLong(ring + Layout.E_AT) >= U.getLong(ring + Layout.E_STOP)) ring = room(s, record);
        return ring;
    }

    /** Looks how far the reader is. When the ring is full it goes on in a larger one, or waits, or drops. */
    @DontInline
    static long room(long s, long record) {
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
                long index = allocate(s, size * Layout.RING_GROWTH, false), next = Nodes.node(s, index);
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
            Suspension.pause(100_000);
        }
    }

    /** A wait for the reader is nobody's time. */
    private static void waited(long record, long ring, long ns) {
        U.putLong(record + Layout.R_LAST, U.getLong(record + Layout.R_LAST) + ns);
        U.putLong(record + Layout.R_SUSPENDED, U.getLong(record + Layout.R_SUSPENDED) + ns);
        U.putLong(ring + Layout.E_WAITED, U.getLong(ring + Layout.E_WAITED) + ns);
        U.putLong(ring + Layout.E_WAITS, U.getLong(ring + Layout.E_WAITS) + 1);
    }

    /** Events are dropped, and counted, until a root invocation begins with room again. */
    static void drop(long ring) {
        U.putLong(ring + Layout.E_DROPPED, U.getLong(ring + Layout.E_DROPPED) + 1);
        U.putLong(ring + Layout.E_STOP, -1);
        U.putInt(ring + Layout.E_DROPPING, 1);
    }

    /** A ring of so many words, as its first node; 0 if there is no room, or if its pages aren't there yet and it isn't worth a wait. */
    static long allocate(long s, long words, boolean wait) {
        int size = 0;
        while (Layout.RING_FIRST << 2 * size < words) size++; // RING_GROWTH is 4
        long list = s + Layout.H_FREE_RINGS + 8L * size;
        for (long head; (int) (head = U.getLongVolatile(null, list)) != 0; ) {
            long index = head & 0xffffffffL, ring = Nodes.node(s, index);
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
                Suspension.pause(100_000);
            } else if (U.compareAndSetLong(null, s + Layout.H_NEXT_NODE, index, index + n)) {
                index = Layout.NODES + (index << Layout.NODE_SHIFT);
                U.putLong(Nodes.node(s, index) + Layout.E_MASK, words - 1);
                return index;
            }
        }
    }

    /** Writes a word, which there is room for, and the time of the stream after it. */
    @ForceInline
    static void put(long ring, long word, long time) {
        long at = U.getLong(ring + Layout.E_AT);
        U.putLong(ring + Layout.RING_HEADER + ((at & U.getLong(ring + Layout.E_MASK)) << 3), word);
        U.putLong(ring + Layout.E_TIME, time);
        U.putLongRelease(null, ring + Layout.E_AT, at + 1);
    }

    /** Accounts for time that went by without a word, and for the part of a time that a word has no bits for (73 minutes and more). */
    @DontInline
    static void settle(long ring, long last, long spent) {
        long gap = last - U.getLong(ring + Layout.E_TIME), high = spent >>> Layout.DELTA_BITS << Layout.DELTA_BITS;
        if (gap != 0) put(ring, gap << Layout.KIND_BITS | Layout.EV_ADJUST, last);
        if (high != 0) put(ring, high << Layout.KIND_BITS | Layout.EV_TIME, last);
    }
}

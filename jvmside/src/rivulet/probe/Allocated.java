package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.ForceInline;
import rivulet.probe.stub.Unsafe;

/**
 * What allocations call, right behind them. A type is a callee that is counted and never entered: its node lies below the
 * allocating context, N_CALLS has its objects, N_COUNT its arrays' elements, N_SELF its arrays' bytes. These probes get
 * numbers alone, never the object, so a compiler that removes an allocation still does. The token is that of the allocating
 * invocation; whose is not recorded, 0, counts nothing.
 */
public final class Allocated {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** The largest value that Integer.valueOf has an object of already (-XX:AutoBoxCacheMax); 0 until it was asked for. */
    private static int cached;

    private Allocated() {}

    /** The node near the allocating context's that is the type's, 0 if it has to be looked for. */
    @ForceInline
    static long near(long s, long token, int type) {
        long to = (token ^ U.getLong(s + Layout.H_TAG)) & ~(Layout.PRECISE | Layout.TOP);
        if (to >>> Layout.FLAG_BITS != 0) return 0;
        long current = U.getLong(s + U.getInt(s + to + Layout.N_RECORD) + Layout.R_CURSOR);
        long near = U.getShort(s + current + Layout.N_CACHE + ((type & Layout.CACHE_MASK) << 1));
        long node = s + current + (near << Layout.NODE_SHIFT);
        return (U.getLong(node + Layout.N_METHOD) ^ (current << 32 | type) | U.getInt(s + current + Layout.N_PARENT) ^ (int) to) == 0 ? node : 0;
    }

    /** An object was allocated that is no array. */
    @ForceInline
    public static void object(long token, int type) {
        if (token == 0) return;
        long node = near(U.getLong(Probe.CELL), token, type);
        if (node != 0) U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
        else slow(token, type, 1, 0, 0);
    }

    /** As object, where many methods are instrumented: see Probe.enterCall. */
    @ForceInline
    public static void objectCall(long token, int type) {
        if (token != 0) objectCalled(token, type);
    }

    @DontInline
    private static void objectCalled(long token, int type) {
        object(token, type);
    }

    /** An array of that length was allocated. A shape has the bytes before the elements, log2 of an element's and of an object's alignment, 8 bits each. */
    @ForceInline
    public static void array(int length, long token, int type, int shape) {
        if (token == 0) return;
        long bytes = bytes(length, shape), node = near(U.getLong(Probe.CELL), token, type);
        if (node != 0) {
            U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
            U.putLong(node + Layout.N_COUNT, U.getLong(node + Layout.N_COUNT) + length);
            U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + bytes);
        } else {
            slow(token, type, 1, length, bytes);
        }
    }

    /** As array, where many methods are instrumented. */
    @ForceInline
    public static void arrayCall(int length, long token, int type, int shape) {
        if (token != 0) arrayCalled(length, token, type, shape);
    }

    @DontInline
    private static void arrayCalled(int length, long token, int type, int shape) {
        array(length, token, type, shape);
    }

    @ForceInline
    static long bytes(long length, int shape) {
        long align = (1L << (shape >>> 16 & 255)) - 1;
        return (shape & 255) + (length << (shape >>> 8 & 255)) + align & ~align;
    }

    /** Arrays of one length were allocated at once, as those within another are. */
    @DontInline
    public static void arrays(long arrays, long length, long token, int type, int shape) {
        if (token != 0 && arrays != 0) slow(token, type, arrays, arrays * length, arrays * bytes(length, shape));
    }

    /** Integer.valueOf, or that of a Long or Short, returned an object of this value, which may be one of those that are kept. */
    @ForceInline
    public static void boxed(long value, long token, int type) {
        if (token != 0 && (value < -128 || value > 127)) object(token, type);
    }

    /** The same of an Integer. */
    @ForceInline
    public static void boxedInt(long value, long token, int type) {
        if (token != 0 && (value < -128 || value > 127)) largeInt(value, token, type);
    }

    @DontInline
    private static void largeInt(long value, long token, int type) {
        if (makes(value)) object(token, type);
    }

    /** Whether Integer.valueOf makes an object of a value that is less than -128 or greater than 127. */
    static boolean makes(long value) {
        if (cached == 0) cached = cached();
        return value < 0 || value > cached;
    }

    /** What is kept gives the same object twice. Nearly always that ends at 127. */
    private static int cached() {
        int low = 127, high = Integer.MAX_VALUE;
        if (!kept(low + 1)) return low;
        while (low < high) {
            int middle = low + (high - low + 1) / 2;
            if (kept(middle)) low = middle;
            else high = middle - 1;
        }
        return low;
    }

    private static boolean kept(int value) {
        return Integer.valueOf(value) == Integer.valueOf(value);
    }

    /** Every allocation that isn't of a type in a node near the context's. */
    @DontInline
    private static void slow(long token, int type, long objects, long elements, long bytes) {
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG);
        if (tag == 0 || (token ^ tag) >>> Layout.INDEX_BITS != 0) return;
        Probe.resync(token);
        long record = Records.current(s, tag), current = record == 0 ? 0 : U.getLong(record + Layout.R_CURSOR);
        if (current == 0) return;
        long index = Callees.find(s, current, type);
        if (index == 0) {
            boolean events = U.getInt(record + Layout.R_RING) != 0; // whose stream says all that is charged
            if (!events) Clock.charge(s, record, current, Clock.precise(s, current));
            index = Callees.listed(s, current, type, type);
            if (index == 0) index = Nodes.add(s, record, current, type);
            if (index != 0) Callees.keep(s, record, current, type, index);
            else index = Unplaced.over(s, record, type);
            if (!events) Clock.skip(s, record, Clock.precise(s, current));
            if (index == 0) {
                U.getAndAddLong(null, s + Layout.H_UNCOUNTED, 1);
                return;
            }
        }
        long node = s + index;
        U.putLong(node + Layout.N_COUNT, U.getLong(node + Layout.N_COUNT) + elements);
        U.putLong(node + Layout.N_SELF, U.getLong(node + Layout.N_SELF) + bytes);
        U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + objects);
    }
}

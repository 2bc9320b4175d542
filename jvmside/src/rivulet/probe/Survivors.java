package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.ForceInline;
import rivulet.probe.stub.Unsafe;

/**
 * What allocations call besides, where survivors are counted: behind the constructor's return, with the object. Some
 * objects are followed, see class Following. Which ones follows from how many the type's node has counted, so most of these
 * probes end after some arithmetic.
 */
public final class Survivors {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Survivors() {}

    /** An object that is no array was allocated, and is initialised. */
    @ForceInline
    public static void object(Object made, long token, int type) {
        if (token == 0) return;
        long s = U.getLong(Probe.CELL), node = Allocated.near(s, token, type);
        if (node == 0 || passes(s, node, 0)) Following.follow(made, token, type, 0);
    }

    /** As object, where many methods are instrumented: see Probe.enterCall. */
    @ForceInline
    public static void objectCall(Object made, long token, int type) {
        if (token != 0) objectCalled(made, token, type);
    }

    @DontInline
    private static void objectCalled(Object made, long token, int type) {
        object(made, token, type);
    }

    /** An array was allocated, of that length; shape as Allocated.array has it. */
    @ForceInline
    public static void array(Object made, int length, long token, int type, int shape) {
        if (token == 0) return;
        long s = U.getLong(Probe.CELL), node = Allocated.near(s, token, type), bytes = Allocated.bytes(length, shape);
        if (node == 0 || passes(s, node, bytes)) Following.follow(made, token, type, bytes);
    }

    /** As array, where many methods are instrumented. */
    @ForceInline
    public static void arrayCall(Object made, int length, long token, int type, int shape) {
        if (token != 0) arrayCalled(made, length, token, type, shape);
    }

    @DontInline
    private static void arrayCalled(Object made, int length, long token, int type, int shape) {
        array(made, length, token, type, shape);
    }

    /** Integer.valueOf, or that of a Long, Short or Character, returned this object of that value, which may be one of those that are kept. */
    @ForceInline
    public static void boxed(Object made, long value, long token, int type) {
        if (token != 0 && (value < -128 || value > 127)) large(made, value, token, type);
    }

    @DontInline
    private static void large(Object made, long value, long token, int type) {
        if (!(made instanceof Integer) || Allocated.makes(value)) object(made, token, type);
    }

    /** Whether the object that a type's node has counted last is one of those that are followed. */
    @ForceInline
    static boolean passes(long s, long node, long bytes) {
        long n = U.getLong(node + Layout.N_CALLS);
        if (n <= Layout.TRACK_FIRST) return true;
        return (mix(n ^ node - s << 20) & (1L << level(s, n, bytes)) - 1) == 0;
    }

    /** The n-th object of a node that is followed stands for two to the power of this many. */
    @ForceInline
    static int level(long s, long n, long bytes) {
        int level = Math.min(59 - Long.numberOfLeadingZeros(n - 1), U.getInt(s + Layout.H_TRACK) - 1);
        if (bytes > 64) level -= 57 - Long.numberOfLeadingZeros(bytes);
        return Math.max(level, 0);
    }

    /** Bits that look random; finalizer of MurmurHash3. */
    @ForceInline
    static long mix(long n) {
        n = (n ^ n >>> 33) * 0xff51afd7ed558ccdL;
        n = (n ^ n >>> 33) * 0xc4ceb9fe1a85ec53L;
        return n ^ n >>> 33;
    }
}

package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.ForceInline;
import rivulet.probe.stub.Unsafe;

/**
 * The exits of methods whose executed bytecodes are counted. The method counts in locals of its own, and hands over how
 * many it has executed when it ends; the invocation's node adds them up, in the cache line that an exit needs anyway.
 * All else is as in Probe and Leaf. Methods all of whose paths are equally long end by Probe.exit: the controller
 * multiplies.
 */
public final class Executed {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Executed() {}

    static void add(long s, long index, long executed) {
        U.putLong(s + index + Layout.N_COUNT, U.getLong(s + index + Layout.N_COUNT) + executed);
    }

    @ForceInline
    public static void exit(long token, long executed) {
        if (token == 0) return;
        long s = U.getLong(Probe.CELL), to = token ^ U.getLong(s + Layout.H_TAG);
        if (to >>> Layout.FLAG_BITS == 0) {
            long record = s + U.getInt(s + to + Layout.N_RECORD);
            long late = U.getLong(record + Layout.R_TICK) - U.getLong(s + Layout.H_TICK) >>> 63;
            long node = s + U.getLong(record + Layout.R_CURSOR);
            if ((late | U.getInt(node + Layout.N_PARENT) ^ (int) to) == 0) {
                U.putLong(node + Layout.N_COUNT, U.getLong(node + Layout.N_COUNT) + executed);
                U.putLong(record + Layout.R_CURSOR, to);
                return;
            }
        }
        Probe.quit(token, executed);
    }

    /** As exit, for Probe.enterCall. */
    @ForceInline
    public static void exitCall(long token, long executed) {
        if (token != 0) departure(token, executed);
    }

    @DontInline
    private static void departure(long token, long executed) {
        exit(token, executed);
    }

    /** The invocation ends by an exception. */
    @DontInline
    public static void thrown(long token, long executed) {
        Probe.ended(token, executed);
    }

    /** A leaf method returns: all of its invocation. */
    @ForceInline
    public static void leaf(int method, long executed) {
        long s = U.getLong(Probe.CELL);
        if (U.getInt(s + Layout.H_GATE) == 0) return;
        int mode = U.getByte(s + Layout.MODES + method);
        if (mode == Layout.MODE_OFF) return;
        long tag = U.getLong(s + Layout.H_TAG), tid = U.getLong(Thread.currentThread(), Probe.TID);
        long slot = s + Layout.SLOTS + ((tid & Layout.SLOT_MASK) << Layout.SLOT_SHIFT);
        if (U.getLong(slot + Layout.S_KEY) == (tag | tid)) {
            long current = U.getLong(U.getLong(slot + Layout.S_RECORD) + Layout.R_CURSOR);
            long near = U.getShort(s + current + Layout.N_CACHE + ((method & Layout.CACHE_MASK) << 1));
            long node = s + current + (near << Layout.NODE_SHIFT);
            if ((U.getLong(node + Layout.N_METHOD) ^ (current << 32 | method) | mode & Layout.MODE_MASK ^ Layout.MODE_TICK) == 0) {
                U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + 1);
                U.putLong(node + Layout.N_COUNT, U.getLong(node + Layout.N_COUNT) + executed);
                return;
            }
        } else if (U.getInt(slot + Layout.S_DISPLACED) == 0) {
            return;
        }
        slow(method, executed);
    }

    /** As leaf, where many methods are instrumented: see Probe.enterCall. */
    @ForceInline
    public static void leafCall(int method, long executed) {
        long s = U.getLong(Probe.CELL);
        if (U.getInt(s + Layout.H_GATE) != 0 && !Probe.isOutside(s)) called(method, executed);
    }

    @DontInline
    private static void called(int method, long executed) {
        leaf(method, executed);
    }

    /** Every leaf that isn't of a thread inside, in a node near its caller's. */
    @DontInline
    private static void slow(int method, long executed) {
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG);
        if (tag == 0) return;
        if ((U.getByte(s + Layout.MODES + method) & Layout.MODE_MASK) == Layout.MODE_TICK) {
            long record = Records.current(s, tag), current = record == 0 ? 0 : U.getLong(record + Layout.R_CURSOR);
            if (current == 0) return;
            long index = Callees.find(s, current, method);
            if (index != 0) {
                U.putLong(s + index + Layout.N_CALLS, U.getLong(s + index + Layout.N_CALLS) + 1);
                add(s, index, executed);
                return;
            }
        }
        long token = Probe.any(method);
        if (token != 0) exit(token, executed);
    }

    /** A leaf method ends by an exception: all of its invocation. */
    @DontInline
    public static void leafThrown(int method, long executed) {
        long s = U.getLong(Probe.CELL);
        if (U.getInt(s + Layout.H_GATE) == 0 || U.getByte(s + Layout.MODES + method) == Layout.MODE_OFF) return;
        long token = Probe.any(method);
        if (token != 0) thrown(token, executed);
    }
}

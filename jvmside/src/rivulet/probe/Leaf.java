package rivulet.probe;

import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.ForceInline;
import rivulet.probe.stub.Unsafe;

/**
 * The probe of leaf methods that are only counted: short ones that call nothing, loop nowhere and allocate nothing, and
 * are no roots. An invocation is over for the recorder as soon as it has begun: the cursor stays at the caller, whose
 * time is the leaf's too, and there is no exit.
 */
public final class Leaf {
    private static final Unsafe U = Unsafe.getUnsafe();

    private Leaf() {}

    @ForceInline
    public static void count(int method) {
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
                return;
            }
        } else if (U.getInt(slot + Layout.S_DISPLACED) == 0) {
            return;
        }
        slow(method);
    }

    /** As count, where many methods are instrumented: see Probe.enterCall. */
    @ForceInline
    public static void countCall(int method) {
        long s = U.getLong(Probe.CELL);
        if (U.getInt(s + Layout.H_GATE) != 0 && !Probe.isOutside(s)) called(method);
    }

    @DontInline
    private static void called(int method) {
        count(method);
    }

    /** Every entry that isn't of a thread inside, to a node near its caller's: a whole invocation, if it is new. */
    @DontInline
    private static void slow(int method) {
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG);
        if (tag == 0) return;
        if ((U.getByte(s + Layout.MODES + method) & Layout.MODE_MASK) == Layout.MODE_TICK) {
            long record = Records.current(s, tag), current = record == 0 ? 0 : U.getLong(record + Layout.R_CURSOR);
            if (current == 0) return;
            long index = Callees.find(s, current, method);
            if (index != 0) {
                U.putLong(s + index + Layout.N_CALLS, U.getLong(s + index + Layout.N_CALLS) + 1);
                return;
            }
        }
        long token = Probe.any(method);
        if (token != 0) Probe.exit(token);
    }

    /** The invocation that was counted last ended by an exception. */
    public static void thrown(int method) {
        thrown(method, 0);
    }

    /** The same, of a method whose executed bytecodes are counted: it had executed so many. */
    @DontInline
    public static void thrown(int method, long executed) {
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG);
        if (tag == 0 || U.getByte(s + Layout.MODES + method) == Layout.MODE_OFF) return;
        long record = Records.current(s, tag), current = record == 0 ? 0 : U.getLong(record + Layout.R_CURSOR);
        if (current == 0) return;
        int own = U.getInt(s + Layout.H_FOLD) != 0 ? method | Layout.METHOD_FOLD : method;
        long index = Callees.find(s, current, own);
        if (index == 0) index = Callees.listed(s, current, own, own);
        if (index == 0) index = Unplaced.of(s, record, method);
        if (index == 0) return;
        Side.add(s, record, index, Layout.X_THROWN);
        Executed.add(s, index, executed);
    }
}

package rivulet.probe;

import java.lang.ref.WeakReference;
import java.util.function.BiFunction;
import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.Unsafe;

/**
 * Says in the streams of events which span of OpenTelemetry a root invocation belongs to: the one that is current where
 * it begins or, if there is none, the first one that becomes current below it (docs/decisions/0057). Spans are asked for
 * by public methods of the program's own API, with the thread outside of the subgraph, and in no figure.
 */
public final class Spans {
    private static final Unsafe U = Unsafe.getUnsafe();
    /**
     * Asks for a span: (null, null) for the current one, (storage, context) for the one of a context that is about to be
     * current. Trace id, high and low half, and span id; null if there is none. Null without a session.
     */
    private static volatile BiFunction<Object, Object, long[]> reader;

    /** The storage that the reader was told of last. Weak: it is the program's. */
    private static volatile WeakReference<Class<?>> told;

    private Spans() {}

    public static void reader(BiFunction<Object, Object, long[]> r) {
        reader = r;
        told = null;
    }

    /** A root invocation is about to begin, with its thread in the subgraph, at the node above the roots. Null if there is no span. */
    @DontInline
    static long[] begin(long s, long record, long top) {
        BiFunction<Object, Object, long[]> r = reader;
        U.putInt(record + Layout.R_FLAGS, U.getInt(record + Layout.R_FLAGS) & ~Layout.R_SPAN);
        if (r == null) return null;
        long[] span = null;
        U.putInt(record + Layout.R_BUSY, (int) top);
        try {
            Suspension.reserve(60, 0, 0, 0);
            span = r.apply(null, null);
        } catch (Throwable t) {
            // StackOverflowError, OutOfMemoryError: no span is known
        }
        U.putInt(record + Layout.R_BUSY, 0);
        long now = System.nanoTime(); // it begins now
        U.putLong(record + Layout.R_LAST, now);
        U.putLong(record + Layout.R_BEGAN, now);
        U.putLong(record + Layout.R_TICK, U.getLong(s + Layout.H_TICK));
        return span;
    }

    /** Writes what begin has found, behind the root invocation's first word. */
    static void began(long s, long record, long[] span) {
        write(s, record, span, Layout.MARK_SPAN);
    }

    /**
     * A context of OpenTelemetry is about to be the current one. Called at the entry of the method of its storage that
     * makes it so, whoever does it.
     */
    public static void attached(Object storage, Object context) {
        if (reader == null || context == null) return;
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG);
        if (tag == 0 || U.getInt(s + Layout.H_EVENTS) == 0) return;
        WeakReference<Class<?>> last = told;
        if (last == null || last.get() != storage.getClass()) tell(storage);
        if (U.getInt(s + Layout.H_GATE) == 0) return;
        long record = Probe.mine(s, tag);
        if (record == 0 || U.getLong(record + Layout.R_CURSOR) == 0 || (U.getInt(record + Layout.R_FLAGS) & Layout.R_SPAN) != 0) return;
        long[] span = read(storage, context);
        if (span != null && Probe.on(s, tag)) write(s, record, span, Layout.MARK_SPAN_WITHIN);
    }

    /** Makes a storage known, so that root invocations in this context find it. */
    @DontInline
    private static void tell(Object storage) {
        try {
            told = new WeakReference<Class<?>>(storage.getClass());
        } catch (Throwable t) {
            return; // no memory: the next one
        }
        read(storage, null);
    }

    /** Asks the reader, outside of the subgraph. */
    @DontInline
    private static long[] read(Object storage, Object context) {
        try {
            Suspension.reserve(100, 0, 0, 0);
        } catch (StackOverflowError e) {
            return null; // the target's own overflow is a few frames away
        }
        long[] span = null;
        long token = Suspension.suspend();
        try {
            BiFunction<Object, Object, long[]> r = reader;
            if (r != null) span = r.apply(storage, context);
        } catch (Throwable t) {
            // as above
        }
        Suspension.resume(token);
        return span;
    }

    private static void write(long s, long record, long[] span, int mark) {
        U.putInt(record + Layout.R_FLAGS, U.getInt(record + Layout.R_FLAGS) | Layout.R_SPAN);
        if (Events.number(s, record, Layout.MARK_TRACE_HIGH, span[0]) && Events.number(s, record, Layout.MARK_TRACE_LOW, span[1])) Events.number(s, record, mark, span[2]);
    }
}

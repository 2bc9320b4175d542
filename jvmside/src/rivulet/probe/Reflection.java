package rivulet.probe;

import java.lang.ref.WeakReference;
import java.util.function.Predicate;
import rivulet.probe.stub.DontInline;
import rivulet.probe.stub.Unsafe;

/**
 * What no code tells: the targets of reflection, of method handles and of call sites that the program's own bootstrap
 * methods link are instrumented at their first use inside the subgraph.
 */
public final class Reflection {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int SEEN = 1 << 14;
    /** Instruments what an object leads to; false when that failed. */
    private static volatile Predicate<Object> finder;
    /** The objects seen last, by their identity hash; null while no session wants to know. Weak: they are the program's. */
    private static volatile WeakReference<?>[] seen;

    private Reflection() {}

    /** Somebody wants to know of reflective calls inside the subgraph, null: nobody. */
    public static void finder(Predicate<Object> f) {
        finder = f;
        seen = f == null ? null : new WeakReference<?>[SEEN];
    }

    /**
     * What o stands for is about to be called: a Method, a Constructor or a MethodHandle. Called in the methods of the
     * JDK through which all such calls pass, whoever makes them. At the first use of an object inside the subgraph the
     * thread waits until its targets are instrumented.
     */
    public static void reflected(Object o) {
        WeakReference<?>[] table = seen;
        if (table == null || o == null) return;
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG);
        if (tag == 0 || U.getInt(s + Layout.H_GATE) == 0) return;
        long record = Probe.mine(s, tag);
        if (record == 0 || U.getLong(record + Layout.R_CURSOR) == 0) return;
        int i = System.identityHashCode(o) & SEEN - 1;
        WeakReference<?> w = table[i];
        if (w != null && w.get() == o) return;
        find(s, tag, o, table, i);
    }

    /**
     * An invokedynamic instruction of class caller is about to get its call site. A constant one is executed without a
     * word from then on, by threads inside the subgraph, too: so whichever thread links it waits for its targets.
     */
    public static void linked(Object site, Object bootstrap, Object caller) {
        if (finder == null || site == null) return;
        long s = U.getLong(Probe.CELL);
        find(s, U.getLong(s + Layout.H_TAG), new Object[] {site, bootstrap, caller}, null, 0);
    }

    /** Waits outside of the subgraph; the wait is left out of the profile. A find that fails is not repeated. */
    @DontInline
    private static void find(long s, long tag, Object o, WeakReference<?>[] table, int i) {
        boolean done = false;
        long token = 0;
        U.getAndAddLong(null, Probe.CELL + Probe.USERS, 1);
        try {
            token = Suspension.suspend();
            try {
                Suspension.reserve(200, 0, 0, 0);
                Predicate<Object> f = finder;
                done = f == null || f.test(o);
                if (table != null) table[i] = new WeakReference<>(o);
            } catch (Throwable t) {
                // StackOverflowError, OutOfMemoryError: the report says that something may be missing
            }
            Suspension.resume(token);
            if (!done && Probe.on(s, tag)) U.getAndAddLong(null, s + (U.getLong(s + Layout.H_PATIENCE) != 0 ? Layout.H_GIVEN_UP : Layout.H_INCOMPLETE), 1);
        } finally {
            U.getAndAddLong(null, Probe.CELL + Probe.USERS, -1);
        }
    }
}

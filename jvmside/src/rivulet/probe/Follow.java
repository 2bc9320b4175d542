package rivulet.probe;

import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.Future;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import rivulet.probe.stub.Unsafe;

/**
 * Follows tasks that are handed over inside the subgraph to the threads that execute them (docs/decisions/0016). The
 * JDK's methods through which tasks go call it: at the place of handing over {@link #submit}, around an execution
 * {@link #begin} and Probe.exit or Probe.thrown. Nothing is called here without --follow.
 *
 * What lies between is a table of weak references by the task's identity. It has a bound, takes no lock, and is
 * touched by nobody who is not inside the subgraph, or executes a task.
 *
 * An execution is recorded like a root invocation, in a record of its thread's own, below a node of the kind
 * METHOD_HANDOVER that says where it was handed over. If the thread is inside already (it helps while it waits) that
 * node lies where the thread is, so that whatever ends the execution finds back; the controller puts it where it
 * belongs.
 */
public final class Follow {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** Tasks that can wait at one time, and how many places are looked at for one. */
    private static final int SLOTS = 1 << 16, WINDOW = 8;
    /** Executions beyond the first that can wait, of tasks that were handed over more than once. */
    private static final int MOST = 1 << 18;
    private static final Class<?> VIRTUAL = named("java.lang.VirtualThread"), CARRIER = named("jdk.internal.misc.CarrierThread");

    /** Null until a session that follows sees the first task handed over. */
    private static final AtomicReference<AtomicReferenceArray<Handover>> tasks = new AtomicReference<>();
    private static final AtomicInteger more = new AtomicInteger();

    private Follow() {}

    private static Class<?> named(String name) {
        try {
            return Class.forName(name, false, null);
        } catch (ClassNotFoundException e) {
            return null; // a JDK without it
        }
    }

    /** A session ends. */
    public static void forget() {
        tasks.set(null);
        more.set(0);
    }

    // ---- handing over ----

    /** A task is handed over by the current thread. Called whoever does it. */
    public static void submit(Object task) {
        long record = inside();
        if (record == 0 || task == null) return;
        if (task instanceof Thread && !starts((Thread) task, record)) return;
        hand(record, task, false);
    }

    /** The same for a task that goes by a schedule. */
    public static void schedule(Object task) {
        long record = inside();
        if (record == 0 || task == null) return;
        boolean again = true; // TimerTasks, and tasks of the program's own that stand for others
        if (task instanceof RunnableScheduledFuture && task.getClass().getClassLoader() == null) again = ((RunnableScheduledFuture<?>) task).isPeriodic();
        hand(record, task, again);
    }

    /** A task that was handed over will not be executed. */
    public static void reject(Object task) {
        AtomicReferenceArray<Handover> table = tasks.get();
        if (table != null && task != null && inside() != 0) take(table, task, U.getLong(U.getLong(Probe.CELL) + Layout.H_TAG));
    }

    /** The record of the current thread if it is inside the subgraph, else 0. */
    static long inside() {
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG);
        if (tag == 0 || U.getInt(s + Layout.H_FOLLOW) == 0 || U.getInt(s + Layout.H_GATE) == 0) return 0;
        long record = Probe.mine(s, tag);
        return record == 0 || U.getLong(record + Layout.R_CURSOR) == 0 ? 0 : record;
    }

    /** Whether a thread is a task: workers of the JDK's pools are none. */
    private static boolean starts(Thread t, long record) {
        if ((U.getInt(record + Layout.R_FLAGS) & Layout.R_QUIET) != 0) return false;
        Class<?> c = t.getClass();
        return c == Thread.class || c == VIRTUAL || c.getClassLoader() != null && !(t instanceof ForkJoinWorkerThread);
    }

    private static void hand(long record, Object task, boolean again) {
        long s = U.getLong(Probe.CELL), tag = U.getLong(record + Layout.R_KEY) & -1L << Layout.INDEX_BITS;
        long current = U.getLong(record + Layout.R_CURSOR), from = System.nanoTime();
        boolean done = false, events = false;
        try {
            Suspension.reserve(60, 0, 0, 0);
            AtomicReferenceArray<Handover> table = tasks.get();
            events = U.getInt(s + Layout.H_EVENTS) != 0;
            long number = events ? U.getAndAddLong(null, s + Layout.H_TASKS, 1) << 1 | (again ? 1 : 0) : 0;
            if (table == null) {
                tasks.compareAndSet(null, new AtomicReferenceArray<Handover>(SLOTS)); // or another thread has
                table = tasks.get();
            }
            long[] at = new long[] {tag, submitter(s, current), from, number};
            long[] known = table == null ? null : put(table, task, at, again);
            done = known != null;
            if (events && known == at) Events.submit(s, record, current, number, from);
            else if (events && done) Events.mark(s, record, current, Layout.MARK_PASSES, known[3], from);
        } catch (Throwable t) {
            // StackOverflowError, OutOfMemoryError: the task is executed all the same
        }
        if (!done) U.getAndAddLong(null, s + Layout.H_UNFOLLOWED, 1);
        // What it took is nobody's. A word of events has charged what was before, and waits for the reader are left out already.
        long now = System.nanoTime(), ns = events && done ? Math.max(now - U.getLong(record + Layout.R_LAST), 0) : now - from;
        U.putLong(record + Layout.R_LAST, U.getLong(record + Layout.R_LAST) + ns);
        U.putLong(record + Layout.R_SUSPENDED, U.getLong(record + Layout.R_SUSPENDED) + ns);
    }

    /**
     * The node below which the execution belongs: the current one, or the one of the same method where a task was handed
     * over in which this is executed. So a task that hands itself over doesn't make a tree without end.
     */
    private static long submitter(long s, long current) {
        int method = U.getInt(s + current + Layout.N_METHOD);
        for (long h = handover(s, current); h != 0; ) {
            long from = U.getInt(s + h + Layout.N_FLAGS);
            if (U.getInt(s + from + Layout.N_METHOD) == method) return from;
            h = handover(s, from);
        }
        return current;
    }

    /** The nearest node above that stands for a hand-over, or 0. */
    private static long handover(long s, long i) {
        while (i != 0 && U.getInt(s + i + Layout.N_METHOD) != Layout.METHOD_HANDOVER) i = U.getInt(s + i + Layout.N_PARENT);
        return i;
    }

    /** A thread's id is its own; of other objects the identity hash is taken, which the JVM keeps in their header. */
    private static int home(Object task) {
        int h = task instanceof Thread ? (int) U.getLong(task, Probe.TID) : System.identityHashCode(task);
        return h * 0x9E3779B1 >>> 16;
    }

    /** Returns at, or what was said of the task at another place already, or null if there is no room. */
    private static long[] put(AtomicReferenceArray<Handover> table, Object task, long[] at, boolean again) {
        boolean once = again || task instanceof Thread || task instanceof ForkJoinTask || task instanceof Future;
        int home = home(task);
        for (int round = 0; round < 4; round++) {
            int free = -1;
            Handover old = null;
            for (int i = 0; i < WINDOW; i++) {
                int slot = home + i & SLOTS - 1;
                Handover h = table.get(slot);
                if (h == null || h.dead(at[0])) {
                    if (free < 0) {
                        free = slot;
                        old = h;
                    }
                } else if (h.get() == task) {
                    if (h.all == null) return h.first; // said at another place already
                    if (more.get() >= MOST) return null;
                    if (h.more(at)) {
                        more.incrementAndGet();
                        return at;
                    }
                }
            }
            if (free < 0) return null;
            if (table.compareAndSet(free, old, new Handover(task, at, once, again))) {
                if (old != null && old.all != null && old.waiting.get() > 1) more.addAndGet(1 - old.waiting.get());
                return at;
            }
        }
        return null;
    }

    private static long[] take(AtomicReferenceArray<Handover> table, Object task, long tag) {
        int home = home(task);
        for (int i = 0; i < WINDOW; i++) {
            int slot = home + i & SLOTS - 1;
            Handover h = table.get(slot);
            if (h == null || h.get() != task) continue;
            long[] at = h.take(more, tag);
            if (h.waiting.get() < 0) table.compareAndSet(slot, h, null);
            if (at != null) return at;
        }
        return null;
    }

    // ---- executing ----

    /** A task is about to be executed in a method of the JDK's: a token for Probe.exit and Probe.thrown. */
    public static long begin(Object task, int method) {
        AtomicReferenceArray<Handover> table = tasks.get();
        if (table == null || task == null) return 0;
        long s = U.getLong(Probe.CELL), tag = U.getLong(s + Layout.H_TAG);
        if (tag == 0 || U.getInt(s + Layout.H_FOLLOW) == 0) return 0;
        long[] at = take(table, task, tag);
        Thread t = Thread.currentThread();
        if (at == null || at[0] != tag || CARRIER != null && t.getClass() == CARRIER) return 0; // to mount a virtual thread is no task
        try {
            Suspension.reserve(60, 0, 0, 0);
        } catch (StackOverflowError e) {
            U.getAndAddLong(null, s + Layout.H_UNFOLLOWED, 1);
            return 0;
        }
        return execute(s, tag, U.getLong(t, Probe.TID), method, at);
    }

    /** What run() of the program's own thread classes calls instead of Probe.enter. */
    public static long start(int method) {
        return start(Thread.currentThread(), method);
    }

    /** What run() of the program's own timer tasks calls: their Timer's thread may be in code from before the recording. */
    public static long start(Object task, int method) {
        long token = Probe.enterRoot(method);
        return token != 0 ? token : begin(task, method);
    }

    private static long execute(long s, long tag, long tid, int method, long[] at) {
        int mode = U.getByte(s + Layout.MODES + method) & Layout.MODE_MASK;
        if (mode == Layout.MODE_OFF) return 0;
        long home = Records.slot(s, tid), record = Records.of(home, s, tag, tid), current;
        boolean top = record == 0;
        if (top) {
            record = Roots.lease(s, tag, home, tid, false);
            if (record == 0) return 0; // counted among H_LOST
            current = Roots.admit(s, tag, tid, record);
            if (U.getInt(s + Layout.H_EVENTS) != 0) Events.begin(s, record, tid, null);
        } else {
            current = U.getLong(record + Layout.R_CURSOR);
            if (current == 0) return 0; // the profiler's own work
        }
        U.putInt(record + Layout.R_FLAGS, U.getInt(record + Layout.R_FLAGS) & ~(top ? Layout.R_QUIET | Layout.R_BEGUN : Layout.R_QUIET));
        long h = find(s, record, current, at[1], method);
        if (h == 0) h = add(s, record, current, at[1], method);
        long token = 0;
        if (h != 0) {
            boolean precise = mode == Layout.MODE_PRECISE || mode == Layout.MODE_EVENT_PRECISE || Clock.precise(s, current);
            if (U.getInt(record + Layout.R_RING) != 0) Events.execute(s, record, current, at[3], h, top ? 0 : Clock.time(s, precise));
            else if (!top) Clock.charge(s, record, current, precise);
            U.putLong(record + Layout.R_CURSOR, h);
            token = Probe.other(s, tag, record, h, method);
        } else {
            U.getAndAddLong(null, s + Layout.H_UNFOLLOWED, 1);
        }
        if (token == 0) { // no room, or the part has ended
            U.putLong(record + Layout.R_CURSOR, top ? 0 : current);
            if (top) {
                Roots.outside(s, record);
                Records.release(s, record);
            }
            return 0;
        }
        if (at[2] != 0) {
            long waited = Math.max(System.nanoTime() - at[2], 0), node = s + h;
            U.putLong(node + Layout.N_CALLS, U.getLong(node + Layout.N_CALLS) + waited);
            if (waited > U.getLong(node + Layout.N_COUNT)) U.putLong(node + Layout.N_COUNT, waited);
        }
        if ((token & Layout.EVENT) == 0) token = tag | U.getLong(record + Layout.R_CURSOR) | Layout.OWN | token & Layout.PRECISE;
        return top ? token | Layout.TOP : token;
    }

    private static boolean is(long s, long h, long from, int method) {
        if (U.getInt(s + h + Layout.N_METHOD) != Layout.METHOD_HANDOVER || U.getInt(s + h + Layout.N_FLAGS) != (int) from) return false;
        return (U.getInt(s + U.getInt(s + h + Layout.N_CHILD) + Layout.N_METHOD) & ~Layout.METHOD_FOLD) == method;
    }

    /** The node for executions of this method, handed over there. */
    private static long find(long s, long record, long current, long from, int method) {
        long h = Callees.at(s, current, method);
        if (is(s, h, from, method)) return h;
        for (h = U.getInt(s + current + Layout.N_CHILD); h != 0; h = U.getInt(s + h + Layout.N_SIBLING)) {
            if (!is(s, h, from, method)) continue;
            Callees.put(s, current, method, h);
            return h;
        }
        return 0;
    }

    private static long add(long s, long record, long current, long from, int method) {
        long h = Nodes.fresh(s, record), node = h == 0 ? 0 : Nodes.fresh(s, record);
        if (node == 0) return 0;
        if (U.getInt(s + Layout.H_FOLD) != 0) method |= Layout.METHOD_FOLD;
        U.putInt(s + h + Layout.N_FLAGS, (int) from);
        Nodes.link(s, record, node, h, method);
        Nodes.link(s, record, h, current, Layout.METHOD_HANDOVER);
        return h;
    }

    /** The loop of a pool's worker begins: for caught. */
    public static long worker() {
        long record = inside();
        return record == 0 ? 0 : U.getLong(record + Layout.R_KEY) & -1L << Layout.INDEX_BITS | U.getLong(record + Layout.R_CURSOR);
    }

    /** An exception has reached the loop: the task's execution has ended, if one was under way. */
    public static void caught(long from) {
        long record = inside();
        if (record != 0) ended(record, from & Layout.INDEX_MASK, true);
    }

    /**
     * A pool's worker is about to call run on a task. That is all that a worker says whose loop had begun before it had
     * probes; what it says of other sessions' is not listened to, since this comes first.
     */
    public static void before(Object task, int method) {
        long record = begin(task, method) == 0 ? 0 : inside();
        if (record != 0) U.putInt(record + Layout.R_FLAGS, U.getInt(record + Layout.R_FLAGS) | Layout.R_BEGUN);
    }

    /** The loop of a pool's worker, or of a timer, is about to call run on a task: a token for Probe.exit, unless before has begun. */
    public static long runs(Object task, int method) {
        long record = inside();
        return record != 0 && (U.getInt(record + Layout.R_FLAGS) & Layout.R_BEGUN) != 0 ? 0 : begin(task, method);
    }

    /** run has returned to a pool's worker, or has thrown this. */
    public static void after(Object thrown) {
        long record = inside();
        if (record == 0 || (U.getInt(record + Layout.R_FLAGS) & Layout.R_BEGUN) == 0) return;
        U.putInt(record + Layout.R_FLAGS, U.getInt(record + Layout.R_FLAGS) & ~Layout.R_BEGUN);
        ended(record, 0, thrown != null);
    }

    /** Ends the outermost execution above a node. */
    private static void ended(long record, long end, boolean thrown) {
        long s = U.getLong(Probe.CELL), tag = U.getLong(record + Layout.R_KEY) & -1L << Layout.INDEX_BITS, task = 0;
        long i = U.getInt(record + Layout.R_DEPTH) == 0 ? U.getLong(record + Layout.R_CURSOR) : U.getInt(Unplaced.place(s, record, 0) + 4);
        while (i != 0 && i != end) {
            long parent = U.getInt(s + i + Layout.N_PARENT);
            if (U.getInt(s + parent + Layout.N_METHOD) == Layout.METHOD_HANDOVER) task = i;
            i = parent;
        }
        if (task == 0) return;
        long top = Nodes.above(s, task) == U.getInt(record + Layout.R_TOP) ? Layout.TOP : 0;
        long event = U.getInt(record + Layout.R_RING) != 0 ? Layout.EVENT : 0;
        long precise = Clock.precise(s, task) ? Layout.PRECISE : 0;
        long token = tag | task | Layout.OWN | top | event | precise;
        if (thrown) Probe.thrown(token);
        else Probe.exit(token);
    }

    /** A pool makes a worker, which is no task, though a thread is started: for loud. */
    public static long quiet() {
        long record = inside();
        if (record == 0 || (U.getInt(record + Layout.R_FLAGS) & Layout.R_QUIET) != 0) return 0;
        U.putInt(record + Layout.R_FLAGS, U.getInt(record + Layout.R_FLAGS) | Layout.R_QUIET);
        return U.getLong(record + Layout.R_KEY) & -1L << Layout.INDEX_BITS;
    }

    /** It has made it. */
    public static void loud(long token) {
        long s = U.getLong(Probe.CELL), record = token == 0 || s == Probe.empty() ? 0 : Probe.mine(s, token);
        if (record != 0) U.putInt(record + Layout.R_FLAGS, U.getInt(record + Layout.R_FLAGS) & ~Layout.R_QUIET);
    }
}

package rivulet.agent;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import rivulet.probe.Suspension;

/**
 * Retransforms classes; when the JVM refuses a batch, finds the class that is to blame and does the others.
 *
 * No two threads work on a class at one time: older JVMs would let the one that asked first finish last, with stale
 * bytes, and newer ones would make the second wait without bound for the first, which may want a lock that the second
 * holds. A thread that can't have its classes soon leaves them alone and says so.
 */
final class Batch {
    private static final Map<Class<?>, Thread> TAKEN = new IdentityHashMap<>();

    private static final int ROOM = 1 << 16;
    private static volatile byte[] room;

    private final Instrumentation inst;
    private final Hook hook;
    private final List<Class<?>> refused = new ArrayList<>();
    private final List<String> reasons = new ArrayList<>();
    /** What is thrown to have the work done again later; made before there is no memory for it. */
    private OutOfMemoryError again;

    Batch(Instrumentation inst, Hook hook) {
        this.inst = inst;
        this.hook = hook;
    }

    /** From now on want of memory is no refusal: run throws this error, and leaves some classes undone. */
    void again(OutOfMemoryError e) {
        again = e;
    }

    /** Does classes for the agent's thread, waiting up to patience, in ns, for other threads that do some of them. */
    void run(List<Class<?>> classes, long patience) {
        if (classes.isEmpty()) return;
        long deadline = System.nanoTime() + patience;
        while (!take(classes)) {
            if (System.nanoTime() > deadline) {
                for (int i = 0; i < classes.size(); i++) refuse(classes.get(i), "another thread did not end its retransformation of this class");
                return;
            }
            Suspension.pause(200_000);
        }
        try {
            part(classes);
        } finally {
            release(classes);
        }
    }

    /** True if the current thread's retransformation of this class is one of ours. */
    static boolean mine(Class<?> c) {
        synchronized (TAKEN) {
            return TAKEN.get(c) == Thread.currentThread();
        }
    }

    /** True if the current thread has taken classes. */
    static boolean busy() {
        synchronized (TAKEN) {
            return TAKEN.containsValue(Thread.currentThread());
        }
    }

    /** Makes the classes the current thread's, all or none. */
    static boolean take(List<Class<?>> classes) {
        synchronized (TAKEN) {
            for (int i = 0; i < classes.size(); i++) if (TAKEN.containsKey(classes.get(i))) return false;
            for (int i = 0; i < classes.size(); i++) TAKEN.put(classes.get(i), Thread.currentThread());
            return true;
        }
    }

    static void release(List<Class<?>> classes) {
        synchronized (TAKEN) {
            for (int i = 0; i < classes.size(); i++) TAKEN.remove(classes.get(i));
        }
    }

    /** Does classes that the current thread has taken. */
    void part(List<Class<?>> classes) {
        if (classes.isEmpty()) return;
        try {
            hook.last(classes.get(classes.size() - 1));
            hook.answered(); // from here on
            inst.retransformClasses(classes.toArray(new Class<?>[0]));
            hook.redefined();
            if (again != null && (hook.answered() != classes.size() || hook.starved() || !room())) throw again;
            for (int i = 0; i < classes.size(); i++) hook.tried(classes.get(i), true);
        } catch (Throwable t) {
            if (again != null && (hook.starved() || t instanceof OutOfMemoryError)) throw again;
            if (classes.size() == 1 || hook.mute()) {
                String reason = classes.size() == 1 ? Out.reason(t) : "Rivulet did not answer in time for a class that was redefined with this one";
                for (int i = 0; i < classes.size(); i++) refuse(classes.get(i), reason);
                return;
            }
            int half = classes.size() / 2;
            part(classes.subList(0, half));
            part(classes.subList(half, classes.size()));
        }
    }

    /**
     * Throws OutOfMemoryError if there is no memory. retransformClasses returns as if all was well where the JVM has no memory
     * for the error that it should end with, and has not always asked the hook for each class.
     */
    private static boolean room() {
        room = new byte[ROOM];
        room = null;
        return true;
    }

    private void refuse(Class<?> c, String reason) {
        hook.tried(c, false);
        refused.add(c);
        reasons.add(reason);
    }

    int refusals() {
        return refused.size();
    }

    Class<?> refused(int i) {
        return refused.get(i);
    }

    String reason(int i) {
        return reasons.get(i);
    }
}

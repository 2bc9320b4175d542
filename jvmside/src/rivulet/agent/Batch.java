package rivulet.agent;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Retransforms classes; when the JVM refuses a batch, finds the class that is to blame and does the others.
 *
 * No two threads work on a class at one time: older JVMs would let the one that asked first finish last, with stale
 * bytes, and newer ones would make the second wait without bound for the first, which may want a lock that the second
 * holds. A thread that can't have its classes soon leaves them alone and says so.
 */
final class Batch {
    private static final Map<Class<?>, Thread> TAKEN = new IdentityHashMap<>();

    private final Instrumentation inst;
    private final Hook hook;
    private final List<Class<?>> refused = new ArrayList<>();
    private final List<String> reasons = new ArrayList<>();

    Batch(Instrumentation inst, Hook hook) {
        this.inst = inst;
        this.hook = hook;
    }

    /** Does classes, waiting up to patience, in ns, for other threads that do some of them. */
    void run(List<Class<?>> classes, long patience) {
        if (classes.isEmpty()) return;
        if (!take(classes, System.nanoTime() + patience)) {
            for (int i = 0; i < classes.size(); i++) refuse(classes.get(i), "another thread did not end its retransformation of this class");
            return;
        }
        try {
            part(classes);
        } finally {
            synchronized (TAKEN) {
                for (int i = 0; i < classes.size(); i++) TAKEN.remove(classes.get(i));
            }
        }
    }

    /** True if the current thread's retransformation of this class is one of ours. */
    static boolean mine(Class<?> c) {
        synchronized (TAKEN) {
            return TAKEN.get(c) == Thread.currentThread();
        }
    }

    private static boolean take(List<Class<?>> classes, long deadline) {
        for (;;) {
            synchronized (TAKEN) {
                boolean free = true;
                for (int i = 0; i < classes.size() && free; i++) free = !TAKEN.containsKey(classes.get(i));
                for (int i = 0; i < classes.size() && free; i++) TAKEN.put(classes.get(i), Thread.currentThread());
                if (free) return true;
            }
            if (System.nanoTime() > deadline) return false;
            Mailbox.pause(200_000);
        }
    }

    private void part(List<Class<?>> classes) {
        try {
            inst.retransformClasses(classes.toArray(new Class<?>[0]));
            for (int i = 0; i < classes.size(); i++) hook.tried(classes.get(i), true);
        } catch (Throwable t) {
            if (classes.size() == 1 || hook.mute()) {
                for (int i = 0; i < classes.size(); i++) refuse(classes.get(i), Out.reason(t));
                return;
            }
            int half = classes.size() / 2;
            part(classes.subList(0, half));
            part(classes.subList(half, classes.size()));
        }
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

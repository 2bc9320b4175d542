package rivulet.probe;

import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A task that waits to be executed, and where it was handed over. It doesn't keep the task alive. Safe for concurrent
 * use, without a lock.
 */
final class Handover extends WeakReference<Object> {
    /** Executions that are still to come, -1 when none will: then the entry may be replaced. */
    final AtomicInteger waiting = new AtomicInteger(1);
    /** Of a task that is handed over once: {tag, node, time, number}. */
    final long[] first;
    /** Of one that may be handed over while it waits already, such as a lambda that captures nothing: in their order. */
    final ConcurrentLinkedQueue<long[]> all;
    /** Handed over once and executed again and again, by a schedule. */
    final boolean again;
    private volatile boolean executed;

    Handover(Object task, long[] at, boolean once, boolean again) {
        super(task);
        this.again = again;
        first = once ? at : null;
        all = once ? null : new ConcurrentLinkedQueue<long[]>();
        if (all != null) all.add(at);
    }

    /** It will not be executed in this part of the recording, or nobody has the task any more. */
    boolean dead(long tag) {
        return waiting.get() <= 0 || get() == null || first != null && first[0] != tag;
    }

    /** The same task is handed over once more; false if the entry has just been used up. */
    boolean more(long[] at) {
        for (;;) {
            int n = waiting.get();
            if (n < 0) return false;
            if (waiting.compareAndSet(n, n + 1)) break;
        }
        all.add(at);
        return true;
    }

    /**
     * An execution begins: where it was handed over, or null. more counts what waits beyond the first. What was handed
     * over in an earlier part of the recording, and may have been executed while it paused, is passed over.
     */
    long[] take(AtomicInteger more, long tag) {
        if (again) {
            if (executed) return new long[] {first[0], first[1], 0, first[3]};
            executed = true;
            return first;
        }
        if (all == null) return waiting.compareAndSet(1, -1) ? first : null;
        for (long[] at; (at = all.poll()) != null; ) {
            if (waiting.decrementAndGet() > 0 || !waiting.compareAndSet(0, -1)) more.decrementAndGet();
            if (at[0] == tag) return at;
        }
        return null;
    }
}

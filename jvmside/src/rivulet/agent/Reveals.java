package rivulet.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongBinaryOperator;
import rivulet.probe.Layout;
import rivulet.probe.Suspension;

/** What threads of the program do for their own methods: they ask the controller, and wait until callees are instrumented. Any thread may. */
public final class Reveals implements LongBinaryOperator {
    /** How long a thread that waits for a retransformation by another lets it take: the other may want its locks. */
    private static final long TURN = 3_000_000_000L;
    private static final long TURN_CLASS = 30_000_000L;

    /** What became of a find. */
    static final int UNTOLD = 0, TOLD = 1, FOUND = 2;

    private final Instrumentation inst;
    private final Memory memory;
    private final Mailbox mailbox;
    private final Loaders loaders;
    private final Hook hook;
    private final AtomicInteger finds = new AtomicInteger();

    Reveals(Instrumentation inst, Memory memory, Mailbox mailbox, Loaders loaders, Hook hook) {
        this.inst = inst;
        this.memory = memory;
        this.mailbox = mailbox;
        this.loaders = loaders;
        this.hook = hook;
    }

    /**
     * A thread has entered a fresh method and waits for so many ns at most. The agent's thread retransforms what is initialized; the rest, which can
     * need locks that this very thread holds, comes back for this thread to do (docs/decisions). 1 when the
     * callees are instrumented, 0 when the controller did not answer in time.
     */
    @Override
    public long applyAsLong(final long method, final long patience) {
        hook.use(1);
        try {
            return pinned(method, Math.min(patience, Agent.PATIENCE));
        } finally {
            hook.use(-1);
        }
    }

    private long pinned(final long method, final long patience) {
        Pin.on();
        try {
            if (System.getSecurityManager() == null) return reveal(method, patience);
            return AccessController.doPrivileged(new PrivilegedAction<Long>() { // the program's rights are not ours
                @Override
                public Long run() {
                    return reveal(method, patience);
                }
            });
        } finally {
            Pin.off();
        }
    }

    private long reveal(long method, long patience) {
        long from = System.nanoTime();
        long done = finish(method, mailbox.reveal((int) method, new Out().u32((int) method).done(), patience));
        memory.waited(from);
        return done;
    }

    /**
     * A thread is about to call so many methods in a way that no code tells; rows say which. FOUND when they are
     * instrumented, TOLD when the controller will have them instrumented later, UNTOLD when it does not hear of them.
     */
    int find(int methods, Out rows) {
        long from = System.nanoTime();
        int found = find(methods, rows, memory.patience(Agent.PATIENCE), false, redefined());
        memory.waited(from);
        return found;
    }

    /** How often classes have been redefined. */
    long redefined() {
        return Memory.U.getLongVolatile(null, memory.base + Layout.H_REDEFINED);
    }

    /** The same with another patience. Gone: who calls them has gone on, when so many classes had been redefined. */
    int find(int methods, Out rows, long patience, boolean gone, long redefined) {
        int number = -1 - (finds.getAndIncrement() & Integer.MAX_VALUE);
        long deadline = System.nanoTime() + patience;
        loaders.tell(mailbox, patience);
        byte[] request = Out.join(new Out().u32(number).u8(gone ? 1 : 0).u64(redefined).u32(methods), rows);
        byte[] reply = mailbox.offer(Wire.REQ_TARGETS, request, deadline - System.nanoTime());
        if (reply == null) return UNTOLD;
        return reply != Mailbox.LEFT && finish(number, reply) != 0 ? FOUND : TOLD;
    }

    /**
     * Does the thread's part, which it has none of where its patience is bounded, and what else comes into reach by the classes that are loaded meanwhile. The number is
     * that of the method, or a negative one of a find. Where other threads had some of the classes, the controller is asked again what is left: in a crowd each thread's part
     * has the classes of all.
     */
    private long finish(long method, byte[] reply) {
        try {
            while (reply != null) {
                List<Object[]> keys = Loaders.keys(new In(reply));
                if (keys.isEmpty()) return 1;
                List<Class<?>> taken = classes(keys), left = taken;
                long deadline = System.nanoTime() + TURN + TURN_CLASS * taken.size();
                boolean late = false;
                while (!Batch.take(taken)) {
                    if (settled(method)) return 1;
                    if (mailbox.closed() || System.nanoTime() > deadline) return 0;
                    late = true;
                    Suspension.pause(200_000);
                }
                try { // the controller is told while they are ours still: who waits for them finds them done
                    if (settled(method)) return 1;
                    if (late) {
                        reply = revealed(method, Collections.<Object[]>emptyList(), new Batch(inst, hook));
                        if (reply == null) return 0;
                        keys = Loaders.keys(new In(reply));
                        left = classes(keys);
                    }
                    if (!keys.isEmpty() && (left == taken || new HashSet<>(taken).containsAll(left))) {
                        Batch b = new Batch(inst, hook);
                        b.part(left);
                        reply = revealed(method, keys, b);
                    }
                } finally {
                    Batch.release(taken);
                }
            }
        } catch (IOException e) {
            // no such reply: it can't be done
        }
        return 0;
    }

    private List<Class<?>> classes(List<Object[]> keys) {
        List<Class<?>> out = new ArrayList<>();
        for (Object[] k : keys) {
            Class<?> c = loaders.search(inst, (Integer) k[0], (String) k[1]);
            if (c != null) out.add(c);
        }
        return out;
    }

    /** Tells the controller which classes are done, and returns what is left to the thread. */
    private byte[] revealed(long method, List<Object[]> keys, Batch b) {
        return mailbox.call(Wire.REQ_REVEALED, done(method, keys, b), Agent.PATIENCE);
    }

    private byte[] done(long method, List<Object[]> keys, Batch b) {
        Out out = new Out().u32((int) method).u32(b.refusals());
        for (int i = 0; i < b.refusals(); i++) {
            Object[] k = loaders.key(b.refused(i));
            out.u32((Integer) k[0]).str((String) k[1]).str(b.reason(i));
        }
        out.u32(keys.size());
        for (Object[] k : keys) out.u32((Integer) k[0]).str((String) k[1]);
        return out.done();
    }

    /** The method's callees are instrumented. */
    private boolean settled(long method) {
        return method > 0 && (Memory.U.getByte(memory.base + Layout.MODES + method) & Layout.MODE_MASK) != Layout.MODE_FRESH;
    }
}

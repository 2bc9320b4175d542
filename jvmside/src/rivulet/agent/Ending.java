package rivulet.agent;

import java.lang.instrument.Instrumentation;
import rivulet.probe.Follow;
import rivulet.probe.Layout;
import rivulet.probe.Probe;
import rivulet.probe.Suspension;
import rivulet.probe.Reflection;
import rivulet.probe.Spans;

/**
 * The end of a session, in a program whose heap may be full: what there is no memory for is tried again, since a heap
 * that is full need not stay so. Until then the probes are silent. It is made when the session begins, so that it is
 * there when there is no memory.
 */
final class Ending {
    private static final int RESTORE_BATCH = 64;
    private static final int RESTORE_BATCH_OLD = 16; // JDK 8 and 11: 1.6 ms of everybody's pause a class
    private static final long PATIENCE = 10_000_000_000L;
    /** Tries after which the controller is not kept waiting, some three seconds, and after which memory is gone for good, ten minutes. */
    private static final int WAITED = 6, TRIES = 130;
    private static final OutOfMemoryError STARVED = new OutOfMemoryError("classes are restored when there is memory for it");

    private final Instrumentation inst;
    private final Memory memory;
    private final Mailbox mailbox;
    private final Loaders loaders;
    private final Hook hook;
    private final Targets targets;
    private boolean alone;
    private Winding winding;
    private Restore restore;
    private int done;
    private long took;
    private final Silence silence;

    Ending(Instrumentation inst, Memory memory, Mailbox mailbox, Loaders loaders, Hook hook, Targets targets) {
        this.inst = inst;
        this.memory = memory;
        this.mailbox = mailbox;
        this.loaders = loaders;
        this.hook = hook;
        this.targets = targets;
        silence = new Silence(memory, hook);
    }

    /** Takes away what probes call. */
    void forget() {
        for (int tries = 0; tries < TRIES; tries++) {
            try {
                Suspension.revealer(null);
                Reflection.finder(null);
                Spans.reader(null);
                Follow.forget(); // the JVM asks the agent's class loader for this class, perhaps now for the first time
                Memory.U.putLongRelease(null, Probe.cell(), Probe.empty());
                return;
            } catch (OutOfMemoryError e) {
                pause(tries);
            }
        }
    }

    /** Restores all classes and takes the transformer away; alone if the controller does not wait for it. */
    void restore(boolean alone) {
        this.alone = alone;
        if (alone) wind();
        long from = System.nanoTime();
        for (int tries = 0; tries <= TRIES; tries++) {
            try {
                if (this.alone && winding == null) winding = new Winding();
                if (restore == null) restore = new Restore(inst, loaders, hook);
                done = restore.run(old() ? RESTORE_BATCH_OLD : RESTORE_BATCH, tries < TRIES ? STARVED : null, winding);
                break;
            } catch (OutOfMemoryError e) {
                pause(tries);
            } catch (Throwable t) {
                break; // a bug of ours: the probes stay, silent
            }
        }
        took = System.nanoTime() - from;
        for (int tries = 0; tries < TRIES; tries++) {
            try {
                if (winding != null) winding.end();
                targets.restored();
                inst.removeTransformer(hook);
                return;
            } catch (OutOfMemoryError e) {
                pause(tries);
            }
        }
    }

    /** Tells the controller, if it waits, what was restored. */
    void tell() {
        if (alone || restore == null) return;
        try {
            Out out = new Out().u32(done).u64(took).u32(restore.failures());
            for (int i = 0; i < restore.failures(); i++) {
                Class<?> c = restore.failed(i);
                out.u32(loaders.id(c.getClassLoader())).str(Loaders.internal(c)).str(restore.reason(i));
            }
            mailbox.last(Wire.REQ_RESTORED, out.done(), PATIENCE);
        } catch (OutOfMemoryError e) {
            // the state says that it has ended
        }
    }

    /** Unmaps the data file, when nobody can be looking at it. */
    void silence() {
        silence.run();
    }

    private static boolean old() {
        return System.getProperty("java.specification.version").compareTo("12") < 0;
    }

    private void wind() {
        Memory.U.putIntRelease(null, memory.base + Layout.H_STATE, Layout.STATE_WINDING);
    }

    private void pause(int tries) {
        if (tries == WAITED) {
            alone = true;
            wind();
        }
        Pause.pause(Math.min(50L << Math.min(tries, 7), 5000));
    }
}

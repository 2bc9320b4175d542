package rivulet.agent;

import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.instrument.Instrumentation;
import rivulet.probe.Following;
import rivulet.probe.Layout;
import rivulet.probe.Probe;
import rivulet.probe.Suspension;
import rivulet.probe.Reflection;
import rivulet.probe.Spans;

/**
 * One session inside the target, from attach to detach. Its thread obeys the controller's commands; a second one
 * watches the controller's heartbeat and the bell, since the first may be waiting for a class loader or for a pipe.
 * Whatever ends the session (a command, a closed pipe, silence) ends it in the same way: gate, waiters, classes,
 * threads, memory. The memory is the first thread's to unmap, after all else.
 */
public final class Agent implements Runnable {
    /** How long a thread may wait for its callees, and the agent's own for an answer. */
    static final long PATIENCE = 10_000_000_000L;

    /** In the probe's cell: 1 while a session is there. */
    private static final int CLAIM = 8;

    private final Instrumentation inst;
    private final Memory memory;
    private final InputStream commands;
    private final OutputStream bell;
    private final Controller controller;
    private final Mailbox mailbox;
    private final Hook hook;
    private final Reveals reveals;
    private final Targets targets;
    private final Tracing tracing;
    private final Commands obeyed;
    private final Ending last;
    private final Object order = new Object();
    private final Thread watch;
    private volatile boolean obeying;
    private boolean ending;

    private Agent(String room, Instrumentation inst) throws Exception {
        this.inst = inst;
        memory = new Memory(Room.path(room, "data"));
        // Opened for both directions first, then for the wanted one: neither blocks, and a dead partner is an end of
        // file. Streams, since interrupts close channels.
        try (RandomAccessFile c = new RandomAccessFile(room + "/commands", "rw"); RandomAccessFile b = new RandomAccessFile(room + "/bell", "rw")) {
            commands = new FileInputStream(room + "/commands");
            bell = new FileOutputStream(room + "/bell");
        }
        controller = new Controller(Memory.U.getInt(memory.base + Layout.H_CONTROLLER));
        mailbox = new Mailbox(memory, bell, controller);
        Loaders loaders = new Loaders();
        hook = new Hook(memory, mailbox, loaders);
        reveals = new Reveals(inst, memory, mailbox, loaders, hook);
        targets = new Targets(reveals, hook, loaders, memory);
        tracing = new Tracing(hook);
        obeyed = new Commands(inst, memory, mailbox, loaders, hook, tracing);
        last = new Ending(inst, memory, mailbox, loaders, hook, targets);
        watch = daemon(new Runnable() { // no lambda: its class would be made in the target, and stay
            @Override
            public void run() {
                watch();
            }
        }, "rivulet-watch");
    }

    /** Called by Boot1 on the JVM's attach thread or, in premain, on the main thread, which waits for the word to go. */
    public static void start(String room, Instrumentation inst, boolean premain) throws Exception {
        if (premain && System.getProperty("sun.java.command", "").isEmpty()) return; // java -version and the like
        Modules.open(inst);
        Classes.define();
        Classes.load();
        if (!Memory.U.compareAndSetLong(null, Probe.cell() + CLAIM, 0, 1)) throw new IllegalStateException("another session is active in this JVM");
        Agent a = null;
        try {
            a = new Agent(room, inst);
        } finally {
            if (a == null) Memory.U.putLongRelease(null, Probe.cell() + CLAIM, 0);
        }
        Memory.U.putIntRelease(null, a.memory.base + Layout.H_STATE, Layout.STATE_UP);
        try {
            a.watch.start();
            daemon(a, "rivulet-agent").start();
        } catch (Throwable t) { // no thread to be had
            a.end(Layout.REASON_FAILED);
            throw t;
        }
        Room.remove(room);
        a.hook.use(1);
        try {
            while (premain && !a.obeyed.go && a.memory.up()) Suspension.pause(1_000_000);
        } finally {
            a.hook.use(-1);
        }
    }

    /** The stack is of the usual size: other agents' transformers run on it. */
    private static Thread daemon(Runnable r, String name) {
        Thread t = new Thread(null, r, name, 1 << 20);
        t.setDaemon(true);
        t.setContextClassLoader(null);
        return t;
    }

    /** This process's id as it sees itself, 0 if it can't. */
    private static int pid() {
        try {
            return Integer.parseInt(new java.io.File("/proc/self").getCanonicalFile().getName());
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }

    // ---- the agent's thread ----

    @Override
    public void run() {
        int reason = Layout.REASON_FAILED;
        try {
            byte[] hello = new Out().str(System.getProperty("java.version")).u64(System.nanoTime()).u8(inst.isRetransformClassesSupported() ? 1 : 0)
                .u32(pid()).done();
            obeying = true;
            hook.agent(Thread.currentThread());
            if (mailbox.call(Wire.REQ_HELLO, hello, PATIENCE) != null && begin()) reason = obeyed.obey(commands);
        } catch (EOFException e) {
            reason = Layout.REASON_EOF;
        } catch (Throwable t) {
            // an Error of the JVM's, or a bug of ours: end the session
        }
        obeying = false;
        end(reason);
        while (watch.isAlive()) {
            try {
                watch.join();
            } catch (InterruptedException e) {
                // nobody has a reason to
            }
        }
        try {
            Following.forget(); // the watch has looked for the last time
        } catch (Throwable t) {
            // no memory to find the class, which has followed nothing then
        }
        close(commands);
        close(bell);
        close(controller);
        try {
            Thread.currentThread().setName("rivulet-left"); // the next session may come
        } catch (OutOfMemoryError e) {
            // the next session is refused until this thread has ended
        }
        last.silence();
    }

    /** False if the watch has ended the session already. */
    private boolean begin() {
        synchronized (order) {
            if (ending) return false;
            inst.addTransformer(hook, true);
            Suspension.revealer(reveals);
            Reflection.finder(targets);
            Spans.reader(tracing);
            Memory.U.putLongRelease(null, Probe.cell(), memory.base);
            mailbox.known();
            return true;
        }
    }

    // ---- the end ----

    /**
     * Fifteen looks in a row must find the same heartbeat: a machine that slept, or was busy elsewhere, is not taken for a
     * dead controller, however old the heartbeat then is.
     */
    private void watch() {
        long beat = 0;
        for (int same = 0; memory.up(); ) {
            try {
                long from = System.nanoTime();
                Pause.pause(100);
                mailbox.late(System.nanoTime() - from - 100_000_000L);
                long last = beat;
                same = (beat = mailbox.beat()) == last ? same + 1 : 0;
                if (same >= 15 && mailbox.silent(System.nanoTime())) end(Layout.REASON_HEARTBEAT);
                else if (!mailbox.heard()) end(Layout.REASON_EOF);
                targets.again();
                Following.look();
            } catch (Throwable t) {
                // no memory at the moment: look again
            }
        }
        if (obeying) wake();
    }

    /** The agent's thread may hang on the pipe of a controller that is stopped: gives it an empty command to read. */
    private void wake() {
        try {
            int fd = Memory.U.getInt(((FileInputStream) commands).getFD(), Memory.U.objectFieldOffset(java.io.FileDescriptor.class.getDeclaredField("fd")));
            try (FileOutputStream out = new FileOutputStream("/proc/self/fd/" + fd)) {
                out.write(new byte[] {0, 0, 0, 1, 0});
            }
        } catch (Exception e) {
            // it ends when the controller does
        }
    }

    private void end(int reason) {
        synchronized (order) {
            if (ending) return;
            ending = true;
        }
        long base = memory.base;
        Memory.U.putLongRelease(null, base + Layout.H_TAG, 0);
        Memory.U.putLong(base + Layout.H_ENDED, System.nanoTime());
        Memory.U.putInt(base + Layout.H_REASON, reason);
        Memory.U.putIntRelease(null, base + Layout.H_STATE, Layout.STATE_STOPPING);
        mailbox.close(); // a thread that waits may hold what restoring needs
        try {
            last.forget();
            last.restore(obeyed.gently && reason == Layout.REASON_COMMAND);
            if (reason == Layout.REASON_COMMAND) last.tell();
        } finally {
            Memory.U.putIntRelease(null, base + Layout.H_STATE, Layout.STATE_STOPPED);
            Memory.U.putLongRelease(null, Probe.cell() + CLAIM, 0);
        }
        if (reason != Layout.REASON_COMMAND) obeyed.flight.end(); // it writes a file, for which nobody has to wait
    }

    private static void close(java.io.Closeable c) {
        try {
            c.close();
        } catch (IOException e) {
            // a pipe: nothing to be lost
        }
    }
}

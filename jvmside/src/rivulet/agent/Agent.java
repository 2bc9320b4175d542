package rivulet.agent;

import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.instrument.Instrumentation;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongBinaryOperator;
import rivulet.probe.Layout;
import rivulet.probe.Probe;
import rivulet.probe.Reflection;

/**
 * One session inside the target, from attach to detach. Its thread obeys the controller's commands; a second one
 * watches the controller's heartbeat and the bell, since the first may be waiting for a class loader or for a pipe.
 * Whatever ends the session (a command, a closed pipe, silence) ends it in the same way: gate, waiters, classes,
 * threads, memory. The memory is the first thread's to unmap, after all else.
 */
public final class Agent implements Runnable, LongBinaryOperator {
    /** How long a thread may wait for its callees. */
    private static final long PATIENCE = 10_000_000_000L;
    /** How long a thread that waits for a retransformation by another lets it take: the other may want its locks. */
    private static final long TURN = 3_000_000_000L;
    private static final long TURN_CLASS = 30_000_000L;

    /** In the probe's cell: 1 while a session is there. */
    private static final int CLAIM = 8;

    /** What became of a find. */
    static final int UNTOLD = 0, TOLD = 1, FOUND = 2;

    private final Instrumentation inst;
    private final Memory memory;
    private final InputStream commands;
    private final OutputStream bell;
    private final Mailbox mailbox;
    private final Loaders loaders;
    private final Hook hook;
    private final Listing listing;
    private final Targets targets;
    private final Calibrate calibrate;
    private final Ending last;
    private final AtomicInteger finds = new AtomicInteger();
    private final Object order = new Object();
    private final Thread watch;
    private volatile boolean go, obeying;
    private boolean ending, gently;

    private Agent(String room, Instrumentation inst) throws Exception {
        this.inst = inst;
        memory = new Memory(path(room, "data"));
        // Opened for both directions first, then for the wanted one: neither blocks, and a dead partner is an end of
        // file. Streams, since interrupts close channels.
        try (RandomAccessFile c = new RandomAccessFile(room + "/commands", "rw"); RandomAccessFile b = new RandomAccessFile(room + "/bell", "rw")) {
            commands = new FileInputStream(room + "/commands");
            bell = new FileOutputStream(room + "/bell");
        }
        mailbox = new Mailbox(memory, bell);
        loaders = new Loaders();
        hook = new Hook(memory, mailbox, loaders);
        listing = new Listing(inst, mailbox, loaders);
        targets = new Targets(this, hook, loaders, memory);
        calibrate = new Calibrate(mailbox);
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
        define();
        load();
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
        remove(room);
        a.hook.use(1);
        try {
            while (premain && !a.go && a.up()) Thread.sleep(1);
        } finally {
            a.hook.use(-1);
        }
    }

    /** Everything is open: the controller may die before it can remove the names. */
    private static void remove(String room) {
        try {
            new java.io.File(path(room, "data")).delete();
            for (String name : new String[] {"data.at", "data", "commands", "bell", "agent.bin", ""}) new java.io.File(room, name).delete();
        } catch (IOException e) {
            // the controller does it too
        }
    }

    /** The data file's place: the room's own file, or the one that the file "data.at" names. */
    private static String path(String room, String name) throws IOException {
        java.io.File at = new java.io.File(room, name + ".at");
        if (!at.exists()) return room + "/" + name;
        byte[] b = new byte[4096];
        try (FileInputStream in = new FileInputStream(at)) {
            return new String(b, 0, Math.max(0, in.read(b)), "UTF-8");
        }
    }

    /** The stack is of the usual size: other agents' transformers run on it. */
    private static Thread daemon(Runnable r, String name) {
        Thread t = new Thread(null, r, name, 1 << 20);
        t.setDaemon(true);
        t.setContextClassLoader(null);
        return t;
    }

    /** Defines the probe classes in the bootstrap loader, unless an earlier session has. */
    private static void define() throws Exception {
        define("rivulet.probe.Probe".intern()); // renamed with everything else: the names in this JVM
        define("rivulet.probe.Callees".intern());
        define("rivulet.probe.Side".intern());
        define("rivulet.probe.Allocated".intern());
        define("rivulet.probe.Executed".intern());
        define("rivulet.probe.Exits".intern());
        define("rivulet.probe.Leaf".intern());
        define("rivulet.probe.Records".intern());
        define("rivulet.probe.Reflection".intern());
        define("rivulet.probe.Unplaced".intern());
        define("rivulet.probe.Events".intern());
        define("rivulet.probe.Timers".intern());
        define("rivulet.probe.Handover".intern());
        define("rivulet.probe.Follow".intern());
        define("rivulet.probe.Waits".intern());
    }

    private static void define(String name) throws Exception {
        try {
            Class.forName(name, true, null);
        } catch (ClassNotFoundException e) {
            byte[] b = read(name);
            Memory.U.defineClass(name.replace('.', '/'), b, 0, b.length, null, null);
            Class.forName(name, true, null);
        }
    }

    /** Loads every class of the agent now: later it would be in the middle of somebody's class loading. */
    private static void load() throws Exception {
        for (String name : new String(read("")).split("\n")) {
            if (!name.startsWith("java.")) Class.forName(name, true, Agent.class.getClassLoader());
        }
        // What only the hook uses. It needs them in order to answer for the very class that is loaded.
        for (String name : new String[] {"DeflaterOutputStream", "Deflater", "InflaterInputStream", "Inflater"}) Class.forName("java.util.zip." + name, false, null);
    }

    private static byte[] read(String name) throws IOException {
        try (InputStream in = Agent.class.getClassLoader().getResourceAsStream(name)) {
            java.io.ByteArrayOutputStream b = new java.io.ByteArrayOutputStream();
            for (int c; (c = in.read()) >= 0; ) b.write(c);
            return b.toByteArray();
        }
    }

    /** This process's id as it sees itself, 0 if it can't. */
    private static int pid() {
        try {
            return Integer.parseInt(new java.io.File("/proc/self").getCanonicalFile().getName());
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }

    private boolean up() {
        return Memory.U.getIntVolatile(null, memory.base + Layout.H_STATE) == Layout.STATE_UP;
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
            if (mailbox.call(Wire.REQ_HELLO, hello, PATIENCE) != null && begin()) reason = obey();
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
        close(commands);
        close(bell);
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
            Probe.revealer(this);
            Reflection.finder(targets);
            Memory.U.putLongRelease(null, Probe.cell(), memory.base);
            mailbox.known();
            return true;
        }
    }

    private int obey() throws IOException {
        InputStream in = new java.io.BufferedInputStream(commands, 4096);
        for (;;) {
            In m = In.next(in);
            int type = m.u8();
            if (!up()) return Layout.REASON_HEARTBEAT; // the watch was faster
            switch (type) {
                case Wire.CMD_LIST:
                    if (m.u8() > 0) loaders.open();
                    listing.classes();
                    break;
                case Wire.CMD_FETCH: fetch(m); break;
                case Wire.CMD_RETRANSFORM: retransform(m); break;
                case Wire.CMD_FIND: listing.find(m.str()); break;
                case Wire.CMD_NAMES: listing.names(); break;
                case Wire.CMD_CALIBRATE: calibrate.run(m); break;
                case Wire.CMD_GO: go = true; break;
                case Wire.CMD_STOP:
                    gently = m.u8() > 0;
                    return Layout.REASON_COMMAND;
                default: throw new IOException("command " + type);
            }
        }
    }

    private void fetch(In m) throws IOException {
        int[] ids = new int[m.u32()];
        String[] names = new String[ids.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = m.u32();
            names[i] = m.str();
        }
        listing.files(ids, names);
    }

    private void retransform(In m) throws IOException {
        int batch = m.u32();
        boolean all = m.u8() != 0;
        Out out = new Out();
        int[] rows = {0};
        List<Class<?>> classes = new ArrayList<>();
        for (Object[] k : keys(m)) {
            Class<?> c = loaders.search(inst, (Integer) k[0], (String) k[1]);
            if (c == null) row(out, rows, k, Wire.OUTCOME_GONE, "not loaded any more");
            else if (!inst.isModifiableClass(c)) row(out, rows, k, Wire.OUTCOME_REFUSED, "the JVM does not let agents modify it");
            else if (!all && Memory.U.shouldBeInitialized(c)) row(out, rows, k, Wire.OUTCOME_LEFT, "");
            else classes.add(c);
        }
        long from = System.nanoTime();
        Batch b = new Batch(inst, hook);
        b.run(classes, PATIENCE);
        long ns = System.nanoTime() - from;
        for (int i = 0; i < b.refusals(); i++) row(out, rows, key(b.refused(i)), Wire.OUTCOME_REFUSED, b.reason(i));
        mailbox.call(Wire.REQ_BATCH, Out.join(new Out().u32(batch).u64(ns).u32(rows[0]), out), PATIENCE);
    }

    private static void row(Out out, int[] rows, Object[] key, int outcome, String reason) {
        out.u32((Integer) key[0]).str((String) key[1]).u8(outcome).str(reason);
        rows[0]++;
    }

    private Object[] key(Class<?> c) {
        return new Object[] {loaders.id(c.getClassLoader()), Loaders.internal(c)};
    }

    private static List<Object[]> keys(In m) throws IOException {
        List<Object[]> keys = new ArrayList<>();
        for (int n = m.u32(); n > 0; n--) keys.add(new Object[] {m.u32(), m.str()});
        return keys;
    }

    // ---- the program's threads ----

    /**
     * A thread has entered a fresh method and waits for so many ns at most. The agent's thread retransforms what is initialized; the rest, which can
     * need locks that this very thread holds, comes back for this thread to do (docs/decisions). 1 when the
     * callees are instrumented, 0 when the controller did not answer in time.
     */
    @Override
    public long applyAsLong(final long method, final long patience) {
        hook.use(1);
        try {
            return pinned(method, Math.min(patience, PATIENCE));
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
        int found = find(methods, rows, memory.patience(PATIENCE), false, redefined());
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
     * that of the method, or a negative one of a find.
     */
    private long finish(long method, byte[] reply) {
        try {
            while (reply != null) {
                List<Object[]> keys = keys(new In(reply));
                if (keys.isEmpty()) return 1;
                List<Class<?>> classes = new ArrayList<>();
                for (Object[] k : keys) {
                    Class<?> c = loaders.search(inst, (Integer) k[0], (String) k[1]);
                    if (c != null) classes.add(c);
                }
                long deadline = System.nanoTime() + TURN + TURN_CLASS * classes.size();
                while (!Batch.take(classes)) {
                    if (settled(method)) return 1;
                    if (mailbox.closed() || System.nanoTime() > deadline) return 0;
                    Probe.pause(200_000);
                }
                try { // the controller is told while they are ours still: who waits for them finds them done
                    if (settled(method)) return 1;
                    Batch b = new Batch(inst, hook);
                    b.part(classes);
                    reply = mailbox.call(Wire.REQ_REVEALED, done(method, keys, b), PATIENCE);
                } finally {
                    Batch.release(classes);
                }
            }
        } catch (IOException e) {
            // no such reply: it can't be done
        }
        return 0;
    }

    private byte[] done(long method, List<Object[]> keys, Batch b) {
        Out out = new Out().u32((int) method).u32(b.refusals());
        for (int i = 0; i < b.refusals(); i++) {
            Object[] k = key(b.refused(i));
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

    // ---- the end ----

    /**
     * Fifteen looks in a row must find the same heartbeat: a machine that slept, or was busy elsewhere, is not taken for a
     * dead controller, however old the heartbeat then is.
     */
    private void watch() {
        long beat = 0;
        for (int same = 0; up(); ) {
            try {
                long from = System.nanoTime();
                Thread.sleep(100);
                mailbox.late(System.nanoTime() - from - 100_000_000L);
                long last = beat;
                same = (beat = mailbox.beat()) == last ? same + 1 : 0;
                if (same >= 15 && mailbox.silent(System.nanoTime())) end(Layout.REASON_HEARTBEAT);
                else if (!mailbox.heard()) end(Layout.REASON_EOF);
                targets.again();
            } catch (Throwable t) {
                // an interrupt, or no memory at the moment: look again
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
            last.restore(gently && reason == Layout.REASON_COMMAND);
            if (reason == Layout.REASON_COMMAND) last.tell();
        } finally {
            Memory.U.putIntRelease(null, base + Layout.H_STATE, Layout.STATE_STOPPED);
            Memory.U.putLongRelease(null, Probe.cell() + CLAIM, 0);
        }
    }

    private static void close(java.io.Closeable c) {
        try {
            c.close();
        } catch (IOException e) {
            // a pipe: nothing to be lost
        }
    }
}

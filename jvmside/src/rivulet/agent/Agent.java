package rivulet.agent;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongBinaryOperator;
import rivulet.probe.Layout;
import rivulet.probe.Probe;

/**
 * One session inside the target, from attach to detach. Its thread obeys the controller's commands; a second one
 * watches the controller's heartbeat, since the first may be waiting for a class loader or for a pipe. Whatever ends
 * the session (a command, a closed pipe, silence) ends it in the same way: gate, waiters, classes, threads, memory.
 */
public final class Agent implements Runnable, LongBinaryOperator {
    /** How long a thread may wait for its callees. */
    private static final long PATIENCE = 10_000_000_000L;
    private static final int RESTORE_BATCH = 64;

    private final Instrumentation inst;
    private final Memory memory;
    private final InputStream commands;
    private final OutputStream bell;
    private final Mailbox mailbox;
    private final Loaders loaders;
    private final Hook hook;
    private final Listing listing;
    private volatile boolean go;
    private boolean ending;

    private Agent(String room, Instrumentation inst) throws Exception {
        this.inst = inst;
        if (Memory.U.getLong(Probe.cell()) != 0) throw new IllegalStateException("another session is active in this JVM");
        memory = new Memory(path(room, "data"));
        // Opened for both directions first, then for the wanted one: neither blocks, and a dead partner is an end of
        // file. Streams, since interrupts close channels.
        try (RandomAccessFile c = new RandomAccessFile(room + "/commands", "rw"); RandomAccessFile b = new RandomAccessFile(room + "/bell", "rw")) {
            commands = new FileInputStream(room + "/commands");
            bell = new FileOutputStream(room + "/bell");
        }
        mailbox = new Mailbox(memory, bell);
        loaders = new Loaders();
        hook = new Hook(inst, mailbox, loaders);
        listing = new Listing(inst, mailbox, loaders);
    }

    /** Called by Boot1 on the JVM's attach thread or, in premain, on the main thread, which waits for the word to go. */
    public static void start(String room, Instrumentation inst, boolean premain) throws Exception {
        if (premain && System.getProperty("sun.java.command", "").isEmpty()) return; // java -version and the like
        Modules.open(inst);
        define();
        load();
        final Agent a = new Agent(room, inst);
        Memory.U.putInt(a.memory.base + Layout.H_STATE, Layout.STATE_UP);
        daemon(a, "rivulet-agent");
        daemon(new Runnable() { // no lambda: its class would be made in the target, and stay
            @Override
            public void run() {
                a.watch();
            }
        }, "rivulet-watch");
        while (premain && !a.go && a.up()) Thread.sleep(1);
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

    private static void daemon(Runnable r, String name) {
        Thread t = new Thread(null, r, name, 256 << 10);
        t.setDaemon(true);
        t.setContextClassLoader(null);
        t.start();
    }

    /** Defines the probe class in the bootstrap loader, unless an earlier session has. */
    private static void define() throws Exception {
        String name = "rivulet.probe.Probe".intern(); // renamed with everything else: the probe's name in this JVM
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
            if (mailbox.call(Wire.REQ_HELLO, hello, PATIENCE) != null) {
                inst.addTransformer(hook, true);
                Probe.revealer(this);
                Memory.U.putLongRelease(null, Probe.cell(), memory.base);
                reason = obey();
            }
        } catch (EOFException e) {
            reason = Layout.REASON_EOF;
        } catch (Throwable t) {
            // an Error of the JVM's, or a bug of ours: end the session
        }
        end(reason);
    }

    private int obey() throws IOException {
        DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(commands, 4096));
        while (up()) {
            byte[] b = new byte[in.readInt() - 1];
            int type = in.readUnsignedByte();
            in.readFully(b);
            DataInputStream m = new DataInputStream(new ByteArrayInputStream(b));
            switch (type) {
                case Wire.CMD_LIST: listing.classes(); break;
                case Wire.CMD_FETCH: fetch(m); break;
                case Wire.CMD_RETRANSFORM: retransform(m); break;
                case Wire.CMD_FIND: listing.find(m.readUTF()); break;
                case Wire.CMD_GO: go = true; break;
                case Wire.CMD_STOP: return Layout.REASON_COMMAND;
                default: throw new IOException("command " + type);
            }
        }
        return Layout.REASON_HEARTBEAT;
    }

    private void fetch(DataInputStream m) throws IOException {
        int[] ids = new int[m.readInt()];
        String[] names = new String[ids.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = m.readInt();
            names[i] = m.readUTF();
        }
        listing.files(ids, names);
    }

    private void retransform(DataInputStream m) throws IOException {
        int batch = m.readInt();
        boolean all = m.readUnsignedByte() != 0;
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
        Batch b = new Batch(inst);
        b.run(classes);
        long ns = System.nanoTime() - from;
        for (int i = 0; i < b.refusals(); i++) row(out, rows, key(b.refused(i)), Wire.OUTCOME_REFUSED, b.reason(i));
        Out head = new Out().u32(batch).u64(ns).u32(rows[0]);
        mailbox.call(Wire.REQ_BATCH, join(head, out), PATIENCE);
    }

    private static void row(Out out, int[] rows, Object[] key, int outcome, String reason) {
        out.u32((Integer) key[0]).str((String) key[1]).u8(outcome).str(reason);
        rows[0]++;
    }

    private Object[] key(Class<?> c) {
        return new Object[] {loaders.id(c.getClassLoader()), Loaders.internal(c)};
    }

    private static byte[] join(Out head, Out tail) {
        byte[] a = head.done(), b = tail.done(), m = java.util.Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, m, a.length, b.length);
        return m;
    }

    private static List<Object[]> keys(DataInputStream m) throws IOException {
        List<Object[]> keys = new ArrayList<>();
        for (int n = m.readInt(); n > 0; n--) keys.add(new Object[] {m.readInt(), m.readUTF()});
        return keys;
    }

    // ---- the program's threads ----

    /**
     * A thread has entered a fresh method. The agent's thread retransforms what is initialized; the rest, which can
     * need locks that this very thread holds, comes back for this thread to do (docs/decisions). 1 when the
     * callees are instrumented, 0 when the controller did not answer in time.
     */
    @Override
    public long applyAsLong(long method, long unused) {
        byte[] reply = mailbox.call(Wire.REQ_REVEAL, new Out().u32((int) method).done(), PATIENCE);
        if (reply == null) return 0;
        try {
            List<Object[]> keys = keys(new DataInputStream(new ByteArrayInputStream(reply)));
            if (keys.isEmpty()) return 1;
            List<Class<?>> classes = new ArrayList<>();
            for (Object[] k : keys) {
                Class<?> c = loaders.search(inst, (Integer) k[0], (String) k[1]);
                if (c != null) classes.add(c);
            }
            Batch b = new Batch(inst);
            b.run(classes);
            Out out = new Out().u32((int) method).u32(b.refusals());
            for (int i = 0; i < b.refusals(); i++) {
                Object[] k = key(b.refused(i));
                out.u32((Integer) k[0]).str((String) k[1]).str(b.reason(i));
            }
            return mailbox.call(Wire.REQ_REVEALED, out.done(), PATIENCE) == null ? 0 : 1;
        } catch (IOException e) {
            return 0;
        }
    }

    // ---- the end ----

    /** Two looks in a row must find the heartbeat old, so that a machine that slept is not taken for a dead controller. */
    private void watch() {
        int old = 0;
        while (up()) {
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                // nobody has a reason to; look at once
            }
            old = mailbox.silent(System.nanoTime()) ? old + 1 : 0;
            if (old >= 2) end(Layout.REASON_HEARTBEAT);
        }
    }

    private void end(int reason) {
        synchronized (this) {
            if (ending) return;
            ending = true;
        }
        long base = memory.base;
        Memory.U.putIntRelease(null, base + Layout.H_GATE, 0);
        Memory.U.putInt(base + Layout.H_REASON, reason);
        Memory.U.putIntRelease(null, base + Layout.H_STATE, Layout.STATE_STOPPING);
        Probe.revealer(null);
        Memory.U.putLongRelease(null, Probe.cell(), 0);
        boolean told = reason == Layout.REASON_COMMAND;
        if (!told) mailbox.close();
        long from = System.nanoTime();
        Restore r = new Restore(inst, loaders, hook);
        int n = r.run(RESTORE_BATCH);
        inst.removeTransformer(hook);
        if (told) {
            Out out = new Out().u32(n).u64(System.nanoTime() - from).u32(r.failures());
            for (int i = 0; i < r.failures(); i++) {
                Object[] k = key(r.failed(i));
                out.u32((Integer) k[0]).str((String) k[1]).str(r.reason(i));
            }
            mailbox.call(Wire.REQ_RESTORED, out.done(), PATIENCE);
            mailbox.close();
        }
        Memory.U.putIntRelease(null, base + Layout.H_STATE, Layout.STATE_STOPPED);
        close(commands);
        close(bell);
        new Silence(memory).run();
    }

    private static void close(java.io.Closeable c) {
        try {
            c.close();
        } catch (IOException e) {
            // a pipe: nothing to be lost
        }
    }
}

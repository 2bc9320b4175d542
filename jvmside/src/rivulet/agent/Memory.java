package rivulet.agent;

import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import rivulet.probe.Layout;
import rivulet.probe.Suspension;
import rivulet.probe.stub.Unsafe;

/** The data file, mapped for as long as probes may look at it. */
final class Memory {
    static final Unsafe U = unsafe();

    private static final long TID = tid();
    /** A thread outside the subgraph waits for one part in so many of its time. */
    private static final int OUTSIDE = 10;
    private static final int PLACES = 256;

    /**
     * By slot: when threads outside will have their whole patience again, on System.nanoTime. Where two threads write at once,
     * one of their waits is forgotten. Not an AtomicLongArray, since that links VarHandles, in the middle of a class's load:
     * where that class is one which such linking takes, the JVM never links a VarHandle again (ClassCircularityError).
     */
    private final long[] owed = new long[PLACES];
    private MappedByteBuffer buffer;
    /** Address of the file's first byte. */
    final long base;

    Memory(String file) throws Exception {
        try (RandomAccessFile f = new RandomAccessFile(file, "rw")) {
            buffer = f.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, f.length());
        }
        base = U.getLong(buffer, U.objectFieldOffset(Buffer.class.getDeclaredField("address")));
        if (U.getLong(base + Layout.H_MAGIC) != Layout.MAGIC || U.getInt(base + Layout.H_VERSION) != Layout.VERSION)
            throw new IllegalStateException("data file of another version: " + U.getInt(base + Layout.H_VERSION));
    }

    /** The session has begun, and nothing ends it yet. */
    boolean up() {
        return U.getIntVolatile(null, base + Layout.H_STATE) == Layout.STATE_UP;
    }

    /** Copies b[from, from+n) to the file. Through the buffer: Unsafe's way differs between JDKs. */
    void write(long offset, byte[] b, int from, int n) {
        ByteBuffer d = buffer.duplicate();
        d.position((int) offset);
        d.put(b, from, n);
    }

    /** Copies from the file to b[to, to+n). */
    void read(long offset, byte[] b, int to, int n) {
        ByteBuffer d = buffer.duplicate();
        d.position((int) offset);
        d.get(b, to, n);
    }

    /** Counts that a class went without the probes that it may need. */
    void missed() {
        U.getAndAddLong(null, base + Layout.H_UNANSWERED, 1);
        if (U.getLong(base + Layout.H_TAG) != 0 && U.getLong(base + Layout.H_PATIENCE) == 0) U.getAndAddLong(null, base + Layout.H_INCOMPLETE, 1);
    }

    /** Counts that classes have new code. */
    void redefined() {
        U.getAndAddLong(null, base + Layout.H_REDEFINED, 1);
    }

    /**
     * For how many ns the current thread, one of the program's, may wait for an answer that usually takes no longer than
     * most: inside the subgraph as long as its root invocation's patience lasts; outside for the patience at once, and then
     * a tenth of its time.
     */
    long patience(long most) {
        long ns = U.getLong(base + Layout.H_PATIENCE);
        if (ns == 0) return most;
        long left = Suspension.patience();
        if (left < 0) left = ns - Math.max(0, owed[slot()] - System.nanoTime()) / OUTSIDE;
        return Math.max(0, Math.min(left, most));
    }

    /** Where the current thread's waits outside are kept. Threads that share a place have less patience, never more. */
    private static int slot() {
        return (int) thread() & PLACES - 1;
    }

    /** The current thread, one of the program's, was made to wait since then, on System.nanoTime. */
    void waited(long since) {
        long ns = System.nanoTime() - since, at = base + Layout.H_LONGEST_WAIT;
        int slot = slot();
        owed[slot] = Math.max(owed[slot], since) + OUTSIDE * ns; // a fresh entry is 0, and nanoTime may be below
        for (long most; (most = U.getLongVolatile(null, at)) < ns; ) {
            if (U.compareAndSetLong(null, at, most, ns)) return;
        }
    }

    /** Unmaps the file. Whoever touches it afterwards crashes the JVM: see Silence. */
    void unmap() throws Exception {
        ByteBuffer b = buffer;
        buffer = null;
        if (System.getProperty("java.specification.version").compareTo("12") < 0) { // Unsafe of JDK 8 and 11 has no such method
            Object cleaner = Class.forName("sun.nio.ch.DirectBuffer").getMethod("cleaner").invoke(b);
            cleaner.getClass().getMethod("clean").invoke(cleaner);
        } else {
            U.invokeCleaner(b);
        }
    }

    /** The current thread's id. Thread.getId can be overridden before JDK 19. */
    static long thread() {
        return U.getLong(Thread.currentThread(), TID);
    }

    private static long tid() {
        try {
            return U.objectFieldOffset(Thread.class.getDeclaredField("tid"));
        } catch (NoSuchFieldException e) {
            throw new NoSuchFieldError(e.getMessage());
        }
    }

    private static Unsafe unsafe() {
        try {
            Field f = Unsafe.class.getDeclaredField("theUnsafe"); // JDK 8: getUnsafe refuses other loaders
            f.setAccessible(true);
            return (Unsafe) f.get(null);
        } catch (Exception | Error e) {
            return Unsafe.getUnsafe();
        }
    }
}

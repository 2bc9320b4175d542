package f;

import java.io.RandomAccessFile;
import java.lang.reflect.Method;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;

/**
 * A program under load that checks its own results and counts its own calls, where a kill leaves the counts to be read: in a
 * mapped file. For each worker it has two longs, calls of request begun and ended, and before them how many results were
 * wrong. Commands come on standard input, answers go to standard output.
 */
public class Faults {
    static final int WORKERS = 2, KINDS = 64, STEPS = 8;

    interface Shape {
        int area(int k);

        default int twice(int k) {
            return area(k) * 2;
        }
    }

    static class Square implements Shape {
        @Override
        public int area(int k) {
            return k * k;
        }
    }

    static class Bar implements Shape {
        @Override
        public int area(int k) {
            if (k % 3 == 0) throw new IllegalArgumentException();
            return k * 7;
        }
    }

    static final Shape[] SHAPES = {new Square(), new Bar()};

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int step(int n, int i) {
        try {
            return SHAPES[(n + i) % 2].twice(n + i);
        } catch (IllegalArgumentException e) {
            return -1;
        }
    }

    /** Many contexts: a path for each n. */
    static int left(int n, int depth) {
        return depth == 0 ? n : ((n >> depth & 1) == 0 ? left(n, depth - 1) : right(n, depth - 1)) + 1;
    }

    static int right(int n, int depth) {
        return depth == 0 ? n : ((n >> depth & 1) == 0 ? left(n, depth - 1) : right(n, depth - 1)) + 2;
    }

    static int endless(int n) {
        return endless(n + 1) + 1;
    }

    static int overflow() {
        try {
            return endless(0);
        } catch (StackOverflowError e) {
            return 5;
        }
    }

    static int huge() {
        try {
            return new long[Integer.MAX_VALUE].length;
        } catch (OutOfMemoryError e) {
            return 9;
        }
    }

    static int full() {
        List<byte[]> all = new ArrayList<>();
        try {
            for (;;) all.add(new byte[1 << 20]);
        } catch (OutOfMemoryError e) {
            all = null;
            return 11;
        }
    }

    static int forked() {
        try {
            return new ProcessBuilder("/bin/true").start().waitFor();
        } catch (Exception e) {
            return 0; // no descriptors, or interrupted
        }
    }

    /** Waits inside the root, so that an interrupt finds somebody who waits. */
    static int waits() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return 3;
    }

    static volatile String mode = "";
    static volatile boolean cutOff; // Thread.stop may have cut off the linking of a call site
    static volatile boolean wide;

    static final IntUnaryOperator PLUS = x -> x + fib(3), HALF = Faults::half;

    /** The root. What it returns depends on n % KINDS alone. */
    static int request(int n) {
        int sum = fib(8);
        for (int i = 0; i < STEPS; i++) sum = sum * 31 + step(n % KINDS, i);
        boolean stopped = mode.equals("stop"); // a call site whose linking Thread.stop cuts off stays broken, for good
        IntUnaryOperator f = stopped ? PLUS : x -> x + fib(3);
        sum = f.andThen(stopped ? HALF : Faults::half).applyAsInt(sum);
        if (wide) sum += left(n, 14) - left(n, 14);
        switch (mode) {
            case "overflow":
                return n % 8 == 0 ? sum + overflow() - 5 : sum;
            case "huge":
                return n % 8 == 0 ? sum + huge() - 9 : sum;
            case "full":
                return n % 64 == 0 ? sum + full() - 11 : sum;
            case "fork":
                return n % 8 == 0 ? sum + forked() * 0 : sum;
            case "waits":
                return sum + waits() - 3;
            case "exit":
                System.exit(7);
            case "halt":
                Runtime.getRuntime().halt(7);
            case "throw":
                throw new IllegalStateException("thrown below the root");
            default:
                return sum;
        }
    }

    static int half(int n) {
        return n >> 1;
    }

    static final int[] EXPECTED = new int[KINDS];
    static MappedByteBuffer counters;
    static volatile boolean hold = true, stop;
    static final boolean[] held = new boolean[WORKERS];
    static final Thread[] workers = new Thread[WORKERS];

    static synchronized void wrong(String what) {
        counters.putLong(0, counters.getLong(0) + 1);
        System.out.println("WRONG " + what);
    }

    static void work(int w) {
        int at = 16 + w * 16;
        for (int n = w; !stop; n = n + WORKERS & 0x7fffffff) {
            try {
                while (hold && !stop) {
                    held[w] = true;
                    Thread.interrupted();
                    LockSupport.parkNanos(200_000);
                }
                held[w] = false;
                int got = 0;
                counters.putLong(at, counters.getLong(at) + 1);
                try {
                    got = request(n);
                } finally {
                    counters.putLong(at + 8, counters.getLong(at + 8) + 1);
                }
                if (got != EXPECTED[n % KINDS]) wrong("request " + n + " is " + got);
                if (n % 4 < WORKERS) LockSupport.parkNanos(100_000);
            } catch (ThreadDeath | OutOfMemoryError d) {
                // of the program's own; it goes on
            } catch (IllegalStateException e) {
                LockSupport.parkNanos(100_000);
            } catch (BootstrapMethodError e) {
                if (!cutOff) wrong(e + ", " + e.getCause());
            } catch (Throwable t) {
                wrong(t.toString());
            }
        }
    }

    static void begin(int w) {
        workers[w] = new Thread(null, () -> work(w), "worker-" + w, 512 << 10);
        workers[w].setDaemon(true);
        workers[w].start();
    }

    static void again(String what, Runnable r) {
        Thread t = new Thread(() -> {
            while (!stop) {
                if (mode.equals(what)) r.run();
                LockSupport.parkNanos(3_000_000);
            }
        });
        t.setDaemon(true);
        t.start();
    }

    @SuppressWarnings("deprecation")
    static void stopOne() {
        try {
            Method m = Thread.class.getMethod("stop");
            m.invoke(workers[0]);
        } catch (ReflectiveOperationException e) {
            // not there any more
        }
    }

    static boolean allHeld() {
        for (int w = 0; w < WORKERS; w++) if (!held[w] && workers[w].isAlive()) return false;
        return true;
    }

    public static void main(String[] a) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(a[0], "rw")) {
            counters = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 4096);
            counters.order(ByteOrder.nativeOrder());
        }
        Thread.sleep(1); // what it takes is initialized while there is memory: else it would be broken for good, by the program itself
        for (int n = 0; n < KINDS; n++) EXPECTED[n] = request(n);
        for (int i = 0; i < 2000; i++) request(i % KINDS);
        for (int w = 0; w < WORKERS; w++) begin(w);
        again("waits", () -> workers[0].interrupt());
        again("stop", Faults::stopOne);
        System.out.println("READY");
        byte[] line = new byte[256];
        while (true) {
            int n = 0;
            for (int c; (c = System.in.read()) != '\n'; ) {
                if (c < 0) return;
                line[n++] = (byte) c;
            }
            while (true) {
                try {
                    if (!obey(new String(line, 0, n, "US-ASCII"))) return;
                    break;
                } catch (OutOfMemoryError e) {
                    // this thread's share of a full heap
                }
            }
        }
    }

    /** Carries out a command; false ends the program. */
    static boolean obey(String line) throws Exception {
        String[] f = line.split(" ");
        switch (f[0]) {
            case "hold":
                hold = true;
                mode = "";
                wide = false;
                while (!allHeld()) Thread.sleep(1);
                System.gc(); // else the last collection may be one that left the heap full, and nothing is recorded
                System.out.println("HELD");
                break;
            case "go":
                Arrays.fill(held, false);
                hold = false;
                for (int w = 0; w < WORKERS; w++) if (!workers[w].isAlive()) begin(w); // one that Thread.stop ended
                break;
            case "mode":
                cutOff |= f[1].equals("stop");
                mode = f[1];
                break;
            case "wide":
                wide = true;
                break;
            case "redefine":
                Class.forName("f.Loop").getMethod("cycle").invoke(null);
                System.out.println("REDEFINED");
                break;
            case "run":
                int n = Integer.parseInt(f[1]);
                for (int i = 0; i < n; i++) if (request(i) != EXPECTED[i]) wrong("request " + i);
                System.out.println("RAN");
                break;
            default:
                System.out.println("END");
                return false;
        }
        return true;
    }
}

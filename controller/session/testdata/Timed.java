package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts the invocations of its methods, and how many end by an exception, and measures those of spin. The argument
 * is a number of threads; "virtual" as the second makes them virtual. Each line of input but "end" is one round, after
 * which it prints what all rounds counted: lines "N METHOD CALLS THROWN", one "SPIN NS NS NS" (sum, shortest, longest)
 * and "DONE".
 */
public class Timed {
    static final Map<String, AtomicLongArray> counts = new ConcurrentHashMap<>();
    static long spinSum, spinLeast = Long.MAX_VALUE, spinMost;

    static void hit(String name, boolean thrown) {
        AtomicLongArray a = counts.computeIfAbsent(name, k -> new AtomicLongArray(2));
        a.incrementAndGet(0);
        if (thrown) a.incrementAndGet(1);
    }

    interface Shape {
        int area(int n);
    }

    static class A implements Shape {
        @Override
        public int area(int n) {
            hit("t.Timed$A.area", false);
            return n;
        }
    }

    static class B extends A {
        @Override
        public int area(int n) {
            hit("t.Timed$B.area", false);
            return 1 + super.area(n);
        }
    }

    /** Loaded in the first round. */
    static class C implements Shape {
        @Override
        public int area(int n) {
            hit("t.Timed$C.area", false);
            return n;
        }
    }

    /** Loaded in the first round, with what implements it. */
    interface Late {
        long call(long n) throws Exception;
    }

    static class LateImpl implements Late {
        @Override
        public long call(long n) throws Exception {
            hit("t.Timed$LateImpl.call", n % 3 == 0);
            if (n % 3 == 0) throw new Exception("third");
            return n;
        }
    }

    static class Item {
        final int n;

        Item(int n) {
            hit("t.Timed$Item.<init>", n < 0);
            if (n < 0) throw new IllegalArgumentException();
            this.n = n;
        }
    }

    static synchronized int work(int n) {
        hit("t.Timed.work", n % 10 == 0);
        if (n % 10 == 0) throw new RuntimeException("tenth");
        return n;
    }

    /** Catches what it throws itself, in part. */
    static int mixed(int n) {
        hit("t.Timed.mixed", n % 4 == 3);
        try {
            if (n % 4 == 1) throw new IllegalStateException();
            if (n % 4 == 3) throw new IllegalArgumentException();
            return n;
        } catch (IllegalStateException e) {
            return -1;
        }
    }

    static long fact(int n) {
        hit("t.Timed.fact", false);
        return n == 0 ? 1 : n * fact(n - 1);
    }

    static void spin(long ms) {
        hit("t.Timed.spin", false);
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; ) Thread.yield();
    }

    static void rest() {
        hit("t.Timed.rest", false);
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void body() {
        Shape[] shapes = {new A(), new B(), new C()};
        Late late = new LateImpl();
        for (int i = 0; i < 200; i++) {
            try {
                work(i);
            } catch (RuntimeException e) {
                // counted
            }
            try {
                mixed(i);
            } catch (IllegalArgumentException e) {
                // counted
            }
            try {
                new Item(i % 5 - 1);
            } catch (IllegalArgumentException e) {
                // counted
            }
            try {
                late.call(i);
            } catch (Exception e) {
                // counted
            }
            for (Shape s : shapes) s.area(i);
        }
        fact(10);
        rest();
    }

    public static void main(String[] args) throws Exception {
        new A().area(0);
        new B().area(0);
        new Item(0);
        counts.clear();
        int threads = Integer.parseInt(args[0]);
        boolean virtual = args.length > 1;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Thread t = virtual ? (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) Timed::body) : new Thread(Timed::body);
                if (!virtual) t.start();
                all.add(t);
            }
            for (Thread t : all) t.join();
            for (int ms = 1; ms <= 10; ms++) {
                long from = System.nanoTime();
                spin(ms);
                long took = System.nanoTime() - from;
                spinSum += took;
                spinLeast = Math.min(spinLeast, took);
                spinMost = Math.max(spinMost, took);
            }
            for (Map.Entry<String, AtomicLongArray> e : new TreeMap<>(counts).entrySet()) {
                System.out.println("N " + e.getKey() + " " + e.getValue().get(0) + " " + e.getValue().get(1));
            }
            System.out.println("SPIN " + spinSum + " " + spinLeast + " " + spinMost);
            System.out.println("DONE");
        }
    }
}

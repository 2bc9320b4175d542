package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Calls a root again and again in one or more threads, at commands: "run N" makes N root invocations in each thread and
 * prints RAN and how many there were in all since the beginning; "free" runs until "stop"; "open" enters a root
 * invocation that waits in the middle until "shut", and "twice" makes another one in that thread then; "deep" recurses; "wide N" calls through N call paths; "mixed N"
 * computes and sleeps in turns; "late" computes before it calls.
 */
public class Parts {
    static volatile boolean free, shut;
    static volatile long sink;

    static void root(int n) {
        for (int i = 0; i < 10; i++) leaf(i);
        branch(n);
    }

    static void branch(int n) {
        if (n > 0) {
            leaf(n);
            leaf(n + 1);
        }
    }

    static void leaf(int i) {
        sink += i;
    }

    static void waiting() {
        leaf(1);
        hold();
        leaf(2);
        leaf(3);
    }

    /** Takes 30 ms of its own before its only call. */
    static void late() {
        for (long from = System.nanoTime(); System.nanoTime() - from < 30_000_000L; ) sink++;
        leaf(1);
    }

    static void hold() {
        while (!shut) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Calls itself directly depth times, and through other() half as often. */
    static int self(int depth) {
        if (depth == 0) return 0;
        leaf(depth);
        return self(depth - 1) + 1;
    }

    static int even(int n) {
        return n == 0 ? 1 : odd(n - 1);
    }

    static int odd(int n) {
        if (n == 0) return 0;
        leaf(n);
        return even(n - 1);
    }

    static void recursion(int depth) {
        self(depth);
        even(depth);
        half(12);
    }

    /** A constructor whose super() throws, after it has made another one. */
    static class Half extends Whole {
        Half(int d) {
            super(d);
        }
    }

    static class Whole {
        Whole(int d) {
            if (d > 0) half(d - 1);
            if (d > 1) {
                try {
                    new Half(d - 2);
                } catch (IllegalStateException e) {
                    leaf(d);
                }
            }
            throw new IllegalStateException();
        }
    }

    static void half(int d) {
        try {
            new Half(d);
        } catch (IllegalStateException e) {
            leaf(d);
        }
    }

    /** A tree of calls with 3^depth paths. */
    static void wide(int depth) {
        if (depth == 0) {
            leaf(0);
            return;
        }
        a(depth - 1);
        b(depth - 1);
        c(depth - 1);
    }

    static void a(int d) {
        wide(d);
    }

    static void b(int d) {
        wide(d);
    }

    static void c(int d) {
        try {
            thrower(d);
        } catch (IllegalStateException e) {
            leaf(d);
        }
    }

    static void thrower(int d) {
        wide(d);
        throw new IllegalStateException();
    }

    static void mixed() throws InterruptedException {
        burn();
        nap();
    }

    static void burn() {
        for (int i = 0; i < 2_000_000; i++) sink += i * sink;
    }

    static void nap() throws InterruptedException {
        Thread.sleep(15);
    }

    public static void main(String[] args) throws Exception {
        int threads = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        long total = 0;
        Thread opened = null;
        Thread[] running = new Thread[threads];
        final long[] counts = new long[threads * 16];
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] w = line.split(" ");
            if (w[0].equals("run")) {
                final int n = Integer.parseInt(w[1]);
                for (int i = 0; i < threads; i++) {
                    running[i] = new Thread(() -> {
                        for (int k = 0; k < n; k++) root(k % 2);
                    }, "worker-" + i);
                    running[i].start();
                }
                for (Thread t : running) t.join();
                total += (long) n * threads;
                System.out.println("RAN " + total);
            } else if (w[0].equals("free")) {
                free = true;
                for (int i = 0; i < threads; i++) {
                    final int me = i * 16;
                    running[i] = new Thread(() -> {
                        while (free) {
                            root(1);
                            counts[me]++;
                        }
                    }, "worker-" + i);
                    running[i].start();
                }
                System.out.println("FREE");
            } else if (w[0].equals("stop")) {
                free = false;
                for (Thread t : running) t.join();
                for (int i = 0; i < threads; i++) total += counts[i * 16];
                System.out.println("STOPPED " + total);
            } else if (w[0].equals("open")) {
                shut = false;
                opened = new Thread(() -> waiting(), "opened");
                opened.start();
                Thread.sleep(50);
                System.out.println("OPEN");
            } else if (w[0].equals("twice")) {
                shut = false;
                opened = new Thread(() -> {
                    waiting();
                    root(0);
                }, "opened");
                opened.start();
                Thread.sleep(50);
                System.out.println("OPEN");
            } else if (w[0].equals("shut")) {
                shut = true;
                opened.join();
                System.out.println("SHUT");
            } else if (w[0].equals("recursion")) {
                recursion(Integer.parseInt(w[1]));
                System.out.println("RECURSED");
            } else if (w[0].equals("late")) {
                late();
                System.out.println("LATE");
            } else if (w[0].equals("mixed")) {
                for (int i = Integer.parseInt(w[1]); i > 0; i--) mixed();
                System.out.println("MIXED");
            } else if (w[0].equals("wide")) {
                wide(Integer.parseInt(w[1]));
                System.out.println("WIDE");
            } else {
                return;
            }
        }
    }
}

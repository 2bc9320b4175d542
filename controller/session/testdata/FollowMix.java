package t;

import java.util.concurrent.*;

/** Hands tasks over in ways that make following them hard. Commands are read from standard input. */
public class FollowMix {
    static final ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(2);
    /** Executions that are still to end; all of SAME are one object. */
    static volatile CountDownLatch left;
    static volatile CountDownLatch gate = new CountDownLatch(0);

    static final Runnable SAME = () -> {
        same();
        left.countDown();
    };

    static void same() {
        down(2);
    }

    /** Recursion that may be folded, on either side of a hand-over. */
    static void down(int depth) {
        if (depth > 0) down(depth - 1);
    }

    /** n times: the same object, and a task of its own, from within recursion. */
    static void root(int n) {
        deep(3, n);
    }

    static void deep(int depth, int n) {
        if (depth > 0) {
            deep(depth - 1, n);
            return;
        }
        for (int i = 0; i < n; i++) {
            pool.execute(SAME);
            pool.submit(() -> own());
        }
    }

    static void own() {
        down(1);
        left.countDown();
    }

    /** Hands over from 2 to the power of depth contexts. */
    static void wide(int depth) {
        if (depth == 0) {
            pool.execute(SAME);
        } else {
            left(depth);
            right(depth);
        }
    }

    static void left(int depth) {
        wide(depth - 1);
    }

    static void right(int depth) {
        wide(depth - 1);
    }

    /** Nothing of the pool's is executed until "open". */
    static void shut() throws Exception {
        CountDownLatch g = new CountDownLatch(1), both = new CountDownLatch(2);
        gate = g;
        for (int i = 0; i < 2; i++) {
            pool.execute(() -> {
                both.countDown();
                try {
                    g.await();
                } catch (InterruptedException e) {
                    throw new Error(e);
                }
            });
        }
        both.await();
    }

    public static void main(String[] args) throws Exception {
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        pool.prestartAllCoreThreads(); // they wait for tasks in the pool's code as it is now
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
            String[] f = line.split(" ");
            int n = f.length > 1 ? Integer.parseInt(f[1]) : 0;
            switch (f[0]) {
                case "run": left = new CountDownLatch(2 * n); root(n); left.await(); break;
                case "wide": left = new CountDownLatch(1 << n); wide(n); left.await(); break;
                case "late": shut(); left = new CountDownLatch(2 * n); root(n); break;
                case "open": gate.countDown(); left.await(); break;
                default: throw new Error(line);
            }
            System.out.println("DONE " + line);
        }
        pool.shutdown();
    }
}

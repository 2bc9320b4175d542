package work;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CyclicBarrier;

/**
 * Makes many calling contexts in many threads. args: THREADS FAN DEPTH
 *
 * Each thread calls root() once; all of them are inside at one time. Below it FAN methods call each other by way of
 * step() to DEPTH, along every path once. So a thread makes FAN + FAN^2 + ... + FAN^DEPTH contexts, one of step() above
 * each group of FAN, and root's own. Protocol as in Calls.
 */
public final class Many {
    static int fan;
    static CyclicBarrier all;

    private Many() {}

    static void root(int depth) throws Exception {
        all.await();
        step(depth);
        all.await();
    }

    private static void step(int d) {
        for (int i = 0; i < fan; i++) {
            switch (i) {
                case 0: a0(d - 1); break;
                case 1: a1(d - 1); break;
                case 2: a2(d - 1); break;
                case 3: a3(d - 1); break;
                case 4: a4(d - 1); break;
                case 5: a5(d - 1); break;
                case 6: a6(d - 1); break;
                case 7: a7(d - 1); break;
                case 8: a8(d - 1); break;
                default: a9(d - 1);
            }
        }
    }

    static void a0(int d) { if (d > 0) step(d); }
    static void a1(int d) { if (d > 0) step(d); }
    static void a2(int d) { if (d > 0) step(d); }
    static void a3(int d) { if (d > 0) step(d); }
    static void a4(int d) { if (d > 0) step(d); }
    static void a5(int d) { if (d > 0) step(d); }
    static void a6(int d) { if (d > 0) step(d); }
    static void a7(int d) { if (d > 0) step(d); }
    static void a8(int d) { if (d > 0) step(d); }
    static void a9(int d) { if (d > 0) step(d); }

    public static void main(String[] a) throws Exception {
        int threads = Integer.parseInt(a[0]), depth = Integer.parseInt(a[2]);
        fan = Integer.parseInt(a[1]);
        all = new CyclicBarrier(threads);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("PID " + ManagementFactory.getRuntimeMXBean().getName().split("@")[0]);
        System.out.println("READY");
        if (in.readLine() == null) return;
        Thread[] list = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            list[i] = new Thread(null, () -> {
                try {
                    root(depth);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }, "many-" + i, 256 << 10);
            list[i].start();
        }
        for (Thread t : list) t.join();
        System.out.println("DONE");
        in.readLine();
    }
}

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** "run N" calls root N times, which has a pool of two execute five tasks, and does one itself; "late" loads a class. */
public class Handing {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2, r -> {
            Thread t = new Thread(r, "pool");
            t.setDaemon(true);
            return t;
        });
        System.out.println("READY");
        java.util.Scanner in = new java.util.Scanner(System.in);
        while (in.hasNextLine()) {
            String line = in.nextLine();
            if (line.equals("late")) {
                Later.come();
                System.out.println("LOADED");
                continue;
            }
            int n = Integer.parseInt(line.substring(4));
            for (int i = 0; i < n; i++) {
                root(pool);
            }
            System.out.println("RAN");
        }
    }

    static void root(ExecutorService pool) throws Exception {
        Future<?>[] all = new Future<?>[5];
        for (int i = 0; i < 5; i++) {
            all[i] = pool.submit(Handing::task);
        }
        task();
        for (Future<?> f : all) {
            f.get();
        }
    }

    static void task() {
        work();
    }

    static void work() {
        long x = 1;
        for (int k = 0; k < 300_000; k++) {
            x = x * 31 + k;
        }
        for (int k = 0; k < 3; k++) {
            x += small(k);
        }
        sink = x;
    }

    /** Many of these begin and end at the same tick. */
    static long small(int k) {
        return k;
    }

    static class Later {
        static void come() {
            sink++;
        }
    }
}

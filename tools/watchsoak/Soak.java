import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;

/** A closed loop of requests. Each second it prints how many there were, and the CPU time of one in ns. A line on stdin makes one method dear. */
public class Soak {
    static volatile boolean hot;
    static long sink;
    static final Map<String, Integer> stock = new HashMap<>();

    static void take(int n) { stock.merge("item" + n % 500, 1, Integer::sum); }
    static long price(int n) { long x = n; for (int i = 0; i < 20_000; i++) x = x * 31 + (x >>> 7); return x; }
    static long tax(int n) { long x = n; for (int i = 0; i < (hot ? 60_000 : 2_000); i++) x = x * 17 + (x >>> 5); return x; }
    static void order(int n) { for (int i = 0; i < 200; i++) take(n + i); for (int i = 0; i < 20; i++) sink += price(n + i) + tax(n + i); }

    public static void main(String[] args) throws Exception {
        Thread reader = new Thread(() -> { try { System.in.read(); hot = true; } catch (Exception e) { } });
        reader.setDaemon(true);
        reader.start();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long second = System.nanoTime() + 1_000_000_000L, cpu = threads.getCurrentThreadCpuTime();
        int requests = 0;
        for (int n = 0;; n++) {
            order(n);
            requests++;
            Thread.sleep(4);
            long now = System.nanoTime();
            if (now >= second) {
                long used = threads.getCurrentThreadCpuTime();
                System.out.println("SECOND " + requests + " " + (used - cpu) / requests);
                second = now + 1_000_000_000L;
                cpu = used;
                requests = 0;
            }
        }
    }
}

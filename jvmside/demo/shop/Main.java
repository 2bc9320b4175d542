package shop;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLongArray;
import shop.orders.OrderService;

/**
 * A small order-processing server to try a profiler on. Worker threads take
 * generated orders one after the other, as fast as they can; once a second it
 * prints how fast that is. It ends when its standard input does.
 *
 * <pre>
 * java -jar demo.jar [--threads N] [--late SECONDS] [--orders N] [--wait] [--keep]
 *   --threads N     workers (default 3)
 *   --late SECONDS  when the flash sale begins, whose class is loaded only then (default 6)
 *   --orders N      process exactly N orders on each worker and end; the sale begins half-way.
 *                   What is called is then the same in every run
 *   --wait          wait for a line on standard input before the first order
 *   --keep          go on when standard input ends
 * </pre>
 *
 * Lines on standard output: {@code PID n}, {@code ROOT method}, then {@code
 * speed N orders/s} each second, at the end {@code done N orders, N refused, N
 * pieces in stock, checksum X}.
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        int threads = 3;
        long late = 6;
        long orders = 0;
        boolean wait = false;
        boolean keep = false;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--threads": threads = Integer.parseInt(args[++i]); break;
                case "--late": late = Long.parseLong(args[++i]); break;
                case "--orders": orders = Long.parseLong(args[++i]); break;
                case "--wait": wait = true; break;
                case "--keep": keep = true; break;
                default:
                    System.err.println("unknown option " + args[i]);
                    System.exit(2);
            }
        }
        // Not through the management beans: a runtime may come without them.
        System.out.println("PID " + new File("/proc/self").getCanonicalFile().getName());
        System.out.println("ROOT shop.orders.OrderService.process");
        OrderService service = new OrderService();
        AtomicLongArray done = new AtomicLongArray(threads);
        Worker[] workers = new Worker[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(i, service, done, orders);
        }
        if (wait) {
            readLine(System.in);
        }
        if (!keep && orders == 0) {
            Thread stdin = new Thread(() -> {
                drain(System.in);
                end(service, workers);
            }, "stdin");
            stdin.setDaemon(true);
            stdin.start();
        }
        for (Worker w : workers) {
            w.start();
        }
        if (orders == 0) {
            report(service, done, late);
        }
        for (Worker w : workers) {
            w.join();
        }
        end(service, workers);
    }

    /** Prints the speed each second, forever. */
    private static void report(OrderService service, AtomicLongArray done, long late)
            throws InterruptedException {
        long start = System.nanoTime();
        long before = 0;
        long last = start;
        for (long second = 1; ; second++) {
            long due = start + second * 1_000_000_000L;
            for (long left; (left = due - System.nanoTime()) > 0; ) {
                Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
            }
            long sum = 0;
            for (int i = 0; i < done.length(); i++) {
                sum += done.get(i);
            }
            long now = System.nanoTime();
            System.out.println("speed " + Math.round((sum - before) * 1e9 / (now - last)) + " orders/s");
            before = sum;
            last = now;
            if (second == late) {
                service.beginSale();
            }
        }
    }

    /** Prints the sums and ends the process, whatever other threads do. */
    private static void end(OrderService service, Worker[] workers) {
        long processed = 0;
        long refused = 0;
        long checksum = 0;
        for (Worker w : workers) {
            processed += w.processed;
            refused += w.refused;
            checksum += w.checksum;
        }
        System.out.println("done " + processed + " orders, " + refused + " refused, " + service.stock()
                + " pieces in stock, checksum " + Long.toHexString(checksum));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void drain(InputStream in) {
        try {
            while (in.read() >= 0) {
                // only the end counts
            }
        } catch (IOException e) {
            // as good as the end
        }
    }

    private static void readLine(InputStream in) throws IOException {
        for (int c = in.read(); c >= 0 && c != '\n'; ) {
            c = in.read();
        }
    }
}

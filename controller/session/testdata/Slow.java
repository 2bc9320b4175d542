package t;

import java.util.concurrent.CountDownLatch;

/**
 * Root invocations that differ in what they do: work(n) of threads "a" and "b" calls step n times, and those whose n
 * divides by ten sleep for n*6 ms in pause, the others for none. "Slow TIMES" waits for a line, then lets each thread
 * call work(1) to work(TIMES), "b" with 5 more.
 */
public class Slow {
    static int steps;

    static void step() {
        steps++;
    }

    static void pause(int n) throws InterruptedException {
        Thread.sleep(n * 6L);
    }

    static void work(int n) throws Exception {
        for (int i = 0; i < n; i++) step();
        if (n % 10 == 0) pause(n);
        if (n == 50) throw new IllegalStateException("fifty");
    }

    public static void main(String[] a) throws Exception {
        final int times = Integer.parseInt(a[0]);
        System.out.println("READY");
        System.in.read();
        Thread[] ts = new Thread[2];
        for (int k = 0; k < 2; k++) {
            final int more = 5 * k;
            ts[k] = new Thread(k == 0 ? "a" : "b") {
                @Override
                public void run() {
                    for (int i = 1; i <= times; i++) {
                        try {
                            work(i + more);
                        } catch (Exception e) {
                            // as it should
                        }
                    }
                }
            };
            ts[k].start();
        }
        for (Thread t : ts) t.join();
        System.out.println("OK");
        while (System.in.read() != 'e') continue;
    }
}

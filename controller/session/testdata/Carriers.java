package t;

import java.util.concurrent.CountDownLatch;

/**
 * Many virtual threads, more than carriers, that come by new methods at the same time. A third of the classes is not
 * loaded when they do, the others are loaded and not initialized, so that threads redefine these themselves.
 */
public class Carriers {
    static final int THREADS = 24;

    /** The root: every thread meets the classes in an order of its own. */
    static int root(int thread) {
        int sum = 0;
        for (int i = 0; i < CLASSES; i++) sum += Table.call((i * 7 + thread * 5) % CLASSES);
        return sum;
    }

    static final int CLASSES = Table.CLASSES;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < CLASSES; i++) if (i % 3 > 0) Class.forName("t.Near" + i, false, Carriers.class.getClassLoader());
        for (int i = 0; i < Table.FAR; i++) if (i % 3 > 0) Class.forName("t.Far" + i, false, Carriers.class.getClassLoader());
        System.out.println("READY");
        System.in.read();
        CountDownLatch go = new CountDownLatch(1);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int n = i;
            Runnable r = () -> {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                root(n);
            };
            threads[i] = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, r);
        }
        Thread.sleep(50);
        go.countDown();
        for (Thread t : threads) t.join();
        System.out.println("OK");
        while (System.in.read() >= 0) { }
    }
}

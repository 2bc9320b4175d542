import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/** With an argument a thread collects garbage all the time. Deadlocks: of two, three and five threads with monitors, of two with locks, of two mixed; and threads that only wait. */
public class Locked {
    interface Lock { void with(Runnable r); }

    static class Monitor implements Lock {
        public void with(Runnable r) { synchronized (this) { r.run(); } }
    }

    static class Mutex implements Lock {
        final ReentrantLock lock = new ReentrantLock();
        public void with(Runnable r) {
            lock.lock();
            try { r.run(); } finally { lock.unlock(); }
        }
    }

    /** Thread i holds lock i and wants lock i+1. */
    static void circle(String name, Lock... locks) {
        CountDownLatch all = new CountDownLatch(locks.length);
        for (int i = 0; i < locks.length; i++) {
            Lock own = locks[i], next = locks[(i + 1) % locks.length];
            Thread t = new Thread(() -> own.with(() -> {
                all.countDown();
                try { all.await(); } catch (InterruptedException e) { }
                next.with(() -> { });
            }), name + i);
            t.setDaemon(true);
            t.start();
        }
    }

    public static void main(String[] args) throws Exception {
        circle("two-", new Monitor(), new Monitor());
        circle("three-", new Monitor(), new Monitor(), new Monitor());
        circle("five-", new Monitor(), new Monitor(), new Monitor(), new Monitor(), new Monitor());
        circle("mutex-", new Mutex(), new Mutex());
        circle("mixed-", new Mutex(), new Monitor());
        Object signal = new Object();
        for (int i = 0; i < 3; i++) {
            Thread t = new Thread(() -> {
                synchronized (signal) { try { signal.wait(); } catch (InterruptedException e) { } }
            }, "waiting-" + i);
            t.setDaemon(true);
            t.start();
        }
        Thread.sleep(300);
        if (args.length > 0) {
            Thread t = new Thread(() -> {
                for (Object[] kept = new Object[64]; ; System.gc()) {
                    try { Thread.sleep(20); } catch (InterruptedException e) { }
                    for (int i = 0; i < kept.length; i++) { kept[i] = new byte[1 + 100 * (i % 7)]; }
                }
            }, "collector");
            t.setDaemon(true);
            t.start();
        }
        System.out.println("ready");
        System.in.read();
    }
}

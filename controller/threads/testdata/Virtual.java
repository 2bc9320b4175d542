import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/** Deadlocks of virtual threads, by monitors, by locks, and with a platform thread; and virtual threads that sleep. */
public class Virtual {
    static void await(CountDownLatch all) {
        all.countDown();
        try { all.await(); } catch (InterruptedException e) { }
    }

    static Runnable monitors(CountDownLatch all, Object own, Object next) {
        return () -> { synchronized (own) { await(all); synchronized (next) { } } };
    }

    static Runnable locks(CountDownLatch all, ReentrantLock own, ReentrantLock next) {
        return () -> { own.lock(); await(all); next.lock(); };
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch all = new CountDownLatch(6);
        Object a = new Object(), b = new Object(), e = new Object(), f = new Object();
        ReentrantLock c = new ReentrantLock(), d = new ReentrantLock();
        Thread.ofVirtual().name("monitor-0").start(monitors(all, a, b));
        Thread.ofVirtual().name("monitor-1").start(monitors(all, b, a));
        Thread.ofVirtual().name("lock-0").start(locks(all, c, d));
        Thread.ofVirtual().name("lock-1").start(locks(all, d, c));
        Thread.ofVirtual().name("pair-0").start(monitors(all, e, f));
        Thread.ofPlatform().daemon().name("pair-1").start(monitors(all, f, e));
        for (int i = 0; i < 20; i++)
            Thread.ofVirtual().start(() -> { try { Thread.sleep(1_000_000); } catch (InterruptedException x) { } });
        Thread.sleep(300);
        System.out.println("ready");
        System.in.read();
    }
}

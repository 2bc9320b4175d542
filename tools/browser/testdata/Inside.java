import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;

/** What there is to find inside of a JVM: a deadlock, a thread that waits for a lock, a leak, and a class that is loaded when a line is read. */
class Inside {
    static final List<Leaked> cache = new ArrayList<>();
    static final Object left = new Object(), right = new Object();
    static final Gate gate = new Gate();

    static final class Leaked { final byte[] bytes = new byte[64 << 10]; }

    static final List<Kept> kept = new ArrayList<>();

    static final class Kept { }

    static Kept keep() {
        return new Kept();
    }

    static final class Gate {
        synchronized void pass() { }
        synchronized void hold(CountDownLatch held) throws InterruptedException {
            held.countDown();
            for (;;) Thread.sleep(1000); // holds the monitor until the program ends
        }
    }

    static final class Late { int answer() { return 42; } }

    static Thread daemon(String name, Runnable run) {
        Thread t = new Thread(run, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    static void both(Object first, Object second, CountDownLatch got) {
        synchronized (first) {
            got.countDown();
            try {
                got.await();
            } catch (InterruptedException e) {
                return;
            }
            synchronized (second) {
                throw new AssertionError("no deadlock");
            }
        }
    }

    static void until(Thread t, Thread.State s) throws InterruptedException {
        while (t.getState() != s) Thread.sleep(5);
    }

    static void hold(CountDownLatch held) {
        try {
            gate.hold(held);
        } catch (InterruptedException e) {
            return;
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 200; i++) cache.add(new Leaked());
        CountDownLatch got = new CountDownLatch(2), held = new CountDownLatch(1);
        Thread a = daemon("left first", () -> both(left, right, got)), b = daemon("right first", () -> both(right, left, got));
        until(a, Thread.State.BLOCKED);
        until(b, Thread.State.BLOCKED);
        daemon("holder", () -> hold(held));
        held.await();
        until(daemon("waiter", () -> gate.pass()), Thread.State.BLOCKED);
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            if (in.nextLine().equals("keep")) kept.add(keep());
            System.out.println("ANSWER " + new Late().answer());
        }
    }
}

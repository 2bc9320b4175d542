package t;

import java.util.Hashtable;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A program that waits for locks, and keeps its own account. Command "go N": each root waits so often for its lock. The other
 * thread lets it go only 10 ms after it has seen it wait. "free" calls each root while its lock is free. The answer to
 * "go" has the ns that root calls took in all, and those that they waited at the least.
 */
public class Contended {
    static final Object lock = new Object();
    static final Hashtable<String, String> table = new Hashtable<>();
    static final ReentrantLock reentrant = new ReentrantLock();
    static int sum;

    static void root(int kind) {
        if (kind == 0) monitor();
        else if (kind == 1) table();
        else reentrant();
    }

    static void monitor() {
        synchronized (lock) {
            sum++;
        }
    }

    static void table() {
        if (table.get("key") != null) sum++;
    }

    static void reentrant() {
        reentrant.lock();
        try {
            sum++;
        } finally {
            reentrant.unlock();
        }
    }

    static long held;

    /** Holds a lock until 10 ms after the other thread waits for it. */
    static void hold(int kind, CountDownLatch taken, Thread other) throws InterruptedException {
        if (kind == 2) {
            reentrant.lock();
            try {
                holding(taken, other, Thread.State.WAITING);
            } finally {
                reentrant.unlock();
            }
            return;
        }
        synchronized (kind == 0 ? lock : table) {
            holding(taken, other, Thread.State.BLOCKED);
        }
    }

    static void holding(CountDownLatch taken, Thread other, Thread.State state) throws InterruptedException {
        while (other.getState() != Thread.State.TIMED_WAITING) Thread.sleep(1); // it sleeps until the lock is taken
        taken.countDown();
        while (other.getState() != state) Thread.sleep(1);
        long from = System.nanoTime();
        Thread.sleep(10);
        held += System.nanoTime() - from;
    }

    public static void main(String[] a) throws Exception {
        Scanner in = new Scanner(System.in);
        System.out.println("READY");
        while (in.hasNextLine()) {
            String[] f = in.nextLine().split(" ");
            if (f[0].equals("free")) {
                for (int kind = 0; kind < 3; kind++) root(kind);
                System.out.println("FREE 1");
                continue;
            }
            long took = 0;
            held = 0;
            final Thread me = Thread.currentThread();
            for (int i = 0; i < 3 * Integer.parseInt(f[1]); i++) {
                final int kind = i % 3;
                final CountDownLatch taken = new CountDownLatch(1);
                Thread other = new Thread() {
                    @Override
                    public void run() {
                        try {
                            hold(kind, taken, me);
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                };
                other.start();
                while (taken.getCount() != 0) Thread.sleep(1);
                long from = System.nanoTime();
                root(kind);
                took += System.nanoTime() - from;
                other.join();
            }
            System.out.println("WAITED " + took + " " + held);
        }
    }
}

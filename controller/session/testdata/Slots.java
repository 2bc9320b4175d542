package t;

import java.util.Scanner;
import java.util.concurrent.CyclicBarrier;

/**
 * Three threads whose ids differ by multiples of 32,768. "run N": in N rounds, a multiple of three, each calls the root or,
 * outside of it, what the root calls. The first is inside in two rounds of three, so is the second, in one of them alone, and
 * the third never is. Prints RAN and N. "crowd": 64 threads with ids in a row are inside, and one comes whose place is in
 * their midst. Prints RAN 65.
 */
public class Slots {
    static final int SLOTS = 32768;
    static final CyclicBarrier all = new CyclicBarrier(3);
    static volatile int n;
    static long sink;

    public static void main(String[] args) throws Exception {
        Thread first = alike(null, () -> serve(0)), second = alike(first, () -> serve(1)), third = alike(first, () -> serve(-1));
        for (Thread t : new Thread[] {first, second, third}) {
            t.setDaemon(true);
            t.start();
        }
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String[] line = in.nextLine().split(" ");
            if (line[0].equals("end")) return;
            if (line[0].equals("crowd")) {
                crowd();
                System.out.println("RAN 65");
                continue;
            }
            n = Integer.parseInt(line[1]);
            go.release(3);
            done.acquire(3);
            System.out.println("RAN " + n);
        }
    }

    static final java.util.concurrent.Semaphore go = new java.util.concurrent.Semaphore(0, true), done = new java.util.concurrent.Semaphore(0);

    /** A thread with an id that has the same place in a table of that size. */
    static Thread alike(Thread other, Runnable task) {
        for (;;) {
            Thread t = new Thread(task);
            if (other == null || (t.getId() - other.getId()) % SLOTS == 0) return t;
        }
    }

    static void crowd() throws Exception {
        CyclicBarrier begun = new CyclicBarrier(65), over = new CyclicBarrier(65);
        Thread[] row = new Thread[64];
        for (int i = 0; i < 64; i++) row[i] = new Thread(() -> member(begun, over));
        for (Thread t : row) t.start();
        begun.await();
        Thread late = alike(row[8], () -> member(null, null));
        late.start();
        late.join();
        over.await();
        for (Thread t : row) t.join();
    }

    static void member(CyclicBarrier begun, CyclicBarrier over) {
        try {
            if (begun != null) begun.await();
            if (over != null) over.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void serve(int number) {
        try {
            for (;;) {
                go.acquire();
                for (int i = 0; i < n; i++) {
                    if (number >= 0 && (i + number) % 3 != 0) root(i);
                    else bystander(i);
                }
                done.release();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void root(int i) throws Exception {
        all.await(); // all are where they are to be
        work(i);
        all.await(); // nobody has left
    }

    static void bystander(int i) throws Exception {
        all.await();
        work(i);
        work(i + 1);
        all.await();
    }

    static synchronized void work(int i) {
        for (int k = 0; k < 3; k++) sink += value(i + k);
    }

    static int value(int i) {
        return i * 31;
    }
}

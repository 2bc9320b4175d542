package wide;

import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** "go": so many virtual threads make one root call each. So many of them are inside at the same time. */
public class Virtual {
    static final AtomicInteger steps = new AtomicInteger();

    static void root(CountDownLatch all) throws Exception {
        all.countDown();
        all.await(); // until all of this group are inside
        step();
    }

    static void step() {
        steps.incrementAndGet();
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]), most = Integer.parseInt(args[1]);
        System.out.println("PID " + ProcessHandle.current().pid());
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            if (in.nextLine().equals("post")) return;
            for (int done = 0; done < n; done += most) {
                CountDownLatch all = new CountDownLatch(most);
                Thread[] threads = new Thread[most];
                for (int i = 0; i < most; i++) {
                    threads[i] = Thread.startVirtualThread(() -> {
                        try {
                            root(all);
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                    });
                }
                for (Thread t : threads) t.join();
            }
            System.out.println("DONE");
        }
    }
}

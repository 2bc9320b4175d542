package wide;

import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/** "go": so many virtual threads make one root call each, of which so many are inside together. */
public class Virtual {
    static void root(Semaphore together, CountDownLatch all) throws Exception {
        all.countDown();
        all.await(); // until as many as may be inside are
        step(together);
    }

    static void step(Semaphore together) {
        together.release();
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]), most = Integer.parseInt(args[1]);
        System.out.println("PID " + ProcessHandle.current().pid());
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            if (in.nextLine().equals("post")) return;
            for (int done = 0; done < n; done += most) {
                Semaphore together = new Semaphore(0);
                CountDownLatch all = new CountDownLatch(most);
                Thread[] threads = new Thread[most];
                for (int i = 0; i < most; i++) {
                    threads[i] = Thread.startVirtualThread(() -> {
                        try {
                            root(together, all);
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

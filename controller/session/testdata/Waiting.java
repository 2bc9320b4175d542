package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** "hand N" has a root hand N tasks over, which all wait until the last of them is, and prints DONE when they have been executed. */
public class Waiting {
    static volatile int done;

    static void root(ThreadPoolExecutor pool, int n, CountDownLatch last) {
        for (int i = 0; i < n; i++) {
            pool.execute(new Runnable() {
                @Override
                public void run() {
                    task(last);
                }
            });
        }
    }

    static void task(CountDownLatch last) {
        try {
            last.await();
        } catch (InterruptedException e) {
            return;
        }
        done++;
    }

    public static void main(String[] args) throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] w = line.split(" ");
            if (!w[0].equals("hand")) break;
            CountDownLatch last = new CountDownLatch(1);
            int n = Integer.parseInt(w[1]), want = done + n;
            root(pool, n, last);
            last.countDown();
            while (done < want) Thread.sleep(1);
            System.out.println("DONE");
        }
        pool.shutdownNow();
    }
}

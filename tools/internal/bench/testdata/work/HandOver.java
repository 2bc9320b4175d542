package work;

import java.util.concurrent.*;

/**
 * Hands N empty tasks over in each repetition and waits for them: "pool" to a pool of one thread, "fork" as fork/join
 * tasks, "virtual" to a virtual thread each. Arguments: kind, N, repetitions before, during and after.
 */
public class HandOver {
    static volatile long sink;
    static ExecutorService executor;
    static ForkJoinPool forks;

    static final class Task implements Runnable {
        final CountDownLatch done;

        Task(CountDownLatch done) {
            this.done = done;
        }

        @Override
        public void run() {
            done.countDown();
        }
    }

    static final class Fork extends RecursiveAction {
        final int n;

        Fork(int n) {
            this.n = n;
        }

        @Override
        protected void compute() {
            Fork[] all = new Fork[n];
            for (int i = 0; i < n; i++) (all[i] = new Fork(0)).fork();
            for (int i = n; i-- > 0; ) all[i].join();
        }
    }

    static void tasks(int n) throws Exception {
        CountDownLatch done = new CountDownLatch(n);
        for (int i = 0; i < n; i++) executor.execute(new Task(done));
        done.await();
    }

    static void forks(int n) throws Exception {
        forks.submit(new Fork(n)).get();
    }

    static void root(String kind, int n) throws Exception {
        if (kind.equals("fork")) forks(n);
        else tasks(n);
    }

    static void repeat(String tag, int times, String kind, int n) throws Exception {
        for (int i = 0; i < times; i++) {
            long from = System.nanoTime();
            root(kind, n);
            System.out.println(tag + " " + i + " " + (System.nanoTime() - from));
        }
    }

    public static void main(String[] args) throws Exception {
        String kind = args[0];
        int n = Integer.parseInt(args[1]);
        if (kind.equals("virtual")) executor = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        else executor = Executors.newFixedThreadPool(1);
        forks = new ForkJoinPool(2);
        System.out.println("PID " + new java.io.File("/proc/self").getCanonicalFile().getName());
        repeat("BARE", Integer.parseInt(args[2]), kind, n);
        System.out.println("READY");
        System.in.read();
        while (System.in.read() != '\n') { }
        repeat("PROF", Integer.parseInt(args[3]), kind, n);
        System.out.println("DONE");
        System.in.read();
        repeat("POST", Integer.parseInt(args[4]), kind, n);
        System.exit(0);
    }
}

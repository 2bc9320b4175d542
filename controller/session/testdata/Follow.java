package t;

import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;

/** Hands tasks over by one mechanism, N times in each of R calls of root. */
public class Follow {
    static int n;

    static void t_task() {
        Thread.yield();
    }

    static int t_value() {
        t_task();
        return 1;
    }

    static void t_fails() {
        throw new IllegalStateException("on purpose");
    }

    static class Own extends Thread {
        @Override
        public void run() {
            t_task();
        }
    }

    static void root(String how) throws Exception {
        switch (how) {
            case "thread": threads(); break;
            case "pool": pool(); break;
            case "scheduled": scheduled(); break;
            case "future": future(); break;
            case "forkjoin": forkJoin(); break;
            case "timer": timer(); break;
            case "oldtimer": oldTimer(); break;
            case "virtual": virtual(); break;
            case "nested": nested(); break;
            case "seen": seen(); break;
            default: throw new Error(how);
        }
    }

    static void threads() throws Exception {
        Thread[] all = new Thread[2 * n];
        for (int i = 0; i < n; i++) (all[i] = new Thread(() -> t_task())).start();
        for (int i = 0; i < n; i++) (all[n + i] = new Own()).start();
        for (Thread t : all) t.join();
    }

    static void viaExecute(Executor e, CountDownLatch done) {
        e.execute(() -> {
            t_task();
            done.countDown();
        });
    }

    static <T> Future<T> viaSubmit(ExecutorService e, Callable<T> c) {
        return e.submit(c);
    }

    static final CountDownLatch[] same = new CountDownLatch[1];
    static final Runnable SAME = () -> {
        t_task();
        same[0].countDown();
    };

    static void viaSame(Executor e) {
        e.execute(SAME);
    }

    static void pool() throws Exception {
        ThreadPoolExecutor e = new ThreadPoolExecutor(2, 2, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        try {
            CountDownLatch done = new CountDownLatch(n);
            for (int i = 0; i < n; i++) viaExecute(e, done);
            done.await();
            Future<?>[] all = new Future<?>[n];
            for (int i = 0; i < n; i++) all[i] = viaSubmit(e, () -> t_value());
            for (Future<?> f : all) f.get();
            same[0] = new CountDownLatch(n);
            for (int i = 0; i < n; i++) viaSame(e);
            same[0].await();
            Thread.setDefaultUncaughtExceptionHandler((t, x) -> { });
            for (int i = 0; i < n; i++) e.execute(() -> t_fails());
            e.invokeAll(java.util.Arrays.asList((Callable<Integer>) () -> t_value(), () -> t_value()));
        } finally {
            e.shutdown();
            e.awaitTermination(1, TimeUnit.MINUTES);
        }
    }

    static void scheduled() throws Exception {
        ScheduledThreadPoolExecutor e = new ScheduledThreadPoolExecutor(1);
        CountDownLatch done = new CountDownLatch(n);
        ScheduledFuture<?>[] self = new ScheduledFuture<?>[1];
        AtomicInteger left = new AtomicInteger(n);
        e.schedule(() -> t_value(), 1, TimeUnit.MILLISECONDS).get();
        CountDownLatch set = new CountDownLatch(1);
        self[0] = e.scheduleAtFixedRate(() -> {
            try {
                set.await();
            } catch (InterruptedException x) {
                throw new Error(x);
            }
            t_task();
            if (left.decrementAndGet() == 0) self[0].cancel(false);
            done.countDown();
        }, 0, 1, TimeUnit.MILLISECONDS);
        set.countDown();
        done.await();
        e.shutdown();
        e.awaitTermination(1, TimeUnit.MINUTES);
    }

    static void future() throws Exception {
        for (int i = 0; i < n; i++) {
            CountDownLatch go = new CountDownLatch(1);
            stages(go).get();
        }
    }

    static CompletableFuture<Integer> stages(CountDownLatch go) {
        CompletableFuture<Integer> f = CompletableFuture.supplyAsync(() -> {
            try {
                go.await();
            } catch (InterruptedException x) {
                throw new Error(x);
            }
            return t_value();
        }).thenApplyAsync(x -> x + t_value()).thenCombineAsync(CompletableFuture.supplyAsync(() -> t_value()), (a, b) -> a + b + t_value());
        go.countDown();
        return f;
    }

    static class Sum extends RecursiveTask<Integer> {
        final int size;

        Sum(int size) {
            this.size = size;
        }

        @Override
        protected Integer compute() {
            if (size == 1) return t_value();
            Sum left = new Sum(size / 2), right = new Sum(size - size / 2);
            left.fork();
            return right.compute() + left.join();
        }
    }

    static void forkJoin() throws Exception {
        ForkJoinPool p = new ForkJoinPool(3);
        int got = p.submit(new Sum(n)).get() + p.submit(() -> t_value()).get();
        if (got != n + 1) throw new Error("sum " + got);
        p.shutdown();
        p.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** Its thread is there before the recording. */
    static final Timer OLD = new Timer(true);

    static class Once extends TimerTask {
        final CountDownLatch done;

        Once(CountDownLatch done) {
            this.done = done;
        }

        @Override
        public void run() {
            t_task();
            done.countDown();
        }
    }

    static class Often extends Once {
        Often(CountDownLatch done) {
            super(done);
        }

        @Override
        public void run() {
            super.run();
            if (done.getCount() == 0) cancel();
        }
    }

    static void oldTimer() throws Exception {
        CountDownLatch done = new CountDownLatch(n), often = new CountDownLatch(n);
        for (int i = 0; i < n; i++) OLD.schedule(new Once(done), 1);
        OLD.schedule(new Often(often), 1, 1);
        done.await();
        often.await();
        Thread.sleep(20);
    }

    static void timer() throws Exception {
        Timer t = new Timer(true);
        CountDownLatch done = new CountDownLatch(n), once = new CountDownLatch(1);
        t.schedule(new TimerTask() {
            int left = n;

            @Override
            public void run() {
                t_task();
                if (--left == 0) cancel();
                done.countDown();
            }
        }, 1, 1);
        t.schedule(new TimerTask() {
            @Override
            public void run() {
                t_value();
                once.countDown();
            }
        }, 1);
        done.await();
        once.await();
        Thread.sleep(20);
    }

    static void virtual() throws Exception {
        ExecutorService e = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        Future<?>[] all = new Future<?>[n];
        for (int i = 0; i < n; i++) all[i] = viaSubmit(e, () -> {
            Thread.sleep(1);
            return t_value();
        });
        for (Future<?> f : all) f.get();
        e.shutdown();
        e.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** A task that hands itself over until it has run n times, and one that hands another over. */
    static class Again implements Runnable {
        final ExecutorService e;
        final CountDownLatch done = new CountDownLatch(n);
        int left = n;

        Again(ExecutorService e) {
            this.e = e;
        }

        @Override
        public void run() {
            t_task();
            if (--left > 0) e.execute(this);
            done.countDown();
        }
    }

    static void outer(ExecutorService e, CountDownLatch done) {
        inner(e, done);
    }

    static void inner(ExecutorService e, CountDownLatch done) {
        e.execute(() -> {
            t_value();
            done.countDown();
        });
    }

    static void nested() throws Exception {
        ExecutorService e = Executors.newFixedThreadPool(2);
        Again a = new Again(e);
        e.execute(a);
        a.done.await();
        CountDownLatch done = new CountDownLatch(n);
        for (int i = 0; i < n; i++) e.execute(() -> outer(e, done));
        done.await();
        e.shutdown();
        e.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** Keeps what it executes. */
    static class Watching extends ThreadPoolExecutor {
        final java.util.List<Object> began = new java.util.concurrent.CopyOnWriteArrayList<>();

        Watching() {
            super(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        }

        @Override
        protected void beforeExecute(Thread t, Runnable r) {
            super.beforeExecute(t, r);
            began.add(r);
        }
    }

    static void identical(Object[] got, Object... want) {
        if (got.length != want.length) throw new Error(got.length + " tasks");
        for (int i = 0; i < got.length; i++) if (got[i] != want[i]) throw new Error("not the task that was handed over: " + got[i]);
    }

    static void clean() {
        for (StackTraceElement f : new Throwable().getStackTrace()) if (f.getClassName().toLowerCase().contains("rivulet")) throw new Error("on the stack: " + f);
    }

    /** What an application can look at: the queue, hooks, the tasks that were not begun, stack traces. */
    static void seen() throws Exception {
        Watching e = new Watching();
        CountDownLatch in = new CountDownLatch(1), over = new CountDownLatch(1);
        Throwable[] failed = new Throwable[1];
        Runnable first = () -> {
            try {
                clean();
                in.countDown();
                Thread.sleep(60_000);
            } catch (InterruptedException x) {
                t_task();
            } catch (Throwable x) {
                failed[0] = x;
            }
            over.countDown();
        }, second = () -> t_value(), third = () -> t_task();
        e.execute(first);
        in.await(1, TimeUnit.MINUTES);
        e.execute(second);
        e.execute(third);
        identical(e.getQueue().toArray(), second, third);
        identical(e.began.toArray(), first);
        if (!e.remove(second)) throw new Error("not found");
        identical(e.shutdownNow().toArray(), third);
        over.await();
        if (failed[0] != null) throw new Error(failed[0]);
        e.awaitTermination(1, TimeUnit.MINUTES);
    }

    public static void main(String[] args) throws Exception {
        n = Integer.parseInt(args[1]);
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null; ) {
            if (line.equals("end")) break;
            for (String how : args[0].split(",")) root(how);
            System.out.println("OK");
        }
    }
}

// WANT forkjoin: Follow$Sum.compute > Follow$Sum.compute 15
// WANT forkjoin: Follow$Sum.compute > Follow.t_value 8
// WANT forkjoin: Follow$Sum.compute > ~java.util.concurrent.ForkJoinTask.doExec 7
// WANT forkjoin: Follow.forkJoin > ~java.util.concurrent.ForkJoinTask.doExec 2
// WANT forkjoin: Follow.lambda$forkJoin > Follow.t_value 1
// WANT forkjoin: Follow.root > Follow.forkJoin 1
// WANT forkjoin: Follow.t_value > Follow.t_task 9
// WANT forkjoin: ~java.util.concurrent.ForkJoinTask.doExec > Follow$Sum.compute 8
// WANT forkjoin: ~java.util.concurrent.ForkJoinTask.doExec > Follow.lambda$forkJoin 1
// WANT future: Follow.future > Follow.stages 8
// WANT future: Follow.lambda$stages > Follow.t_value 32
// WANT future: Follow.root > Follow.future 1
// WANT future: Follow.stages > ~java.util.concurrent.ForkJoinTask.doExec 32
// WANT future: Follow.t_value > Follow.t_task 32
// WANT future: ~java.util.concurrent.ForkJoinTask.doExec > Follow.lambda$stages 32
// WANT nested: Follow$Again.run > Follow.t_task 8
// WANT nested: Follow$Again.run > ~java.util.concurrent.ThreadPoolExecutor.runWorker 7
// WANT nested: Follow.inner > ~java.util.concurrent.ThreadPoolExecutor.runWorker 8
// WANT nested: Follow.lambda$inner > Follow.t_value 8
// WANT nested: Follow.lambda$nested > Follow.outer 8
// WANT nested: Follow.nested > ~java.util.concurrent.ThreadPoolExecutor.runWorker 9
// WANT nested: Follow.outer > Follow.inner 8
// WANT nested: Follow.root > Follow.nested 1
// WANT nested: Follow.t_value > Follow.t_task 8
// WANT nested: ~java.util.concurrent.ThreadPoolExecutor.runWorker > Follow$Again.run 8
// WANT nested: ~java.util.concurrent.ThreadPoolExecutor.runWorker > Follow.lambda$inner 8
// WANT nested: ~java.util.concurrent.ThreadPoolExecutor.runWorker > Follow.lambda$nested 8
// WANT oldtimer: Follow$Once.run > Follow.t_task 8
// WANT oldtimer: Follow.oldTimer > ~Follow$Often.run 8
// WANT oldtimer: Follow.oldTimer > ~Follow$Once.run 8
// WANT oldtimer: Follow.root > Follow.oldTimer 1
// WANT oldtimer: ~Follow$Often.run > Follow$Once.run 8
// WANT oldtimer: ~Follow$Once.run > Follow.t_task 8
// WANT pool: Follow.lambda$pool > Follow.t_fails 8
// WANT pool: Follow.lambda$pool > Follow.t_value 10
// WANT pool: Follow.lambda$static > Follow.t_task 8
// WANT pool: Follow.lambda$viaExecute > Follow.t_task 8
// WANT pool: Follow.pool > Follow.viaExecute 8
// WANT pool: Follow.pool > Follow.viaSame 8
// WANT pool: Follow.pool > Follow.viaSubmit 8
// WANT pool: Follow.pool > ~java.util.concurrent.ThreadPoolExecutor.runWorker 10
// WANT pool: Follow.root > Follow.pool 1
// WANT pool: Follow.t_value > Follow.t_task 10
// WANT pool: Follow.viaExecute > ~java.util.concurrent.ThreadPoolExecutor.runWorker 8
// WANT pool: Follow.viaSame > ~java.util.concurrent.ThreadPoolExecutor.runWorker 8
// WANT pool: Follow.viaSubmit > ~java.util.concurrent.ThreadPoolExecutor.runWorker 8
// WANT pool: ~java.util.concurrent.ThreadPoolExecutor.runWorker > Follow.lambda$pool 18
// WANT pool: ~java.util.concurrent.ThreadPoolExecutor.runWorker > Follow.lambda$static 8
// WANT pool: ~java.util.concurrent.ThreadPoolExecutor.runWorker > Follow.lambda$viaExecute 8
// WANT scheduled: Follow.lambda$scheduled > Follow.t_task 8
// WANT scheduled: Follow.lambda$scheduled > Follow.t_value 1
// WANT scheduled: Follow.root > Follow.scheduled 1
// WANT scheduled: Follow.scheduled > ~java.util.concurrent.ThreadPoolExecutor.runWorker 9
// WANT scheduled: Follow.t_value > Follow.t_task 1
// WANT scheduled: ~java.util.concurrent.ThreadPoolExecutor.runWorker > Follow.lambda$scheduled 9
// WANT seen: Follow.lambda$seen > Follow.clean 1
// WANT seen: Follow.lambda$seen > Follow.t_task 1
// WANT seen: Follow.root > Follow.seen 1
// WANT seen: Follow.seen > Follow.identical 3
// WANT seen: Follow.seen > ~java.util.concurrent.ThreadPoolExecutor.runWorker 1
// WANT seen: ~java.util.concurrent.ThreadPoolExecutor.runWorker > Follow.lambda$seen 1
// WANT thread: Follow.lambda$threads > Follow.t_task 8
// WANT thread: Follow.root > Follow.threads 1
// WANT thread: Follow.threads > ~Follow$Own.run 8
// WANT thread: Follow.threads > ~java.lang.Thread.run 8
// WANT thread: ~Follow$Own.run > Follow.t_task 8
// WANT thread: ~java.lang.Thread.run > Follow.lambda$threads 8
// WANT timer: Follow$1.run > Follow.t_task 8
// WANT timer: Follow$2.run > Follow.t_value 1
// WANT timer: Follow.root > Follow.timer 1
// WANT timer: Follow.t_value > Follow.t_task 1
// WANT timer: Follow.timer > ~java.util.TimerThread.mainLoop 9
// WANT timer: ~java.util.TimerThread.mainLoop > Follow$1.run 8
// WANT timer: ~java.util.TimerThread.mainLoop > Follow$2.run 1
// WANT virtual: Follow.root > Follow.virtual 1
// WANT virtual: Follow.virtual > Follow.viaSubmit 8
// WANT virtual: Follow.viaSubmit > ~java.lang.VirtualThread.run 8
// WANT virtual: ~java.lang.VirtualThread.run > Follow.lambda$virtual 8
// WANT virtual: Follow.lambda$virtual > Follow.t_value 8
// WANT virtual: Follow.t_value > Follow.t_task 8

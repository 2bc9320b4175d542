package t;

import java.util.Arrays;
import java.util.concurrent.*;

/**
 * Roots whose critical path is known: each hands over three tasks and waits at last for one, which itself waits for
 * another. Nothing depends on time: a task that is waited for goes on when its waiter waits.
 */
public class Path {
    static ExecutorService pool;
    /** Who is about to wait for whom. */
    static volatile Thread forOuter, forInner;

    /** Works until a thread waits, and a little longer. */
    static void until(Thread t) {
        while (t.getState() != Thread.State.WAITING) Thread.yield();
        busy();
    }

    static int busy() {
        int n = 0;
        for (long end = System.nanoTime() + 1_000_000; System.nanoTime() < end; ) n++;
        return n;
    }

    static int first() {
        return busy();
    }

    static int last() {
        return busy();
    }

    static int small() {
        return busy();
    }

    static void before() {
        while (forOuter == null) Thread.yield();
        until(forOuter);
    }

    static int inner() {
        while (forInner == null) Thread.yield();
        until(forInner);
        return 1;
    }

    static int after() {
        return busy();
    }

    /** The task that is waited for: works, waits for another, works on. */
    static int outer() throws Exception {
        before();
        Future<Integer> f = pool.submit(() -> inner());
        forInner = Thread.currentThread();
        return f.get() + after();
    }

    static void future() throws Exception {
        first();
        Future<Integer> a = pool.submit(() -> small()), b = pool.submit(() -> outer()), c = pool.submit(() -> small());
        a.get();
        c.get();
        forOuter = Thread.currentThread();
        b.get();
        last();
    }

    static void latch() throws Exception {
        CountDownLatch two = new CountDownLatch(2), done = new CountDownLatch(3);
        for (int i = 0; i < 2; i++) {
            pool.execute(() -> {
                small();
                done.countDown();
                two.countDown();
            });
        }
        pool.execute(() -> {
            try {
                outer();
            } catch (Exception x) {
                throw new Error(x);
            }
            done.countDown();
        });
        two.await();
        forOuter = Thread.currentThread();
        done.await();
        last();
    }

    /** A stage begins when the one before it has ended, wherever it was asked for. */
    static void stages() {
        CompletableFuture<Integer> a = CompletableFuture.supplyAsync(() -> {
            before();
            return 1;
        }, pool);
        CompletableFuture<Integer> b = CompletableFuture.supplyAsync(() -> small(), pool);
        b.join();
        CompletableFuture<Integer> c = a.thenApplyAsync(x -> x + after(), pool);
        CompletableFuture<Integer> d = c.thenCombineAsync(b, (x, y) -> x + y + last(), pool);
        forOuter = Thread.currentThread();
        d.join();
    }

    static void threads() throws Exception {
        Thread a = new Thread(() -> small()), b = new Thread(() -> {
            try {
                before();
                Thread t = new Thread(() -> inner());
                t.start();
                forInner = Thread.currentThread();
                t.join();
                after();
            } catch (Exception x) {
                throw new Error(x);
            }
        });
        a.start();
        b.start();
        a.join();
        forOuter = Thread.currentThread();
        b.join();
        last();
    }

    static class Inner extends RecursiveTask<Integer> {
        @Override
        protected Integer compute() {
            begun = true;
            return inner();
        }
    }

    static volatile boolean begun;

    static class Outer extends RecursiveTask<Integer> {
        @Override
        protected Integer compute() {
            before();
            begun = false;
            Inner i = new Inner();
            i.fork();
            while (!begun) Thread.yield(); // taken by another, so that it can't be executed here
            forInner = Thread.currentThread();
            return i.join() + after();
        }
    }

    static void forkJoin() {
        ForkJoinPool p = new ForkJoinPool(2);
        ForkJoinTask<Integer> b = p.submit(new Outer());
        forOuter = Thread.currentThread();
        b.join();
        last();
        p.shutdown();
    }

    /** Waits for something that has no cause below the root. */
    static void nothing() throws Exception {
        first();
        for (int i = 0; i < 20; i++) { // whoever comes to it late doesn't wait any more
            new CountDownLatch(1).await(2, TimeUnit.MILLISECONDS);
        }
        last();
    }

    static void root(String how) throws Exception {
        switch (how) {
            case "future": future(); break;
            case "latch": latch(); break;
            case "stages": stages(); break;
            case "threads": threads(); break;
            case "forkjoin": forkJoin(); break;
            case "nothing": nothing(); break;
            default: throw new Error(how);
        }
        forOuter = forInner = null;
    }

    public static void main(String[] args) throws Exception {
        pool = Executors.newFixedThreadPool(4);
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null; ) {
            if (line.equals("end")) break;
            for (String how : line.split(",")) root(how);
            System.out.println("OK");
        }
        pool.shutdown();
    }
}

// The segments of each path: kind, cause of a wait, the thread by what it executes, task of what queued; then the
// methods that ran on it, in the order of their names, except for until, busy, lambdas and constructors.
//
// WANT future: run A | queue B lambda$future | run B | queue C lambda$outer | run C | wait B unpark | run B | wait A unpark | run A
// RAN future: after before first future inner last outer root
// WANT latch: run A | queue B lambda$latch | run B | queue C lambda$outer | run C | wait B unpark | run B | wait A unpark | run A
// RAN latch: after before inner last latch outer root
// WANT stages: run A | queue B lambda$stages | run B | queue C lambda$stages | run C | queue D lambda$stages | run D | wait A unpark | run A
// RAN stages: after before last root stages
// WANT threads: run A | queue B lambda$threads | run B | queue C lambda$threads | run C | wait B end | run B | wait A end | run A
// RAN threads: after before inner last root threads
// WANT forkjoin: run A | queue B compute | run B | queue C compute | run C | wait B unpark | run B | wait A unpark | run A
// RAN forkjoin: after before compute forkJoin inner last root
// WANT nothing: run A | wait A | run A
// RAN nothing: first last nothing root

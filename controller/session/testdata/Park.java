package t;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Pairs of threads that let each other go on by permits alone: if one is lost, its pair stands still for good. "rounds N"
 * prints OK when each pair has had N more. Arguments: how many pairs, and "virtual" for virtual threads.
 */
public class Park {
    static volatile boolean over;

    static class Pair {
        final Thread[] threads = new Thread[2];
        final AtomicLong rounds = new AtomicLong();
        volatile int turn;

        void play(int me) {
            while (!over) root(this, me);
            LockSupport.unpark(threads[1 - me]);
        }
    }

    static void root(Pair p, int me) {
        for (int i = 0; i < 200 && !over; i++) round(p, me);
    }

    static void round(Pair p, int me) {
        while (p.turn != me) {
            if (over) return;
            LockSupport.park(p);
        }
        p.rounds.incrementAndGet();
        p.turn = 1 - me;
        LockSupport.unpark(p.threads[1 - me]);
    }

    static ThreadFactory factory(boolean virtual) throws Exception {
        if (!virtual) return r -> new Thread(r);
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    }

    public static void main(String[] args) throws Exception {
        Pair[] pairs = new Pair[Integer.parseInt(args[0])];
        ThreadFactory f = factory(args[1].equals("virtual"));
        for (int k = 0; k < pairs.length; k++) {
            Pair p = pairs[k] = new Pair();
            p.threads[0] = f.newThread(() -> p.play(0));
            p.threads[1] = f.newThread(() -> p.play(1));
        }
        for (Pair p : pairs) for (Thread t : p.threads) t.start();
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
            long n = Long.parseLong(line.split(" ")[1]);
            for (Pair p : pairs) for (long from = p.rounds.get(); p.rounds.get() < from + n; ) Thread.sleep(1);
            System.out.println("OK");
        }
        over = true;
        for (Pair p : pairs) for (Thread t : p.threads) LockSupport.unpark(t);
        for (Pair p : pairs) for (Thread t : p.threads) t.join();
    }
}

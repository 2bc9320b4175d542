package work;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;

/**
 * Runs a micro program by a protocol on stdin and stdout, so that what a call costs can be told apart by where it is
 * made. args: KIND PARAM BARE COLD WARM
 *
 *   PID n
 *   TRUTH ...            acc only: its own, twice, and at the end once more; it leaves out the calls of a method's callees
 *   CALL ns              acc only: a call of an empty method that is not inlined, best of several
 *   NANO ns              two readings of System.nanoTime, best of several, at the end once more
 *   BARE i ns            BARE repetitions
 *   READY                waits for a line
 *   COLD i ns            COLD repetitions below cold(): they reveal the subgraph and get compiled again
 *   WARM i ns            WARM repetitions below warm(), in turns with
 *   OUTSIDE i ns         the same work below outside(), which is never a root
 *   DONE                 waits for a line
 *   POST i ns            BARE repetitions
 *   END
 */
public final class Calls {
    private static final int INNER = 10_000;
    static long sink;

    private Calls() {}

    static void leaf() {}

    private static void leaves() {
        for (int i = 0; i < INNER; i++) leaf();
    }

    static long none(long x) {
        return x;
    }

    private static long nones() {
        long x = 0;
        for (int i = 0; i < INNER; i++) x = none(x + i);
        return x;
    }

    private static long nano() {
        long sum = 0;
        for (int i = 0; i < INNER; i++) sum += System.nanoTime() - System.nanoTime();
        return sum;
    }

    private static long work(String kind, int p) {
        switch (kind) {
            case "leaf":
                for (int i = 0; i < p; i++) leaves();
                return p;
            case "fib":
                return Fib.root(p);
            case "medium":
                return Medium.root(p);
            case "acc":
                return Acc.root(p);
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    static long cold(String kind, int p) {
        return work(kind, p);
    }

    static long warm(String kind, int p) {
        return work(kind, p);
    }

    static long outside(String kind, int p) {
        return work(kind, p);
    }

    private static void lap(String tag, int i, String kind, int p) {
        long t = System.nanoTime();
        switch (tag) {
            case "COLD":
                sink += cold(kind, p);
                break;
            case "WARM":
                sink += warm(kind, p);
                break;
            default:
                sink += outside(kind, p);
        }
        System.out.println(tag + " " + i + " " + (System.nanoTime() - t));
    }

    private static void price(String tag) {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 2000; i++) {
            long t = System.nanoTime();
            sink += tag.equals("NANO") ? nano() : nones();
            best = Math.min(best, System.nanoTime() - t);
        }
        System.out.println(tag + " " + (double) best / INNER);
    }

    public static void main(String[] a) throws Exception {
        String kind = a[0];
        int p = Integer.parseInt(a[1]), bare = Integer.parseInt(a[2]), cold = Integer.parseInt(a[3]), warm = Integer.parseInt(a[4]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("PID " + ManagementFactory.getRuntimeMXBean().getName().split("@")[0]);
        if (kind.equals("acc")) {
            Acc.truth(p);
            Acc.truth(p);
            price("CALL");
        }
        price("NANO");
        for (int i = 0; i < bare; i++) lap("BARE", i, kind, p);
        System.out.println("READY");
        if (in.readLine() == null) return;
        for (int i = 0; i < cold; i++) lap("COLD", i, kind, p);
        for (int i = 0; i < warm; i++) {
            lap("WARM", i, kind, p);
            lap("OUTSIDE", i, kind, p);
        }
        System.out.println("DONE");
        if (in.readLine() == null) return;
        for (int i = 0; i < bare; i++) lap("POST", i, kind, p);
        price("NANO");
        if (kind.equals("acc")) Acc.truth(p);
        System.out.println("END");
    }
}

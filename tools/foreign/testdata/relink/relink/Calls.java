package relink;

import java.util.Map;
import java.util.TreeMap;

/** What the program counts of itself: the calls below the root, by the names of Rivulet's reports. */
final class Calls {
    private static final Map<String, long[]> OF = new TreeMap<>();
    private static final Thread MAIN = Thread.currentThread(); // initialized by main, which calls the root

    private Calls() {}

    static void hit(String method) {
        if (Thread.currentThread() != MAIN) return; // outside of the root
        long[] n = OF.get(method);
        if (n == null) OF.put(method, n = new long[1]);
        n[0]++;
    }

    /** Forgets what came before the first root. */
    static void clear() { OF.clear(); }

    static void set(String method, long n) { OF.put(method, new long[] {n}); }

    static void print(long roots) {
        for (Map.Entry<String, long[]> e : OF.entrySet()) System.out.println("COUNT " + e.getKey() + " " + e.getValue()[0]);
        System.out.println("ROOTS " + roots);
    }
}

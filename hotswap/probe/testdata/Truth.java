import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/** What the program itself counted. Never probed. */
public class Truth {
    static final Map<String, AtomicInteger> hits = new ConcurrentHashMap<>();
    static void hit(String what) { hits.computeIfAbsent(what, k -> new AtomicInteger()).incrementAndGet(); }
    static void hit2(String what) { hit(what); }
    static void print() {
        for (String k : new TreeSet<>(hits.keySet())) System.err.println("TRUTH " + k + " " + hits.get(k));
    }
}

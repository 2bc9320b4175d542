import java.nio.file.*;
import java.util.*;
import java.util.concurrent.atomic.*;

/** The probe class of the behaviour test: a shadow stack per thread. */
public class Shadow {
    static final List<String> names = new ArrayList<>();
    static final AtomicIntegerArray enters, exits, throwns;
    static final AtomicInteger left = new AtomicInteger(), resyncs = new AtomicInteger(), wrong = new AtomicInteger();
    static {
        try { names.addAll(Files.readAllLines(Paths.get(System.getProperty("ids")))); }
        catch (java.io.IOException e) { throw new Error(e); }
        enters = new AtomicIntegerArray(names.size()); exits = new AtomicIntegerArray(names.size()); throwns = new AtomicIntegerArray(names.size());
        Runtime.getRuntime().addShutdownHook(new Thread(Shadow::print));
    }
    static final int FIRST = 40000; // so that ids take all forms of constants
    static final class Stack { int[] ids = new int[1000]; int depth; }
    static final ThreadLocal<Stack> stack = ThreadLocal.withInitial(Stack::new);

    public static long enter(int id) {
        id = id < FIRST ? id : id - FIRST;
        enters.incrementAndGet(id);
        Stack s = stack.get();
        if (s.depth == s.ids.length) s.ids = Arrays.copyOf(s.ids, 2 * s.depth);
        s.ids[s.depth++] = id;
        return 0x123456700000000L | s.depth;
    }
    /** Everything above the token must be constructors that an exception out of super() left. */
    private static int cut(long token, String what) {
        int d = (int) token;
        Stack s = stack.get();
        if ((token >>> 32) != 0x1234567 || d < 1 || d > s.depth) { complain(what + " with token " + Long.toHexString(token) + " at depth " + s.depth); return 0; }
        while (s.depth > d) {
            String n = names.get(s.ids[--s.depth]);
            if (!n.contains(".<init>(")) complain(what + " of " + names.get(s.ids[d - 1]) + " finds " + n);
            left.incrementAndGet();
        }
        return s.ids[d - 1];
    }
    public static void exit(long token) { exits.incrementAndGet(cut(token, "exit")); stack.get().depth--; }
    public static void thrown(long token) { throwns.incrementAndGet(cut(token, "thrown")); stack.get().depth--; }
    public static void resync(long token) { cut(token, "resync"); resyncs.incrementAndGet(); }
    static void complain(String s) { wrong.incrementAndGet(); System.err.println("WRONG " + s); }
    static void print() {
        int in = 0, ret = 0, thr = 0;
        for (int i = 0; i < names.size(); i++) {
            in += enters.get(i); ret += exits.get(i); thr += throwns.get(i);
            System.err.println("COUNT " + names.get(i) + " " + enters.get(i) + " " + exits.get(i) + " " + throwns.get(i));
        }
        System.err.println("SUM " + in + " " + ret + " " + thr + " " + left + " " + resyncs + " " + wrong);
    }
}

package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * Counts its own calls: each method says so first (C.hit), and whoever ends a frame by an exception names the frames
 * that end (C.gone). Modes: "before THREADS TIMES" waits for a line, then calls root so often in each thread;
 * "middle THREADS" calls it without pause until a line comes. Either then prints what one call more counts, as
 * EXPECT lines, and what all calls counted, as TOTAL lines.
 */
public class Truth {
    static final class C {
        static final ConcurrentHashMap<String, LongAdder> hits = new ConcurrentHashMap<>(), gone = new ConcurrentHashMap<>();

        static void add(ConcurrentHashMap<String, LongAdder> m, String k) {
            LongAdder a = m.get(k);
            if (a == null) {
                LongAdder b = new LongAdder();
                a = m.putIfAbsent(k, b);
                if (a == null) a = b;
            }
            a.increment();
        }

        static int hit(String k) {
            add(hits, k);
            return 0;
        }

        static void gone(String... ks) {
            for (String k : ks) add(gone, k);
        }

        static void print(String tag) {
            for (java.util.Map.Entry<String, LongAdder> e : new TreeMap<>(hits).entrySet()) {
                LongAdder g = gone.get(e.getKey());
                System.out.println(tag + " " + e.getKey() + " " + e.getValue() + " " + (g == null ? 0 : g.sum()));
            }
            System.out.println(tag + "S");
        }
    }

    static class Boom extends RuntimeException {
        Boom() {
            super("boom");
            C.hit("Boom.<init>");
        }
    }

    // recursion
    static int fact(int n) {
        C.hit("fact");
        return n == 0 ? 1 : n * fact(n - 1);
    }

    static int even(int n) {
        C.hit("even");
        return n == 0 ? 1 : odd(n - 1);
    }

    static int odd(int n) {
        C.hit("odd");
        return n == 0 ? 0 : even(n - 1);
    }

    // exceptions
    static void thrower() {
        C.hit("thrower");
        C.gone("thrower");
        throw new Boom();
    }

    static void passer() {
        C.hit("passer");
        C.gone("passer");
        thrower();
        leaf();
    }

    static void leaf() {
        C.hit("leaf");
    }

    static void catcher() {
        C.hit("catcher");
        try {
            passer();
        } catch (Boom e) {
            leaf();
        }
    }

    static void rethrower() {
        C.hit("rethrower");
        try {
            passer();
        } catch (Boom e) {
            leaf();
            C.gone("rethrower");
            throw e;
        }
    }

    static void finallyer() {
        C.hit("finallyer");
        try {
            C.gone("finallyer");
            rethrower();
        } finally {
            leaf();
        }
    }

    static int finallyReturns() {
        C.hit("finallyReturns");
        try {
            thrower();
            return 1;
        } finally {
            return 2;
        }
    }

    static int nested(int n) {
        C.hit("nested");
        int sum = 0;
        for (int i = 0; i < n; i++) {
            try {
                try {
                    if (i % 2 == 0) thrower();
                    sum++;
                } catch (IllegalStateException e) {
                    sum += 100;
                } finally {
                    leaf();
                }
            } catch (RuntimeException e) {
                sum += 10;
            }
        }
        return sum;
    }

    static void own() {
        C.hit("own");
        try {
            throw new IllegalStateException();
        } catch (IllegalStateException e) {
            leaf();
            MethodParameters();
        }
    }

    /** Its name is among the class's constants, as if the class had such an attribute, which some JVMs lose. */
    static void MethodParameters() {
        C.hit("MethodParameters");
    }

    static int implicit(int[] a) {
        C.hit("implicit");
        try {
            return a[7];
        } catch (ArrayIndexOutOfBoundsException e) {
            C.gone("implicit");
            return 1 / (a.length - a.length);
        }
    }

    // constructors
    static class Base {
        Base(int x) {
            C.hit("Base.<init>");
            if (x == 1) {
                C.gone("Base.<init>", "Inside.<init>");
                throw new Boom();
            }
            leaf();
        }
    }

    static int boom() {
        C.hit("boom");
        C.gone("boom", "Before.<init>");
        throw new Boom();
    }

    static class Before extends Base {
        Before() {
            super(C.hit("Before.<init>") + boom());
        }
    }

    static class Inside extends Base {
        Inside() {
            super(C.hit("Inside.<init>") + 1);
            leaf();
        }
    }

    static class After extends Base {
        After() {
            super(C.hit("After.<init>"));
            leaf();
            C.gone("After.<init>");
            throw new Boom();
        }
    }

    static class Foreign extends ArrayList<String> {
        Foreign() {
            super(C.hit("Foreign.<init>") - 1);
        }
    }

    static class Chain extends Base {
        Chain() {
            this(C.hit("Chain.<init>"), 5);
        }

        Chain(int x, int y) {
            super(x);
            C.hit("Chain.<init>");
        }
    }

    static void constructors() {
        C.hit("constructors");
        for (int i = 0; i < 5; i++) {
            try {
                switch (i) {
                    case 0: new Before(); break;
                    case 1: new Inside(); break;
                    case 2: new After(); break;
                    case 3: new Foreign(); break;
                    default: new Chain();
                }
            } catch (IllegalArgumentException e) {
                C.gone("Foreign.<init>");
                leaf();
            } catch (Boom e) {
                leaf();
            }
        }
        try {
            new Sub(1);
        } catch (Boom e) {
            leaf();
        }
    }

    static class Mid extends Base {
        Mid(int x) {
            super(C.hit("Mid.<init>") + x * 2);
            if (x == 1) {
                C.gone("Mid.<init>", "Sub.<init>");
                throw new Boom();
            }
        }
    }

    static class Sub extends Mid {
        Sub(int x) {
            super(C.hit("Sub.<init>") + x);
        }
    }

    // synchronized
    static synchronized int lockedStatic(int n) {
        C.hit("lockedStatic");
        return n;
    }

    synchronized int locked(int n) {
        C.hit("locked");
        synchronized (C.class) {
            if (n < 0) {
                C.gone("locked");
                throw new Boom();
            }
            return lockedStatic(n);
        }
    }

    // switches
    static int table(int n) {
        C.hit("table");
        switch (n) {
            case 0: return 1;
            case 1: leaf(); return 3;
            case 2: { for (int i = 0; ; i++) if (i == 4) return i; }
            case 3: break;
            default: return 9;
        }
        return 5;
    }

    static int lookup(int n) {
        C.hit("lookup");
        switch (n) {
            case -1000000: return 1;
            case 7: leaf(); return 2;
            case 1 << 30: return 3;
            default: return 4;
        }
    }

    static int strings(String s) {
        C.hit("strings");
        switch (s) {
            case "Aa": return 1;
            case "BB": return 2;
            default: return 3;
        }
    }

    // interfaces
    interface Shape {
        double area();

        default double twice() {
            C.hit("Shape.twice");
            return area() * 2;
        }

        static Shape unit() {
            C.hit("Shape.unit");
            return new Square(1);
        }
    }

    static class Square implements Shape {
        final double side;

        Square(double side) {
            C.hit("Square.<init>");
            this.side = side;
        }

        public double area() {
            C.hit("Square.area");
            return side * side;
        }
    }

    static class Circle implements Shape {
        Circle() {
            C.hit("Circle.<init>");
        }

        public double area() {
            C.hit("Circle.area");
            return 3;
        }

        public double twice() {
            C.hit("Circle.twice");
            return Shape.super.twice();
        }
    }

    /** area comes from a class that does not implement Shape. */
    static class Round {
        Round() {
            C.hit("Round.<init>");
        }

        public double area() {
            C.hit("Round.area");
            return 1;
        }
    }

    static class Disc extends Round implements Shape {
        Disc() {
            C.hit("Disc.<init>");
        }
    }

    static class Name implements Comparable<Name> {
        final String s;

        Name(String s) {
            C.hit("Name.<init>");
            this.s = s;
        }

        public int compareTo(Name o) { // and its bridge
            C.hit("Name.compareTo");
            C.hit("Name.compareTo");
            return s.compareTo(o.s);
        }

        @Override
        public String toString() {
            C.hit("Name.toString");
            return s;
        }

        @Override
        public int hashCode() {
            C.hit("Name.hashCode");
            return 1;
        }
    }

    static class ByLength implements Comparator<String> {
        ByLength() {
            C.hit("ByLength.<init>");
        }

        public int compare(String a, String b) { // and its bridge
            C.hit("ByLength.compare");
            C.hit("ByLength.compare");
            return a.length() - b.length();
        }
    }

    enum Op {
        ADD {
            int apply(int a, int b) {
                C.hit("Op$1.apply");
                return a + b;
            }
        },
        MUL {
            int apply(int a, int b) {
                C.hit("Op$2.apply");
                return a * b;
            }
        };

        abstract int apply(int a, int b);
    }

    static int callback(int x) {
        C.hit("callback");
        return x + 1;
    }

    int instance(int x) {
        C.hit("instance");
        return x;
    }

    static int lambdas(Truth t) {
        C.hit("lambdas");
        int k = t.instance(2);
        IntUnaryOperator a = x -> { C.hit("lambda$"); return callback(x) + k; };
        IntUnaryOperator b = Truth::callback;
        IntUnaryOperator c = t::instance;
        Function<Integer, Integer> d = x -> { C.hit("lambda$"); return t.instance(x); };
        Supplier<Square> e = () -> { C.hit("lambda$"); return new Square(k); };
        Runnable r = () -> { C.hit("lambda$"); leaf(); };
        r.run();
        int deep = a.andThen(b).andThen(c).applyAsInt(1);
        Supplier<Shape> f = Circle::new;
        return deep + d.andThen(x -> { C.hit("lambda$"); return x; }).apply(3) + (int) e.get().area() + (int) f.get().area();
    }

    static int callbacks() {
        C.hit("callbacks");
        List<Name> l = new ArrayList<>(Arrays.asList(new Name("b"), new Name("a")));
        Collections.sort(l);
        TreeSet<String> s = new TreeSet<>(new ByLength());
        s.add("x");
        s.add("xx");
        String text = "" + l.get(0) + l.get(1);
        return text.length() + s.size() + l.get(0).hashCode();
    }

    // code shapes
    static int loop(int n) {
        do n--; while (n > 0); // a branch to the first instruction
        C.hit("loop");
        return n;
    }

    static double wide(long a, double b, int n) {
        C.hit("wide");
        long c = a * 2;
        double d = b + c;
        for (int i = 0; i < n; i++) {
            long e = c ^ i;
            double f = e;
            d += f;
            if (d > 1e18) {
                C.gone("wide");
                throw new Boom();
            }
        }
        return d;
    }

    static Object array(Object[] a) {
        C.hit("array");
        synchronized (a) {
            for (Object o : a) if (o instanceof String) return o;
            return null;
        }
    }

    public static long root(Truth t, int n) {
        C.hit("root");
        long sum = fact(n) + even(n) + finallyReturns() + nested(5);
        catcher();
        own();
        try {
            finallyer();
        } catch (Boom e) {
            sum++;
        }
        try {
            implicit(new int[3]);
        } catch (ArithmeticException e) {
            sum++;
        }
        constructors();
        sum += t.locked(3);
        try {
            t.locked(-1);
        } catch (Boom e) {
            leaf();
        }
        for (int i = 0; i < 5; i++) sum += table(i) + lookup(i + 5) + strings(i == 1 ? "Aa" : "BB");
        Shape[] shapes = {Shape.unit(), new Circle(), new Disc()};
        for (Shape s : shapes) sum += (long) s.twice();
        for (Op o : Op.values()) { // values() is a method as any other
            sum += o.apply(2, 3);
        }
        C.hit("Op.values");
        sum += lambdas(t) + callbacks() + loop(3) + (long) wide(5, 0.5, 10);
        array(new Object[] {1, "x"});
        return sum;
    }

    /** Neither root nor called by it. */
    static void outside(Truth t) {
        fact(3);
        leaf();
        t.instance(1);
    }

    public static void main(String[] a) throws Exception {
        final Truth t = new Truth();
        final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int threads = Integer.parseInt(a[1]);
        final boolean middle = a[0].equals("middle");
        final int times = middle ? Integer.MAX_VALUE : Integer.parseInt(a[2]);
        if (!middle) {
            System.out.println("READY");
            in.readLine();
        }
        final boolean[] stop = new boolean[1];
        Thread[] ts = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            ts[i] = new Thread("truth-" + i) {
                @Override
                public void run() {
                    for (int k = 0; k < times; k++) {
                        synchronized (stop) {
                            if (stop[0]) return;
                        }
                        Truth.root(t, 10);
                        if (middle) outside(t);
                    }
                }
            };
            ts[i].start();
        }
        if (middle) {
            System.out.println("READY");
            in.readLine();
            synchronized (stop) {
                stop[0] = true;
            }
        }
        for (Thread x : ts) x.join();
        C.print("TOTAL");
        C.hits.clear();
        C.gone.clear();
        root(t, 10);
        C.print("EXPECT");
        in.readLine();
    }
}

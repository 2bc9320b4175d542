import java.util.*;
import java.util.function.*;

/** A program that counts its own calls. Output must not change when it is probed. */
public class Behave {
    static final StringBuilder out = new StringBuilder();
    static void say(Object o) { Truth.hit("say"); out.append(o).append('\n'); }

    static class MyEx extends RuntimeException {
        final int n;
        MyEx(int n) { super("ex" + n); Truth.hit("MyEx.<init>"); this.n = n; }
    }

    // exceptions
    static int thrower(int n) { Truth.hit("thrower"); if (n % 3 == 0) throw new MyEx(n); return n; }
    static int passer(int n) { Truth.hit("passer"); return thrower(n) + 1; }
    static int catcher(int n) {
        Truth.hit("catcher");
        try { return passer(n); } catch (MyEx e) { return -e.n; } finally { say("finally " + n); }
    }
    static int rethrower(int n) {
        Truth.hit("rethrower");
        try { return passer(n); }
        catch (MyEx e) { throw new IllegalStateException(e); }
    }
    static int nested(int n) {
        Truth.hit("nested");
        int r = 0;
        try {
            try { r += passer(n); }
            catch (IllegalArgumentException e) { r += 1000; }
            finally { r += 7; try { r += thrower(n + 1); } catch (MyEx e) { r -= 5; } }
        } catch (RuntimeException e) { r += 100; }
        return r;
    }
    static int finallyReturn(int n) {
        Truth.hit("finallyReturn");
        try { if (n > 0) throw new MyEx(n); return 1; } finally { if (n > 1) return 2; }
    }
    static int bodyTry(int n) { // handler over the whole body, loop at the first instruction
        do { try { Truth.hit2("bodyTry.loop"); n--; thrower(n); } catch (MyEx e) { n--; } } while (n > 0);
        return n;
    }
    static int implicit(Object o, int[] a, int i) {
        Truth.hit("implicit");
        try { return a[i] / i + o.hashCode() * 0; }
        catch (ArithmeticException e) { return -1; }
        catch (NullPointerException e) { return -2; }
        catch (ArrayIndexOutOfBoundsException e) { return -3; }
    }

    // constructors
    static class Base {
        int v;
        Base(int v) { Truth.hit("Base.<init>"); if (v == 13) throw new MyEx(v); this.v = v; }
        Base() { this(5); Truth.hit("Base.<init>()"); }
    }
    static class Derived extends Base {
        final int w;
        Derived(int a, int b) { super(arg(a)); Truth.hit("Derived.<init>"); w = b; if (b == 99) throw new MyEx(b); }
        Derived(boolean c, String s) { this(c ? new Derived(1, 2).w : s.length(), c ? 3 : new Base(4).v); Truth.hit("Derived.<init>Z"); }
        Derived(Supplier<Base> s) { super(s.get().v); Truth.hit("Derived.<init>S"); w = 0; }
        class Inner extends Base { final int q; Inner(long l, double d) { super((int) (l + d)); Truth.hit("Inner.<init>"); q = w + v; } }
    }
    static int arg(int a) { Truth.hit("arg"); if (a == 66) throw new MyEx(a); return a; }
    static String build(Supplier<Base> s) {
        Truth.hit("build");
        try { Base b = s.get(); return "ok" + b.v; } catch (MyEx e) { return "threw" + e.n; }
    }

    // synchronized
    static synchronized int syncStatic(int n) { Truth.hit("syncStatic"); if (n == 2) throw new MyEx(n); return n; }
    synchronized int syncInst(int n) { Truth.hit("syncInst"); synchronized (out) { if (n == 2) throw new MyEx(n); return thrower(n * 3 + 1); } }

    // switches
    static int table(int n) { Truth.hit("table"); switch (n) { case 0: return 10; case 1: n += 5; case 2: return n; case 3: break; default: return -1; } return 33; }
    static int lookup(int n) { Truth.hit("lookup"); switch (n) { case -1000: return 1; case 5: return 2; case 100000: n++; default: return n; } }
    static int string(String s) { Truth.hit("string"); switch (s) { case "Aa": return 1; case "BB": return 2; case "x": return 3; default: return 0; } }
    static int loopSwitch(int n) { Truth.hit("loopSwitch"); int r = 0; while (true) switch (n--) { case 3: r += 1; continue; case 2: r += 2; break; case 0: return r; default: r += 5; } }

    // types
    static long longs(long a, double d, float f, long b) { Truth.hit("longs"); long c = a + (long) d; double e = d * f; if (c > 3) { long g = c * b; return g + (long) e; } return c - b; }
    static double dbl(double d) { Truth.hit("dbl"); return d * 2; }
    static float flt(float d) { Truth.hit("flt"); return d * 2; }
    static boolean bool(Object o) { Truth.hit("bool"); return o instanceof String && ((String) o).length() > 1 || o instanceof Integer; }
    static Object ternary(boolean a, Object b) { Truth.hit("ternary"); return a ? b : b == null ? "null" : new Object[] {b, a ? 1 : 2L}.length; }
    static void nothing() { }
    static int rec(int n) { Truth.hit("rec"); return n < 2 ? n : rec(n - 1) + rec(n - 2); }

    // interfaces, lambdas, generics
    interface Shape { double area(); default double twice() { Truth.hit("twice"); return 2 * area(); } static Shape unit() { Truth.hit("unit"); return () -> { Truth.hit("lambda"); return 1; }; } }
    static class Square implements Shape, Comparable<Square> {
        final double s; Square(double s) { this.s = s; }
        public double area() { Truth.hit("area"); return s * s; }
        public int compareTo(Square o) { Truth.hit("compareTo"); return Double.compare(s, o.s); }
    }
    enum Kind { A { int v() { return 1; } }, B { int v() { return 2; } }; abstract int v(); }
    static int kinds(Kind k) { Truth.hit("kinds"); switch (k) { case A: return 10 + k.v(); default: return 20 + k.v(); } }
    static class Init { static int x; static { if (x == 0) { x = thrower(1); } } static { try { thrower(3); } catch (MyEx e) { x += 5; } } }
    static class BadInit { static int x = thrower(0); }

    public static void main(String[] args) {
        for (int i = 0; i < 10; i++) say(catcher(i));
        for (int i = 0; i < 10; i++) try { say(rethrower(i)); } catch (IllegalStateException e) { say(e.getCause().getMessage()); }
        for (int i = 0; i < 10; i++) { say(nested(i)); try { say(finallyReturn(i)); } catch (MyEx e) { say("fr" + e.n); } }
        say(bodyTry(20));
        say(implicit("", new int[] {1, 2}, 0)); say(implicit(null, new int[] {1, 2}, 1)); say(implicit("", new int[2], 5)); say(implicit("", new int[] {4, 4}, 1));
        say(build(() -> new Derived(1, 2))); say(build(() -> new Derived(13, 2))); say(build(() -> new Derived(66, 2))); say(build(() -> new Derived(1, 99)));
        say(build(() -> new Derived(true, null))); say(build(() -> new Derived(false, "abc"))); say(build(() -> new Derived(() -> new Base(13)))); say(build(() -> new Derived(Base::new)));
        say(build(() -> new Derived(1, 2).new Inner(3, 4.5))); say(build(() -> new Derived(1, 2).new Inner(13, 0.5))); say(build(Base::new));
        Behave b = new Behave();
        for (int i = 0; i < 4; i++) { try { say(syncStatic(i)); } catch (MyEx e) { say(e.n); } try { say(b.syncInst(i)); } catch (MyEx e) { say(e.n); } }
        for (int i = -1; i < 6; i++) { say(table(i)); say(lookup(i)); if (i >= 0) say(loopSwitch(i)); }
        say(lookup(-1000)); say(lookup(100000)); say(string("Aa")); say(string("BB")); say(string("x")); say(string("C#"));
        say(longs(1, 2.5, 3f, 4)); say(longs(0, 0.5, 3f, 4)); say(dbl(2)); say(flt(3)); say(bool("ab")); say(bool(1)); say(bool(null));
        say(ternary(true, 1)); say(ternary(false, null)); say(ternary(false, "q")); nothing(); say(rec(12));
        Shape[] shapes = {new Square(3), Shape.unit(), () -> 4};
        for (Shape s : shapes) { say(s.area()); say(s.twice()); }
        List<Square> l = new ArrayList<>(Arrays.asList(new Square(3), new Square(1), new Square(2)));
        Collections.sort(l); say(l.get(0).s);
        for (Kind k : Kind.values()) say(kinds(k));
        say(Init.x); for (int i = 0; i < 2; i++) try { say(BadInit.x); } catch (ExceptionInInitializerError e) { say("eiie"); } catch (NoClassDefFoundError e) { say("ncdfe"); }
        say(Big.wide(3)); say(Big.huge(5)); say(Big.many(17)); say(Big.chain(4)); say(Big.near(1)); say(Big.near(700));
        Thread[] ts = new Thread[4];
        int[] sums = new int[4];
        for (int t = 0; t < 4; t++) { int tt = t; ts[t] = new Thread(() -> { for (int i = 0; i < 500; i++) { try { sums[tt] += rethrower(i); } catch (IllegalStateException e) { sums[tt]--; } try { new Derived(i % 30, 2); } catch (MyEx e) { sums[tt]++; } } }); ts[t].start(); }
        for (Thread t : ts) try { t.join(); } catch (InterruptedException e) { throw new Error(e); }
        say(Arrays.toString(sums));
        System.out.print(out);
        Truth.print();
    }
}

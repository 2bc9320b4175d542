package t;

/** Shapes of code whose executed bytecodes are counted. root() is deterministic. */
public class Counted {
    static int sink;

    // Leaves: one path, several paths, one that may throw.
    static int twice(int a) { return a + a; }
    static int clamp(int a) { if (a < 0) return 0; if (a > 100) return 100; return a; }
    static int at(int[] a, int i) { return a[i]; }
    static int pick(int[] a, int i, boolean b) { return b ? a[i] : i / (i - 7); }

    static int loops(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i; j > 0; j /= 2) s += j;
            if (i % 3 == 0) continue;
            if (s > 1000000) break;
            s ^= i;
        }
        int k = 0;
        do { s += k; } while (++k < n);
        do { if ((k & 1) == 0) s += twice(k); else s -= 1; } while (--k > 0);
        while (true) { if (k++ > 10) return s; }
    }

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static boolean even(int n) { return n == 0 || odd(n - 1); }
    static boolean odd(int n) { return n != 0 && even(n - 1); }

    static int dense(int i) {
        switch (i) {
            case 0: return 10;
            case 1: case 2: sink += i;
            case 3: sink++; break;
            case 7: sink = twice(sink); break;
            default: sink--;
        }
        return sink & 7;
    }
    static String sparse(String s) {
        switch (s) {
            case "a": return "b";
            case "Aa": case "BB": return "C";
            default: return s;
        }
    }
    static int sparseInt(int i) {
        int r = 0;
        for (int k = 0; k < 3; k++) switch (i) {
            case -5: r += 1; continue;
            case 100: r += 2; break;
            case 100000: r += 3;
            case 7: r += 4; if (k == 1) return r; break;
        }
        return r;
    }

    static class Boom extends RuntimeException {
        final int level;
        Boom(int level) { super(null, null, false, false); this.level = level; }
    }
    static int thrower(int n) { if (n > 0) throw new Boom(n); return n; }
    static int catcher(int n) {
        int r = 0;
        for (int i = 0; i < n; i++) {
            try {
                r += i;
                r += thrower(i % 4 - 1);
                r += 3;
            } catch (Boom b) {
                r += b.level;
                if (b.level == 2) continue;
            } finally {
                r++;
            }
            r += 2;
        }
        return r;
    }
    static int nested(int n) {
        try {
            try {
                int[] a = new int[n];
                a[n - 1] = 10 / n;
                return at(a, n == 3 ? 5 : n - 1);
            } catch (NegativeArraySizeException e) {
                return -1;
            } finally {
                sink += n;
            }
        } catch (ArithmeticException | ArrayIndexOutOfBoundsException e) {
            sink++;
            return thrower(n == 3 ? 1 : 0);
        }
    }
    static int npe(Counted c) {
        try { return c.field + 1; } catch (NullPointerException e) { return -1; }
    }
    static Object cast(Object o) {
        try { return (String) o; } catch (ClassCastException e) { return null; }
    }
    static int through(int n) { // no handler: thrown in the middle of a block
        int a = n + 1;
        a += thrower(n);
        a *= 2;
        return a;
    }
    static int loopThrough(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) { s += i; if (i > 2) s += thrower(s > 5 ? 1 : 0); }
        return s;
    }
    static synchronized int sync(int n) { if (n > 2) throw new Boom(n); return n; }
    static int locked(Object o, int n) {
        synchronized (o) { if (n > 1) return n; n += thrower(n); }
        return n;
    }
    static int retry(int n) {
        int tries = 0;
        for (;;) {
            try { tries++; thrower(n - tries); return tries; } catch (Boom b) { sink++; }
        }
    }

    int field;
    Counted() { this(3); }
    Counted(int f) { field = f > 2 ? f : clamp(f); }
    static class Base {
        int x;
        Base(int n) { if (n > 1) throw new Boom(n); x = n; }
    }
    static class Derived extends Base {
        Derived(int n) { super(n + 1); x++; }
        Derived(String s) { super(thrower(s.length())); x += 2; }
        Derived(boolean b, int n) { super(b ? n : clamp(n)); x--; }
    }
    static int make(int n) {
        int r = 0;
        try { r += new Derived(n).x; } catch (Boom b) { r -= b.level; }
        try { r += new Derived(n > 0 ? "xx" : "").x; } catch (Boom b) { r -= 2; }
        return r + new Derived(n > 0, 1).x;
    }
    interface Shape { int area(); default int twoAreas() { int a = area(); return a > 5 ? a + a : 2 * a + 1; } }
        static class Square implements Shape {
        final int w; Square(int w) { this.w = w; } public int area() { return w * w; }
        int getW() { return w; }
    }
    static class Looped implements Shape { public int area() { int s = 0; for (int i = 0; i < 3; i++) s += i; return s; } }

    static long lambda(int n) {
        long[] s = {0};
        Runnable r = () -> { for (int i = 0; i < n; i++) s[0] += i; };
        r.run(); r.run();
        return s[0];
    }
    static long wide(long n) { long s = 0; for (long i = 0; i < n; i++) s += i * i; return s; }
    static double dbl(double d) { return d > 1 ? Math.sqrt(d) : d; }

    static int root(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            s += loops(i);
            s += fib(i % 12) + (even(i % 9) ? 1 : 2) + dense(i % 9) + sparseInt(i % 3 == 0 ? -5 : i % 3 == 1 ? 100000 : 7);
            s += sparse(i % 2 == 0 ? "a" : "BB").length() + clamp(i * 3 - 20);
            s += catcher(i % 13);
            try { s += nested(i % 5 - 1); } catch (Boom b) { s++; }
            s += npe(i % 2 == 0 ? null : new Counted(i)) + (cast(i % 2 == 0 ? "s" : (Object) Integer.class) == null ? 1 : 0);
            try { s += through(i % 2); } catch (Boom b) { s++; }
            try { s += loopThrough(i % 7); } catch (Boom b) { s++; }
            try { s += sync(i % 5); } catch (Boom b) { s++; }
            try { s += locked(Counted.class, i % 3); } catch (Boom b) { s++; }
            s += retry(i % 4) + make(i % 3) + new Counted().field;
            Shape sh = i % 2 == 0 ? new Square(i % 5) : new Looped();
            s += sh.twoAreas() + new Square(i).getW();
            s += (int) lambda(i % 6) + (int) wide(i % 10) + (int) dbl(i);
            int[] a = {1, 2, 3};
            try { s += pick(a, i % 5, i % 3 == 0); } catch (RuntimeException e) { s++; }
            try { s += pick(a, 7, false); } catch (ArithmeticException e) { s += 2; }
        }
        return s;
    }

    static int run(int n) { return root(n); }

    /** Links everything, says so, and runs the root as it is told. */
    public static void main(String[] args) throws Exception {
        root(3);
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null; ) {
            sink = 0;
            System.out.println("RAN " + (line.equals("hold") ? hold(in) : run(Integer.parseInt(line.substring(4)))));
        }
    }

    /** Calls a leaf, and waits for a line. */
    static int hold(java.io.BufferedReader in) throws Exception {
        int a = twice(3);
        System.out.println("HELD");
        in.readLine();
        return twice(a);
    }
}

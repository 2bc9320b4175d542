package t;

public class Allocating {
    static class Point {
        int x;

        Point(int x) { this.x = x; }
    }

    static class Fails extends Point {
        Fails(int x) {
            super(new int[x].length + new Point(x).x);
            if (x > 2) throw new IllegalStateException();
        }
    }

    static class Chain {
        Object o;

        Chain() { this(new Object()); }

        Chain(Object o) { this.o = o; }
    }

    static int varargs(Object... more) { return more.length; }

    /** The allocations of Binder 2005, figure 3. */
    static int figure(int a, int b, int c) {
        return new Object[a][b][c].length + new int[a][b][c].length;
    }

    static int partial(int a, int b) {
        return new int[a][b][].length + new String[a][b][][].length + new long[a][].length;
    }

    static int primitives(int n) {
        return new boolean[n].length + new char[n].length + new float[n].length + new double[n].length + new byte[n].length + new short[n].length + new int[n].length + new long[n].length;
    }

    static int negative(int n) {
        int s = 0;
        try { s += new int[n].length; } catch (NegativeArraySizeException e) { s++; }
        try { s += new int[2][n].length; } catch (NegativeArraySizeException e) { s++; }
        return s;
    }

    static Point choose(int n) { return new Point(n > 3 ? new Point(n).x : n); }

    static int argument(int n) {
        try { return new Point(1 / n).x; } catch (ArithmeticException e) { return 0; }
    }

    public static int root(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            s += figure(2, 3, 5) + figure(2, 3, 0) + figure(2, 0, 5) + figure(0, 3, 5) + partial(i, 2) + primitives(i);
            s += negative(i % 3 - 1) + choose(i).x + argument(i % 2) + varargs("a", null, "x") + varargs();
            try { s += new Fails(i % 5).x; } catch (IllegalStateException e) { s--; }
            s += new Chain().o == null ? 1 : 0;
        }
        return s;
    }
}

package verify_test

// oldSource is for javac at the level of Java 5, whose classes have no stack
// maps.
const oldSource = `
import java.util.*;
public class Old {
    static abstract class Shape implements Comparable<Shape> {
        protected double size; final String name;
        Shape(String n, double s) { this(n == null ? "none" : n, s, n != null && s > 0); }
        Shape(String n, double s, boolean ok) { name = ok ? n : n + "!"; size = s; }
        abstract double area();
        public int compareTo(Shape o) { return area() < o.area() ? -1 : area() > o.area() ? 1 : 0; }
    }
    static class Circle extends Shape { Circle(double r) { super("circle", r); } double area() { return Math.PI * size * size; } }
    static class Square extends Shape implements Cloneable {
        Square(double a) { super(a > 3 ? "big" : "small", a); } double area() { return size * size; }
        public Square clone() { try { return (Square) super.clone(); } catch (CloneNotSupportedException e) { throw new Error(e); } }
    }
    class Inner { long n; Inner(long n) { this.n = n + total; } long get() { return n += total; } }
    long total; int[][] grid = new int[4][5];
    static Object pick(int i) { return i == 0 ? (Object) new ArrayList<String>() : i == 1 ? new LinkedList<String>() : i == 2 ? new int[3] : new Integer[i]; }
    static Number num(boolean a) { Number n; if (a) n = Integer.valueOf(1); else n = Double.valueOf(2); return n; }
    static Collection<?> both(boolean a) { AbstractCollection<String> c; if (a) c = new ArrayList<String>(); else c = new HashSet<String>(); return c; }
    long loop(int n, String s) {
        long sum = 0; double d = 1.5; float f = 2;
        outer:
        for (int i = 0; i < n; i++) {
            for (int j = n; j > i; j--) { if ((i ^ j) == 7) continue outer; if (sum > 1000000) break outer; sum += grid[i & 3][j % 5]; }
            switch (i) { case 1: sum++; case 2: d *= sum; break; case 1000: f -= d; break; case -5: return (long) f; default: sum ^= (long) d; }
            String t = s + i; Object o = i > 3 ? t : null; if (o != null) sum += o.hashCode();
        }
        return sum + (long) d + (int) f;
    }
    int tries(int n) {
        int k = n; Shape s = null; Object lock = this;
        try { if (n > 3) throw new IllegalStateException("x"); s = new Circle(n); k += s.compareTo(new Square(2)); }
        catch (IllegalStateException e) { k = e.getMessage().length(); s = new Square(n); }
        catch (RuntimeException e) { k = -1; }
        finally { total += k; }
        synchronized (lock) { k += s == null ? 0 : (int) s.area(); }
        return k;
    }
    static <T extends Comparable<T>> T max(List<T> ts) { T best = null; for (T t : ts) if (best == null || t.compareTo(best) > 0) best = t; return best; }
    static char[] chars(byte[] b, short[] s, boolean[] z) { char[] c = new char[b.length]; for (int i = 0; i < b.length; i++) { c[i] = (char) b[i]; s[i] = (short) c[i]; z[i] = !z[i]; b[i] = (byte) i; } return c; }
    static long bits(long a, int n) { return (a << n | a >>> 64 - n) & ~(a >> 1) ^ -a; }
    static float mix(int i, long l, float f, double d) { f = f > d ? i : l; d = f % 3; i = (int) (l / 2); return (float) (f * d - i + (l > i ? 1f : 0)); }
    Runnable anon(final int x) { return new Runnable() { int y = x; public void run() { total += x + y; } }; }
    public static void main(String[] a) { Old o = new Old(); System.out.println(o.loop(9, "q") + o.tries(5) + o.new Inner(3).get() + "" + max(Arrays.asList(1, 2)) + pick(1)); }
}
`

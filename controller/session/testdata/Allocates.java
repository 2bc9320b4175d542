package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** Allocates what it says, and knows by the JVM how many bytes that were. */
public class Allocates {
    static class Point {
        int x;

        Point(int x) { this.x = x; }
    }

    static class Large extends Point {
        long a, b;
        byte c;
        Object d;

        Large(int x) { super(new Point(x).x); }
    }

    static Object sink;

    static void arrays(int n) {
        sink = new int[n];
        sink = new byte[n];
        sink = new double[n];
        sink = new String[n];
        sink = new int[2][3][5];
        sink = new Point[2][0][5];
    }

    static void objects(int n) {
        sink = new Point(n);
        sink = new Large(n);
        List<Object> list = new ArrayList<Object>(0);
        sink = list;
    }

    static Object throwing(int n) {
        try {
            return new Point(1 / n);
        } catch (ArithmeticException e) {
            return null;
        }
    }

    static class Copied implements Cloneable {
        int[] x = {1, 2};

        Copied copy() {
            try {
                Copied c = (Copied) super.clone();
                c.x = x.clone();
                return c;
            } catch (CloneNotSupportedException e) {
                throw new Error(e);
            }
        }
    }

    static class More extends Copied {}

    enum Kind { A, B, C }

    static Object boxes(int n) {
        sink = n; // Integer.valueOf
        sink = (long) n;
        sink = (short) n;
        sink = (char) n;
        sink = (byte) n;
        sink = (double) n;
        sink = (float) n;
        return n > 5;
    }

    static void lambdas(int n, long m, byte b, String s) {
        Runnable none = () -> sink = null, one = () -> sink = n + s, all = () -> sink = n + m + b;
        java.util.function.Function<String, String> bound = s::concat;
        sink = none;
        sink = one;
        sink = all;
        sink = bound;
    }

    static Object reflected() throws Exception {
        sink = java.lang.reflect.Array.newInstance(Point.class, 3);
        return Copied.class.getDeclaredConstructor().newInstance();
    }

    static void copies(int n) {
        int[] a = {n, n};
        sink = java.util.Arrays.copyOf(a, 3);
        sink = java.util.Arrays.copyOfRange(new String[] {"a", "b"}, 1, 2);
        sink = "four".toCharArray();
        sink = new StringBuilder().append(n + 1000).toString();
    }

    /** Has the JDK allocate for it. */
    static void jdk(int n) throws Exception {
        for (int i = 0; i < n; i++) {
            boxes(i);
            lambdas(i, i, (byte) i, "x");
            sink = new Copied().copy();
            sink = Kind.values();
            sink = new String[] {"a"}.clone();
            reflected();
            copies(i);
        }
    }

    /** Allocates in this class alone. */
    static void root(int n) {
        for (int i = 0; i < n; i++) {
            arrays(i % 100);
            objects(i);
            if (i % 2 == 0) objects(i);
        }
    }

    /** One object of an argument that throws. */
    static void throwing() {
        for (int i = 0; i < 10; i++) sink = throwing(i % 2);
    }

    /** What a compiler removes. */
    static int removed(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            Point p = new Point(i);
            s += p.x + new int[] {i, i + 1}[1];
        }
        return s;
    }

    static long bytes() {
        return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean()).getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        bytes();
        sink = Kind.A;
        long none = bytes();
        none = bytes() - none;
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null; ) {
            String[] w = line.split(" ");
            if (w[0].equals("root")) {
                int n = Integer.parseInt(w[1]);
                long before = bytes();
                root(n);
                System.out.println("BYTES " + (bytes() - before - none));
            } else if (w[0].equals("jdk")) {
                jdk(Integer.parseInt(w[1]));
                System.out.println("DONE 0");
            } else if (w[0].equals("throwing")) {
                throwing();
                System.out.println("DONE 0");
            } else { // until the compiler has removed it all
                long least = Long.MAX_VALUE, end = System.nanoTime() + 60_000_000_000L;
                while (least > 100 && System.nanoTime() < end) {
                    long before = bytes();
                    sink = null;
                    removed(100_000);
                    least = Math.min(least, bytes() - before - none);
                }
                System.out.println("LEFT " + least);
            }
        }
    }
}

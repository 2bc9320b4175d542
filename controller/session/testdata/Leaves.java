package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Calls methods that call nothing, of all kinds: "run N" makes N root invocations and prints RAN and how many in all. */
public class Leaves {
    static volatile long sink;
    static final String NAME = "leaf";

    int value;
    int[] table = new int[4];
    Leaves next;

    Leaves(Leaves next) {
        this.next = next;
    }

    int get() {
        return value;
    }

    void set(int v) {
        value = v;
    }

    long wide(long a, double b, long c) {
        return a + (long) b + c;
    }

    static String name() {
        return NAME;
    }

    int at(int i) {
        return table[i];
    }

    static int of(Leaves o) {
        return o.value;
    }

    static int divided(int a, int b) {
        return a / b;
    }

    static int chosen(int i) {
        switch (i) {
            case 0:
                return 5;
            case 1:
                return 4;
            default:
                return 2;
        }
    }

    static int least(int a, int b) {
        return a < b ? a : b;
    }

    static class Elsewhere {
        static int there;
        int here;
    }

    // None of these is a leaf that needs no times.

    synchronized int locked() {
        return value;
    }

    static int loop(int n) {
        while (n > 3) n -= 3;
        return n;
    }

    static int[] made() {
        return new int[1];
    }

    static int elsewhere(Elsewhere e) {
        return e.here;
    }

    static boolean is(Object o) {
        return o instanceof Elsewhere;
    }

    static int caught(int[] a) {
        try {
            return a[0];
        } catch (ArrayIndexOutOfBoundsException e) {
            return -1;
        }
    }

    static void thrower(RuntimeException e) {
        throw e;
    }

    static int calls(Leaves o) {
        return o.get();
    }

    /** Longer than HotSpot inlines anywhere. */
    static int more(int a) {
        int b = a * 3 + 7, c = b * 5 + a, d = c * 7 + b, e = d * 11 + c, f = e * 13 + d;
        return a + b * 3 + c * 5 + d * 7 + e * 9 + f;
    }

    static void root(Leaves o, int i) {
        o.set(o.get() + i);
        sink += o.wide(1, 2.5, 3) + name().length() + o.at(i & 3) + of(o) + divided(i, 3) + chosen(i % 3) + least(i, 7);
        sink += o.locked() + loop(i) + made().length + elsewhere(new Elsewhere()) + (is(o) ? 1 : 0) + caught(o.table) + more(i) + calls(o);
        if (i % 5 == 0) failing(o, i);
    }

    static void failing(Leaves o, int i) {
        try {
            sink += o.at(4);
        } catch (ArrayIndexOutOfBoundsException e) {
            sink++;
        }
        try {
            sink += of(o.next);
        } catch (NullPointerException e) {
            sink++;
        }
        try {
            sink += divided(i, 0);
        } catch (ArithmeticException e) {
            sink++;
        }
        try {
            thrower(new IllegalStateException());
        } catch (IllegalStateException e) {
            sink++;
        }
        o.get();
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        long total = 0;
        for (String line; (line = in.readLine()) != null && line.startsWith("run "); ) {
            int n = Integer.parseInt(line.substring(4));
            Thread[] two = new Thread[2];
            for (int k = 0; k < 2; k++) {
                two[k] = new Thread(() -> {
                    Leaves o = new Leaves(null);
                    for (int i = 0; i < n; i++) root(o, i);
                });
                two[k].start();
            }
            for (Thread t : two) t.join();
            total += 2 * n;
            System.out.println("RAN " + total);
        }
    }
}

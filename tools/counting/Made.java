import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Allocates eight objects in a call, of four types. For each line that it reads it says how long a call takes at best. */
public class Made {
    static class A { int x; A(int x) { this.x = x; } }
    static class B { int x; B(int x) { this.x = x; } }
    static class C { int x; C(int x) { this.x = x; } }
    static class D { int x; D(int x) { this.x = x; } }

    static final int CALLS = 2000;
    static Object sink;
    static int sum;

    static void object(int n) {
        for (int i = 0; i < 2; i++) {
            sink = new A(n);
            sink = new B(n);
            sink = new C(n);
            sink = new D(n);
        }
    }

    static void array(int n) {
        for (int i = 0; i < 2; i++) {
            sink = new int[4];
            sink = new byte[n & 15];
            sink = new String[4];
            sink = new long[2];
        }
    }

    static void removed(int n) {
        for (int i = 0; i < 2; i++) sum += new A(n).x + new B(n).x + new C(n).x + new D(n).x;
    }

    static void root(int kind) {
        for (int i = 0; i < CALLS; i++) {
            if (kind == 0) object(i);
            else if (kind == 1) array(i);
            else removed(i);
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int kind = Integer.parseInt(args[0]);
        System.out.println("READY");
        while (in.readLine() != null) {
            long best = Long.MAX_VALUE, end = System.nanoTime() + 6_000_000_000L;
            while (System.nanoTime() < end) {
                long begin = System.nanoTime();
                root(kind);
                best = Math.min(best, System.nanoTime() - begin);
            }
            System.out.println("NS " + (double) best / CALLS);
        }
    }
}

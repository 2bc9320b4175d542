import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Loops that HotSpot vectorises. For each line that it reads it says how long a call of one takes at best, in ns. */
public class Kernels {
    static final int LENGTH = 1024, CALLS = 2000;
    static final float[] x = new float[LENGTH], y = new float[LENGTH], z = new float[LENGTH];
    static final int[] a = new int[LENGTH];
    static int sink;

    static int sum(int[] a) {
        int s = 0;
        for (int i = 0; i < a.length; i++) s += a[i];
        return s;
    }

    static void add(float[] x, float[] y, float[] z) {
        for (int i = 0; i < z.length; i++) z[i] = x[i] + y[i];
    }

    static void axpy(float f, float[] x, float[] y) {
        for (int i = 0; i < y.length; i++) y[i] += f * x[i];
    }

    static int dot(int[] a, int[] b) {
        int s = 0;
        for (int i = 0; i < a.length; i++) s += a[i] * b[i];
        return s;
    }

    static void root(int kind) {
        for (int i = 0; i < CALLS; i++) {
            if (kind == 0) sink += sum(a);
            else if (kind == 1) add(x, y, z);
            else if (kind == 2) axpy(0.5f, x, y);
            else sink += dot(a, a);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < LENGTH; i++) {
            a[i] = i;
            x[i] = i;
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int kind = Integer.parseInt(args[0]);
        System.out.println("READY");
        while (in.readLine() != null) {
            long best = Long.MAX_VALUE, end = System.nanoTime() + 3_000_000_000L;
            while (System.nanoTime() < end) {
                long begin = System.nanoTime();
                root(kind);
                best = Math.min(best, System.nanoTime() - begin);
            }
            System.out.println("NS " + (double) best / CALLS);
        }
    }
}

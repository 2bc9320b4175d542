import java.util.HashMap;
import java.util.Map;

/** Does the same work again and again, and prints how long each time took: "LAP NS". */
public class Laps {
    static int sink;

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    static int words(int seed) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 4000; i++) {
            seed = seed * 1103515245 + 12345;
            counts.merge("w" + (seed >>> 22), 1, Integer::sum);
        }
        return counts.size();
    }

    static int sums(int[] a) {
        int s = 0;
        for (int r = 0; r < 40; r++) { for (int i = 0; i < a.length; i++) { s += a[i] ^ r; } }
        return s;
    }

    public static void main(String[] args) {
        int[] a = new int[1 << 15];
        for (int i = 0; i < a.length; i++) { a[i] = i * 31; }
        for (int lap = 0; ; lap++) {
            long t = System.nanoTime();
            for (int i = 0; i < 6; i++) { sink += fib(22) + words(lap) + sums(a); }
            System.out.println("LAP " + (System.nanoTime() - t));
        }
    }
}

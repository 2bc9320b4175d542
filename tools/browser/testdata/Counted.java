import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.function.IntUnaryOperator;

/** Does as it is told on standard input, and counts its own calls: "run N" calls root N times. */
public class Counted {
    static long root, leaf, recurse, thrower, thrown, lambda, step;

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            int n = Integer.parseInt(line.substring(4));
            for (int i = 0; i < n; i++) {
                root(i);
            }
            System.out.println("COUNT root " + root + " leaf " + leaf + " recurse " + recurse + " thrower " + thrower
                    + " lambda$root$0 " + lambda + " step " + step);
        }
    }

    static int root(int i) {
        root++;
        int sum = step(i);
        for (int k = 0; k < 3; k++) {
            sum += leaf(k);
        }
        sum += recurse(i % 5);
        try {
            thrower(i);
        } catch (IllegalStateException e) {
            thrown++;
        }
        IntUnaryOperator f = x -> {
            lambda++;
            return x + leaf(x);
        };
        return sum + f.applyAsInt(i);
    }

    static int step(int i) {
        step++;
        int x = i;
        for (int k = 0; k < 20000; k++) {
            x = x * 31 + k;
        }
        return x;
    }

    static int leaf(int k) {
        leaf++;
        return k;
    }

    static int recurse(int depth) {
        recurse++;
        return depth == 0 ? leaf(depth) : recurse(depth - 1) + 1;
    }

    static void thrower(int i) {
        thrower++;
        if (i % 4 == 0) {
            throw new IllegalStateException("now and then");
        }
    }
}

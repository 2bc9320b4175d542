import java.io.BufferedReader;
import java.io.InputStreamReader;

/** "run N" calls root, which makes a tree of 2^(N+1) - 1 contexts below it. */
public class Contexts {
    static long work;

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            root(Integer.parseInt(line.substring(4)));
            System.out.println("RAN " + work);
        }
    }

    static void root(int depth) {
        left(depth);
    }

    static void left(int depth) {
        if (depth > 0) {
            left(depth - 1);
            right(depth - 1);
        }
        for (int i = 0; i < depth * 40; i++) {
            work += work * 31 + i;
        }
    }

    static void right(int depth) {
        if (depth > 0) {
            left(depth - 1);
            right(depth - 1);
        }
        for (int i = 0; i < depth * 20; i++) {
            work += work * 31 + i;
        }
    }
}

package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Methods that take a tenth of a tick or two, and end as methods can: by a return, by an exception, and by one that came out of
 * super(), which leaves a constructor without an exit. "go N" makes one root invocation with N calls of each and prints
 * GONE; "times" prints what that took by System.nanoTime, and what each method did at the least, in ns.
 */
public class Exact {
    static final long NS = 20_000;
    static long whole, inside, root, failing, returning, made;

    static long spin() {
        long from = System.nanoTime(), now;
        do now = System.nanoTime(); while (now - from < NS);
        return now - from;
    }

    static void root(int n) {
        long from = System.nanoTime();
        for (int i = 0; i < n; i++) {
            root += spin();
            try {
                failing(i);
            } catch (IllegalStateException e) {
                root += spin();
            }
            returning(3);
            try {
                new Made();
            } catch (IllegalStateException e) {
                root += spin();
            }
        }
        inside = System.nanoTime() - from;
    }

    static final IllegalStateException FAILURE = new IllegalStateException();

    static void failing(int i) {
        failing += spin();
        if (i >= 0) throw FAILURE;
    }

    static void returning(int depth) {
        returning += spin();
        if (depth > 0) returning(depth - 1);
    }

    static class Base {
        Base(long took) {
            made += took;
            throw FAILURE;
        }
    }

    static class Made extends Base {
        Made() {
            super(spin());
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] w = line.split(" ");
            if (w[0].equals("go")) {
                root = failing = returning = made = 0;
                long from = System.nanoTime();
                root(Integer.parseInt(w[1]));
                whole = System.nanoTime() - from;
                System.out.println("GONE");
            } else if (w[0].equals("times")) {
                System.out.println("TIMES " + whole + " " + inside + " " + root + " " + failing + " " + returning + " " + made);
            } else {
                return;
            }
        }
    }
}

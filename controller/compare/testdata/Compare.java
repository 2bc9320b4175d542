package t;

/**
 * Calls a root whose invocations all do the same: "Compare N" does N of them and ends, "Compare" goes on until a line
 * comes.
 */
public class Compare {
    interface Shape {
        int area(int n);
    }

    static class Square implements Shape {
        public int area(int n) {
            return side(n) * side(n);
        }

        int side(int n) {
            return n & 15;
        }
    }

    static class Circle implements Shape {
        public int area(int n) {
            return n * 3;
        }
    }

    /** Reachable, never made. */
    static class Blob implements Shape {
        public int area(int n) {
            return edge(n) + 1;
        }

        int edge(int n) {
            return n;
        }
    }

    static final Shape[] SHAPES = {new Square(), new Circle()};

    static int sum;

    static int root() {
        int s = 0;
        for (int i = 0; i < 100; i++) s += SHAPES[i % 2].area(i);
        return s;
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            for (int i = Integer.parseInt(args[0]); i > 0; i--) sum += root();
            System.out.println("SUM " + sum);
            return;
        }
        System.out.println("READY " + new Blob().edge(0));
        while (System.in.available() == 0) {
            sum += root();
            Thread.sleep(1);
        }
    }
}

package t;

/** "run N" calls root N times, which has some of its methods call others, and some never. */
public class Warm {
    interface Shape {
        int area(int x);
    }

    static class Square implements Shape {
        public int area(int x) {
            return sq(x) + one(x) - two(x);
        }

        static int one(int x) {
            return x + 1;
        }

        static int two(int x) {
            return x + 2;
        }

        static int sq(int x) {
            return x * x;
        }
    }

    static class Line implements Shape {
        public int area(int x) {
            return zero(x) + Square.one(x) - three(x);
        }

        static int three(int x) {
            return x + 3;
        }

        static int zero(int x) {
            return 0 * x;
        }
    }

    static class Cube implements Shape {
        public int area(int x) {
            return 6 * Square.sq(x) + never(x);
        }
    }

    static final Shape[] shapes = {new Square(), new Line(), new Cube()};

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        java.util.Scanner in = new java.util.Scanner(System.in);
        while (in.hasNext()) {
            in.next();
            int n = in.nextInt();
            boolean cubes = in.nextBoolean();
            int x = 0;
            for (int i = 0; i < n; i++) x += root(i, cubes);
            System.out.println("RAN " + x);
        }
    }

    static int root(int i, boolean cubes) {
        int x = sum(i, cubes ? 3 : 2);
        if (i > 1_000_000) x = never(x);
        return x;
    }

    static int sum(int i, int n) {
        int x = 0;
        for (int k = 0; k < n; k++) x += shapes[k].area(i);
        return x;
    }

    static int never(int x) {
        return deep(x) - 1;
    }

    static int deep(int x) {
        return x + 1;
    }
}

package t;

/** A root that is called all the time, and a part of what it may call that is not until somebody says so. */
public class Awake {
    interface Shape {
        int area();
    }

    static class Square implements Shape {
        int side = 3;

        int side() {
            return side;
        }

        @Override
        public int area() {
            return side() * side();
        }
    }

    /** Loaded, and never used before somebody says so. */
    static class Round implements Shape {
        @Override
        public int area() {
            return Elsewhere.busy(2);
        }
    }

    /** Called all the time, but from the root only by what is asleep. */
    static class Elsewhere {
        static int busy(int x) {
            return x * inner(x);
        }

        static int inner(int x) {
            return x + 1;
        }
    }

    /** Called all the time, but from the root only once somebody says so. */
    static class Own implements Shape {
        @Override
        public int area() {
            return rare ? ODDS[0].one(1) : 1;
        }
    }

    /** Has two implementations, so that no compiler inlines what was never called. */
    interface Odd {
        int one(int x);
    }

    static class Even implements Odd {
        @Override
        public int one(int x) {
            return x;
        }
    }

    /** Called by Own alone, once somebody says so. */
    static class Rare implements Odd {
        @Override
        public int one(int x) {
            return x + two(x);
        }

        static int two(int x) {
            return x + 5;
        }
    }

    /** Not loaded before somebody says so. */
    static class Fresh {
        static int first(int x) {
            return second(x) + Elsewhere.busy(x);
        }

        static int second(int x) {
            return x + 2;
        }
    }

    /** Called by reflection alone, once somebody says so. */
    static class Reflective {
        static int target(int x) {
            return x + 4;
        }
    }

    static volatile java.lang.reflect.Method reflective;
    static volatile boolean round, fresh, own, rare, stop;
    static final Shape[] SHAPES = {new Square(), new Square()}, ROUNDS = {new Round(), new Round()}, OWN = {new Own(), new Own()};
    static final Odd[] ODDS = {new Rare(), new Even()};
    static volatile int sink;
    static int told;

    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < 3; i++) sum += shape(i).area();
        java.lang.reflect.Method m = reflective;
        if (m != null) sum += byReflection(m, n);
        if (fresh) {
            sum += Fresh.first(n);
            if (told++ == 0) System.out.println("FRESH");
        }
        return sum;
    }

    static Shape shape(int i) {
        return (round ? ROUNDS : own ? OWN : SHAPES)[i & 1];
    }

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(() -> {
            for (int n = 0; !stop; n++) {
                sink = work(n) + Elsewhere.busy(n) + OWN[n & 1].area();
                if (n > 20_000) pause();
            }
        });
        worker.start();
        while (sink == 0) Thread.sleep(1);
        System.out.println("READY");
        for (int c; (c = System.in.read()) >= 0; ) {
            switch (c) {
                case 'r': round = true; break;
                case 'f': fresh = true; break;
                case 'b': rare = true; break;
                case 'o': own = true; break;
                case 'm': reflective = Reflective.class.getDeclaredMethod("target", int.class); break;
                default: break;
            }
            if (c > ' ') System.out.println((char) c);
        }
        stop = true;
    }

    static int byReflection(java.lang.reflect.Method m, int n) {
        try {
            return (Integer) m.invoke(null, n);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

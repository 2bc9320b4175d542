package t;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;

/**
 * A program under load that knows what it should compute. A thread calls root for every other millisecond, and another
 * for one of every four, so that cores are left for others; with "classes", a third loads a class through a
 * new loader again and again. Commands: "gap" prints the longest time between two
 * returns of root since the last "gap"; "reflect" what reflection says; "gc" collects garbage; "end" ends it. A wrong
 * result ends it with code 3.
 */
public class Load {
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE_USE, ElementType.PARAMETER, ElementType.METHOD})
    @interface Mark {
        int value();
    }

    public interface Shape {
        int area(int scale);

        default int twice(int scale) {
            return area(scale) * 2;
        }
    }

    static class Square implements Shape {
        final int side;

        Square(int side) {
            this.side = side;
        }

        @Override
        public int area(int scale) {
            return side * side * scale;
        }
    }

    public static class Late implements Shape {
        public Late() {}

        @Override
        public int area(int scale) {
            return fib(5) + scale;
        }
    }

    static class Loader extends ClassLoader {
        Loader() {
            super(Load.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("t.Load$Late")) return super.loadClass(name, resolve);
            try (InputStream in = getResourceAsStream("t/Load$Late.class")) {
                ByteArrayOutputStream b = new ByteArrayOutputStream();
                for (int c; (c = in.read()) >= 0; ) b.write(c);
                return defineClass(name, b.toByteArray(), 0, b.size());
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    public static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int thrower(int n) {
        if (n % 2 == 0) throw new IllegalStateException();
        return n;
    }

    static int catcher(int n) {
        try {
            return thrower(n);
        } catch (IllegalStateException e) {
            return -1;
        }
    }

    static int lambdas(int n) {
        IntUnaryOperator f = x -> x + fib(3);
        IntUnaryOperator g = Load::catcher;
        return f.andThen(g).applyAsInt(n);
    }

    @Mark(1)
    public static int root(@Mark(2) int first, final @Mark(3) List<@Mark(4) String> second) {
        int sum = fib(12);
        for (int i = 0; i < 20; i++) sum += catcher(i) + lambdas(i);
        for (Shape s : new Shape[] {new Square(2), new Square(3)}) sum += s.twice(first);
        return sum + second.size();
    }

    static final AtomicLong gap = new AtomicLong();
    static volatile boolean stop;

    static void work(int expected, int rest) {
        List<String> l = Arrays.asList("a", "b");
        long last = System.nanoTime(), rested = last;
        while (!stop) {
            if (root(3, l) != expected) {
                System.out.println("WRONG");
                Runtime.getRuntime().halt(3);
            }
            long now = System.nanoTime();
            for (long g; now - last > (g = gap.get()); ) gap.compareAndSet(g, now - last);
            last = now;
            if (now - rested > 1000000) {
                LockSupport.parkNanos(rest);
                rested = System.nanoTime();
            }
        }
    }

    static void load() {
        for (int i = 1; !stop; i++) {
            try {
                if (i % 20 == 0) System.gc(); // and they go again
                Shape s = (Shape) new Loader().loadClass("t.Load$Late").getDeclaredConstructor().newInstance();
                if (s.twice(1) != 12) Runtime.getRuntime().halt(3);
                Thread.sleep(60);
            } catch (Throwable e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(4);
            }
        }
    }

    static void start(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        t.start();
    }

    static String reflect() throws Exception {
        StringBuilder b = new StringBuilder();
        for (Class<?> c : new Class<?>[] {Load.class, Square.class, Shape.class}) {
            Method[] ms = c.getDeclaredMethods();
            Arrays.sort(ms, (x, y) -> x.toString().compareTo(y.toString()));
            for (Method m : ms) {
                b.append(m).append(Arrays.toString(m.getAnnotations())).append(Arrays.toString(m.getAnnotatedReturnType().getAnnotations()));
                for (Parameter p : m.getParameters())
                    b.append(p.isNamePresent()).append(p).append(p.getModifiers()).append(Arrays.toString(p.getAnnotations()))
                        .append(Arrays.toString(p.getAnnotatedType().getAnnotations())).append(p.getParameterizedType());
            }
        }
        return b.toString();
    }

    public static void main(String[] a) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int expected = root(3, Arrays.asList("a", "b"));
        new ArrayList<String>();
        start(() -> work(expected, 1000000));
        start(() -> work(expected, 3000000));
        if (Arrays.asList(a).contains("classes")) start(Load::load);
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null; ) {
            switch (line) {
                case "gap":
                    System.out.println("GAP " + gap.getAndSet(0) / 1000000);
                    break;
                case "reflect":
                    System.out.println("REFLECT " + reflect());
                    break;
                case "late":
                    start(Load::load);
                    break;
                case "gc":
                    for (int i = 0; i < 3; i++) System.gc();
                    System.out.println("GCED");
                    break;
                default:
                    stop = true;
                    Thread.sleep(50);
                    System.out.println("ENDED " + line);
                    return;
            }
        }
    }
}

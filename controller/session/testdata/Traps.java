package t;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * One trap for each name that is given as an argument. It prints READY, runs at a line "go", and ends with OK or with
 * what went wrong. Methods called in a root count themselves in n and print it as "N name count".
 */
public class Traps {
    static final java.util.concurrent.ConcurrentHashMap<String, AtomicInteger> n = new java.util.concurrent.ConcurrentHashMap<>();

    static void hit(String name) {
        AtomicInteger a = n.get(name);
        if (a == null) {
            AtomicInteger b = new AtomicInteger();
            a = n.putIfAbsent(name, b);
            if (a == null) a = b;
        }
        a.incrementAndGet();
    }

    static byte[] bytes(String name) throws Exception {
        try (InputStream in = Traps.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
            ByteArrayOutputStream b = new ByteArrayOutputStream();
            for (int c; (c = in.read()) >= 0; ) b.write(c);
            return b.toByteArray();
        }
    }

    /** Defines some classes of this package itself; delegates java.* and, unless it filters, all else. */
    static class Own extends ClassLoader {
        final boolean filter;
        final String prefix;

        Own(boolean filter, String prefix) {
            super(filter ? null : Traps.class.getClassLoader());
            this.filter = filter;
            this.prefix = prefix;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (this) { // not parallel capable
                Class<?> c = findLoadedClass(name);
                if (c != null) return c;
                if (!name.startsWith(prefix)) {
                    if (filter && !name.startsWith("java.")) throw new ClassNotFoundException(name);
                    return super.loadClass(name, resolve);
                }
                try {
                    byte[] b = bytes(name);
                    return defineClass(name, b, 0, b.length);
                } catch (Exception e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

    // ---- a loader's lock is held while a fresh method is entered whose callee isn't linked ----

    public static class LockA {
        public static int enter() {
            return middle() + 1;
        }

        static int middle() {
            return LockB.work() + 1;
        }
    }

    public static class LockB {
        static int work() {
            return 5;
        }
    }

    static void lock() throws Exception {
        Own l = new Own(false, "t.Traps$Lock");
        Method enter = l.loadClass("t.Traps$LockA").getMethod("enter");
        l.loadClass("t.Traps$LockB"); // loaded, not linked
        System.out.println("READY");
        go();
        synchronized (l) {
            if ((Integer) enter.invoke(null) != 7) throw new IllegalStateException();
        }
    }

    // ---- class initializers ----

    public static class InitA {
        static final int v;

        static {
            started.countDown();
            try {
                Thread.sleep(300);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            v = helper();
        }

        static int helper() {
            hit("InitA.helper");
            return 3;
        }

        static int get() {
            hit("InitA.get");
            return v;
        }
    }

    static final CountDownLatch started = new CountDownLatch(1);

    public static int init() {
        return InitA.get();
    }

    static void initializers() throws Exception {
        ready();
        List<Thread> ts = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Thread t = new Thread(Traps::init);
            t.start();
            ts.add(t);
            if (i == 0) started.await();
        }
        for (Thread t : ts) t.join();
    }

    // ---- interrupts and permits ----

    public static int calm(int depth) {
        hit("calm");
        return depth == 0 ? Inner.leaf() : calm(depth - 1);
    }

    static class Inner {
        static int leaf() {
            hit("Inner.leaf");
            return 1;
        }
    }

    static void interrupts() throws Exception {
        ready();
        Thread.currentThread().interrupt();
        LockSupport.unpark(Thread.currentThread());
        calm(2);
        if (!Thread.interrupted()) throw new IllegalStateException("the interrupt is lost");
        long begin = System.nanoTime();
        LockSupport.parkNanos(20_000_000_000L); // the permit from above
        if (System.nanoTime() - begin > 10_000_000_000L) throw new IllegalStateException("the permit is lost");
    }

    // ---- a loader that delegates java.* alone; Thread.getId overridden ----

    public static class Island {
        public static int enter() {
            return new Island().work(3);
        }

        int work(int k) {
            return k == 0 ? 0 : work(k - 1) + 1;
        }
    }

    static void island() throws Exception {
        Method enter = new Own(true, "t.Traps$Island").loadClass("t.Traps$Island").getMethod("enter");
        ready();
        if ((Integer) enter.invoke(null) != 3) throw new IllegalStateException();
    }

    static class Liar extends Thread {
        @Override
        @SuppressWarnings({"deprecation", "removal"})
        public long getId() {
            return 1;
        }

        @Override
        public void run() {
            calm(3);
        }
    }

    static void liars() throws Exception {
        ready();
        Liar[] ls = new Liar[4];
        for (int i = 0; i < ls.length; i++) (ls[i] = new Liar()).start();
        for (Liar l : ls) l.join();
    }

    // ---- overflows of the stack ----

    public static int deep(int k) {
        return k == 0 ? 0 : (k % 3 == 0 ? deeper(k - 1) : deep(k - 1)) + 1;
    }

    static int deeper(int k) {
        try {
            return new Object[] {deep(k - 1)}.length;
        } finally {
            sink++;
        }
    }

    static volatile int sink;

    public static int overflow(int k) {
        hit("overflow");
        try {
            deep(Integer.MAX_VALUE);
        } catch (StackOverflowError e) {
            sink++;
        }
        after();
        return 0;
    }

    static void after() {
        hit("after");
        last();
    }

    static void last() {
        hit("last");
    }

    static void overflows() throws Exception {
        ready();
        Thread t = new Thread(null, () -> { for (int i = 0; i < 40; i++) overflow(i); }, "deep", 300 << 10);
        t.start();
        t.join();
    }

    // ---- a class that is loaded late and brings others into reach ----

    public interface Face {
        int m();
    }

    public static class Base {
        public int m() { // implements Face.m for Late alone
            hit("Base.m");
            return inner();
        }

        int inner() {
            hit("Base.inner");
            return 2;
        }
    }

    public static class Late extends Base implements Face {}

    public static int late() throws Exception {
        Face f = (Face) Class.forName("t.Traps$Late").getDeclaredConstructor().newInstance();
        return use(f);
    }

    static int use(Face f) {
        return f.m();
    }

    static void lates() throws Exception {
        new Base().m();
        n.clear();
        ready();
        for (int i = 0; i < 3; i++) late();
    }

    // ---- many threads ----

    public static int crowd(int k) {
        hit("crowd");
        return one(k);
    }

    static int one(int k) {
        hit("one");
        return two(k) + calm(1);
    }

    static int two(int k) {
        hit("two");
        return k;
    }

    static void crowds() throws Exception {
        final CountDownLatch gate = new CountDownLatch(1);
        Thread[] ts = new Thread[300];
        for (int i = 0; i < ts.length; i++) {
            final int k = i;
            ts[i] = new Thread(null, () -> {
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    return;
                }
                for (int r = 0; r < 10; r++) crowd(k);
            }, "crowd-" + i, 256 << 10);
            ts[i].start();
        }
        ready();
        gate.countDown();
        for (Thread t : ts) t.join();
    }

    // ---- more threads than boxes that all need an answer at the same time ----

    static final int CROWD = 64;
    static final CountDownLatch together = new CountDownLatch(CROWD);

    interface Step {
        Object of(int k) throws Exception;
    }

    static void throng(Step s) throws Exception {
        ready();
        Thread[] ts = new Thread[CROWD];
        for (int i = 0; i < ts.length; i++) {
            final int k = i;
            ts[i] = new Thread(() -> {
                try {
                    s.of(k);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            ts[i].start();
        }
        for (Thread t : ts) t.join();
    }

    /** Calls by reflection for the first time. */
    public static Object mirror(int k) throws Exception {
        hit("mirror");
        Method m = Traps.class.getDeclaredMethod("image", int.class);
        together.countDown();
        together.await();
        return m.invoke(null, k);
    }

    static int image(int k) {
        hit("image");
        return two(k);
    }

    public interface Callee {
        int call(int k);
    }

    public static class Ancestor {
        public int call(int k) {
            hit("Ancestor.call");
            return two(k);
        }
    }

    /** While this is loaded, Ancestor.call comes within reach. */
    public static class Heir extends Ancestor implements Callee {}

    /** Loads a class of its own. */
    public static Object found(int k) throws Exception {
        hit("found");
        Own own = new Own(false, "t.Traps$Heir");
        together.countDown();
        together.await();
        return ((Callee) own.loadClass("t.Traps$Heir").getConstructor().newInstance()).call(k);
    }

    // ---- roots of every kind ----

    public static class Roots {
        static int made;

        static {
            hit("Roots.<clinit>");
            made = 1;
        }

        public Roots() {
            hit("Roots.<init>");
            step();
        }

        void step() {
            hit("Roots.step");
        }

        public synchronized int sync(int k) {
            hit("Roots.sync");
            step();
            return k == 0 ? 0 : sync(k - 1);
        }
    }

    static void roots() throws Exception {
        ready();
        for (int i = 0; i < 3; i++) new Roots().sync(2);
    }

    // ---- classes that go while they are recorded ----

    static void unload() throws Exception {
        ready();
        for (int i = 0; i < 20; i++) {
            Method enter = new Own(true, "t.Traps$Island").loadClass("t.Traps$Island").getMethod("enter");
            if ((Integer) enter.invoke(null) != 3) throw new IllegalStateException();
            if (i % 5 == 4) System.gc();
        }
    }

    // ---- more contexts than there is room for ----

    public static int left(int k) {
        return k == 0 ? 1 : left(k - 1) + right(k - 1);
    }

    static int right(int k) {
        return k == 0 ? 1 : left(k - 1) + right(k - 1);
    }

    static void bushy() throws Exception {
        ready();
        for (int i = 0; i < 3; i++) if (left(18) != 1 << 18) throw new IllegalStateException();
    }

    // ---- a class that the JVM refuses: another agent gave it a method and left ----

    public static class Grown {
        public int m() {
            hit("Grown.m");
            return calm(0);
        }
        //EXTRA
    }

    public static int grown() {
        new Grown().m();
        return calm(1);
    }

    static void refused() throws Exception {
        new Grown();
        ready();
        for (int i = 0; i < 3; i++) grown();
    }

    // ---- virtual threads, by reflection: this file is Java 8 ----

    public static int virtual(int millis) {
        hit("virtual");
        if (millis > 0) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        synchronized (Traps.class) {
            sink++;
        }
        return calm(1);
    }

    static void virtuals() throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        ready();
        List<Thread> ts = new ArrayList<>();
        for (int i = 0; i < 10000; i++) {
            final int k = i;
            ts.add((Thread) start.invoke(null, (Runnable) () -> virtual(k % 10 == 0 ? 20 : 0)));
        }
        for (Thread t : ts) t.join();
    }

    // ---- more threads inside at one time than most programs ever have ----

    static final java.util.concurrent.CountDownLatch all = new java.util.concurrent.CountDownLatch(6000);

    public static int parked() throws InterruptedException {
        hit("parked");
        all.countDown();
        all.await();
        return calm(1);
    }

    static void parkeds() throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        ready();
        List<Thread> ts = new ArrayList<>();
        for (int i = 0; i < 6000; i++) {
            ts.add((Thread) start.invoke(null, (Runnable) () -> {
                try {
                    parked();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }));
        }
        for (Thread t : ts) t.join();
    }

    static final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

    static void go() throws Exception {
        in.readLine();
    }

    static void ready() throws Exception {
        System.out.println("READY");
        go();
    }

    public static void main(String[] a) throws Exception {
        try {
            switch (a[0]) {
                case "lock": lock(); break;
                case "init": initializers(); break;
                case "interrupts": interrupts(); break;
                case "island": island(); break;
                case "liars": liars(); break;
                case "overflow": overflows(); break;
                case "late": lates(); break;
                case "crowd": crowds(); break;
                case "mirrors": throng(Traps::mirror); break;
                case "heirs": new Ancestor(); throng(Traps::found); break;
                case "roots": roots(); break;
                case "unload": unload(); break;
                case "bushy": bushy(); break;
                case "refused": refused(); break;
                case "virtual": virtuals(); break;
                case "parked": parkeds(); break;
                default: throw new IllegalArgumentException(a[0]);
            }
            for (java.util.Map.Entry<String, AtomicInteger> e : new java.util.TreeMap<>(n).entrySet())
                System.out.println("N " + e.getKey() + " " + e.getValue());
            System.out.println("OK");
        } catch (Throwable t) {
            t.printStackTrace();
            System.out.println("BAD " + t);
        }
        go();
    }
}

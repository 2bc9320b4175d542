package t;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.security.ProtectionDomain;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that hold locks while they wait for a reveal: one case for each name given as an argument, on a virtual thread
 * where the second is "virtual". It prints READY, runs at a line "go", and prints OK. As an agent it transforms nothing,
 * under a lock of the program's.
 */
public class Locks {
    static final Object lock = new Object();
    static volatile boolean locking;

    // ---- another agent ----

    public static void premain(String arg, Instrumentation inst) {
        inst.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader l, String name, Class<?> c, ProtectionDomain d, byte[] b) {
                if (locking && name != null && name.startsWith("t/Locks$")) {
                    synchronized (lock) {
                        return null;
                    }
                }
                return null;
            }
        }, true);
    }

    static class First {
        static int one() {
            return Second.two() + 1;
        }
    }

    static class Second {
        static int two() {
            return 1;
        }
    }

    static class Third {
        static int three() {
            return Fourth.four() + 1;
        }
    }

    static class Fourth {
        static int four() {
            return 1;
        }
    }

    public static int locked() {
        synchronized (lock) {
            return First.one();
        }
    }

    public static int again() {
        synchronized (lock) {
            return Third.three();
        }
    }

    static void transformer() throws Exception {
        First.one();
        Third.three(); // initialized: the agent's thread redefines them
        ready();
        locking = true;
        run(new Step() {
            @Override
            public void step() {
                root(0);
                root(1);
                root(1);
            }
        });
    }

    // ---- class loaders ----

    static byte[] bytes(String name) throws Exception {
        try (InputStream in = Locks.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
            ByteArrayOutputStream b = new ByteArrayOutputStream();
            for (int c; (c = in.read()) >= 0; ) b.write(c);
            return b.toByteArray();
        }
    }

    /** Locks itself, or is parallel capable and takes a lock of the program's. */
    static class Own extends ClassLoader {
        static {
            registerAsParallelCapable();
        }

        final Object guard;

        Own(boolean parallel) {
            super(Locks.class.getClassLoader());
            guard = parallel ? lock : this;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("t.Locks$Far")) return super.loadClass(name, resolve);
            synchronized (guard) {
                Class<?> c = findLoadedClass(name);
                if (c != null) return c;
                try {
                    byte[] b = bytes(name);
                    return defineClass(name, b, 0, b.length);
                } catch (Exception e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

    public interface Call {
        int call() throws Exception;
    }

    public static class Far1 implements Call {
        @Override
        public int call() {
            return Far2.work(null) + 1; // loaded, not linked
        }
    }

    public static class Far2 {
        static int work(Far3 f) {
            if (f != null) take(f); // whoever links this loads Far3
            return 2;
        }

        static void take(Object o) {}
    }

    public static class Far3 extends Far4 {}

    public static class Far4 {}

    static volatile Call far;
    static Object held;

    static void loader(boolean parallel) throws Exception {
        final Own own = new Own(parallel);
        far = (Call) own.loadClass("t.Locks$Far1").getConstructor().newInstance();
        own.loadClass("t.Locks$Far2");
        held = own.guard;
        ready();
        final Own[] others = new Own[20];
        for (int i = 0; i < others.length; i++) others[i] = new Own(parallel);
        Thread t = new Thread() { // takes the lock again and again, and loads classes with it
            @Override
            public void run() {
                try {
                    for (Own o : others) {
                        synchronized (held) {
                            o.loadClass("t.Locks$Far3");
                        }
                    }
                } catch (ClassNotFoundException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        t.start();
        run(new Step() {
            @Override
            public void step() {
                root(2);
            }
        });
        t.join();
    }

    static int far() {
        synchronized (held) {
            synchronized (lock) {
                try {
                    return far.call();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    // ---- class initializers ----

    static final CountDownLatch began = new CountDownLatch(1);
    static final Thread slow = new Thread() {
        @Override
        public void run() {
            if (Slow.v != 1) throw new IllegalStateException();
        }
    };
    static volatile boolean never;

    static class Init {
        static final int v;

        static {
            synchronized (lock) {
                slow.start();
                try {
                    began.await(); // Slow's initializer has begun on another thread, and waits for the lock
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                v = helper();
            }
        }

        static int helper() {
            return never ? Slow.calm() : 1;
        }

        static int get() {
            return v;
        }
    }

    static class Slow {
        static final int v;

        static {
            began.countDown();
            synchronized (lock) {
                v = 1;
            }
        }

        static int calm() {
            return 1;
        }
    }

    static int init() {
        return Init.get();
    }

    static void initializers() throws Exception {
        Class.forName("t.Locks$Slow", false, Locks.class.getClassLoader());
        ready();
        run(new Step() {
            @Override
            public void step() {
                root(3);
            }
        });
        slow.join();
    }

    // ---- the verifier ----

    interface Grown {
        int grow();
    }

    /** Loaded, not linked: whoever links it loads Sub, by which grow comes into reach. */
    static class Base {
        public int grow() {
            return 1;
        }

        static Base make() {
            return new Sub();
        }
    }

    static class Sub extends Base implements Grown {}

    static int verified() {
        return ((Grown) Base.make()).grow();
    }

    /** Loaded and linked by the thread that is recorded, which holds its initialization lock while it loads Sub2. */
    static class Base2 {
        public int grow() {
            return 1;
        }

        static Base2 make() {
            return new Sub2();
        }
    }

    static class Sub2 extends Base2 implements Grown {}

    static int linked() {
        return ((Grown) Base2.make()).grow();
    }

    static void verifier() throws Exception {
        Class.forName("t.Locks$Base", false, Locks.class.getClassLoader());
        ready();
        run(new Step() {
            @Override
            public void step() {
                for (int i = 0; i < 2; i++) {
                    root(5);
                    root(6);
                }
            }
        });
    }

    // ---- a security manager ----

    static class Calm implements java.util.Comparator<Object> {
        static int work() {
            return 1;
        }

        @Override
        public int compare(Object a, Object b) {
            return work();
        }
    }

    static int calm() {
        try {
            Locks.class.getDeclaredMethod("reflected").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        Object[] two = {"a", "b"};
        java.util.Arrays.sort(two, new Calm()); // loaded now: its bytes go through the agent on this thread
        return 1;
    }

    static int reflected() {
        return Calm.work();
    }

    static void managed() throws Exception {
        ready();
        run(new Step() {
            @Override
            public void step() {
                root(4);
            }
        });
    }

    // ---- all ----

    public static int root(int what) {
        switch (what) {
            case 0: return locked();
            case 1: return again();
            case 2: return far();
            case 4: return calm();
            case 5: return verified();
            case 6: return linked();
            default: return init();
        }
    }

    interface Step {
        void step();
    }

    static boolean virtual;

    static void run(final Step s) throws Exception {
        final Throwable[] failed = new Throwable[1];
        Runnable r = new Runnable() {
            @Override
            public void run() {
                try {
                    s.step();
                } catch (Throwable t) {
                    failed[0] = t;
                }
            }
        };
        Thread t;
        if (virtual) {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            t = (Thread) start.invoke(null, r);
        } else {
            t = new Thread(r);
            t.start();
        }
        t.join();
        if (failed[0] != null) throw new Exception(failed[0]);
    }

    static void ready() throws Exception {
        System.out.println("READY");
        if (System.in.read() < 0) System.exit(4);
        while (System.in.read() != '\n') {}
    }

    public static void main(String[] args) throws Exception {
        virtual = args.length > 1;
        switch (args[0]) {
            case "transformer": transformer(); break;
            case "loader": loader(false); break;
            case "parallel": loader(true); break;
            case "calm": managed(); break;
            case "verifier": verifier(); break;
            default: initializers();
        }
        locking = false;
        System.out.println("OK");
        while (System.in.read() >= 0) {}
    }
}

package t;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.concurrent.CountDownLatch;

/** A class whose definition takes as long as its loader's for the superclass; meanwhile a root meets what calls it. */
public class Define {
    public static class Base {}

    public static class Sub extends Base {
        static void call() {
            n++;
        }
    }

    public static class Caller implements Runnable {
        @Override
        public void run() {
            if (on) Sub.call();
        }
    }

    public static volatile boolean on; // whose loader is another one than its users'
    public static volatile int n;
    static final CountDownLatch defining = new CountDownLatch(1), go = new CountDownLatch(1);

    static class L extends ClassLoader {
        static { // else whoever calls anything waits for its lock
            registerAsParallelCapable();
        }

        L(ClassLoader parent) {
            super(parent);
        }

        @Override
        public Class<?> loadClass(String name) throws ClassNotFoundException {
            if (name.equals("t.Define$Base")) {
                defining.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
            if (!name.equals("t.Define$Sub") && !name.equals("t.Define$Caller")) return super.loadClass(name);
            Class<?> c = findLoadedClass(name);
            if (c != null) return c;
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                ByteArrayOutputStream b = new ByteArrayOutputStream();
                for (int k; (k = in.read()) >= 0; ) b.write(k);
                return defineClass(name, b.toByteArray(), 0, b.size());
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static void root(Runnable r) {
        r.run();
    }

    public static void main(String[] args) throws Exception {
        final L l = new L(Define.class.getClassLoader());
        Runnable r = (Runnable) Class.forName("t.Define$Caller", true, l).getDeclaredConstructor().newInstance();
        System.out.println("READY");
        System.in.read();
        Thread t = new Thread() {
            @Override
            public void run() {
                try {
                    Class.forName("t.Define$Sub", true, l);
                } catch (ClassNotFoundException e) {
                    throw new AssertionError(e);
                }
            }
        };
        t.start();
        defining.await();
        root(r);
        System.out.println("MET");
        while (System.in.read() != 'g') {}
        go.countDown();
        t.join();
        on = true;
        for (int c; (c = System.in.read()) >= 0; ) {
            if (c != 'c') continue;
            root(r);
            System.out.println("CALLED");
        }
    }
}

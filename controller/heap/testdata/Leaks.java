import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Leaks in one of five ways, then waits for the end of its input. */
public class Leaks {
    static final int COUNT = 60, SIZE = 20_000;

    interface Listener { void happened(); }

    static class Bus {
        private final List<Listener> listeners = new ArrayList<>();
        void add(Listener l) { listeners.add(l); }
    }

    static class WindowListener implements Listener {
        final byte[] picture = new byte[SIZE];
        public void happened() { }
    }

    static final Bus bus = new Bus();

    static class SessionCache {
        static final Map<String, byte[]> sessions = new HashMap<>();
    }

    static class RequestContext { final int[] numbers = new int[SIZE / 4]; }

    static final ThreadLocal<RequestContext> context = new ThreadLocal<>();

    static class PluginLoader extends ClassLoader {
        @Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Plugin")) return super.loadClass(name, resolve);
            try (InputStream in = Leaks.class.getResourceAsStream("Plugin.class")) {
                ByteArrayOutputStream b = new ByteArrayOutputStream();
                for (int c; (c = in.read()) >= 0; ) b.write(c);
                return defineClass(name, b.toByteArray(), 0, b.size());
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static final List<Object> registry = new ArrayList<>();

    static class Screen {
        final long[] pixels = new long[SIZE / 8];
        class Task implements Runnable { public void run() { pixels[0]++; } }
    }

    static final List<Runnable> tasks = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < COUNT; i++) {
            switch (args[0]) {
                case "listener": bus.add(new WindowListener()); break;
                case "cache": SessionCache.sessions.put("session" + i, new byte[SIZE]); break;
                case "threadlocal":
                    Thread t = new Thread(() -> {
                        context.set(new RequestContext());
                        synchronized (context) { context.notifyAll(); }
                        try { Thread.sleep(1_000_000); } catch (InterruptedException e) { }
                    }, "worker-" + i);
                    t.setDaemon(true);
                    synchronized (context) { t.start(); context.wait(); }
                    break;
                case "loader":
                    java.lang.reflect.Constructor<?> c = new PluginLoader().loadClass("Plugin").getConstructor();
                    c.setAccessible(true);
                    registry.add(c.newInstance());
                    break;
                case "inner": tasks.add(new Screen().new Task()); break;
                default: throw new IllegalArgumentException(args[0]);
            }
        }
        System.out.println("ready");
        System.in.read();
    }
}

class Plugin {
    static final byte[] table = new byte[Leaks.SIZE];
    public Plugin() { }
}

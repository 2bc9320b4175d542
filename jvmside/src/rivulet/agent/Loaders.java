package rivulet.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Numbers class loaders, by identity and without calling any of their code, and finds loaded classes by loader and
 * name. Numbers are never used again.
 */
final class Loaders {
    private static final class Entry {
        final WeakReference<ClassLoader> loader;
        final int id;

        Entry(ClassLoader l, int id) {
            this.loader = new WeakReference<>(l);
            this.id = id;
        }
    }

    private final Map<Integer, List<Entry>> byHash = new HashMap<>();
    private final List<Entry> all = new ArrayList<>();
    private int told;
    private volatile boolean open;
    private final ClassLoader system = ClassLoader.getSystemClassLoader(), platform = system.getParent();
    private final ClassLoader own = Loaders.class.getClassLoader();
    private Map<String, WeakReference<Class<?>>> loaded = new HashMap<>();

    Loaders() {
        if (platform != null) id(platform);
        id(system);
    }

    /** From now on classes of the JDK are the controller's business, too. */
    void open() {
        open = true;
    }

    /** Whether a loader's classes are left out of listings and searches. */
    boolean closed(ClassLoader l) {
        return !open && jdk(l);
    }

    /** The agent's own classes are nobody's business. */
    boolean own(ClassLoader l) {
        return l == own;
    }

    /** A class as messages name it: its loader's number and its internal name. */
    Object[] key(Class<?> c) {
        return new Object[] {id(c.getClassLoader()), internal(c)};
    }

    /** The keys that a message has, their number first. */
    static List<Object[]> keys(In m) throws IOException {
        List<Object[]> keys = new ArrayList<>();
        for (int n = m.u32(); n > 0; n--) keys.add(new Object[] {m.u32(), m.str()});
        return keys;
    }

    synchronized int id(ClassLoader l) {
        if (l == null) return 0;
        int hash = System.identityHashCode(l);
        List<Entry> bucket = byHash.get(hash);
        if (bucket == null) byHash.put(hash, bucket = new ArrayList<>(1));
        for (int i = 0; i < bucket.size(); i++) if (bucket.get(i).loader.get() == l) return bucket.get(i).id;
        Entry e = new Entry(l, all.size() + 1);
        bucket.add(e);
        all.add(e);
        if (l.getParent() != null) id(l.getParent());
        return e.id;
    }

    /** The loader of a number; null is the bootstrap loader, and any loader that is gone throws. */
    synchronized ClassLoader loader(int id) throws ClassNotFoundException {
        if (id == 0) return null;
        ClassLoader l = id <= all.size() ? all.get(id - 1).loader.get() : null;
        if (l == null) throw new ClassNotFoundException("its loader is gone");
        return l;
    }

    synchronized int count() {
        return all.size();
    }

    /**
     * Tells the controller about the loaders that it has not confirmed yet. Threads that come at the same time tell it
     * the same, so that none goes on before it knows.
     */
    void tell(Mailbox mailbox, long patience) {
        int n;
        byte[] news;
        synchronized (this) {
            n = all.size();
            if (n == told) return;
            Out rows = new Out();
            int count = 0;
            for (int i = told; i < n; i++) {
                ClassLoader l = all.get(i).loader.get();
                if (l == null) continue;
                int kind = l == platform ? Wire.LOADER_PLATFORM : l == system ? Wire.LOADER_APP : Wire.LOADER_OTHER;
                rows.u32(i + 1).u8(kind).u32(id(l.getParent())).str(l.getClass().getName()).str(Integer.toHexString(System.identityHashCode(l)));
                count++;
            }
            news = Out.join(new Out().u32(count), rows);
        }
        if (mailbox.call(Wire.REQ_LOADERS, news, patience) == null) return;
        synchronized (this) {
            told = Math.max(told, n);
        }
    }

    /** Whether the loader of a number has gone, and its classes with it. */
    synchronized boolean gone(int id) {
        return id > 0 && (id > all.size() || all.get(id - 1).loader.get() == null);
    }

    static String key(int loader, String name) {
        return loader + ":" + name;
    }

    static int loaderOf(String key) {
        return Integer.parseInt(key.substring(0, key.indexOf(':')));
    }

    /** Remembers what getAllLoadedClasses said. */
    void learn(Class<?>[] classes) {
        Map<String, WeakReference<Class<?>>> m = new HashMap<>();
        for (Class<?> c : classes) {
            if (!c.isArray() && !closed(c.getClassLoader())) m.put(key(id(c.getClassLoader()), internal(c)), new WeakReference<Class<?>>(c));
        }
        synchronized (this) {
            loaded = m;
        }
    }

    private synchronized Class<?> find(int loader, String name) {
        WeakReference<Class<?>> r = loaded.get(key(loader, name));
        return r == null ? null : r.get();
    }

    /** A loaded class, also one that was loaded after the last listing. */
    Class<?> search(Instrumentation inst, int loader, String name) {
        Class<?> c = find(loader, name);
        if (c == null) {
            learn(inst.getAllLoadedClasses());
            c = find(loader, name);
        }
        if (c == null && loader == 0) c = boot(name);
        return c;
    }

    /** A class of the bootstrap loader, which listings may leave out. */
    private static Class<?> boot(String name) {
        try {
            return Class.forName(name.replace('/', '.'), false, null);
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    boolean jdk(ClassLoader l) {
        return l == null || l == platform;
    }

    static String internal(Class<?> c) {
        return c.getName().replace('.', '/');
    }
}

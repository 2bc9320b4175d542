package rivulet.agent;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Tells the controller about loaded classes: all of the application's, and of the JDK's those that an application
 * class extends or implements. (To ask the other thousands for their names and interfaces makes the JVM keep the
 * answers, so that is done only where the JDK is to be instrumented.)
 */
final class Listing {
    private static final long PATIENCE = 30_000_000_000L;
    private static final int PART = 48 << 10;
    private static final int LARGEST = 16 << 20;

    private final Instrumentation inst;
    private final Mailbox mailbox;
    private final Loaders loaders;
    private final Tracing tracing;

    Listing(Instrumentation inst, Mailbox mailbox, Loaders loaders, Tracing tracing) {
        this.inst = inst;
        this.mailbox = mailbox;
        this.loaders = loaders;
        this.tracing = tracing;
    }

    void classes() {
        Class<?>[] all = inst.getAllLoadedClasses();
        loaders.learn(all);
        tracing.look(all, loaders);
        Set<Class<?>> known = Collections.newSetFromMap(new IdentityHashMap<>());
        ArrayDeque<Class<?>> todo = new ArrayDeque<>();
        for (Class<?> c : all) {
            ClassLoader l = c.getClassLoader();
            if (c.isArray() || c.isPrimitive() || loaders.closed(l) || loaders.own(l)) continue;
            if (loaders.jdk(l) && c.getName().indexOf('/') >= 0) continue; // hidden, and thousands of them
            todo.add(c);
        }
        List<Object[]> rows = new ArrayList<>();
        while (!todo.isEmpty()) {
            Class<?> c = todo.poll();
            if (!known.add(c)) continue;
            Class<?> s;
            Class<?>[] is;
            try {
                s = c.getSuperclass();
                is = c.getInterfaces();
            } catch (Throwable t) {
                continue; // TypeNotPresentException and the like: such a class can't run either
            }
            rows.add(new Object[] {c, s, is});
            if (s != null) todo.add(s);
            Collections.addAll(todo, is);
        }
        for (Object[] row : rows) {
            loaders.id(((Class<?>) row[0]).getClassLoader());
        }
        loaders.tell(mailbox, PATIENCE);
        Out out = new Out();
        int n = 0;
        URL last = null;
        for (Object[] row : rows) {
            URL place = place((Class<?>) row[0]);
            row(out, (Class<?>) row[0], (Class<?>) row[1], (Class<?>[]) row[2]);
            out.str(place == null ? "" : place == last ? "=" : place.getPath());
            last = place;
            n++;
            if (out.size() > PART) {
                send(Wire.REQ_CLASSES, false, n, out);
                out = new Out();
                last = null;
                n = 0;
            }
        }
        send(Wire.REQ_CLASSES, true, n, out);
    }

    /** Names what is loaded of the JDK. That the JVM keeps the names of classes is all that stays of it. */
    void names() {
        Out out = new Out();
        int n = 0;
        for (Class<?> c : inst.getAllLoadedClasses()) {
            if (!loaders.jdk(c.getClassLoader()) || c.isArray() || c.isPrimitive()) continue;
            if (c.getName().indexOf('/') >= 0) continue; // hidden
            out.str(Loaders.internal(c));
            n++;
            if (out.size() > PART) {
                send(Wire.REQ_NAMES, false, n, out);
                out = new Out();
                n = 0;
            }
        }
        send(Wire.REQ_NAMES, true, n, out);
    }

    private void row(Out out, Class<?> c, Class<?> s, Class<?>[] is) {
        String name = Loaders.internal(c);
        int state = (c.isInterface() ? Wire.CLASS_INTERFACE : 0) | (inst.isModifiableClass(c) ? Wire.CLASS_MODIFIABLE : 0)
            | (Memory.U.shouldBeInitialized(c) ? 0 : Wire.CLASS_INITIALIZED) | (c.getName().indexOf('/') >= 0 ? Wire.CLASS_HIDDEN : 0);
        out.u32(loaders.id(c.getClassLoader())).str(name).u32(c.getModifiers()).u8(state);
        if (s == null) out.u32(0).str("");
        else out.u32(loaders.id(s.getClassLoader())).str(Loaders.internal(s));
        out.u32(is.length);
        for (Class<?> i : is) out.u32(loaders.id(i.getClassLoader())).str(Loaders.internal(i));
    }

    /** Where a class's file lies, if its loader says so and without a call of the program's code; else null. */
    private static URL place(Class<?> c) {
        if (c.getClassLoader() == null) return null; // its domain would be made, and stay
        try {
            ProtectionDomain d = c.getProtectionDomain();
            CodeSource s = d == null ? null : d.getCodeSource();
            URL u = s == null ? null : s.getLocation();
            return u != null && u.getProtocol().equals("file") ? u : null;
        } catch (Throwable t) {
            return null; // a security manager's word, say
        }
    }

    private void send(int type, boolean last, int n, Out rows) {
        mailbox.call(type, Out.join(new Out().u8(last ? 1 : 0).u32(n), rows), PATIENCE);
    }

    /** Sends these classes' files, as their loaders' resources. */
    void files(int[] ids, String[] names) {
        Out out = new Out();
        int n = 0;
        for (int i = 0; i < ids.length; i++) {
            out.u32(ids[i]).str(names[i]).block(file(ids[i], names[i]));
            n++;
            if (out.size() > PART) {
                send(Wire.REQ_BYTES, false, n, out);
                out = new Out();
                n = 0;
            }
        }
        send(Wire.REQ_BYTES, true, n, out);
    }

    private byte[] file(int id, String name) {
        try {
            ClassLoader l = loaders.loader(id);
            String path = name + ".class";
            try (InputStream in = l == null ? ClassLoader.getSystemResourceAsStream(path) : l.getResourceAsStream(path)) {
                if (in == null) return new byte[0];
                ByteArrayOutputStream b = new ByteArrayOutputStream(8192);
                byte[] part = new byte[8192];
                for (int k; (k = in.read(part)) > 0; ) {
                    b.write(part, 0, k);
                    if (b.size() > LARGEST) return new byte[0];
                }
                return b.toByteArray();
            }
        } catch (Throwable t) {
            return new byte[0];
        }
    }

    /** Says which of the known loaders could find a class that isn't loaded; 0 stands for the JDK's own. */
    void find(String name) {
        List<Integer> found = new ArrayList<>();
        ClassLoader jdk = ClassLoader.getSystemClassLoader().getParent();
        for (int id = 0; id <= loaders.count(); id++) {
            try {
                ClassLoader l = id == 0 ? jdk : loaders.loader(id);
                String path = name + ".class";
                if (l != null ? l.getResource(path) != null : ClassLoader.getSystemResource(path) != null) found.add(id);
            } catch (Throwable t) {
                // gone, or closed
            }
        }
        Out out = new Out().str(name).u32(found.size());
        for (int id : found) out.u32(id);
        mailbox.call(Wire.REQ_FOUND, out.done(), PATIENCE);
    }
}

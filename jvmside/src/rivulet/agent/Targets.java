package rivulet.agent;

import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import rivulet.probe.Layout;

/**
 * Tells the controller which methods a Method, Constructor, MethodHandle or call site calls, and has them instrumented
 * before the thread goes on. Of the JDK's, those that a program can override: the controller may believe that nobody calls them.
 */
final class Targets implements Predicate<Object> {
    /** How long again waits for a box and an answer. */
    private static final long AGAIN = 20_000_000L;

    private final Reveals reveals;
    private final Hook hook;
    private final Loaders loaders;
    /** Null on a JDK whose method handles are made in another way. */
    private final Handles handles;
    /** Methods that are instrumented, or can't be. */
    private final Set<String> told = new HashSet<>();
    private final Memory memory;
    /** What the controller has not heard of, since no box was free in time. Guarded by itself, as is lost. */
    private final ArrayDeque<Rows> untold = new ArrayDeque<>();
    /** Objects whose methods could not be found. */
    private long lost;

    Targets(Reveals reveals, Hook hook, Loaders loaders, Memory memory) {
        this.reveals = reveals;
        this.hook = hook;
        this.loaders = loaders;
        this.memory = memory;
        Handles h = null;
        try {
            h = new Handles();
        } catch (ReflectiveOperationException | RuntimeException e) {
            // test says so, once for each handle
        }
        handles = h;
    }

    /** Called by Reflection.find. False when something may be missing. */
    @Override
    public boolean test(final Object o) {
        if (System.getSecurityManager() == null) return find(o);
        return AccessController.doPrivileged(new PrivilegedAction<Boolean>() { // the program's rights are not ours
            @Override
            public Boolean run() {
                return find(o);
            }
        });
    }

    private boolean find(Object o) {
        hook.use(1);
        try {
            return pinned(o);
        } catch (Throwable t) {
            return lost(); // no memory or stack, say
        } finally {
            hook.use(-1);
        }
    }

    /** What an object leads to will not be known. */
    private boolean lost() {
        synchronized (untold) {
            lost++;
            count();
        }
        return false;
    }

    private void count() {
        Memory.U.putLong(memory.base + Layout.H_UNTOLD, lost + untold.size());
    }

    /** The controller is to hear of these later: whoever calls them does not ask again. */
    private void untold(Rows rows) {
        synchronized (untold) {
            for (Rows r : untold) if (r.keys.containsAll(rows.keys)) return;
            untold.add(rows);
            count();
        }
    }

    /** Tells the controller what it has not heard of. Called by one thread, of the agent's, from time to time. */
    void again() {
        for (;;) {
            Rows rows;
            synchronized (untold) {
                rows = untold.peek();
            }
            if (rows == null || reveals.find(rows.keys.size(), rows.out, AGAIN, true, rows.redefined) == Reveals.UNTOLD) return;
            synchronized (untold) {
                untold.remove();
                count();
            }
        }
    }

    private boolean pinned(Object o) throws ReflectiveOperationException {
        Pin.on();
        try {
            Rows rows = new Rows();
            if (o instanceof Method) {
                Method m = (Method) o;
                if (rows.wants(m.getDeclaringClass(), m.getModifiers())) rows.add(m.getDeclaringClass(), m.getName(), MethodType.methodType(m.getReturnType(), m.getParameterTypes()));
            } else if (o instanceof Constructor) {
                Constructor<?> c = (Constructor<?>) o;
                if (rows.wants(c.getDeclaringClass())) rows.add(c.getDeclaringClass(), "<init>", MethodType.methodType(void.class, c.getParameterTypes()));
            } else if (o instanceof MethodHandle) {
                return handle((MethodHandle) o, rows);
            } else {
                Object[] link = (Object[]) o;
                return linked((CallSite) link[0], (MethodHandle) link[1], (Class<?>) link[2], rows);
            }
            return rows.send();
        } finally {
            Pin.off();
        }
    }

    /** Classes have been restored. */
    void restored() {
        if (handles != null) handles.renew();
    }

    private boolean handle(MethodHandle h, Rows rows) throws ReflectiveOperationException {
        if (handles == null) return lost();
        if (handles.seen(h)) return true;
        List<Object> met = new ArrayList<>(), stale = new ArrayList<>();
        boolean all = handles.targets(h, rows, met, stale);
        boolean found = rows.send();
        if (!all) lost();
        if (!found) return false;
        handles.renew(stale);
        if (all) handles.known(h, met);
        return all;
    }

    /**
     * An instruction of class caller gets its call site. One whose target can change says what that is whenever it is
     * executed. What the JDK's own bootstrap methods make is known from the class file.
     */
    private boolean linked(CallSite site, MethodHandle bootstrap, Class<?> caller, Rows rows) throws ReflectiveOperationException {
        if (!(site instanceof ConstantCallSite) || !hook.instruments(loaders.id(caller.getClassLoader()), Loaders.internal(caller))) return true;
        if (handles == null) return lost();
        return handles.ofJDK(bootstrap) || handle(site.getTarget(), rows);
    }

    /** Methods that the controller is to hear of. */
    final class Rows {
        private final List<String> keys = new ArrayList<>();
        private final Out out = new Out();
        private final long redefined = reveals.redefined();

        boolean wants(Class<?> c) {
            return !loaders.jdk(c.getClassLoader()) && !loaders.own(c.getClassLoader());
        }

        /** Whether a method may lead to the program's. */
        boolean wants(Class<?> c, int modifiers) {
            boolean fixed = (modifiers & (Modifier.STATIC | Modifier.FINAL | Modifier.PRIVATE)) != 0 || Modifier.isFinal(c.getModifiers());
            return !loaders.own(c.getClassLoader()) && !(fixed && loaders.jdk(c.getClassLoader()));
        }

        void add(Class<?> c, String name, MethodType type) {
            if (c.getName().indexOf('/') < 0) row(c, name, type.toMethodDescriptorString());
            else above(c, name, type); // hidden: a lambda's, say. What its method implements leads to the same bodies
        }

        private void above(Class<?> c, String name, MethodType type) {
            List<Class<?>> up = new ArrayList<>();
            if (c.getSuperclass() != null) up.add(c.getSuperclass());
            for (Class<?> i : c.getInterfaces()) up.add(i);
            for (Class<?> k : up) {
                try {
                    if (wants(k) && k.getName().indexOf('/') < 0 && !Modifier.isPrivate(k.getDeclaredMethod(name, type.parameterArray()).getModifiers()))
                        row(k, name, type.toMethodDescriptorString());
                } catch (NoSuchMethodException | LinkageError e) {
                    // it inherits the method, or has none
                }
                above(k, name, type);
            }
        }

        private void row(Class<?> c, String name, String desc) {
            int loader = loaders.id(c.getClassLoader());
            String key = Loaders.key(loader, c.getName() + "." + name + desc);
            synchronized (told) {
                if (told.contains(key)) return;
            }
            if (keys.contains(key)) return;
            keys.add(key);
            out.u32(loader).str(Loaders.internal(c)).str(name).str(desc);
        }

        /** Only what is instrumented is told: another thread that comes by meanwhile has to wait as well. */
        boolean send() {
            if (keys.isEmpty()) return true;
            int found = reveals.find(keys.size(), out);
            if (found == Reveals.UNTOLD) untold(this);
            if (found != Reveals.FOUND) return false;
            synchronized (told) {
                told.addAll(keys);
            }
            return true;
        }
    }
}

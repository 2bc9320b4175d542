package rivulet.agent;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds the methods that a method handle can call. A handle is made of objects of java.lang.invoke: other handles that
 * it adapts, lambda forms, call sites and, at the leaves, MemberNames, which name methods. All of them are visited;
 * objects of the program that are bound into a handle are not. What a MutableCallSite is given later is not seen.
 */
final class Handles {
    /** Objects visited for one handle. The largest combinations that programs make have some hundreds. */
    private static final int MOST = 20_000;
    private static final String PACKAGE = "java.lang.invoke.";

    /** Fields that lead on, by class of the bootstrap loader. */
    private final Map<Class<?>, Field[]> fields = new HashMap<>();
    private final Class<?> memberName = Class.forName("java.lang.invoke.MemberName");
    private final Class<?> lambdaForm = Class.forName("java.lang.invoke.LambdaForm");
    /** MethodHandleNatives.init on JDK 8, where a MemberName may keep the version of a method that it was made with; else null. */
    private final Method init = init(memberName);
    private final Method invocable = accessible("isInvocable"), declaring = accessible("getDeclaringClass"),
        name = accessible("getName"), type = accessible("getMethodType"), modifiers = accessible("getModifiers");

    /**
     * Handles, and the lambda forms that they are made of, whose methods are known to the controller. Handles share forms,
     * and most of a handle is forms. By identity: JDK 8 compares their contents.
     */
    private final Set<Same> told = new HashSet<>();
    private final ReferenceQueue<Object> gone = new ReferenceQueue<>();

    private static final class Same extends WeakReference<Object> {
        private final int hash;

        Same(Object o, ReferenceQueue<Object> gone) {
            super(o, gone);
            hash = System.identityHashCode(o);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object o) {
            return this == o || o instanceof Same && get() != null && get() == ((Same) o).get();
        }
    }

    /** On JDK 8, the MemberNames that were brought up to date: they are again when classes have been restored. */
    private final Set<Same> renewed = new HashSet<>();

    Handles() throws ReflectiveOperationException {}

    private static Method init(Class<?> memberName) throws ReflectiveOperationException {
        try {
            Class.forName("java.lang.invoke.ResolvedMethodName");
            return null;
        } catch (ClassNotFoundException e) {
            Method m = Class.forName("java.lang.invoke.MethodHandleNatives").getDeclaredMethod("init", memberName, Object.class);
            m.setAccessible(true);
            return m;
        }
    }

    private Method accessible(String method) throws NoSuchMethodException {
        Method m = memberName.getMethod(method);
        m.setAccessible(true);
        return m;
    }

    /** The controller knows the methods of a handle and of these forms, and of what they lead to. */
    synchronized void known(MethodHandle handle, List<Object> forms) {
        told.add(new Same(handle, gone));
        for (Object form : forms) told.add(new Same(form, gone));
        for (Object o; (o = gone.poll()) != null; ) {
            told.remove(o);
            renewed.remove(o);
        }
    }

    synchronized boolean seen(MethodHandle handle) {
        return told.contains(new Same(handle, null));
    }

    /** Whether a bootstrap method is one of java.lang.invoke or java.lang.runtime. */
    synchronized boolean ofJDK(MethodHandle bootstrap) throws ReflectiveOperationException {
        Object o = bootstrap;
        while (o instanceof MethodHandle) { // one with variable arity adapts another
            Object next = null;
            for (Field f : fields(o.getClass())) {
                Object v = f.get(o);
                if (memberName.isInstance(v)) {
                    Class<?> c = (Class<?>) declaring.invoke(v);
                    return c.getClassLoader() == null && (c.getName().startsWith(PACKAGE) || c.getName().startsWith("java.lang.runtime."));
                }
                if (v instanceof MethodHandle) next = v;
            }
            o = next;
        }
        return false;
    }

    /**
     * Adds what a handle can call to rows, and the lambda forms that it came by to met; false if there was too much to
     * look at. On JDK 8 also the MemberNames that have to be renewed when the targets have probes.
     */
    synchronized boolean targets(MethodHandle handle, Targets.Rows rows, List<Object> met, List<Object> stale) throws ReflectiveOperationException {
        Set<Object> known = Collections.newSetFromMap(new IdentityHashMap<Object, Boolean>());
        ArrayDeque<Object> todo = new ArrayDeque<>();
        todo.add(handle);
        known.add(handle);
        while (!todo.isEmpty() && known.size() < MOST) {
            Object o = todo.poll();
            if (o.getClass() == lambdaForm) {
                if (told.contains(new Same(o, null))) continue;
                met.add(o);
            }
            if (memberName.isInstance(o)) {
                if (member(o, rows) && init != null) stale.add(o);
            } else if (o instanceof Object[]) {
                for (Object e : (Object[]) o) visit(e, known, todo);
            } else {
                for (Field f : fields(o.getClass())) visit(f.get(o), known, todo);
            }
        }
        return todo.isEmpty();
    }

    /** Whether a MemberName names a method of the program's. */
    private boolean member(Object m, Targets.Rows rows) throws ReflectiveOperationException {
        if (!(Boolean) invocable.invoke(m)) return false; // a field
        Class<?> c = (Class<?>) declaring.invoke(m);
        if (c.getName().startsWith(PACKAGE)) return false;
        if (rows.wants(c, (Integer) modifiers.invoke(m))) rows.add(c, (String) name.invoke(m), (MethodType) type.invoke(m));
        return rows.wants(c);
    }

    /**
     * Has MemberNames name the present version of their methods. JDK 8 does that itself when classes are redefined, but
     * not for those that Lookup.unreflect has made. What is dispatched at the call finds its version by itself.
     */
    synchronized void renew(List<Object> members) throws ReflectiveOperationException {
        for (Object m : members) {
            if (renew(m)) renewed.add(new Same(m, gone));
        }
    }

    /** The same for all that were renewed. */
    synchronized void renew() {
        for (Same s : renewed) {
            try {
                if (s.get() != null) renew(s.get());
            } catch (ReflectiveOperationException | LinkageError e) {
                // it keeps the version that it has, whose probes are silent
            }
        }
    }

    private boolean renew(Object m) throws ReflectiveOperationException {
        Class<?> c = (Class<?>) declaring.invoke(m);
        String n = (String) name.invoke(m);
        Class<?>[] params = ((MethodType) type.invoke(m)).parameterArray();
        if (n.equals("<init>")) {
            init.invoke(null, m, c.getDeclaredConstructor(params));
            return true;
        }
        int mods = (Integer) modifiers.invoke(m);
        if ((mods & (Modifier.STATIC | Modifier.PRIVATE | Modifier.FINAL)) == 0 && !Modifier.isFinal(c.getModifiers())) return false;
        for (Method r : c.getDeclaredMethods()) {
            if (!r.getName().equals(n) || r.getReturnType() != ((MethodType) type.invoke(m)).returnType() || !Arrays.equals(r.getParameterTypes(), params)) continue;
            init.invoke(null, m, r);
            return true;
        }
        return false;
    }

    private static void visit(Object o, Set<Object> known, ArrayDeque<Object> todo) {
        if (o != null && leadsOn(o.getClass()) && known.add(o)) todo.add(o);
    }

    /** Whether objects of a class can hold, or be, what a handle calls. */
    private static boolean leadsOn(Class<?> c) {
        if (c.isArray()) {
            Class<?> e = c;
            while (e.isArray()) e = e.getComponentType(); // the clauses of a loop are MethodHandle[][]
            return c == Object[].class || e.getName().startsWith(PACKAGE);
        }
        if (CallSite.class.isAssignableFrom(c)) return true;
        return c.getClassLoader() == null && c.getName().startsWith(PACKAGE) && !c.getName().startsWith(PACKAGE + "MethodType");
    }

    private Field[] fields(Class<?> of) throws ReflectiveOperationException {
        Class<?> boot = of;
        while (boot.getClassLoader() != null) boot = boot.getSuperclass(); // a CallSite of the program's
        Field[] known = fields.get(boot);
        if (known != null) return known;
        List<Field> found = new ArrayList<>();
        for (Class<?> c = boot; c != null; c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                Class<?> t = f.getType();
                boolean any = t == Object.class || t == Object[].class || t.getName().startsWith(PACKAGE) || t.isArray() && leadsOn(t);
                if (Modifier.isStatic(f.getModifiers()) || !any || f.getName().equals("asTypeCache") || f.getName().equals("transformCache")) continue;
                f.setAccessible(true);
                found.add(f);
            }
        }
        known = found.toArray(new Field[0]);
        fields.put(boot, known);
        return known;
    }
}

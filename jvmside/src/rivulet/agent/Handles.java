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
    private final Method invocable = accessible("isInvocable"), declaring = accessible("getDeclaringClass"),
        name = accessible("getName"), type = accessible("getMethodType"), modifiers = accessible("getModifiers");

    /**
     * Lambda forms whose methods are known to the controller. Handles share them, and they are most of what a handle is
     * made of. By identity: JDK 8 compares their contents.
     */
    private final Set<Form> forms = new HashSet<>();
    private final ReferenceQueue<Object> gone = new ReferenceQueue<>();

    private static final class Form extends WeakReference<Object> {
        private final int hash;

        Form(Object form, ReferenceQueue<Object> gone) {
            super(form, gone);
            hash = System.identityHashCode(form);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object o) {
            return this == o || o instanceof Form && get() != null && get() == ((Form) o).get();
        }
    }

    Handles() throws ReflectiveOperationException {}

    private Method accessible(String method) throws NoSuchMethodException {
        Method m = memberName.getMethod(method);
        m.setAccessible(true);
        return m;
    }

    /** The controller knows the methods of these, and of what they lead to. */
    synchronized void known(List<Object> told) {
        for (Object form : told) forms.add(new Form(form, gone));
        for (Object f; (f = gone.poll()) != null; ) forms.remove(f);
    }

    /**
     * Adds what a handle can call to rows, and the lambda forms that it came by to met; false if there was too much to
     * look at.
     */
    synchronized boolean targets(MethodHandle handle, Targets.Rows rows, List<Object> met) throws ReflectiveOperationException {
        Set<Object> known = Collections.newSetFromMap(new IdentityHashMap<Object, Boolean>());
        ArrayDeque<Object> todo = new ArrayDeque<>();
        todo.add(handle);
        known.add(handle);
        while (!todo.isEmpty() && known.size() < MOST) {
            Object o = todo.poll();
            if (o.getClass() == lambdaForm) {
                if (forms.contains(new Form(o, null))) continue;
                met.add(o);
            }
            if (memberName.isInstance(o)) {
                member(o, rows);
            } else if (o instanceof Object[]) {
                for (Object e : (Object[]) o) visit(e, known, todo);
            } else {
                for (Field f : fields(o.getClass())) visit(f.get(o), known, todo);
            }
        }
        return todo.isEmpty();
    }

    private void member(Object m, Targets.Rows rows) throws ReflectiveOperationException {
        if (!(Boolean) invocable.invoke(m)) return; // a field
        Class<?> c = (Class<?>) declaring.invoke(m);
        if (c.getName().startsWith(PACKAGE)) return;
        if (rows.wants(c, (Integer) modifiers.invoke(m))) rows.add(c, (String) name.invoke(m), (MethodType) type.invoke(m));
    }

    private static void visit(Object o, Set<Object> known, ArrayDeque<Object> todo) {
        if (o != null && leadsOn(o.getClass()) && known.add(o)) todo.add(o);
    }

    /** Whether objects of a class can hold, or be, what a handle calls. */
    private static boolean leadsOn(Class<?> c) {
        if (c.isArray()) return c == Object[].class || c.getComponentType().getName().startsWith(PACKAGE);
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

package t;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Calls methods by every mechanism that Java 8 has. Each method t_... counts itself; the counts are printed as
 * "N name count". With "middle" the root has run before, so that nothing is used for the first time; with "crowd" four
 * threads do all of it at once.
 */
public class Mechanisms {
    static final Map<String, int[]> n = new TreeMap<>();
    static long sink;

    static synchronized void hit(String name) {
        int[] c = n.get(name);
        if (c == null) n.put(name, c = new int[1]);
        c[0]++;
    }

    // ---- plain calls ----

    static void t_static() { hit("t_static"); }
    void t_virtual() { hit("t_virtual"); }
    private void t_private() { hit("t_private"); }
    static synchronized void t_sync() { hit("t_sync"); }
    static int t_varargs(int... xs) { hit("t_varargs"); return xs.length; }
    static int t_deep(int d) { hit("t_deep"); return d == 0 ? 0 : 1 + t_deep(d - 1); }
    static void t_throws() { hit("t_throws"); throw new IllegalStateException(); }
    static void t_finally() { hit("t_finally"); }
    static void t_rethrows() {
        hit("t_rethrows");
        try {
            t_throws();
        } finally {
            t_finally();
        }
    }

    interface I {
        default void t_default() { hit("I.t_default"); }
        static void t_istatic() { hit("I.t_istatic"); }
        void t_abstract();
    }

    static class Impl implements I {
        public void t_abstract() { hit("Impl.t_abstract"); }
    }

    static class Sub extends Impl {
        @Override
        public void t_abstract() {
            super.t_abstract();
            hit("Sub.t_abstract");
        }
        @Override
        public void t_default() {
            super.t_default();
            hit("Sub.t_default");
        }
    }

    abstract static class Generic<T> {
        abstract T t_bridge(T x);
    }

    static class OfString extends Generic<String> {
        @Override
        String t_bridge(String x) { hit("OfString.t_bridge"); return x; }
    }

    static class Obj {
        Obj() { t_ctorCallee(); }
        static void t_ctorCallee() { hit("Obj.t_ctorCallee"); }
        @Override
        public String toString() { t_toString(); return "x"; }
        void t_toString() { hit("Obj.t_toString"); }
    }

    class Inner {
        void t_inner() { hit("Inner.t_inner"); t_private(); }
    }

    enum E {
        A { void t_body() { hit("E$1.t_body"); } }, B { void t_body() { hit("E$2.t_body"); } };
        abstract void t_body();
    }

    static class Lazy {
        static { t_clinitCallee(); }
        static void touch() {}
        static void t_clinitCallee() { hit("Lazy.t_clinitCallee"); }
    }

    static void plain(int i) {
        t_static();
        Mechanisms m = new Mechanisms();
        m.t_virtual();
        t_sync();
        t_varargs(1, 2, 3);
        t_deep(2);
        try {
            t_rethrows();
        } catch (IllegalStateException e) {
            sink++;
        }
        I impl = new Impl(), sub = new Sub();
        impl.t_default();
        sub.t_default();
        I.t_istatic();
        impl.t_abstract();
        sub.t_abstract();
        Generic<String> g = new OfString();
        g.t_bridge("x");
        sink += ("a" + new Obj()).length();
        m.new Inner().t_inner();
        E.values()[i & 1].t_body();
        new I() {
            @Override
            public void t_abstract() { hit("1.t_abstract"); }
        }.t_abstract();
        Lazy.touch();
    }

    // ---- lambdas and callbacks ----

    static void t_lambdaCallee() { hit("t_lambdaCallee"); }
    static int t_methodRef(int x) { hit("t_methodRef"); return x + 1; }
    int t_boundRef(int x) { hit("t_boundRef"); return x; }
    static void t_privileged() { hit("t_privileged"); }
    static void t_supplied() { hit("t_supplied"); }
    static int t_streamed(int x) { hit("t_streamed"); return x; }

    static class Cmp implements Comparator<Integer> {
        public int compare(Integer a, Integer b) { t_cmp(); return a - b; }
        void t_cmp() { hit("Cmp.t_cmp"); }
    }

    static class Made {
        Made() { hit("Made.t_"); t_made(); }
        static void t_made() { hit("Made.t_made"); }
    }

    static void callbacks() {
        Runnable r = () -> t_lambdaCallee();
        r.run();
        IntUnaryOperator ref = Mechanisms::t_methodRef, bound = new Mechanisms()::t_boundRef;
        sink += ref.applyAsInt(1) + bound.applyAsInt(2);
        Supplier<Made> ctor = Made::new;
        ctor.get();
        Function<Integer, int[]> array = int[]::new;
        sink += array.apply(3).length;
        AccessController.doPrivileged((PrivilegedAction<Void>) () -> {
            t_privileged();
            return null;
        });
        TreeSet<Integer> s = new TreeSet<>(new Cmp());
        s.add(1);
        s.add(2);
        ThreadLocal.withInitial(() -> {
            t_supplied();
            return 1;
        }).get();
        sink += IntStream.range(0, 3).map(Mechanisms::t_streamed).sum();
        sink += new EnumMap<E, String>(E.class).size();
    }

    // ---- reflection ----

    public static void t_reflect() { hit("t_reflect"); }
    public void t_reflectVirtual() { hit("t_reflectVirtual"); t_below(); }
    static void t_below() { hit("t_below"); }
    public static long t_reflectArgs(int a, long b, String c, double d) { hit("t_reflectArgs"); return a + b + c.length() + (long) d; }
    private static void t_reflectPrivate() { hit("t_reflectPrivate"); }
    public static void t_reflectThrows() { hit("t_reflectThrows"); throw new IllegalStateException(); }
    public static void t_twice() { hit("t_twice"); }

    public static class Base {
        public void t_over() { hit("Base.t_over"); }
    }

    public static class Derived extends Base {
        @Override
        public void t_over() { hit("Derived.t_over"); }
    }

    public static class ByReflection {
        public ByReflection() { hit("ByReflection.t_"); t_newed(); }
        public ByReflection(int x, long y) { hit("ByReflection.t_"); t_newedToo(); }
        static void t_newed() { hit("ByReflection.t_newed"); }
        static void t_newedToo() { hit("ByReflection.t_newedToo"); }
    }

    static class OnlyReflected {
        static { t_reflectedClinit(); }
        static void t_reflectedClinit() { hit("OnlyReflected.t_reflectedClinit"); }
        static void t_only() { hit("OnlyReflected.t_only"); }
    }

    public interface Proxied {
        int t_proxied(int x);
    }

    static class Handler implements InvocationHandler {
        public Object invoke(Object proxy, Method m, Object[] args) {
            t_handler();
            return args[0];
        }
        void t_handler() { hit("Handler.t_handler"); }
    }

    static class Stored implements Serializable {
        private void writeObject(java.io.ObjectOutputStream out) throws java.io.IOException { t_write(); out.defaultWriteObject(); }
        private void readObject(ObjectInputStream in) throws Exception { in.defaultReadObject(); t_read(); }
        private Object readResolve() { t_resolve(); return this; }
        void t_write() { hit("Stored.t_write"); }
        void t_read() { hit("Stored.t_read"); }
        void t_resolve() { hit("Stored.t_resolve"); }
    }

    static Method kept;

    @SuppressWarnings("deprecation")
    static void reflection() throws Exception {
        Class<?> c = Mechanisms.class;
        if (kept == null) kept = c.getMethod("t_reflect");
        kept.invoke(null);
        c.getMethod("t_reflectVirtual").invoke(new Mechanisms());
        c.getMethod("t_reflectArgs", int.class, long.class, String.class, double.class).invoke(null, 1, 2L, "x", 3.0);
        Method p = c.getDeclaredMethod("t_reflectPrivate");
        p.setAccessible(true);
        p.invoke(null);
        try {
            c.getMethod("t_reflectThrows").invoke(null);
        } catch (InvocationTargetException e) {
            sink++;
        }
        Method.class.getMethod("invoke", Object.class, Object[].class).invoke(c.getMethod("t_twice"), null, null);
        Base.class.getMethod("t_over").invoke(new Derived());
        ByReflection.class.newInstance();
        ByReflection.class.getConstructor().newInstance();
        Constructor<?> k = ByReflection.class.getConstructor(int.class, long.class);
        k.newInstance(1, 2L);
        Method only = Class.forName("t.Mechanisms$OnlyReflected").getDeclaredMethod("t_only");
        only.setAccessible(true);
        only.invoke(null);
        Runnable r = () -> t_hiddenCallee();
        Method run = r.getClass().getMethod("run");
        run.setAccessible(true);
        run.invoke(r);
        Proxied proxy = (Proxied) Proxy.newProxyInstance(c.getClassLoader(), new Class<?>[] {Proxied.class}, new Handler());
        sink += proxy.t_proxied(1);
        ByteArrayOutputStream b = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(b)) {
            out.writeObject(new Stored());
        }
        new ObjectInputStream(new ByteArrayInputStream(b.toByteArray())).readObject();
        Enum.valueOf(E.class, "A");
    }

    static void t_hiddenCallee() { hit("t_hiddenCallee"); }

    // ---- method handles ----

    static void t_handle() { hit("t_handle"); }
    static long t_handleArgs(int a, long b, double c, float d, String e, byte[] f) { hit("t_handleArgs"); return a + b; }
    void t_handleVirtual() { hit("t_handleVirtual"); }
    void t_handleBound() { hit("t_handleBound"); }
    static Object t_filter(Object x) { hit("t_filter"); return x; }
    static Object t_filtered(Object x) { hit("t_filtered"); return x; }
    static boolean t_test(Object x) { hit("t_test"); return false; }
    static Object t_no(Object x) { hit("t_no"); return x; }
    static Object t_yes(Object x) { hit("t_yes"); return x; }
    static void t_unreflected() { hit("t_unreflected"); }
    static Object t_withArguments(Object x, int y) { hit("t_withArguments"); return x; }
    static int t_converted(int x) { hit("t_converted"); return x; }
    static void t_site() { hit("t_site"); }
    static void t_handleThrows() { hit("t_handleThrows"); throw new IllegalStateException(); }
    static Object t_catches(Throwable e) { hit("t_catches"); return null; }
    static Object t_tried() { hit("t_tried"); throw new IllegalStateException(); }

    static class ByHandle {
        ByHandle() { hit("ByHandle.t_"); t_made(); }
        static void t_made() { hit("ByHandle.t_made"); }
    }

    interface J {
        void t_j();
    }

    static class ImplJ implements J {
        public void t_j() { hit("ImplJ.t_j"); }
    }

    static volatile MethodHandle exact, args, virtual, ctor, mixed, guard, converted, site, thrower, tried, iface;

    static synchronized void find() throws Exception {
        if (iface != null) return;
        MethodHandles.Lookup l = MethodHandles.lookup();
        Class<?> c = Mechanisms.class;
        MethodType none = MethodType.methodType(void.class), object = MethodType.methodType(Object.class, Object.class);
        exact = l.findStatic(c, "t_handle", none);
        args = l.findStatic(c, "t_handleArgs", MethodType.methodType(long.class, int.class, long.class, double.class, float.class, String.class, byte[].class));
        virtual = l.findVirtual(c, "t_handleVirtual", none);
        ctor = l.findConstructor(ByHandle.class, none);
        mixed = MethodHandles.filterReturnValue(l.findStatic(c, "t_filtered", object), l.findStatic(c, "t_filter", object));
        guard = MethodHandles.guardWithTest(l.findStatic(c, "t_test", MethodType.methodType(boolean.class, Object.class)),
            l.findStatic(c, "t_yes", object), l.findStatic(c, "t_no", object));
        converted = l.findStatic(c, "t_converted", MethodType.methodType(int.class, int.class)).asType(MethodType.methodType(Object.class, Object.class));
        site = new MutableCallSite(l.findStatic(c, "t_site", none)).dynamicInvoker();
        thrower = l.findStatic(c, "t_handleThrows", none);
        tried = MethodHandles.catchException(l.findStatic(c, "t_tried", MethodType.methodType(Object.class)), Throwable.class,
            l.findStatic(c, "t_catches", MethodType.methodType(Object.class, Throwable.class)));
        iface = l.findVirtual(J.class, "t_j", none);
    }

    static void handles() throws Throwable {
        find();
        MethodHandles.Lookup l = MethodHandles.lookup();
        exact.invokeExact();
        long r = (long) args.invokeExact(1, 2L, 3.0, 4f, "5", new byte[6]);
        if (r != 3) throw new AssertionError(r);
        virtual.invokeExact(new Mechanisms());
        l.findVirtual(Mechanisms.class, "t_handleBound", MethodType.methodType(void.class)).bindTo(new Mechanisms()).invoke();
        ByHandle made = (ByHandle) ctor.invokeExact();
        Object o = mixed.invokeExact((Object) made);
        o = guard.invoke(o);
        Method m = Mechanisms.class.getDeclaredMethod("t_unreflected");
        l.unreflect(m).invoke();
        l.findStatic(Mechanisms.class, "t_withArguments", MethodType.methodType(Object.class, Object.class, int.class)).invokeWithArguments("a", 1);
        o = converted.invoke((Object) 3);
        if (!o.equals(3)) throw new AssertionError(o);
        site.invokeExact();
        try {
            thrower.invokeExact();
        } catch (IllegalStateException e) {
            sink++;
        }
        o = tried.invoke();
        iface.invoke(new ImplJ());
    }

    static void t_again() { hit("t_again"); }
    static int t_self(int d) throws Exception {
        hit("t_self");
        return d == 0 ? 0 : (Integer) Mechanisms.class.getDeclaredMethod("t_self", int.class).invoke(null, d - 1);
    }

    public static void root(int i) throws Throwable {
        if (i < 0) {
            t_again();
            return;
        }
        Mechanisms.class.getMethod("root", int.class).invoke(null, -1);
        t_self(2);
        plain(i);
        callbacks();
        reflection();
        handles();
    }

    public static void main(String[] argv) throws Throwable {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        if (argv[0].equals("middle")) for (int i = 0; i < 40; i++) root(i);
        n.clear();
        System.out.println("READY");
        in.readLine();
        int times = Integer.parseInt(argv[1]), threads = argv[0].equals("crowd") ? 4 : 1;
        Thread[] ts = new Thread[threads];
        CyclicBarrier together = new CyclicBarrier(threads);
        for (int t = 0; t < threads; t++) {
            ts[t] = new Thread(() -> {
                try {
                    together.await();
                    for (int i = 0; i < times / threads; i++) root(i);
                } catch (Throwable e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            });
            ts[t].start();
        }
        for (Thread t : ts) t.join();
        for (Map.Entry<String, int[]> e : n.entrySet()) System.out.println("N " + e.getKey() + " " + e.getValue()[0]);
        System.out.println("OK");
        in.readLine();
    }
}

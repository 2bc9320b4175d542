package t;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Externalizable;
import java.io.InputStream;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Savepoint;
import java.util.Comparator;
import java.util.Formattable;
import java.util.Formatter;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.*;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Methods of the program that only the JDK calls, each in a way that no code of the program's tells, by interfaces that
 * hardly any class of the JDK names: whoever leaves one of them without probes loses calls. Each counts itself while the
 * root is on, and is printed as "N name count". The root runs three times.
 */
public class Backs {
    static final ConcurrentHashMap<String, AtomicInteger> n = new ConcurrentHashMap<>();
    static volatile boolean inside;

    public static void hit(String name) {
        if (!inside) return;
        AtomicInteger a = n.get(name);
        if (a == null) {
            AtomicInteger b = new AtomicInteger();
            a = n.putIfAbsent(name, b);
            if (a == null) a = b;
        }
        a.incrementAndGet();
    }

    // ---- called by code of the JDK that only the call loads ----

    static class Weigh implements ToDoubleBiFunction<Object, Object>, DoubleBinaryOperator {
        @Override
        public double applyAsDouble(Object s, Object i) {
            hit("Weigh.applyAsDouble");
            return 1;
        }

        @Override
        public double applyAsDouble(double a, double b) {
            hit("Weigh.applyAsDouble");
            return a + b;
        }
    }

    static final ConcurrentHashMap<String, Integer> map = new ConcurrentHashMap<>();

    static void plain() {
        Object w = weigh; // made outside
        @SuppressWarnings("unchecked")
        ToDoubleBiFunction<Object, Object> f = (ToDoubleBiFunction<Object, Object>) w;
        map.reduceToDouble(Long.MAX_VALUE, f, 0, (DoubleBinaryOperator) w);
    }

    // ---- a proxy that the JDK calls, whose handler goes on by reflection ----

    static class Add implements ObjLongConsumer<Object> {
        @Override
        public void accept(Object sum, long v) {
            hit("Add.accept");
            ((long[]) sum)[0] += v;
        }
    }

    static class Through implements InvocationHandler {
        final Object to;

        Through(Object to) {
            this.to = to;
        }

        @Override
        public Object invoke(Object proxy, Method m, Object[] args) throws Throwable {
            hit("Through.invoke");
            return m.invoke(to, args);
        }
    }

    static void proxy() {
        @SuppressWarnings("unchecked")
        ObjLongConsumer<long[]> add = (ObjLongConsumer<long[]>) adding;
        LongStream.range(0, 3).collect(() -> new long[1], add, (a, b) -> {});
    }

    // ---- a method handle that the JDK calls ----

    static class Cut implements DoubleToIntFunction {
        @Override
        public int applyAsInt(double d) {
            hit("Cut.applyAsInt");
            return (int) d;
        }
    }

    static void handle() {
        DoubleStream.of(1, 2).mapToInt((DoubleToIntFunction) cutting).sum();
    }

    /** Nothing but the string by which it is looked up names it: no class of the JDK that is loaded calls LongToIntFunction. */
    static class Cast implements LongToIntFunction {
        @Override
        public int applyAsInt(long v) {
            hit("Cast.applyAsInt");
            return (int) v;
        }
    }

    @SuppressWarnings("unchecked")
    static void lookedUp() {
        Comparator.comparingInt((ToIntFunction<Object>) casting).compare(1L, 2L);
    }

    // ---- methods of the JDK's that nothing names, found by what they return: a pool's proxy does so ----

    static class Saved implements Savepoint {
        @Override
        public int getSavepointId() {
            hit("Saved.getSavepointId");
            return 1;
        }

        @Override
        public String getSavepointName() {
            hit("Saved.getSavepointName");
            return "";
        }
    }

    static void unnamed() throws Exception {
        byId.invoke(saved);
        try {
            byName.invoke(saved);
        } catch (Throwable t) {
            throw new Exception(t);
        }
    }

    // ---- an interface that only a class names which the JDK loads in the third round ----

    static class Idle implements Formattable {
        @Override
        public void formatTo(Formatter f, int flags, int width, int precision) {
            hit("Idle.formatTo");
        }
    }

    static void idle(int round) {
        if (round == 2) String.format("%s", idle);
    }

    // ---- deserialization, and a constructor of it ----

    public static class Form implements Externalizable {
        public Form() {
            hit("Form.<init>");
        }

        @Override
        public void writeExternal(ObjectOutput out) {}

        @Override
        public void readExternal(ObjectInput in) {
            hit("Form.readExternal");
        }

        private Object readResolve() {
            hit("Form.readResolve");
            return this;
        }
    }

    static void serial() throws Exception {
        new ObjectInputStream(new ByteArrayInputStream(form)).readObject();
    }

    // ---- a service, whose class is loaded when it is found ----

    public static class Service implements IntToDoubleFunction {
        static {
            hit("Service.<clinit>");
        }

        public Service() {
            hit("Service.<init>");
        }

        @Override
        public double applyAsDouble(int i) {
            hit("Service.applyAsDouble");
            return i;
        }
    }

    static void service() {
        for (IntToDoubleFunction f : ServiceLoader.load(IntToDoubleFunction.class, Backs.class.getClassLoader())) IntStream.range(0, 2).mapToDouble(f).sum();
    }

    // ---- the JVM calls a loader ----

    static class Upcall extends ClassLoader {
        Upcall() {
            super(null);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            hit("Upcall.findClass");
            if (!name.startsWith("t.Backs$User")) return Class.forName(name);
            try {
                byte[] b = bytes(name);
                return defineClass(name, b, 0, b.length);
            } catch (Exception e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    public static class User1 implements Runnable {
        @Override
        public void run() {
            new User2(); // the JVM asks the loader for it
        }
    }

    static class User2 {}

    static Runnable user() throws Exception {
        return (Runnable) new Upcall().loadClass("t.Backs$User1").getConstructor().newInstance();
    }

    // ---- a class that is loaded and initialized late overrides what was called before ----

    interface Shape {
        int area();
    }

    static class Square implements Shape, ToLongBiFunction<Object, Object>, LongBinaryOperator {
        @Override
        public int area() {
            hit("Square.area");
            return side();
        }

        int side() {
            hit("Square.side");
            return 2;
        }

        @Override
        public long applyAsLong(Object s, Object i) {
            hit("Square.applyAsLong");
            return 1;
        }

        @Override
        public long applyAsLong(long a, long b) {
            hit("Square.applyAsLong");
            return a + b;
        }
    }

    static class Late extends Square {
        static {
            hit("Late.<clinit>");
        }

        @Override
        int side() {
            hit("Late.side");
            return 3;
        }

        @Override
        public long applyAsLong(Object s, Object i) {
            hit("Late.applyAsLong");
            return 1;
        }
    }

    static void late(int round) {
        Square s = round < 2 ? new Square() : new Late();
        s.area();
        map.reduceToLong(Long.MAX_VALUE, s, 0, s);
    }

    // ---- a class that is loaded before and initialized outside of the subgraph, while it is recorded ----

    static class Outside implements Shape, LongToIntFunction {
        static final int v = set();

        static int set() {
            hit("never");
            return 5;
        }

        @Override
        public int area() {
            hit("Outside.area");
            return v;
        }

        @Override
        public int applyAsInt(long i) {
            hit("Outside.applyAsInt");
            return v;
        }
    }

    static volatile Shape shape;

    static void outside() {
        shape.area();
        if (shape instanceof LongToIntFunction) LongStream.range(0, 2).mapToInt((LongToIntFunction) shape).sum();
    }

    // ---- default methods of interfaces, and one inherited from a class that knows nothing of the interface ----

    interface Halving extends DoubleToLongFunction {
        @Override
        default long applyAsLong(double d) {
            hit("Halving.applyAsLong");
            return half(d);
        }

        default long half(double d) {
            hit("Halving.half");
            return (long) d / 2;
        }
    }

    static class Halves implements Halving {}

    static class Base {
        public boolean test(Object a, Object b) {
            hit("Base.test");
            return a == b;
        }

        public int applyAsInt(Object a, Object b) {
            hit("Base.applyAsInt");
            return 1;
        }
    }

    static class Derived extends Base implements ToIntBiFunction<Object, Object>, IntBinaryOperator {
        @Override
        public int applyAsInt(int a, int b) {
            hit("Derived.applyAsInt");
            return a + b;
        }
    }

    static void defaults() {
        DoubleStream.of(4, 5).mapToLong((DoubleToLongFunction) halves).sum();
        @SuppressWarnings("unchecked")
        ToIntBiFunction<Object, Object> f = (ToIntBiFunction<Object, Object>) derived;
        map.reduceToInt(Long.MAX_VALUE, f, 0, (IntBinaryOperator) derived);
    }

    // ---- two loaders with a class of the same name ----

    static class Own extends ClassLoader {
        Own() {
            super(Backs.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("t.Backs$Twin")) return super.loadClass(name, resolve);
            synchronized (this) {
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

    public static class Twin implements LongToDoubleFunction {
        @Override
        public double applyAsDouble(long i) {
            hit("Twin.applyAsDouble");
            return twin();
        }

        double twin() {
            hit("Twin.twin");
            return 1;
        }
    }

    static LongToDoubleFunction twin() throws Exception {
        return (LongToDoubleFunction) new Own().loadClass("t.Backs$Twin").getConstructor().newInstance();
    }

    static void twins() throws Exception {
        for (LongToDoubleFunction f : twins) LongStream.range(0, 2).mapToDouble(f).sum();
    }

    static Object weigh = new Weigh(), adding, cutting, casting, idle = new Idle(), saved = new Saved(), halves = new Halves(), derived = new Derived();
    static LongToDoubleFunction[] twins = new LongToDoubleFunction[3];
    static Runnable user;
    static byte[] form;

    static byte[] bytes(String name) throws Exception {
        try (InputStream in = Backs.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
            ByteArrayOutputStream b = new ByteArrayOutputStream();
            for (int c; (c = in.read()) >= 0; ) b.write(c);
            return b.toByteArray();
        }
    }

    static Method byId;
    static MethodHandle byName;

    public static void root(int round) throws Exception {
        inside = true;
        hit("root");
        plain();
        proxy();
        handle();
        lookedUp();
        unnamed();
        idle(round);
        serial();
        service();
        user.run();
        late(round);
        outside();
        defaults();
        twins();
        inside = false;
    }

    public static void main(String[] args) throws Exception {
        // The JDK makes a proxy for an annotation of its own, in the boot loader and in no image.
        Math.class.getMethod("abs", int.class).getAnnotations();
        map.put("a", 1);
        map.put("b", 2);
        map.put("c", 3);
        adding = Proxy.newProxyInstance(Backs.class.getClassLoader(), new Class<?>[] {ObjLongConsumer.class}, new Through(new Add()));
        MethodHandle cut = MethodHandles.publicLookup().findVirtual(DoubleToIntFunction.class, "applyAsInt", MethodType.methodType(int.class, double.class));
        cutting = MethodHandleProxies.asInterfaceInstance(DoubleToIntFunction.class, cut.bindTo(new Cut()));
        MethodHandle cast = MethodHandles.publicLookup().findVirtual(LongToIntFunction.class, "applyAsInt", MethodType.methodType(int.class, long.class));
        for (Method m : Savepoint.class.getMethods()) {
            if (m.getReturnType() == int.class) byId = m;
            else byName = MethodHandles.publicLookup().unreflect(m);
        }
        casting = MethodHandleProxies.asInterfaceInstance(ToIntFunction.class, cast.bindTo(new Cast()));
        ByteArrayOutputStream b = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(b)) {
            out.writeObject(new Form());
        }
        form = b.toByteArray();
        Class.forName("t.Backs$Outside", false, Backs.class.getClassLoader()); // loaded, not initialized
        shape = new Square();
        twins[0] = twins[1] = twins[2] = twin();
        user = user();
        System.out.println("READY");
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        in.readLine();
        for (int round = 0; round < 3; round++) {
            if (round == 1) {
                shape = new Outside();
                twins[1] = twin(); // of another loader, while the recording is on
                user = user();
            }
            Thread t = new Thread(new Round(round)); // a new one: no two roots nest
            t.start();
            t.join();
        }
        for (java.util.Map.Entry<String, AtomicInteger> e : new TreeMap<>(n).entrySet()) System.out.println("N " + e.getKey() + " " + e.getValue());
        System.out.println("OK");
        in.readLine();
    }

    static class Round implements Runnable {
        final int round;

        Round(int round) {
            this.round = round;
        }

        @Override
        public void run() {
            try {
                root(round);
            } catch (Throwable t) {
                t.printStackTrace();
                System.exit(3);
            }
        }
    }
}

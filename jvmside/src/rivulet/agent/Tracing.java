package rivulet.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.function.BiFunction;

/**
 * Reads spans by the public methods of the OpenTelemetry API (1.x) that the program, or OpenTelemetry's own agent, has.
 * There may be several copies of it; the agent's comes first, since the others' spans are the same there, or none.
 */
final class Tracing implements BiFunction<Object, Object, long[]> {
    private static final String AGENT = "io.opentelemetry.javaagent.shaded.", CONTEXT = "io.opentelemetry.context.", SPAN = "io.opentelemetry.api.trace.Span";
    /** Copies that are looked at: one for each application of a server, say. */
    private static final int MOST = 16;

    private final Hook hook;
    private volatile Copy[] copies = {};

    Tracing(Hook hook) {
        this.hook = hook;
    }

    /** Looks for copies among all loaded classes. Called by the agent's thread. */
    void look(Class<?>[] loaded, Loaders loaders) {
        try {
            add(Class.forName(AGENT + SPAN, false, null), AGENT);
        } catch (ClassNotFoundException | LinkageError e) {
            // OpenTelemetry's agent is not there
        }
        for (Class<?> c : loaded) {
            if (!loaders.jdk(c.getClassLoader()) && c.getName().equals(SPAN)) add(c, "");
        }
    }

    private synchronized Copy add(Class<?> span, String prefix) {
        for (Copy c : copies) if (c.span == span) return c;
        if (copies.length >= MOST) return null;
        Copy made;
        try {
            made = new Copy(span, prefix);
        } catch (ReflectiveOperationException | LinkageError e) {
            return null; // another version of the API than any that is known
        }
        Copy[] more = new Copy[copies.length + 1];
        System.arraycopy(copies, 0, more, prefix.isEmpty() ? 0 : 1, copies.length);
        more[prefix.isEmpty() ? copies.length : 0] = made;
        copies = more;
        return made;
    }

    @Override
    public long[] apply(Object storage, Object context) {
        if (storage == null && copies.length == 0) return null;
        hook.use(1);
        try {
            if (storage != null) {
                Copy c = of(storage.getClass());
                return c == null ? null : c.of(context);
            }
            for (Copy c : copies) {
                long[] span = c.current();
                if (span != null) return span;
            }
        } catch (Throwable t) {
            // of the API's, or no memory or stack: no span is known
        } finally {
            hook.use(-1);
        }
        return null;
    }

    /** The copy that a storage of contexts belongs to, which may be new. */
    private Copy of(Class<?> storage) throws ClassNotFoundException {
        for (Copy c : copies) if (c.context == storage.getClassLoader()) return c;
        String name = storage.getName(), prefix = name.startsWith(AGENT) ? AGENT : "";
        return add(Class.forName(prefix + SPAN, false, storage.getClassLoader()), prefix);
    }

    /** One copy of the API. Of its methods those are called that make nothing: no root context, no invalid span. */
    private static final class Copy {
        final Class<?> span;
        /** The loader of the package io.opentelemetry.context. */
        final ClassLoader context;
        private final MethodHandle get, current, from, ids, trace, id;
        /** Initialized once there is a current context. Nothing here may be what initializes it. */
        private final Class<?> storage;
        private volatile boolean used;

        Copy(Class<?> span, String prefix) throws ReflectiveOperationException {
            this.span = span;
            Class<?> c = Class.forName(prefix + CONTEXT + "Context", false, span.getClassLoader()), sc = Class.forName(span.getName() + "Context", false, span.getClassLoader());
            context = c.getClassLoader();
            storage = Class.forName(prefix + CONTEXT + "LazyStorage", false, context);
            Class<?> cs = Class.forName(prefix + CONTEXT + "ContextStorage", false, context);
            MethodHandles.Lookup all = MethodHandles.publicLookup();
            MethodType string = MethodType.methodType(String.class), object = MethodType.methodType(Object.class, Object.class), text = MethodType.methodType(String.class, Object.class);
            get = all.findStatic(cs, "get", MethodType.methodType(cs)).asType(MethodType.methodType(Object.class));
            current = all.findVirtual(cs, "current", MethodType.methodType(c)).asType(object);
            from = all.findStatic(span, "fromContextOrNull", MethodType.methodType(span, c)).asType(object);
            ids = all.findVirtual(span, "getSpanContext", MethodType.methodType(sc)).asType(object);
            trace = all.findVirtual(sc, "getTraceId", string).asType(text);
            id = all.findVirtual(sc, "getSpanId", string).asType(text);
        }

        long[] current() throws Throwable {
            if (!used && Memory.U.shouldBeInitialized(storage)) return null;
            used = true;
            return of((Object) current.invokeExact((Object) get.invokeExact()));
        }

        long[] of(Object context) throws Throwable {
            Object is = context == null ? null : (Object) from.invokeExact(context);
            if (is == null) return null;
            Object found = (Object) ids.invokeExact(is);
            String t = (String) trace.invokeExact(found), s = (String) id.invokeExact(found);
            if (t.length() != 32 || s.length() != 16) return null;
            long high = number(t, 0), low = number(t, 16), span = number(s, 0);
            return (high | low) == 0 || span == 0 ? null : new long[] {high, low, span};
        }

        private static long number(String hex, int from) {
            long n = 0;
            for (int i = from; i < from + 16; i++) {
                int d = Character.digit(hex.charAt(i), 16);
                if (d < 0) return 0;
                n = n << 4 | d;
            }
            return n;
        }
    }
}

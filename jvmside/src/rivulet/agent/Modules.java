package rivulet.agent;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.util.Collections;

/**
 * Gives the agent's own module, which goes with its loader, access to jdk.internal.misc, jdk.internal.vm, to what method handles are
 * made of (Handles), and to what unmaps a file (Memory). By reflection: Java 8 has no modules.
 */
final class Modules {
    private Modules() {}

    static void open(Instrumentation inst) throws Exception {
        Method getModule;
        try {
            getModule = Class.class.getMethod("getModule");
        } catch (NoSuchMethodException e) {
            return; // JDK 8
        }
        Object base = getModule.invoke(Object.class), own = getModule.invoke(Modules.class);
        java.util.Set<?> packages = (java.util.Set<?>) base.getClass().getMethod("getPackages").invoke(base);
        java.util.Map<String, java.util.Set<Object>> extra = new java.util.HashMap<>();
        for (String p : new String[] {"jdk.internal.misc", "jdk.internal.vm", "java.lang.invoke", "jdk.internal.ref", "sun.nio.ch"}) {
            if (packages.contains(p)) extra.put(p, Collections.singleton(own));
        }
        for (Method m : Instrumentation.class.getMethods()) {
            if (m.getName().equals("redefineModule"))
                m.invoke(inst, base, Collections.emptySet(), extra, extra, Collections.emptySet(), Collections.emptyMap());
        }
    }
}

package relink;

import static java.lang.invoke.MethodType.methodType;

import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.invoke.SwitchPoint;
import java.lang.invoke.VolatileCallSite;

/** Links the sites of {@link Sites}. */
public final class Boot {
    static final MethodType INT = methodType(int.class, int.class);
    static final Lookup LOOKUP = MethodHandles.lookup();

    static final MutableCallSite MUTABLE = new MutableCallSite(target("mutableA"));
    static final VolatileCallSite VOLATILE = new VolatileCallSite(target("volatileA"));
    static final ConstantCallSite SHARED = new ConstantCallSite(target("shared"));
    static final MutableCallSite HANDED = new MutableCallSite(target("handedA"));
    static final VolatileCallSite FLIP = new VolatileCallSite(target("flipA"));
    static final MutableCallSite SWITCHED = new MutableCallSite(INT);
    static final MutableCallSite CHAIN = new MutableCallSite(methodType(int.class, Object.class));
    static final MutableCallSite SLOW = new MutableCallSite(target("mutableA")); // behind the site "fallback"
    static final MethodHandle STORED = target("stored");

    static SwitchPoint point;
    static int length; // of the chain

    static {
        SWITCHED.setTarget(relinking("relinkSwitched", INT));
        clearChain();
    }

    private Boot() {}

    /** The bootstrap method. */
    public static CallSite link(Lookup lookup, String name, MethodType type) throws Throwable {
        switch (name) {
            case "mutable": return MUTABLE;
            case "volatil": return VOLATILE;
            case "shared": case "sharedToo": return SHARED;
            case "handed": return HANDED;
            case "flip": return FLIP;
            case "switched": return SWITCHED;
            case "chain": return CHAIN;
            default: return new ConstantCallSite(Handles.of(name).asType(type));
        }
    }

    static MethodHandle target(String name) { return target(name, INT); }

    static MethodHandle target(String name, MethodType type) {
        try {
            return LOOKUP.findStatic(Targets.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(name, e);
        }
    }

    /** What Groovy and others do: a method of ours returns the handle to call, and is asked at each call that misses. */
    private static MethodHandle relinking(String by, MethodType type) {
        try {
            MethodHandle select = LOOKUP.findStatic(Boot.class, by, type.changeReturnType(MethodHandle.class));
            return MethodHandles.foldArguments(MethodHandles.exactInvoker(type), select);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(by, e);
        }
    }

    static MethodHandle relinkSwitched(int x) {
        Calls.hit("relink.Boot.relinkSwitched");
        point = new SwitchPoint();
        MethodHandle to = target("switched");
        SWITCHED.setTarget(point.guardWithTest(to, relinking("relinkSwitched", INT)));
        return to;
    }

    static void clearChain() {
        length = 0;
        CHAIN.setTarget(relinking("relinkChain", CHAIN.type()));
    }

    /** Puts a guard for the class of x before the chain, which begins anew after two. */
    static MethodHandle relinkChain(Object x) throws ReflectiveOperationException {
        Calls.hit("relink.Boot.relinkChain");
        MethodType type = CHAIN.type();
        MethodHandle to = target(x instanceof String ? "ofString" : x instanceof Integer ? "ofInteger" : "ofOther", type);
        MethodHandle test = LOOKUP.findVirtual(Class.class, "isInstance", methodType(boolean.class, Object.class)).bindTo(x.getClass());
        MethodHandle rest = length++ % 2 == 0 ? relinking("relinkChain", type) : CHAIN.getTarget();
        CHAIN.setTarget(MethodHandles.guardWithTest(test, to, rest));
        return to;
    }
}

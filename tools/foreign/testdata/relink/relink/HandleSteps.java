package relink;

import static java.lang.invoke.MethodType.methodType;
import static relink.Boot.INT;
import static relink.Boot.LOOKUP;
import static relink.Boot.target;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.IntUnaryOperator;

/** Steps that invoke handles, kept since long before the recording or made for the call. */
final class HandleSteps {
    private static final MethodHandle KEPT = target("stored");
    private static MethodHandle replaced = target("storedLate");
    private static final MethodHandle[] ROW = {target("stored"), target("leaf")};
    private static final IntUnaryOperator PROXY = MethodHandleProxies.asInterfaceInstance(IntUnaryOperator.class, target("proxied"));
    private static final MethodHandle DYNAMIC = Boot.MUTABLE.dynamicInvoker();
    private static final Method METHOD = method("reflected");

    private HandleSteps() {}

    static void addTo(List<Main.Step> steps) {
        addKept(steps);
        addMade(steps);
        addReflected(steps);
    }

    private static void addKept(List<Main.Step> steps) {
        steps.add(x -> (int) KEPT.invokeExact(x));
        steps.add(x -> (Integer) KEPT.invoke((Integer) x));
        steps.add(x -> (int) replaced.invokeExact(x));
        steps.add(x -> (int) ROW[0].invokeExact(x) + (int) ROW[1].invokeExact(x));
        steps.add(PROXY::applyAsInt);
        steps.add(x -> { Boot.MUTABLE.setTarget(target("mutableA")); return (int) DYNAMIC.invokeExact(x); });
        steps.add(x -> { Boot.MUTABLE.setTarget(target("mutableB")); return (int) DYNAMIC.invokeExact(x); });
        steps.add(x -> (Integer) KEPT.invokeWithArguments(x));
    }

    private static void addMade(List<Main.Step> steps) {
        steps.add(x -> (int) target("found").invokeExact(x));
        steps.add(x -> { replaced = target("storedLate"); return (int) replaced.invokeExact(x); });
        steps.add(x -> (Integer) target("withArguments").invokeWithArguments(x));
        steps.add(x -> (int) MethodHandles.invoker(INT).invokeExact(target("invoked"), x));
        steps.add(x -> (int) LOOKUP.findVirtual(Targets.Base.class, "virtual", INT).invokeExact(new Targets.Base(), x));
        steps.add(x -> (int) LOOKUP.findVirtual(Targets.Base.class, "virtual", INT).invoke(new Targets.Derived(x), x));
        steps.add(x -> (int) LOOKUP.bind(new Targets.Derived(x), "bound", INT).invokeExact(x));
        steps.add(x -> (int) LOOKUP.findVirtual(Targets.Derived.class, "bound", INT).bindTo(new Targets.Derived(x)).invokeExact(x));
        steps.add(x -> LOOKUP.findConstructor(Targets.Derived.class, methodType(void.class, int.class)).invoke(x).hashCode());
        steps.add(x -> MethodHandleProxies.asInterfaceInstance(IntUnaryOperator.class, target("proxied")).applyAsInt(x));
        steps.add(x -> (Integer) MethodHandleProxies.asInterfaceInstance(Callable.class, MethodHandles.insertArguments(target("proxied"), 0, x)).call());
    }

    private static void addReflected(List<Main.Step> steps) {
        steps.add(x -> (Integer) METHOD.invoke(null, x));
        steps.add(x -> (Integer) method("reflected").invoke(null, x));
        steps.add(x -> (int) LOOKUP.unreflect(METHOD).invokeExact(x));
        steps.add(x -> (int) LOOKUP.unreflect(method("unreflected")).invokeExact(x));
        steps.add(x -> LOOKUP.unreflectConstructor(Targets.Derived.class.getDeclaredConstructor(int.class)).invoke(x).hashCode());
    }

    private static Method method(String name) {
        try {
            return Targets.class.getDeclaredMethod(name, int.class);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }
}

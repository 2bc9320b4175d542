package relink;

import static java.lang.invoke.MethodHandles.dropArguments;
import static java.lang.invoke.MethodHandles.filterArguments;
import static java.lang.invoke.MethodHandles.filterReturnValue;
import static java.lang.invoke.MethodHandles.foldArguments;
import static java.lang.invoke.MethodHandles.guardWithTest;
import static java.lang.invoke.MethodHandles.insertArguments;
import static java.lang.invoke.MethodHandles.permuteArguments;
import static java.lang.invoke.MethodType.methodType;
import static relink.Boot.INT;
import static relink.Boot.LOOKUP;
import static relink.Boot.target;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** The handles of the sites that stay as they are, one for each way to make one. */
final class Handles {
    private static final MethodType INTS = methodType(int.class, int.class, int.class);
    private static final Targets.Derived BOUND = new Targets.Derived(2);
    private static final MethodHandle TWO = target("two", INTS);
    private static final MethodHandle THREE = target("three", methodType(int.class, int.class, int.class, int.class));
    private static final MethodHandle MANY = target("many", methodType(int.class, int[].class));

    private Handles() {}

    static MethodHandle of(String site) throws ReflectiveOperationException {
        switch (site) {
            case "fresh": case "late": return target("constant");
            case "leaf": return target("leaf");
            case "nest": return target("nest");
            case "stored": return Boot.STORED;
            case "wide": return target("wide", methodType(long.class, long.class, double.class, String.class));
            case "fallback":
                return guardWithTest(target("even", methodType(boolean.class, int.class)), target("selected"), Boot.SLOW.dynamicInvoker());
            case "selected": return selected();
            default: return site.matches("virtual|special|face|constructor|bound|unreflected") ? looked(site) : combined(site);
        }
    }

    /** Calls the handle that "choose" returns. */
    private static MethodHandle selected() throws ReflectiveOperationException {
        return foldArguments(MethodHandles.exactInvoker(INT), LOOKUP.findStatic(Handles.class, "choose", methodType(MethodHandle.class, int.class)));
    }

    static MethodHandle choose(int x) {
        Calls.hit("relink.Handles.choose");
        return target((x & 1) == 0 ? "selected" : "selectedToo");
    }

    private static MethodHandle looked(String site) throws ReflectiveOperationException {
        switch (site) {
            case "virtual": return LOOKUP.findVirtual(Targets.Base.class, "virtual", INT);
            case "special": return Special.handle();
            case "face": return LOOKUP.findVirtual(Targets.Face.class, "face", INT);
            case "constructor": return LOOKUP.findConstructor(Targets.Derived.class, methodType(void.class, int.class));
            case "bound": return LOOKUP.bind(BOUND, "bound", INT);
            default: return LOOKUP.unreflect(Targets.class.getDeclaredMethod("unreflected", int.class));
        }
    }

    private static MethodHandle combined(String site) {
        switch (site) {
            case "inserted": return insertArguments(THREE, 1, 5, 6);
            case "dropped": return dropArguments(target("found"), 1, int.class, int.class);
            case "permuted": return permuteArguments(THREE, INTS, 1, 0, 1);
            case "filtered": return filterArguments(TWO, 0, target("filter"), target("filter"));
            case "filteredResult": return filterReturnValue(target("filter"), target("result"));
            case "folded": return foldArguments(TWO, target("folder"));
            case "spread": return THREE.asSpreader(int[].class, 3);
            case "collected": return MANY.asCollector(int[].class, 3);
            case "varargs": return MANY.asVarargsCollector(int[].class).asType(INTS);
            case "invoker": return MethodHandles.invoker(INT).bindTo(target("invoked"));
            case "exactInvoker": return MethodHandles.exactInvoker(INT).bindTo(target("invoked"));
            case "spreadInvoker": return MethodHandles.spreadInvoker(INTS, 0).bindTo(TWO);
            case "caught":
                return MethodHandles.catchException(target("throwing"), IllegalStateException.class,
                    target("caught", methodType(int.class, IllegalStateException.class, int.class)));
            default: throw new LinkageError(site);
        }
    }

    /** Base's method on a Derived: only a subclass may have that handle. */
    static final class Special extends Targets.Derived {
        private Special() { super(1); }

        static MethodHandle handle() throws ReflectiveOperationException {
            return MethodHandles.lookup().findSpecial(Targets.Derived.class, "virtual", INT, Special.class);
        }

        static Special make() { return new Special(); }
    }
}

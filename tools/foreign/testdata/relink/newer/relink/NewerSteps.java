package relink;

import static java.lang.invoke.MethodType.methodType;
import static relink.Boot.INT;
import static relink.Boot.target;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;

/** Steps with what method handles can do since JDK 9; kept handles and ones made for the call. */
final class NewerSteps {
    private static final MethodType TEST = methodType(boolean.class, int.class);
    private static final MethodHandle FINALLY = finallyHandle();
    private static final MethodHandle COUNTED = countedHandle();

    private NewerSteps() {}

    static void addTo(List<Main.Step> steps) {
        steps.add(x -> (int) FINALLY.invokeExact(x));
        steps.add(x -> (int) finallyHandle().invokeExact(x));
        steps.add(x -> (int) COUNTED.invokeExact(x));
        steps.add(x -> (int) countedHandle().invokeExact(x));
        steps.add(x -> (int) MethodHandles.doWhileLoop(null, own("next"), own("less")).invokeExact());
        steps.add(x -> (int) MethodHandles.whileLoop(null, own("less"), own("next")).invokeExact());
        steps.add(x -> (int) iterated().invokeExact(List.of("a", "b", "c")));
        steps.add(x -> (int) looped().invokeExact());
        steps.add(x -> { target("selected").asType(methodType(void.class, int.class)).invokeExact(x); return 1; });
        steps.add(x -> (int) MethodHandles.collectArguments(target("two", methodType(int.class, int.class, int.class)), 1, target("filter")).invokeExact(x, 3));
        steps.add(x -> (int) MethodHandles.explicitCastArguments(target("filter"), methodType(int.class, long.class)).invokeExact(5L));
    }

    static int next(int x) { Calls.hit("relink.NewerSteps.next"); return x + 1; }
    static boolean less(int x) { Calls.hit("relink.NewerSteps.less"); return x < 4; }
    static int clean(Throwable t, int result, int x) { Calls.hit("relink.NewerSteps.clean"); return result; }
    static int body(int sum, int i) { Calls.hit("relink.NewerSteps.body"); return sum + i; }
    static int element(int sum, String s) { Calls.hit("relink.NewerSteps.element"); return sum + s.length(); }
    static int start() { Calls.hit("relink.NewerSteps.start"); return 0; }
    static int step(int i) { Calls.hit("relink.NewerSteps.step"); return i + 1; }
    static boolean again(int i) { Calls.hit("relink.NewerSteps.again"); return i < 4; }
    static int end(int i) { Calls.hit("relink.NewerSteps.end"); return i; }

    private static MethodHandle finallyHandle() {
        return MethodHandles.tryFinally(target("found"), own("clean", methodType(int.class, Throwable.class, int.class, int.class)));
    }

    /** Runs "body" five times. */
    private static MethodHandle countedHandle() {
        MethodHandle body = own("body", methodType(int.class, int.class, int.class));
        return MethodHandles.countedLoop(MethodHandles.dropArguments(MethodHandles.constant(int.class, 5), 0, int.class), MethodHandles.identity(int.class),
            MethodHandles.dropArguments(body, 2, int.class));
    }

    private static MethodHandle iterated() {
        return MethodHandles.iteratedLoop(null, own("start", methodType(int.class)), own("element", methodType(int.class, int.class, String.class)))
            .asType(methodType(int.class, List.class));
    }

    private static MethodHandle looped() {
        return MethodHandles.loop(new MethodHandle[] {own("start", methodType(int.class)), own("step", INT), own("again", TEST), own("end", INT)});
    }

    private static MethodHandle own(String name) { return own(name, name.equals("less") ? TEST : INT); }

    private static MethodHandle own(String name, MethodType type) {
        try {
            return MethodHandles.lookup().findStatic(NewerSteps.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(name, e);
        }
    }
}

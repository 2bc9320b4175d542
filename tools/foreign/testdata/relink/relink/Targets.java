package relink;

/** What handles lead to. Some are leaves, which count in fields: a call would make them none. */
class Targets {
    static long leaves;

    static int leaf(int x) { leaves++; return x + 1; }

    static int mutableA(int x) { Calls.hit("relink.Targets.mutableA"); return x + 1; }
    static int mutableB(int x) { Calls.hit("relink.Targets.mutableB"); return below(x); }
    static int volatileA(int x) { Calls.hit("relink.Targets.volatileA"); return x + 3; }
    static int volatileB(int x) { Calls.hit("relink.Targets.volatileB"); return below(x); }
    static int constant(int x) { Calls.hit("relink.Targets.constant"); return below(x); }
    static int shared(int x) { Calls.hit("relink.Targets.shared"); return below(x); }
    static int switched(int x) { Calls.hit("relink.Targets.switched"); return below(x); }
    static int handedA(int x) { Calls.hit("relink.Targets.handedA"); return below(x); }
    static int handedB(int x) { Calls.hit("relink.Targets.handedB"); return below(x); }
    static int flipA(int x) { Calls.hit("relink.Targets.flipA|relink.Targets.flipB"); return x; }
    static int flipB(int x) { Calls.hit("relink.Targets.flipA|relink.Targets.flipB"); return -x; }
    static int nest(int x) { Calls.hit("relink.Targets.nest"); return Sites.fresh(x); }

    // The combinators' targets, tests, filters and selectors.
    static boolean even(int x) { Calls.hit("relink.Targets.even"); return (x & 1) == 0; }
    static boolean isString(Object x) { Calls.hit("relink.Targets.isString"); return x instanceof String; }
    static int three(int a, int b, int c) { Calls.hit("relink.Targets.three"); return a + 2 * b + 3 * c; }
    static int filter(int x) { Calls.hit("relink.Targets.filter"); return x + 7; }
    static int result(int x) { Calls.hit("relink.Targets.result"); return below(x); }
    static int folder(int x) { Calls.hit("relink.Targets.folder"); return -x; }
    static int two(int a, int b) { Calls.hit("relink.Targets.two"); return a - b; }
    static int many(int... xs) { Calls.hit("relink.Targets.many"); return xs.length; }
    static int selected(int x) { Calls.hit("relink.Targets.selected"); return below(x); }
    static int selectedToo(int x) { Calls.hit("relink.Targets.selectedToo"); return x; }
    static int throwing(int x) { Calls.hit("relink.Targets.throwing"); throw new IllegalStateException(); }
    static int caught(IllegalStateException e, int x) { Calls.hit("relink.Targets.caught"); return below(x); }
    static int proxied(int x) { Calls.hit("relink.Targets.proxied"); return below(x); }
    static int stored(int x) { Calls.hit("relink.Targets.stored"); return below(x); }
    static int storedLate(int x) { Calls.hit("relink.Targets.storedLate"); return below(x); }
    static int found(int x) { Calls.hit("relink.Targets.found"); return below(x); }
    static int unreflected(int x) { Calls.hit("relink.Targets.unreflected"); return below(x); }
    static int reflected(int x) { Calls.hit("relink.Targets.reflected"); return below(x); }
    static int withArguments(int x) { Calls.hit("relink.Targets.withArguments"); return below(x); }
    static int invoked(int x) { Calls.hit("relink.Targets.invoked"); return below(x); }
    static long wide(long a, double b, String c) { Calls.hit("relink.Targets.wide"); return a + (long) b + c.length(); }

    /** What targets call by a plain call: it is missing whenever they are. */
    static int below(int x) { Calls.hit("relink.Targets.below"); return x; }

    static class Base {
        int virtual(int x) { Calls.hit("relink.Targets$Base.virtual"); return x; }
    }

    static class Derived extends Base {
        final int by;

        Derived(int by) { Calls.hit("relink.Targets$Derived.<init>"); this.by = by; }

        @Override
        int virtual(int x) { Calls.hit("relink.Targets$Derived.virtual"); return x * by; }

        int bound(int x) { Calls.hit("relink.Targets$Derived.bound"); return x * by; }
    }

    interface Face {
        int face(int x);
    }

    static class Faced implements Face {
        @Override
        public int face(int x) { Calls.hit("relink.Targets$Faced.face"); return x; }
    }

    // The chain's: one for each class of receivers.
    static int ofString(Object x) { Calls.hit("relink.Targets.ofString"); return 1; }
    static int ofInteger(Object x) { Calls.hit("relink.Targets.ofInteger"); return 2; }
    static int ofOther(Object x) { Calls.hit("relink.Targets.ofOther"); return 3; }
}

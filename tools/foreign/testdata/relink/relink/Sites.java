package relink;

/** Each method's body becomes one invokedynamic, linked by Boot.link: {@link Weave} rewrites this class. */
class Sites {
    static int mutable(int x) { throw new Error("not woven"); }
    static int volatil(int x) { throw new Error("not woven"); }
    static int fresh(int x) { throw new Error("not woven"); }
    static int shared(int x) { throw new Error("not woven"); }
    static int sharedToo(int x) { throw new Error("not woven"); }
    static int leaf(int x) { throw new Error("not woven"); }
    static int nest(int x) { throw new Error("not woven"); }
    static int switched(int x) { throw new Error("not woven"); }
    static int chain(Object x) { throw new Error("not woven"); }
    static int fallback(int x) { throw new Error("not woven"); }
    static int handed(int x) { throw new Error("not woven"); }
    static int flip(int x) { throw new Error("not woven"); }
    static int inserted(int x) { throw new Error("not woven"); }
    static int dropped(int a, int b, int c) { throw new Error("not woven"); }
    static int permuted(int a, int b) { throw new Error("not woven"); }
    static int filtered(int a, int b) { throw new Error("not woven"); }
    static int filteredResult(int x) { throw new Error("not woven"); }
    static int folded(int x) { throw new Error("not woven"); }
    static int selected(int x) { throw new Error("not woven"); }
    static int spread(int[] xs) { throw new Error("not woven"); }
    static int collected(int a, int b, int c) { throw new Error("not woven"); }
    static int varargs(int a, int b) { throw new Error("not woven"); }
    static int invoker(int x) { throw new Error("not woven"); }
    static int exactInvoker(int x) { throw new Error("not woven"); }
    static int spreadInvoker(Object[] xs) { throw new Error("not woven"); }
    static int caught(int x) { throw new Error("not woven"); }
    static int virtual(Targets.Base on, int x) { throw new Error("not woven"); }
    static int special(Targets.Derived on, int x) { throw new Error("not woven"); }
    static int face(Targets.Face on, int x) { throw new Error("not woven"); }
    static Object constructor(int x) { throw new Error("not woven"); }
    static int bound(int x) { throw new Error("not woven"); }
    static int unreflected(int x) { throw new Error("not woven"); }
    static int stored(int x) { throw new Error("not woven"); }
    static long wide(long a, double b, String c) { throw new Error("not woven"); }
}

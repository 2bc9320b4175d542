package t;

/** Root invocations much shorter than the time between two ticks, which leave all the work to their callees. */
public final class Brief {
    static long sum = 1;

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        while (System.in.available() == 0) {
            for (int i = 0; i < 100; i++) root();
        }
        System.out.println("OK " + sum);
    }

    static void root() {
        sum = second(first(early(sum)));
    }

    // Each round takes as long as any other, so what they have of the time is known.

    /** The first few hundred ns of the root's invocation. */
    static long early(long x) {
        for (int i = 0; i < 200; i++) x = x * 31 + (x >>> 7);
        return x;
    }

    static long first(long x) {
        for (int i = 0; i < 3000; i++) x = x * 31 + (x >>> 7);
        return x;
    }

    static long second(long x) {
        for (int i = 0; i < 6800; i++) x = x * 31 + (x >>> 7);
        return x;
    }
}

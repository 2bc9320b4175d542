package t;

/** Root invocations much shorter than the time between two ticks, which leave all the work to their callees. */
public final class Brief {
    static int sum;

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        while (System.in.available() == 0) root();
        System.out.println("OK " + sum);
    }

    static void root() {
        first();
        second();
    }

    static void first() {
        work(300);
    }

    static void second() {
        work(900);
    }

    private static void work(int rounds) {
        int n = sum;
        for (int i = 0; i < rounds; i++) n = n * 31 + Integer.toString(i).hashCode();
        sum = n;
    }
}

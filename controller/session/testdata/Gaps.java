package t;

/** Roots of which one is understood, one can't call what it names, and one initializes a class by name. */
public class Gaps {
    static class Base {}

    static class Gone extends Base {}

    /** Can't be verified without Gone, whose class file the test takes away. */
    static class Unlinkable {
        static void call() {
            use(new Gone());
        }

        static void use(Base b) {}
    }

    static class Dormant {
        static int initialized = init();

        static int init() {
            return 1;
        }
    }

    /** Loaded while the controller answers nobody. */
    static class Loaded {
        static void call() {
            callee();
        }
    }

    static int n;

    static void loads() {
        Loaded.call();
    }

    static void plain() {
        n++;
        callee();
    }

    static void callee() {
        n++;
    }

    static void names(boolean b) {
        callee();
        if (b) Unlinkable.call();
    }

    static void initializes(String name) throws Exception {
        callee();
        Class.forName(name);
    }

    public static void main(String[] args) throws Exception {
        ClassLoader l = Gaps.class.getClassLoader();
        Class.forName("t.Gaps$Unlinkable", false, l);
        Class.forName("t.Gaps$Dormant", false, l);
        System.out.println("READY");
        if (args.length > 0) {
            System.in.read();
            Class.forName("t.Gaps$Loaded");
            System.out.println("LOADED");
            while (System.in.read() != 'g') {}
            for (int i = 0; i < 3; i++) loads();
        } else { // a recording of loads may still be on
            System.in.read();
            for (int i = 0; i < 3; i++) {
                plain();
                names(i < 0);
                initializes("t.Gaps$Dormant");
            }
            System.out.println("OK");
        }
        for (int c; (c = System.in.read()) > 0; ) {
            for (int i = 0; c == 'r' && i < 3; i++) loads();
        }
    }
}

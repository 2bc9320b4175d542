package t;

/**
 * Roots whose classes are loaded at "load", without being called: First comes first, and is called last. Both call what
 * was loaded long before. At "implement" an
 * implementation of an interface comes, at "body" one of a default method, which is the root itself, and at "between" one
 * whose superclass is all that it knows the interface by. It prints READY, and an answer at each line.
 */
public class LateRoots {
    static class Common {
        static int sum;

        static void add(int n) {
            for (int i = 0; i < n; i++) one(i);
        }

        static void one(int i) {
            sum += half(i);
        }

        static int half(int i) {
            return i / 2;
        }
    }

    static class First {
        static void root() {
            Common.add(3);
        }
    }

    static class Second {
        static void root() {
            Common.add(5);
        }
    }

    interface Handler {
        void handle();
    }

    static class Late implements Handler {
        public void handle() {
            Common.add(2);
        }
    }

    interface Plain {
        void handle();
    }

    static class Makes {
        static void both() {
            Handler h = () -> Common.add(1);
            Plain p = () -> Common.add(9);
            h.handle();
            p.handle();
        }
    }

    interface Body {
        default void handle() {
            Common.add(1);
        }
    }

    static class Own implements Body {
        @Override
        public void handle() {
            Common.add(7);
        }
    }

    interface Deep {
        void handle();
    }

    static abstract class Between implements Deep {}

    static class Low extends Between {
        public void handle() {
            Common.add(1);
        }
    }

    public static void main(String[] args) throws Exception {
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        Common.add(1);
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
            ClassLoader own = LateRoots.class.getClassLoader();
            switch (line) {
                case "load":
                    Class.forName("t.LateRoots$First", false, own);
                    Class.forName("t.LateRoots$Second", false, own);
                    break;
                case "call":
                    Second.root();
                    First.root();
                    break;
                case "lambda":
                    Makes.both();
                    break;
                case "body":
                    ((Body) Class.forName("t.LateRoots$Own").getDeclaredConstructor().newInstance()).handle();
                    break;
                case "between":
                    Deep d = (Deep) Class.forName("t.LateRoots$Low").getDeclaredConstructor().newInstance();
                    d.handle();
                    d.handle();
                    break;
                default:
                    Handler h = (Handler) Class.forName("t.LateRoots$Late").getDeclaredConstructor().newInstance();
                    h.handle();
                    h.handle();
            }
            System.out.println("DONE " + line);
        }
    }
}

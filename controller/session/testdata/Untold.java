package t;

import java.lang.reflect.Method;

/** A root that calls by reflection what no code names: "c" for each call. */
public class Untold {
    static class Target {
        static void call() {
            n++;
            callee();
        }

        static void callee() {
            n++;
        }
    }

    static int n;

    static void root(Method m) throws Exception {
        m.invoke(null);
    }

    public static void main(String[] args) throws Exception {
        Method m = Class.forName("t.Untold$Target").getDeclaredMethod("call");
        System.out.println("READY");
        for (int c; (c = System.in.read()) > 0; ) {
            if (c != 'c') continue;
            root(m);
            System.out.println("CALLED");
        }
    }
}

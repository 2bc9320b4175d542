package t;

/** A root that loads a class, and calls more of it each time. It prints READY, and ROOT at each line, until "end". */
public class Late {
    static class Far {
        static int sum;

        static void one() {
            sum++;
        }

        static void two() {
            three(5);
        }

        static void three(int n) {
            sum += n;
            if (n > 0) four(n - 1);
        }

        static void four(int n) {
            three(n);
        }

        static void never() {
            sum--;
        }
    }

    static void root(int n) {
        if (n == 1) Far.one();
        else Far.two();
    }

    /** Classes that nobody loads. */
    static class Cold {
        static void a() {}

        static void b() {}

        static void c() {}

        void d() {}

        void e() {}
    }

    static void cold() {
        Cold.a();
        Cold.b();
        Cold.c();
        new Cold().d();
        new Cold().e();
    }

    public static void main(String[] args) throws Exception {
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("READY");
        int n = 0;
        for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
            root(++n);
            System.out.println("ROOT " + n);
        }
    }
}

package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** "run N" calls root N times. The test has other class files for Bad1 and Bad2, whose bad does not verify. */
public class Spoilt {
    static volatile int sum;

    static void root(int n) {
        sum += Bad1.good(n) + Bad1.bad(n) + Sound.good(n) + Bad2.good(n) + Bad2.bad(n);
    }

    static class Sound {
        static int good(int n) {
            return more(n);
        }

        static int more(int n) {
            return Integer.toString(n).length();
        }
    }

    public static void main(String[] args) throws Exception {
        root(0);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            int n = Integer.parseInt(line.substring(4));
            for (int i = 0; i < n; i++) root(i);
            System.out.println("RAN " + n);
        }
    }
}

class Bad1 {
    static int good(int n) {
        return n;
    }

    static int bad(int n) {
        return n;
    }
}

class Bad2 {
    static int good(int n) {
        return n;
    }

    static int bad(int n) {
        return n;
    }
}

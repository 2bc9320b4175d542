package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** On each line "THREADS CALLS" it runs so many threads, one after another, each of which calls root(CALLS). */
public class Rings {
    static long sum;

    static void leaf(int i) {
        sum += i;
    }

    static void root(int n) {
        for (int i = 0; i < n; i++) leaf(i);
    }

    public static void main(String[] a) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line; !(line = in.readLine()).equals("end"); ) {
            final int n = Integer.parseInt(line.split(" ")[1]);
            for (int k = Integer.parseInt(line.split(" ")[0]); k > 0; k--) {
                Thread t = new Thread("ring-" + k) {
                    @Override
                    public void run() {
                        root(n);
                    }
                };
                t.start();
                t.join();
            }
            System.out.println("DONE " + line);
        }
    }
}

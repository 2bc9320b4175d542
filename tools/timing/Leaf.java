import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Calls a method of two instructions in three forms: as it is, with two readings of System.nanoTime in it, and as it is but to be
 * timed. Each line "THREADS REPETITIONS" makes it print, for each form, the ns a call of the best repetition:
 * "NS bare nanoTime timed".
 */
public class Leaf {
    private static final int CALLS = 20_000;
    static int value;
    static long sum;

    static void bare(int i) {
        value = value * 31 + i;
    }

    static void clocked(int i) {
        long from = System.nanoTime();
        value = value * 31 + i;
        sum = System.nanoTime() - from;
    }

    static void timed(int i) {
        value = value * 31 + i;
    }

    static void bares() {
        for (int i = 0; i < CALLS; i++) bare(i);
    }

    static void clockeds() {
        for (int i = 0; i < CALLS; i++) clocked(i);
    }

    static void timeds() {
        for (int i = 0; i < CALLS; i++) timed(i);
    }

    static double once(int form) {
        long from = System.nanoTime();
        if (form == 0) bares();
        else if (form == 1) clockeds();
        else timeds();
        return (double) (System.nanoTime() - from) / CALLS;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null; ) {
            int threads = Integer.parseInt(line.split(" ")[0]), repetitions = Integer.parseInt(line.split(" ")[1]);
            double[] best = {1e9, 1e9, 1e9};
            Thread[] all = new Thread[threads];
            for (int t = 0; t < threads; t++) {
                all[t] = new Thread(() -> {
                    for (int r = 0; r < repetitions; r++) {
                        for (int form = 0; form < 3; form++) { // in turns: the machine's mood is the same for all
                            double ns = once(form);
                            synchronized (best) {
                                best[form] = Math.min(best[form], ns);
                            }
                        }
                    }
                });
                all[t].start();
            }
            for (Thread t : all) t.join();
            System.out.printf("NS %.2f %.2f %.2f%n", best[0], best[1], best[2]);
        }
    }
}

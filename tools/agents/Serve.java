/** Root invocations of some 20 us, a thousand at a time; each thousand's time is printed. */
public class Serve {
    static long sink;

    static long price(long n) {
        for (int i = 0; i < 200; i++) n = n * 31 + (n >>> 7);
        return n;
    }

    static void serve(int n) {
        for (int i = 0; i < 100; i++) sink += price(n + i);
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (int r = 0; r < rounds; r++) {
            long from = System.nanoTime();
            for (int i = 0; i < 1000; i++) serve(i);
            System.out.println("NS " + r + " " + (System.nanoTime() - from));
        }
    }
}

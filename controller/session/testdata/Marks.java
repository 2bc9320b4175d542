package t;

import java.util.Scanner;

/** Works in root as it is told: collects garbage, loads a class, and computes. Says how often and when, in ns. */
public class Marks {
    static class Late {
        static int value = 7;
    }

    static int sink;

    public static void main(String[] args) {
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String line = in.nextLine();
            if (line.equals("end")) return;
            root(Integer.parseInt(line));
            System.out.println("DONE " + line);
        }
    }

    static void root(int collections) {
        for (int i = 0; i < collections; i++) {
            long from = System.nanoTime();
            collect();
            System.out.println("GC " + from + " " + System.nanoTime());
        }
        sink += Late.value;
        work();
    }

    static void collect() {
        System.gc();
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void work() {
        for (int i = 0; i < 100000; i++) sink += i;
    }
}

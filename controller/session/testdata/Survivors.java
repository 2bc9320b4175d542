package t;

import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/**
 * A program that keeps some of what it allocates. Commands: "make N" calls root so often, "gc" collects garbage, "drop"
 * keeps nothing any more, "fill" calls full, which allocates until the heap is full.
 */
public class Survivors {
    static final List<Object> kept = new ArrayList<>();
    static int sum;

    static class Kept {
        int number;

        Kept(int number) {
            this.number = number;
        }
    }

    static class Garbage {
        int number;

        Garbage(int number) {
            this.number = number;
        }
    }

    /** One whose constructor fails is none that could survive. */
    static class Fails {
        Fails(int n) {
            if (n >= 0) throw new IllegalArgumentException();
        }
    }

    static void root(int i) {
        keep(i);
        waste(i);
    }

    static void keep(int i) {
        kept.add(new Kept(i));
        kept.add(new byte[100]);
        kept.add(new int[1][7]);
        kept.add(Integer.valueOf(1000 + i));
        kept.add(Integer.valueOf(i % 100)); // one of those that are there already
        Runnable task = () -> sum += i;
        kept.add(task);
    }

    static void waste(int i) {
        sum += new Garbage(i).number + new long[5].length;
        try {
            sum += new Fails(i).hashCode();
        } catch (IllegalArgumentException e) {
            sum++;
        }
    }

    static int full() {
        int made = 0;
        Object[] last = null;
        for (int size = 1 << 20; ; ) {
            try {
                Object[] more = new Object[size];
                made++;
                more[0] = last;
                last = more;
            } catch (OutOfMemoryError e) {
                if (size == 16) return made;
                size /= 2;
            }
        }
    }

    public static void main(String[] a) {
        Scanner in = new Scanner(System.in);
        System.out.println("READY");
        while (in.hasNextLine()) {
            String[] f = in.nextLine().split(" ");
            switch (f[0]) {
                case "make":
                    for (int i = Integer.parseInt(f[1]); i > 0; i--) root(i);
                    System.out.println("MADE " + f[1]);
                    break;
                case "gc":
                    System.gc();
                    System.out.println("COLLECTED 1");
                    break;
                case "drop":
                    kept.clear();
                    System.out.println("DROPPED 1");
                    break;
                case "fill":
                    int made;
                    try {
                        made = full();
                    } catch (OutOfMemoryError e) { // that comes anywhere when the heap is full
                        made = -1;
                    }
                    System.out.println("FULL " + made); // what it has made is garbage by now
                    break;
                default:
                    return;
            }
        }
    }
}

package t;

import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/** A program whose heap is full for a while. Commands: "fill" fills it for two seconds; "hold" fills it, "free" frees all that is held; "drop" does so without a collection, so nobody knows; "run N" calls root so often; "end" ends it. */
public class FullHeap {
    static int leaf(int n) {
        return n + 1;
    }

    static int root(int n) {
        return leaf(n) + leaf(n);
    }

    static final byte[] FULL = {'F', 'U', 'L', 'L', '\n'};
    static volatile boolean full, said;

    static void fill() {
        List<byte[]> all = new ArrayList<>();
        List<Object[]> crumbs = new ArrayList<>(1 << 16);
        long end = 0;
        for (int size = 1 << 20; !said || System.nanoTime() < end; ) {
            if (!said) end = System.nanoTime() + 2_000_000_000L;
            try {
                if (size > 64) all.add(new byte[size]);
                else if (crumbs.size() < 1 << 16) crumbs.add(new Object[1]);
            } catch (OutOfMemoryError e) {
                full = true;
                size = Math.max(size / 2, 16);
            }
        }
        all = null;
        crumbs = null;
        full = false;
        System.out.println("ROOM");
    }

    static List<byte[]> held;

    static void hold() {
        List<byte[]> all = new ArrayList<>(1 << 16);
        try {
            for (;;) all.add(new byte[64 << 10]);
        } catch (OutOfMemoryError e) {
            all.remove(all.size() - 1);
        }
        held = all;
    }

    static volatile int sum;

    public static void main(String[] a) {
        Scanner in = new Scanner(System.in);
        System.out.println("READY");
        while (in.hasNextLine()) {
            String[] f = in.nextLine().split(" ");
            if (f[0].equals("fill")) {
                said = false;
                Thread t = new Thread(FullHeap::fill);
                t.setDaemon(true);
                t.start();
                while (!full) Thread.yield();
                System.out.write(FULL, 0, FULL.length); // println takes memory
                System.out.flush();
                said = true; // the two seconds begin, however slow the machine is
                while (full) Thread.yield(); // to read a line takes memory, too
            } else if (f[0].equals("hold")) {
                hold();
                System.gc();
                System.out.println("HELD");
            } else if (f[0].equals("free")) {
                held = null;
                System.gc();
                System.out.println("FREE");
            } else if (f[0].equals("drop")) {
                held = null;
                System.out.println("DROPPED");
            } else if (f[0].equals("run")) {
                for (int i = Integer.parseInt(f[1]); i > 0; i--) sum += root(i);
                System.out.println("RAN " + f[1]);
            } else {
                return;
            }
        }
    }
}

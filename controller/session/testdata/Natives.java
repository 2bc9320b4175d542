package t;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Calls natives: the JDK's, its own that are not linked and so throw, and, where a library is given, linked ones. The
 * root says at the end how often it did: "N name calls thrown".
 */
public class Natives {
    static class Late { // loaded when its caller has probes already
        static native int late(int x);
    }

    static class Open {
        native int open(int x);
        final native void last();
    }

    static class Over extends Open { // loaded when open is taken for the only one
        int calls;
        @Override
        int open(int x) { return ++calls; }
    }

    interface Face {
        long face(long a, double b, String s);
    }

    static class OnlyFace implements Face {
        public native long face(long a, double b, String s);
    }

    static native void unlinked();
    static native long linked(int a, long b, double c, Object d);
    static native void throwing();
    static native void back(Back b);
    native Natives self(Natives other);

    static class Back implements Runnable {
        int n;
        public void run() { n++; below(); }
        void below() {}
    }

    static boolean library;
    static long sink;

    static int tries(Open o) {
        try {
            return o.open(1);
        } catch (UnsatisfiedLinkError e) {
            return 0;
        }
    }

    public static void root(int i) throws Exception {
        for (int k = 0; k < 3; k++) {
            try {
                unlinked();
            } catch (UnsatisfiedLinkError e) {
                sink++;
            }
        }
        through();
        Thread.yield();
        sink += Runtime.getRuntime().availableProcessors() + "x".intern().length();
        sink += Thread.holdsLock(Natives.class) ? 1 : 0;
        sink += Math.max(i, 3) + System.nanoTime();
        System.arraycopy(new int[3], 0, new int[3], 0, 3);
        tries(new Open());
        if (i > 5) tries(late());
        if (i > 5) inits();
        try {
            Face f = new OnlyFace();
            sink += f.face(1, 2.0, "3");
        } catch (UnsatisfiedLinkError e) {
            sink++;
        }
        if (!library) return;
        if (linked(1, 2, 3.0, "4") != 10) throw new AssertionError();
        try {
            throwing();
        } catch (IllegalStateException e) {
            sink++;
        }
        Back b = new Back();
        back(b);
        if (b.n != 1) throw new AssertionError();
        new Natives().self(new Natives()).self(null);
    }

    static Open late() throws Exception { return (Open) Class.forName("t.Natives$Over").newInstance(); }

    static void inits() {
        try {
            Late.late(1);
        } catch (UnsatisfiedLinkError e) {
            sink++;
        }
    }

    /** An exception of a native that no frame of this class catches. */
    static void through() {
        try {
            passes();
        } catch (Throwable t) {
            sink++;
        }
    }

    static void passes() {
        new Open().last();
    }

    public static void main(String[] argv) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        if (argv.length > 1) {
            System.load(argv[1]);
            library = true;
        }
        System.out.println("READY");
        in.readLine();
        for (int i = 0; i < Integer.parseInt(argv[0]); i++) root(i);
        System.out.println("OK");
        in.readLine();
    }
}

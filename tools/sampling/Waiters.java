import java.util.concurrent.locks.LockSupport;

/** Has as many threads that wait as its argument says, and one that computes. */
public class Waiters {
    static volatile long count;

    static void spinning() {
        for (;;) {
            count++;
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            new Thread(null, LockSupport::park, "waiter " + i, 1 << 17).start();
        }
        new Thread(Waiters::spinning, "spins").start();
        System.out.println("READY");
    }
}

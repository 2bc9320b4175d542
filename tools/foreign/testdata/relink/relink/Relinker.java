package relink;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MutableCallSite;
import java.util.Random;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.LockSupport;

/** Threads outside of the root that relink its sites: one when it is asked to, one whenever it likes. */
final class Relinker {
    private static final SynchronousQueue<MethodHandle> ASKED = new SynchronousQueue<>();
    private static final SynchronousQueue<MethodHandle> DONE = new SynchronousQueue<>();

    private Relinker() {}

    static void start() {
        Main.daemon(Relinker::answer);
        Main.daemon(Relinker::flip);
    }

    /** Has the other thread give the site "handed" a target, and waits for that. */
    static void hand(MethodHandle target) throws InterruptedException {
        ASKED.put(target);
        DONE.take();
    }

    private static void answer() {
        try {
            for (;;) {
                MethodHandle target = ASKED.take();
                Boot.HANDED.setTarget(target);
                MutableCallSite.syncAll(new MutableCallSite[] {Boot.HANDED});
                DONE.put(target);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Flips a site's target all the time, and calls it: calls outside of the root, which count nowhere. */
    private static void flip() {
        MethodHandle a = Boot.target("flipA"), b = Boot.target("flipB");
        CallSite site = Boot.FLIP;
        Random random = new Random(7);
        for (;;) {
            site.setTarget(random.nextBoolean() ? a : b);
            Sites.flip(1);
            LockSupport.parkNanos(200_000);
        }
    }
}

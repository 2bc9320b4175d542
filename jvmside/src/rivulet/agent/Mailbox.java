package rivulet.agent;

import static rivulet.agent.Memory.U;

import java.io.OutputStream;
import rivulet.probe.Layout;

/**
 * Requests to the controller from any thread, through boxes in the data file. Nothing here blocks without bound: a
 * wait ends with the answer, with the caller's time, or when the controller's heartbeat has stopped. Interrupts are
 * neither consumed nor an obstacle. The bell, a FIFO, wakes the controller: at most one byte lies in it.
 */
final class Mailbox {
    /** A controller that was silent for so long is gone or stopped. */
    static final long SILENCE = 1_200_000_000L;

    private final Memory memory;
    private final long base;
    private final OutputStream bell;
    private volatile boolean closed;

    Mailbox(Memory memory, OutputStream bell) {
        this.memory = memory;
        this.base = memory.base;
        this.bell = bell;
    }

    /** Releases every waiter. */
    void close() {
        closed = true;
    }

    boolean silent(long now) {
        return now - U.getLongVolatile(null, base + Layout.H_HEARTBEAT) > SILENCE;
    }

    /** True while the current thread waits in call: a class was loaded by the waiting itself. */
    boolean inside() {
        long me = Memory.thread();
        for (int i = 0; i < Layout.BOX_COUNT; i++) {
            long box = box(i);
            if (U.getIntVolatile(null, box + Layout.B_STATE) != Layout.BOX_FREE && U.getLong(box + Layout.B_OWNER) == me) return true;
        }
        return false;
    }

    /** The controller's reply, or null when there was none within the time, in ns. */
    byte[] call(int type, byte[] request, long patience) {
        long deadline = System.nanoTime() + patience;
        long box = claim(deadline);
        if (box == 0) return null;
        byte[] reply = null;
        int sent = 0;
        for (int state = Layout.BOX_MORE; state == Layout.BOX_MORE; ) {
            int n = Math.min(request.length - sent, Layout.BOX_DATA);
            U.putInt(box + Layout.B_TYPE, type);
            U.putInt(box + Layout.B_TOTAL, request.length);
            U.putInt(box + Layout.B_LENGTH, n);
            memory.write(box + Layout.BOX_HEADER - base, request, sent, n);
            sent += n;
            state = turn(box, Layout.BOX_REQUEST, deadline);
            if (state == Layout.BOX_REPLY) reply = receive(box, deadline);
        }
        if (reply != null) U.putIntRelease(null, box + Layout.B_STATE, Layout.BOX_FREE);
        return reply;
    }

    private byte[] receive(long box, long deadline) {
        byte[] reply = new byte[U.getInt(box + Layout.B_TOTAL)];
        for (int got = 0; ; ) {
            int n = Math.min(U.getInt(box + Layout.B_LENGTH), reply.length - got);
            memory.read(box + Layout.BOX_HEADER - base, reply, got, n);
            got += n;
            if (got == reply.length) return reply;
            if (n == 0 || turn(box, Layout.BOX_NEXT, deadline) != Layout.BOX_REPLY) return null;
        }
    }

    private long box(int i) {
        return base + Layout.BOXES + ((long) i << Layout.BOX_SHIFT);
    }

    private long claim(long deadline) {
        for (;;) {
            for (int i = 0; i < Layout.BOX_COUNT; i++) {
                long box = box(i);
                if (U.compareAndSetInt(null, box + Layout.B_STATE, Layout.BOX_FREE, Layout.BOX_CLAIMED)) {
                    U.putLong(box + Layout.B_OWNER, Memory.thread());
                    return box;
                }
            }
            long now = System.nanoTime();
            if (closed || now > deadline || silent(now)) return 0;
            pause(100_000);
        }
    }

    /** Hands the box over and waits for the answer's state; 0 when given up, and the box is the controller's. */
    private int turn(long box, int state, long deadline) {
        U.putIntRelease(null, box + Layout.B_STATE, state);
        ring();
        for (int i = 0; ; i++) {
            int s = U.getIntVolatile(null, box + Layout.B_STATE);
            if (s != state) return s;
            if (i < 1000) continue;
            long now = System.nanoTime();
            if (closed || now > deadline || silent(now)) {
                if (U.compareAndSetInt(null, box + Layout.B_STATE, state, Layout.BOX_ABANDONED)) return 0;
                continue;
            }
            pause(i < 1100 ? 20_000 : 100_000);
        }
    }

    private void ring() {
        if (!U.compareAndSetInt(null, base + Layout.H_BELL, 0, 1)) return;
        try {
            bell.write(1);
        } catch (java.io.IOException e) {
            // the controller is gone; the watch will notice
        }
    }

    /** Parks. A permit that the program gave its thread may be used up by that, so one is given back. */
    private static void pause(long ns) {
        U.park(false, ns);
        U.unpark(Thread.currentThread());
    }
}

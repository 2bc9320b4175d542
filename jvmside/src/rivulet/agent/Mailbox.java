package rivulet.agent;

import static rivulet.agent.Memory.U;

import java.io.OutputStream;
import rivulet.probe.Layout;
import rivulet.probe.Suspension;

/**
 * Requests to the controller from any thread, through boxes in the data file. Nothing here blocks without bound: a
 * wait ends with the answer, with the caller's time, or when the watch has found that the controller is gone.
 * Interrupts are neither consumed nor an obstacle. The bell, a FIFO, wakes the controller.
 *
 * A box belongs to the thread that has claimed it until it sets it FREE, after the reply, or ABANDONED or LEFT, whatever
 * else happens: then the controller frees it, and of LEFT it takes notice of a request that it has not read yet.
 */
final class Mailbox {
    /** For how many ns a controller may be silent that is stopped, or of which nothing is known. */
    private static final long SILENCE = 2_000_000_000L;
    /** For how many ns one may be silent that lives: it gets no processor time, or it hangs. */
    private static final long STARVED = 30_000_000_000L;
    private static final long LOOK_EVERY = 100_000_000L;
    /** Boxes that requests leave free which wait for the agent's thread to retransform classes: it needs some to get through. */
    private static final int RESERVED = 4;
    /** How many of these the loads of classes leave free as well: some wait for it, too. */
    private static final int RESERVED_LOADS = 2;
    /** For how many ns a thread sleeps at most until it looks again. */
    private static final long NAP_MAX = 2_000_000L;
    /** Where many threads wait, the longest sleep has so many ns for each of them: what they wait for needs the processors. */
    private static final long NAP_EACH = 100_000L;
    private static final byte[] SETTLED = new byte[4];
    /** Stands for the reply to a request that is in a box as a whole: the controller will read it, though nobody waits. */
    static final byte[] LEFT = new byte[0];

    private final Memory memory;
    private final long base;
    private final OutputStream bell;
    private final Controller controller;
    private volatile boolean known, closed;
    private volatile long slack, looked = System.nanoTime();
    private volatile boolean lives;

    Mailbox(Memory memory, OutputStream bell, Controller controller) {
        this.memory = memory;
        this.base = memory.base;
        this.bell = bell;
        this.controller = controller;
    }

    /** Releases every waiter, and lets nobody in any more. */
    void close() {
        closed = true;
    }

    boolean closed() {
        return closed;
    }

    /** The controller knows this process's clock: from now on its heartbeat counts. */
    void known() {
        known = true;
    }

    /**
     * The watch woke so much later than it wanted to: the machine is busy, and the controller has its own troubles.
     * Its silence counts for less for a while.
     */
    void late(long ns) {
        slack = Math.min(8_000_000_000L, Math.max(slack - slack / 8, 10 * ns));
    }

    long beat() {
        return U.getLongVolatile(null, base + Layout.H_HEARTBEAT);
    }

    boolean silent(long now) {
        long silence = known ? now - beat() - slack : 0;
        if (silence <= SILENCE) return false;
        if (now - looked > LOOK_EVERY) {
            lives = controller.lives();
            looked = now;
        }
        return !lives || silence > STARVED;
    }

    /** False when nobody has the bell's other end open any more. */
    boolean heard() {
        try {
            bell.write(0);
            return true;
        } catch (java.io.IOException e) {
            return false;
        }
    }

    /** True while the current thread waits in call: a class was loaded by the waiting itself. */
    boolean inside() {
        long me = Memory.thread();
        for (int i = 0; i < Layout.BOX_COUNT; i++) if (U.getLong(box(i) + Layout.B_OWNER) == me) return true;
        return false;
    }

    /** The controller's reply, or null when there was none within the time, in ns. */
    byte[] call(int type, byte[] request, long patience) {
        return closed ? null : answer(send(type, request, patience, 0, 0, false));
    }

    /** The same for a class that a thread loads which retransforms none of ours. */
    byte[] load(int type, byte[] request, long patience) {
        return closed ? null : answer(send(type, request, patience, RESERVED_LOADS, 0, false));
    }

    /** The same for a find, but LEFT when the time was over and the controller has the request, or will have it. */
    byte[] offer(int type, byte[] request, long patience) {
        return closed ? null : send(type, request, patience, RESERVED, 0, false);
    }

    private static byte[] answer(byte[] reply) {
        return reply == LEFT ? null : reply;
    }

    /** The same for a reveal: an empty list also when the method stops being fresh before a box gets free. */
    byte[] reveal(int method, byte[] request, long patience) {
        return closed ? null : answer(send(Wire.REQ_REVEAL, request, patience, RESERVED, method, false));
    }

    /** The one message that goes out after close. */
    byte[] last(int type, byte[] request, long patience) {
        return answer(send(type, request, patience, 0, 0, true));
    }

    private byte[] send(int type, byte[] request, long patience, int reserved, int method, boolean last) {
        room(200);
        long deadline = System.nanoTime() + patience;
        long box = claim(deadline, reserved, method, last);
        if (box == 0) return null;
        if (box < 0) return SETTLED;
        byte[] reply = null;
        try {
            reply = exchange(box, type, request, deadline, last);
        } finally {
            U.putLong(box + Layout.B_OWNER, 0);
            for (boolean over = false; !over; ) { // unless the controller has just moved it on
                int s = U.getIntVolatile(null, box + Layout.B_STATE);
                int to = answer(reply) != null ? Layout.BOX_FREE : s == Layout.BOX_REQUEST ? Layout.BOX_LEFT : Layout.BOX_ABANDONED;
                over = U.compareAndSetInt(null, box + Layout.B_STATE, s, to);
            }
        }
        return reply;
    }

    /** Overflows the stack here, if at all, and not with a box in hand. */
    private static int room(int depth) {
        return depth == 0 ? 0 : room(depth - 1) + 1;
    }

    private byte[] exchange(long box, int type, byte[] request, long deadline, boolean last) {
        int sent = 0;
        for (int state = Layout.BOX_MORE; state == Layout.BOX_MORE; ) {
            int n = Math.min(request.length - sent, Layout.BOX_DATA);
            U.putInt(box + Layout.B_TYPE, type);
            U.putInt(box + Layout.B_TOTAL, request.length);
            U.putInt(box + Layout.B_LENGTH, n);
            memory.write(box + Layout.BOX_HEADER - base, request, sent, n);
            sent += n;
            state = turn(box, Layout.BOX_REQUEST, deadline, last);
            if (state == Layout.BOX_REPLY) return receive(box, deadline, last);
        }
        return sent == request.length ? LEFT : null;
    }

    /** LEFT when the reply was cut off. */
    private byte[] receive(long box, long deadline, boolean last) {
        byte[] reply = new byte[U.getInt(box + Layout.B_TOTAL)];
        for (int got = 0; ; ) {
            int n = Math.min(U.getInt(box + Layout.B_LENGTH), reply.length - got);
            memory.read(box + Layout.BOX_HEADER - base, reply, got, n);
            got += n;
            if (got == reply.length) return reply;
            if (n == 0 || turn(box, Layout.BOX_NEXT, deadline, last) != Layout.BOX_REPLY) return LEFT;
        }
    }

    private long box(int i) {
        return base + Layout.BOXES + ((long) i << Layout.BOX_SHIFT);
    }

    /** A box; 0 when there is none in time, -1 when there is nothing to ask any more. */
    private long claim(long deadline, int reserved, int method, boolean last) {
        for (long wait = 100_000; ; wait = Math.min(2 * wait, Math.max(NAP_MAX, Suspension.waiting() * NAP_EACH))) {
            for (int i = reserved; i < Layout.BOX_COUNT; i++) {
                long box = box(i);
                if (U.getIntVolatile(null, box + Layout.B_STATE) != Layout.BOX_FREE) continue;
                if (U.compareAndSetInt(null, box + Layout.B_STATE, Layout.BOX_FREE, Layout.BOX_CLAIMED)) {
                    U.putLong(box + Layout.B_OWNER, Memory.thread());
                    return box;
                }
            }
            if (over(deadline, last)) return 0;
            if (method != 0 && (U.getByte(base + Layout.MODES + method) & Layout.MODE_MASK) != Layout.MODE_FRESH) return -1;
            Suspension.pause(reserved < RESERVED ? 100_000 : wait);
        }
    }

    private boolean over(long deadline, boolean last) {
        long now = System.nanoTime();
        return now > deadline || (last ? silent(now) : closed);
    }

    /** Hands the box over and waits for the answer's state; 0 when given up. */
    private int turn(long box, int state, long deadline, boolean last) {
        U.putIntRelease(null, box + Layout.B_STATE, state);
        ring();
        long from = System.nanoTime();
        for (int i = 0; ; i++) {
            int s = U.getIntVolatile(null, box + Layout.B_STATE);
            if (s != state) return s;
            if (i < 1000) continue;
            if (over(deadline, last)) return 0;
            Suspension.pause(i < 1100 ? 20_000 : Math.max(100_000, Math.min(NAP_MAX, (System.nanoTime() - from) / 16)));
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
}

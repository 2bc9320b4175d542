package rivulet.agent;

import rivulet.probe.Probe;
import rivulet.probe.Suspension;

/**
 * Unmaps the data file once nobody can be looking at it. A probe reads the file's address from the cell when it
 * begins, so after the cell was cleared only a thread that is inside the probe class at that moment still has the
 * address. Thread dumps are taken at safepoints, where a platform thread inside a probe shows the probe's frame,
 * inlined or not. Virtual threads are not in such dumps. They can be off their carriers only where they wait for a
 * lock inside the agent, and threads inside the agent are counted; for a probe's other parts, which never unmount,
 * time that the carriers had to run on is waited out. (docs/decisions/0004-unmapping.md)
 *
 * Another session may begin meanwhile and keep the probe class busy: that only makes this take longer.
 */
final class Silence {
    private static final int LOOKS = 1200;

    private final Memory memory;
    private final Hook hook;

    Silence(Memory memory, Hook hook) {
        this.memory = memory;
        this.hook = hook;
    }

    void run() {
        int quiet = 0;
        for (int i = 0; i < LOOKS && quiet < 3; i++) {
            try {
                Pause.pause(250);
                quiet = hook.busy() || Suspension.waiting() != 0 || onStack() ? 0 : quiet + 1;
            } catch (Throwable t) {
                quiet = 0; // the stacks did not fit into the heap
            }
        }
        if (quiet < 3) return; // a thread hangs in a probe: the mapping stays
        try {
            memory.unmap();
        } catch (Throwable t) {
            // it stays mapped
        }
    }

    private static boolean onStack() {
        String probe = Probe.class.getName();
        for (StackTraceElement[] stack : Thread.getAllStackTraces().values()) {
            for (StackTraceElement f : stack) if (f.getClassName().startsWith(probe)) return true; // its part for events included
        }
        return false;
    }
}

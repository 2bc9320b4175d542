package rivulet.agent;

import java.util.Map;
import rivulet.probe.Probe;

/**
 * Unmaps the data file once no probe can be looking at it. A probe reads the file's address from the cell when it
 * begins, so after the cell was cleared only a thread that is inside the probe class at that moment still has the
 * address. Thread dumps are taken at safepoints, where a platform thread inside a probe shows the probe's frame,
 * inlined or not. Virtual threads are not in such dumps; a probe has no point at which they could unmount, so time
 * that the carriers had to run on is waited out, on JDK 21 and later, in addition. (docs/decisions)
 */
final class Silence {
    private static final int LOOKS = 120;

    private final Memory memory;

    Silence(Memory memory) {
        this.memory = memory;
    }

    void run() {
        int quiet = 0;
        for (int i = 0; i < LOOKS && quiet < 3; i++) {
            try {
                Thread.sleep(250);
            } catch (InterruptedException e) {
                continue;
            }
            quiet = busy() ? 0 : quiet + 1;
        }
        if (quiet < 3) return; // a thread hangs in a probe: the mapping stays
        try {
            memory.unmap();
        } catch (Throwable t) {
            // it stays mapped
        }
    }

    private static boolean busy() {
        String probe = Probe.class.getName();
        for (Map.Entry<Thread, StackTraceElement[]> e : Thread.getAllStackTraces().entrySet()) {
            if (e.getKey() == Thread.currentThread()) continue;
            for (StackTraceElement f : e.getValue()) if (f.getClassName().equals(probe)) return true;
        }
        return false;
    }
}

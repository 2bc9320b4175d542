package rivulet.agent;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;

/**
 * How fast classes are restored without a controller: a batch at a time, and the next one when the JVM's compilers have nothing
 * much to do any more, since each batch throws away compiled code. Where they are idle that is at once. Whoever makes
 * the file of hurry() ends all pauses.
 */
final class Pace {
    /** How long the compilers are looked at, in ms, and for how long they are waited for, after one batch and in all. */
    private static final long LOOK = 50, BATCH = 2000, ALL = 60_000;
    /** The name of the thread meanwhile, before how far it is; the kernel keeps 15 bytes. */
    static final String NAME = "rivulet-out";

    private final File hurry;
    private final String own = Thread.currentThread().getName();
    private long waited;

    Pace(int pid) {
        hurry = new File("/tmp/.rivulet-hurry-" + pid);
    }

    /** So many of the classes are restored. */
    void done(int classes, int of) {
        Thread.currentThread().setName(NAME + Math.min(99, 100 * classes / Math.max(1, of)) + "%");
        if (classes >= of) return;
        long begin = System.nanoTime();
        while (waited < ALL && System.nanoTime() - begin < BATCH * 1_000_000 && !hurry.exists()) {
            long from = System.nanoTime(), ran = ran();
            try {
                Thread.sleep(LOOK);
            } catch (InterruptedException e) {
                return;
            }
            waited += LOOK;
            if (ran < 0 || (ran() - ran) * 2 < System.nanoTime() - from) return;
        }
    }

    /** All is restored. */
    void end() {
        Thread.currentThread().setName(own);
        hurry.delete();
    }

    /** Processor time that the JVM's compilers have used, in ns; -1 if the kernel does not say. */
    private static long ran() {
        File[] tasks = new File("/proc/self/task").listFiles();
        long sum = 0;
        for (int i = 0; tasks != null && i < tasks.length; i++) {
            String name = line(new File(tasks[i], "comm"));
            if (name == null || !name.startsWith("C1 Compiler") && !name.startsWith("C2 Compiler")) continue;
            String sched = line(new File(tasks[i], "schedstat"));
            if (sched == null || sched.indexOf(' ') < 0) return -1;
            try {
                sum += Long.parseLong(sched.substring(0, sched.indexOf(' ')));
            } catch (NumberFormatException e) {
                return -1;
            }
        }
        return tasks == null ? -1 : sum;
    }

    private static String line(File f) {
        try (BufferedReader in = new BufferedReader(new FileReader(f))) {
            return in.readLine();
        } catch (IOException e) {
            return null; // the thread has ended
        }
    }
}

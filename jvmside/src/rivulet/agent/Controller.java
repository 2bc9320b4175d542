package rivulet.agent;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;

/**
 * The controller's process, as the kernel knows it. Its /proc/PID/stat is opened once: to look at it later asks no security
 * manager, loads no class, about which the controller would be asked, and finds the same process.
 */
final class Controller implements Closeable {
    /** Null where the process can't be seen. */
    private final RandomAccessFile stat;
    private final byte[] line = new byte[64]; // more than the number and the name, of 15 bytes at most

    /** The number is this PID namespace's, 0 where the controller has none. */
    Controller(int pid) {
        RandomAccessFile f = null;
        try {
            if (pid != 0) f = new RandomAccessFile("/proc/" + pid + "/stat", "r");
        } catch (IOException | SecurityException e) {
            // it can't be seen
        }
        stat = f;
        lives(); // loads what it needs
    }

    /** True where the process can be seen, and is neither stopped nor dead (proc(5), the state in /proc/PID/stat). */
    synchronized boolean lives() {
        if (stat == null) return false;
        try {
            stat.seek(0);
            int at = stat.read(line) - 3;
            while (at > 0 && line[at] != ')') at--; // a name may have one, too
            return at > 0 && "TtZX".indexOf(line[at + 2]) < 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        if (stat != null) stat.close();
    }
}

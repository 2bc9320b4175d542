import java.util.Arrays;
import java.util.List;

/** A program to attach to. It prints "up", then lives until its input ends. */
public class Target {
    public static void main(String[] args) throws Exception {
        List<String> opts = Arrays.asList(args);
        if (opts.contains("exit")) {
            Thread.sleep(300);
            return;
        }
        Thread marker = new Thread(new Runnable() {
            public void run() {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException e) {
                    // ends
                }
            }
        }, "rivulet-agent");
        marker.setDaemon(true);
        marker.start();
        System.out.println("up");
        while (System.in.read() >= 0) {
            // until the test closes the pipe or ends
        }
    }
}

/** Two threads handle requests all the time, one waits for ever. Every twentieth request of a thread is slow. */
public class Busy {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        thread("worker-1", Busy::serve);
        thread("worker-2", Busy::serve);
        thread("idle", Busy::idle);
        System.out.println("READY");
        System.in.read();
    }

    interface Body {
        void run() throws Exception;
    }

    static void thread(String name, Body body) {
        Thread t = new Thread(name) {
            @Override
            public void run() {
                try {
                    body.run();
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }
        };
        t.setDaemon(true);
        t.start();
    }

    static void serve() throws Exception {
        for (int i = 0; ; i++) {
            handle(i);
            Thread.sleep(8);
        }
    }

    static void idle() throws Exception {
        Object never = new Object();
        synchronized (never) {
            never.wait();
        }
    }

    static void handle(int i) {
        price(i);
        for (int k = 0; k < (i % 20 == 0 ? 8 : 1); k++) {
            ship(i);
        }
    }

    static void price(int i) {
        sink = spin(i, 2_000_000);
    }

    static void ship(int i) {
        sink = spin(i, 1_000_000);
    }

    static long spin(long x, int n) {
        for (int k = 0; k < n; k++) {
            x = x * 31 + k;
        }
        return x;
    }
}

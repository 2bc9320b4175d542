package rivulet.agent;

/** Waiting that initializes no class of the JDK: one that is initialized while the heap is full may be broken for good, for the program too. Thread.sleep needs such classes since JDK 21. */
final class Pause {
    private Pause() {}

    /** Waits for so many ms. An interrupt does not end it, and is forgotten: only for the agent's own threads. */
    static void pause(long ms) {
        long until = System.nanoTime() + ms * 1_000_000L;
        for (long left; (left = until - System.nanoTime()) > 0; ) {
            Thread.interrupted(); // or it would not wait
            Memory.U.park(false, left);
        }
    }
}

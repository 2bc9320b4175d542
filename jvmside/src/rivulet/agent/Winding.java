package rivulet.agent;

/** What the agent's thread is called while it restores classes without a controller, so that others see how far it is. */
final class Winding {
    /** Before how far it is; the kernel keeps 15 bytes. */
    static final String NAME = "rivulet-out";

    private final String own = Thread.currentThread().getName();

    /** So many of the classes are restored. */
    void done(int classes, int of) {
        Thread.currentThread().setName(NAME + Math.min(99, 100 * classes / Math.max(1, of)) + "%");
    }

    /** All is restored. */
    void end() {
        Thread.currentThread().setName(own);
    }
}

package rivulet.agent;

import rivulet.probe.stub.Continuation;

/**
 * Keeps virtual threads on their carriers while they are in the agent. From JDK 24 on one that waits for a monitor
 * leaves its carrier, whatever it holds, and those who wait for the controller keep theirs: with these all taken it
 * would never come back, and what it holds, the agent's thread may want.
 */
final class Pin {
    private static final boolean VIRTUAL = virtual();

    private Pin() {}

    private static boolean virtual() {
        String v = System.getProperty("java.specification.version");
        return !v.startsWith("1.") && Integer.parseInt(v) >= 21;
    }

    static void on() {
        if (VIRTUAL) Continuation.pin();
    }

    static void off() {
        if (VIRTUAL) Continuation.unpin();
    }
}

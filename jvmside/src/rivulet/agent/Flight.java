package rivulet.agent;

import java.util.List;

/**
 * The recording of Flight Recorder's beside a session. The controller starts and ends it; the agent ends it if it has lost
 * the controller, since it would go on for an hour. It is known by reflection, as a JVM need not have it. The JDK's classes
 * that are used here are loaded: Flight Recorder is on.
 */
final class Flight {
    /** The recording's; null if there is none. */
    volatile String name;

    /** Ends the recording. What it has is in its file, for a controller that was only stopped. */
    void end() {
        if (name == null) return;
        try {
            Class<?> recorder = Class.forName("jdk.jfr.FlightRecorder", true, null);
            Object all = recorder.getMethod("getRecordings").invoke(recorder.getMethod("getFlightRecorder").invoke(null));
            for (Object r : (List<?>) all) {
                if (name.equals(r.getClass().getMethod("getName").invoke(r))) r.getClass().getMethod("close").invoke(r);
            }
        } catch (Throwable t) {
            // no memory, or a security manager that forbids it: it ends by itself
        }
    }
}

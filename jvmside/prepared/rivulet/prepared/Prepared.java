package rivulet.prepared;

/**
 * An agent that does nothing. A JVM that is started with it may redefine classes from the beginning, so its compilers
 * note which compiled code depends on which class. Without such an agent the first redefinition throws away all compiled
 * code (JvmtiExport::all_dependencies_are_recorded).
 */
public final class Prepared {
    private Prepared() {}

    public static void premain(String ignored) {}
}

package rivulet.probe.stub;

/** Stands for jdk.internal.vm.Continuation of JDK 21 and later, where no other class names it. */
public class Continuation {
    /** Keeps the current virtual thread, if it is one, on its carrier. These nest. */
    public static native void pin();
    public static native void unpin();
}

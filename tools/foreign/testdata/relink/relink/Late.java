package relink;

/** Loaded anew below the root, by a loader of its own, so that its site is linked during the recording. */
public class Late {
    public static int late(int x) { throw new Error("not woven"); }
}

package rivulet.agent;

import java.util.function.IntConsumer;

/**
 * What the cost of a probe is measured with: a caller of an empty method. It is defined twice in loaders of its own,
 * as it is and with probes, and never used from here.
 */
public final class Sample implements IntConsumer {
    private static int calls;

    @Override
    public void accept(int n) {
        for (int i = 0; i < n; i++) leaf(i);
    }

    private static void leaf(int i) {
        calls = i;
    }
}

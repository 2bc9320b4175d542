package rivulet.agent;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;

/** Retransforms classes; when the JVM refuses a batch, finds the class that is to blame and does the others. */
final class Batch {
    private final Instrumentation inst;
    private final List<Class<?>> refused = new ArrayList<>();
    private final List<String> reasons = new ArrayList<>();

    Batch(Instrumentation inst) {
        this.inst = inst;
    }

    void run(List<Class<?>> classes) {
        if (classes.isEmpty()) return;
        try {
            inst.retransformClasses(classes.toArray(new Class<?>[0]));
        } catch (Throwable t) {
            if (classes.size() == 1) {
                refused.add(classes.get(0));
                reasons.add(Out.reason(t));
                return;
            }
            int half = classes.size() / 2;
            run(classes.subList(0, half));
            run(classes.subList(half, classes.size()));
        }
    }

    int refusals() {
        return refused.size();
    }

    Class<?> refused(int i) {
        return refused.get(i);
    }

    String reason(int i) {
        return reasons.get(i);
    }
}

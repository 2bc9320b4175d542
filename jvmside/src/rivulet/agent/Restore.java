package rivulet.agent;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * Gives every class that has probes its own bytes back. A class that was being defined when the hook changed it may
 * not be listed yet, so those that are missing are looked for again for a while; what is missing then was never
 * defined.
 */
final class Restore {
    private static final int[] WAITS = {0, 20, 80, 300, 600};
    private static final long PATIENCE = 3_000_000_000L;

    private final Instrumentation inst;
    private final Loaders loaders;
    private final Hook hook;
    private final Batch batch;
    private Set<String> keys;
    private int done;

    Restore(Instrumentation inst, Loaders loaders, Hook hook) {
        this.inst = inst;
        this.loaders = loaders;
        this.hook = hook;
        this.batch = new Batch(inst, hook);
    }

    /**
     * Restores in batches of this size; the number of classes. Where there is no memory for it, with an error to throw it
     * throws this one, and goes on when called again; with null such classes are failures. winding is
     * null where a controller waits.
     */
    int run(int size, OutOfMemoryError starved, Winding winding) {
        batch.again(starved);
        if (keys == null) keys = hook.restore();
        for (int i = 0; i < WAITS.length && !keys.isEmpty(); i++) {
            Pause.pause(WAITS[i]);
            List<Class<?>> found = new ArrayList<>();
            for (Class<?> c : inst.getAllLoadedClasses()) if (!c.isArray() && keys.contains(key(c))) found.add(c);
            last(found);
            int of = done + keys.size();
            for (int k = 0; k < found.size(); k += size) {
                List<Class<?>> part = found.subList(k, Math.min(k + size, found.size()));
                batch.run(part, PATIENCE);
                for (int n = 0; n < part.size(); n++) keys.remove(key(part.get(n)));
                done += part.size();
                if (winding != null) winding.done(done, of);
            }
            for (Iterator<String> k = keys.iterator(); k.hasNext(); ) if (loaders.gone(Loaders.loaderOf(k.next()))) k.remove();
        }
        return done - batch.refusals();
    }

    private String key(Class<?> c) {
        return Loaders.key(loaders.id(c.getClassLoader()), Loaders.internal(c));
    }

    /** Puts the class last whose redefinition has the JVM throw away compiled code that it believes to be current. */
    private static void last(List<Class<?>> classes) {
        for (int i = 0; i < classes.size() - 1; i++) {
            if (classes.get(i).getName().equals("java.lang.invoke.DirectMethodHandle")) Collections.swap(classes, i, classes.size() - 1);
        }
    }

    int failures() {
        return batch.refusals();
    }

    Class<?> failed(int i) {
        return batch.refused(i);
    }

    String reason(int i) {
        return batch.reason(i);
    }
}

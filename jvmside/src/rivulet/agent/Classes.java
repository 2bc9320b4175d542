package rivulet.agent;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** The classes that a session needs in the target: the probes' in the bootstrap loader, the agent's own in the agent's. */
final class Classes {
    private Classes() {}

    /**
     * Defines the probe classes, which the list that the agent came with has by their names in this JVM, unless an
     * earlier session has: first all, since they name each other, then each is initialized. No one of them has another
     * one as its superclass.
     */
    static void define() throws Exception {
        for (String name : names()) {
            if (!probe(name)) continue;
            try {
                Class.forName(name, false, null);
            } catch (ClassNotFoundException e) {
                byte[] b = read(name);
                Memory.U.defineClass(name.replace('.', '/'), b, 0, b.length, null, null);
            }
        }
        for (String name : names()) {
            if (probe(name)) Class.forName(name, true, null);
        }
    }

    /** Loads every class of the agent now: later it would be in the middle of somebody's class loading. */
    static void load() throws Exception {
        for (String name : names()) {
            if (!probe(name)) Class.forName(name, true, Classes.class.getClassLoader());
        }
        // What only the hook uses. It needs them in order to answer for the very class that is loaded.
        for (String name : new String[] {"DeflaterOutputStream", "Deflater", "InflaterInputStream", "Inflater"}) Class.forName("java.util.zip." + name, false, null);
    }

    private static boolean probe(String name) {
        return name.startsWith("java.");
    }

    private static String[] names() throws IOException {
        return new String(read("")).split("\n");
    }

    private static byte[] read(String name) throws IOException {
        try (InputStream in = Classes.class.getClassLoader().getResourceAsStream(name)) {
            ByteArrayOutputStream b = new ByteArrayOutputStream();
            for (int c; (c = in.read()) >= 0; ) b.write(c);
            return b.toByteArray();
        }
    }
}

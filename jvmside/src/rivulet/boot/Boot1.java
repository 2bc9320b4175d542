package rivulet.boot;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.instrument.Instrumentation;
import java.util.HashMap;
import java.util.Map;

/**
 * The only class that comes to lie on the target's class path. It gives the agent that a session brings a class
 * loader of its own, so that two versions never meet and the agent's classes go when the session does.
 *
 * FROZEN in what it reads and calls: a JVM that has once loaded this class keeps it and ignores any other of the name.
 * To change that, add Boot2.
 *
 * The argument is the session's room, a folder. Its file agent.bin holds: u32 count, then for each class u8 lowest
 * and u8 highest Java version that it is for, modified UTF-8 binary name, u32 length, class file. The class
 * rivulet.agent.Agent has a method start(String room, Instrumentation, boolean premain). Whatever goes wrong is
 * written to the room's file error: to throw would print on the target's stderr.
 */
public final class Boot1 {
    private Boot1() {}

    public static void agentmain(String room, Instrumentation inst) {
        start(room, inst, false);
    }

    public static void premain(String room, Instrumentation inst) {
        start(room, inst, true);
    }

    private static void start(String room, Instrumentation inst, boolean premain) {
        try {
            Class<?> agent = Class.forName("rivulet.agent.Agent", true, new Loader(room + "/agent.bin"));
            agent.getMethod("start", String.class, Instrumentation.class, boolean.class).invoke(null, room, inst, premain);
        } catch (Throwable t) {
            try (PrintStream out = new PrintStream(new FileOutputStream(room + "/error"), false, "UTF-8")) {
                t.printStackTrace(out);
            } catch (Throwable ignored) {
                // the room is gone, and with it whoever could read why
            }
        }
    }

    /** Defines the agent's classes; everything else comes from the bootstrap loader. */
    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> files = new HashMap<>();

        Loader(String file) throws Exception {
            super(null);
            String version = System.getProperty("java.specification.version");
            int java = version.startsWith("1.") ? Integer.parseInt(version.substring(2)) : Integer.parseInt(version);
            try (InputStream in = new java.io.BufferedInputStream(new FileInputStream(file), 1 << 16)) {
                for (long n = number(in, 4); n > 0; n--) {
                    boolean fits = number(in, 1) <= java & java <= number(in, 1);
                    String name = new String(bytes(in, number(in, 2)), "ISO-8859-1");
                    byte[] b = bytes(in, number(in, 4));
                    if (fits) files.put(name, b);
                }
            }
        }

        /** By hand: what DataInputStream needs of JDK 21 and later can't be used any more once it was initialized while the heap was full. */
        private static long number(InputStream in, int size) throws Exception {
            long v = 0;
            for (byte b : bytes(in, size)) v = v << 8 | b & 0xff;
            return v;
        }

        private static byte[] bytes(InputStream in, long size) throws Exception {
            byte[] b = new byte[(int) size];
            for (int at = 0, n; at < b.length; at += n) {
                n = in.read(b, at, b.length - at);
                if (n < 0) throw new java.io.EOFException();
            }
            return b;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            byte[] b = files.get(name);
            if (b == null || name.startsWith("java.")) throw new ClassNotFoundException(name);
            return defineClass(name, b, 0, b.length, Boot1.class.getProtectionDomain());
        }

        /** For the agent: the names of its classes, and the files themselves. */
        @Override
        public InputStream getResourceAsStream(String name) {
            if (name.isEmpty()) return new java.io.ByteArrayInputStream(String.join("\n", files.keySet()).getBytes());
            byte[] b = files.get(name);
            return b == null ? null : new java.io.ByteArrayInputStream(b);
        }
    }
}

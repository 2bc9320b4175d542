package rivulet.agent;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import rivulet.probe.Probe;

/**
 * Hands the bytes of every class that is loaded or retransformed to the controller and gives the JVM what comes
 * back. It runs on the program's threads, inside their class loading, and never throws. Once restoring, it asks
 * nobody and yields what the class was before.
 */
final class Hook implements ClassFileTransformer {
    /** How long a class may be held up. */
    private static final long PATIENCE = 10_000_000_000L;

    private final Instrumentation inst;
    private final Mailbox mailbox;
    private final Loaders loaders;
    private volatile boolean restoring;
    /** Classes that have probes, by Loaders.key. */
    private final Set<String> instrumented = new HashSet<>();
    /** Deflated bytes that restoring must yield where the JVM's own would lack something (JDK-8240908). */
    private final Map<String, byte[]> originals = new HashMap<>();

    Hook(Instrumentation inst, Mailbox mailbox, Loaders loaders) {
        this.inst = inst;
        this.mailbox = mailbox;
        this.loaders = loaders;
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain pd, byte[] b) {
        try {
            if (name == null || loaders.own(loader)) return null;
            if (redefined == null ? restoring || mailbox.inside() : name.indexOf('.') >= 0) return null;
            int id = loaders.id(loader);
            if (restoring) return original(Loaders.key(id, name));
            long from = System.nanoTime();
            byte[] result = ask(id, name, redefined != null, b);
            Probe.suspended(System.nanoTime() - from);
            return result;
        } catch (Throwable t) {
            return null; // out of memory or stack: leave the class alone
        }
    }

    private byte[] ask(int id, String name, boolean redefined, byte[] b) throws java.io.IOException {
        byte[] news = loaders.news();
        if (news != null) mailbox.call(Wire.REQ_LOADERS, news, PATIENCE);
        byte[] reply = mailbox.call(Wire.REQ_TRANSFORM, new Out().u32(id).str(name).u8(redefined ? 1 : 0).block(b).done(), PATIENCE);
        String key = Loaders.key(id, name);
        if (reply == null || reply.length == 0) {
            if (redefined) forget(key);
            return null;
        }
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(reply));
        in.readUnsignedByte();
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        byte[] original = new byte[in.readInt()];
        in.readFully(original);
        for (int n = in.readInt(); n > 0; n--) also(in.readInt(), in.readUTF());
        if (reply[0] == 0) {
            if (redefined) forget(key);
            return null;
        }
        if (!remember(key, original)) return null; // restoring has begun meanwhile
        return bytes;
    }

    /**
     * A class that is being loaded brings a method of another into reach, as when it inherits the implementation of
     * an interface. This thread does the other class now: it may hold the locks that takes, so no other could.
     */
    private void also(int loader, String name) {
        Class<?> c = loaders.search(inst, loader, name);
        if (c == null) return; // it is being loaded below this one, with its probes
        List<Class<?>> one = new ArrayList<>();
        one.add(c);
        new Batch(inst).run(one);
    }

    private synchronized boolean remember(String key, byte[] original) throws java.io.IOException {
        if (restoring) return false;
        instrumented.add(key);
        if (original.length > 0) {
            ByteArrayOutputStream small = new ByteArrayOutputStream();
            try (DeflaterOutputStream d = new DeflaterOutputStream(small)) {
                d.write(original);
            }
            originals.put(key, small.toByteArray());
        }
        return true;
    }

    private synchronized void forget(String key) {
        instrumented.remove(key);
    }

    /** From here on classes come out as they were. The keys of those that have probes now. */
    synchronized Set<String> restore() {
        restoring = true;
        return new HashSet<>(instrumented);
    }

    private synchronized byte[] original(String key) throws java.io.IOException {
        byte[] small = originals.get(key);
        if (small == null) return null;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (InflaterInputStream in = new InflaterInputStream(new ByteArrayInputStream(small))) {
            byte[] buffer = new byte[8192];
            for (int n; (n = in.read(buffer)) > 0; ) out.write(buffer, 0, n);
        }
        return out.toByteArray();
    }
}

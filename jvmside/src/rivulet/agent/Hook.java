package rivulet.agent;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.lang.instrument.ClassFileTransformer;
import java.net.URL;
import java.security.AccessController;
import java.security.CodeSource;
import java.security.PrivilegedExceptionAction;
import java.security.ProtectionDomain;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import rivulet.probe.Suspension;

/**
 * Hands the bytes of every class that is loaded or retransformed to the controller and gives the JVM what comes
 * back. It runs on the program's threads, inside their class loading, and never throws. Once restoring, it asks
 * nobody and yields what the class was before. It must not retransform anything: the JVM would not call it for that
 * (JPLISAgent's reentrancy token), and the class would come out bare.
 */
final class Hook implements ClassFileTransformer {
    /** How long a class may be held up. */
    private static final long PATIENCE = 10_000_000_000L;
    /** No class file: the JVM drops the retransformation and the class stays as it is. */
    private static final byte[] REFUSE = {0};
    /** Characters of a class's place that are told. */
    private static final int PLACE_MAX = 400;

    private final Memory memory;
    private final Mailbox mailbox;
    private final Loaders loaders;
    private final AtomicInteger users = new AtomicInteger();
    private volatile boolean restoring, mute, starved;
    private volatile Thread agent;
    /** Of the agent's retransformation under way, the class that the JVM comes to last; only the agent's thread has a use for it. */
    private Class<?> last;
    /** Restoring had begun when that began. */
    private boolean plain;
    /** Classes of the agent's retransformation under way for which the JVM has called the hook; only the agent's thread has a use for it. */
    private int answered;
    /** Classes that have probes, by Loaders.key. */
    private final Set<String> instrumented = new HashSet<>();
    /** Of these, the ones whose first version with probes the JVM may still refuse. */
    private final Set<String> untried = new HashSet<>();
    /** Deflated bytes that restoring must yield where the JVM's own would lack something (JDK-8240908). */
    private final Map<String, byte[]> originals = new HashMap<>();

    Hook(Memory memory, Mailbox mailbox, Loaders loaders) {
        this.memory = memory;
        this.mailbox = mailbox;
        this.loaders = loaders;
    }

    @Override
    public byte[] transform(final ClassLoader loader, final String name, final Class<?> redefined, ProtectionDomain pd, final byte[] b) {
        users.incrementAndGet();
        long token = 0;
        try {
            token = Suspension.suspend(); // first: what is called here may have probes
            final long inside = token;
            final String place = token != 0 && redefined == null ? place(pd) : "";
            if (System.getSecurityManager() == null) return change(loader, name, redefined, b, inside, place);
            return AccessController.doPrivileged(new PrivilegedExceptionAction<byte[]>() { // the program's rights are not ours
                @Override
                public byte[] run() throws java.io.IOException {
                    return change(loader, name, redefined, b, inside, place);
                }
            });
        } catch (Throwable t) { // out of memory or stack: leave the class alone
            missed();
            if (redefined == null || !restoring || !Batch.mine(redefined)) return null;
            starved = true; // it would lack what the JVM loses: it is done again
            return REFUSE;
        } finally {
            Suspension.resume(token);
            users.decrementAndGet();
        }
    }

    /** Where a class lies, if its loader says so and without a call of the program's code; else "". */
    private static String place(ProtectionDomain pd) {
        CodeSource s = pd == null ? null : pd.getCodeSource();
        if (s == null || s.getClass() != CodeSource.class) return "";
        URL u = s.getLocation();
        if (u == null) return "";
        String p = u.getProtocol().equals("file") ? u.getPath() : u.getProtocol() + ":" + u.getPath();
        return p.length() > PLACE_MAX ? p.substring(0, PLACE_MAX) : p;
    }

    private byte[] change(ClassLoader loader, String name, Class<?> redefined, byte[] b, long inside, String place) throws java.io.IOException {
        if (redefined != null && restoring && Batch.mine(redefined)) answered++;
        if (name == null || loaders.own(loader)) return null;
        if (redefined == null ? restoring || mailbox.inside() : name.indexOf('.') >= 0) return null;
        int id = loaders.id(loader);
        return restoring ? restored(Loaders.key(id, name)) : ask(id, name, redefined, b, inside, place);
    }

    /** The agent's own thread. */
    void agent(Thread t) {
        agent = t;
    }

    /** The current thread is about to retransform classes of which this one is the last. */
    void last(Class<?> c) {
        if (Thread.currentThread() != agent) return;
        last = c;
        plain = restoring;
    }

    /**
     * What a class was before, now that restoring has begun. Of the agent's retransformation under way nobody answers for
     * the classes that have been given to the JVM already (HOOK_LAST): none of it is to take effect.
     */
    private byte[] restored(String key) throws java.io.IOException {
        return Thread.currentThread() == agent && !plain ? REFUSE : original(key);
    }

    /** The current thread is about to use the data file, or has done so. */
    void use(int n) {
        users.addAndGet(n);
    }

    /** Threads are inside, here or elsewhere in the agent. */
    boolean busy() {
        return users.get() > 0;
    }

    /**
     * The controller did not answer for the last class to be redefined: no use to ask for other classes of a batch. Who
     * loads a class may have gone on after a short patience, which says nothing of the controller.
     */
    boolean mute() {
        return mute;
    }

    /** For how many classes to be restored the JVM has called the hook since the last call. Only for the thread that restores. */
    int answered() {
        int was = answered;
        answered = 0;
        return was;
    }

    /** Restoring failed since the last call, for want of memory. Only for the thread that restores. */
    boolean starved() {
        boolean was = starved;
        starved = false;
        return was;
    }

    /** A class goes without the probes that it may need: no exactness can be claimed. */
    private void missed() {
        if (!restoring && !mailbox.closed()) memory.missed();
    }

    private byte[] ask(int id, String name, Class<?> redefined, byte[] b, long inside, String place) throws java.io.IOException {
        long from = System.nanoTime();
        long deadline = from + (redefined == null ? memory.patience(PATIENCE) : PATIENCE);
        loaders.tell(mailbox, deadline - from);
        int flags = (inside != 0 ? Wire.HOOK_INSIDE : 0) | (redefined != null ? Wire.HOOK_REDEFINED : 0);
        if (Thread.currentThread() == agent) flags |= Wire.HOOK_AGENT | (redefined != null && redefined == last ? Wire.HOOK_LAST : 0);
        else if (Batch.busy()) flags |= Wire.HOOK_REVEAL;
        boolean cause = redefined == null && inside != 0;
        Out q = new Out().u32(id).str(name).u8(flags).u64(cause ? inside : 0).u64(cause ? Memory.thread() : 0).u64(from).str(place).block(b);
        boolean retransforms = (flags & (Wire.HOOK_AGENT | Wire.HOOK_REVEAL)) != 0;
        byte[] reply = retransforms ? mailbox.call(Wire.REQ_TRANSFORM, q.done(), deadline - System.nanoTime()) : mailbox.load(Wire.REQ_TRANSFORM, q.done(), deadline - System.nanoTime());
        if (redefined == null) memory.waited(from);
        String key = Loaders.key(id, name);
        if (redefined != null) mute = reply == null;
        if (reply == null || reply.length == 0) {
            missed();
            if (redefined == null) return null;
            if (Batch.mine(redefined)) return REFUSE;
            forget(key);
            return original(key);
        }
        In in = new In(reply);
        int replace = in.u8();
        byte[] bytes = in.block(), original = in.block();
        switch (replace) {
            case Wire.TRANSFORM_PROBES:
                return remember(key, original, redefined != null) ? bytes : redefined != null ? restored(key) : null; // restoring has begun
            case Wire.TRANSFORM_REFUSE:
                return redefined != null && Batch.mine(redefined) ? REFUSE : null;
            default:
                if (redefined != null) forget(key);
                return original.length > 0 ? original : null;
        }
    }

    private synchronized boolean remember(String key, byte[] original, boolean redefined) throws java.io.IOException {
        if (restoring) return false;
        if (instrumented.add(key) && redefined) untried.add(key);
        if (original.length > 0) {
            ByteArrayOutputStream small = new ByteArrayOutputStream();
            try (DeflaterOutputStream d = new DeflaterOutputStream(small)) {
                d.write(original);
            }
            originals.put(key, small.toByteArray());
        }
        return true;
    }

    /** Whether a class has probes, or is about to get them. */
    synchronized boolean instruments(int loader, String name) {
        return instrumented.contains(Loaders.key(loader, name));
    }

    private synchronized void forget(String key) {
        instrumented.remove(key);
    }

    /** The JVM has taken a class's new version, or refused it: then it has probes only if it had some before. */
    synchronized void tried(Class<?> c, boolean taken) {
        String key = Loaders.key(loaders.id(c.getClassLoader()), Loaders.internal(c));
        if (untried.remove(key) && !taken) instrumented.remove(key);
    }

    /** Classes have new code. */
    void redefined() {
        memory.redefined();
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

package rivulet.agent;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;

/** Puts a message together: big-endian, as package wire says. */
final class Out {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    private final DataOutputStream out = new DataOutputStream(bytes);

    Out u8(int v) {
        bytes.write(v);
        return this;
    }

    Out u32(int v) {
        try {
            out.writeInt(v);
        } catch (java.io.IOException e) {
            throw new AssertionError(e); // memory
        }
        return this;
    }

    Out u64(long v) {
        return u32((int) (v >>> 32)).u32((int) v);
    }

    /** Cuts what writeUTF could not hold: 65,535 bytes of at most three a unit. */
    Out str(String s) {
        try {
            out.writeUTF(s.length() > 21845 ? s.substring(0, 21845) : s);
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
        return this;
    }

    Out block(byte[] b) {
        u32(b.length);
        bytes.write(b, 0, b.length);
        return this;
    }

    int size() {
        return bytes.size();
    }

    byte[] done() {
        return bytes.toByteArray();
    }

    static byte[] join(Out head, Out tail) {
        byte[] a = head.done(), b = tail.done(), m = java.util.Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, m, a.length, b.length);
        return m;
    }

    /** A reason that a person can read, in one line. */
    static String reason(Throwable t) {
        String m = t.getMessage();
        if (m == null) return t.getClass().getName();
        int line = m.indexOf('\n');
        return t.getClass().getName() + ": " + (line < 0 ? m : m.substring(0, line));
    }
}

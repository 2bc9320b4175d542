package rivulet.agent;

import java.io.ByteArrayOutputStream;

/**
 * Puts a message together: big-endian, as package wire says. Without DataOutputStream: JDK 21 and later initialize a class for
 * that, and where the heap is full just then, the class can't be used by the program either, for good.
 */
final class Out {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);

    Out u8(int v) {
        bytes.write(v);
        return this;
    }

    Out u32(int v) {
        return u8(v >>> 24).u8(v >>> 16).u8(v >>> 8).u8(v);
    }

    Out u64(long v) {
        return u32((int) (v >>> 32)).u32((int) v);
    }

    /** As writeUTF does (JVMS 4.4.7). Cuts what that could not hold: 65,535 bytes of at most three a unit. */
    Out str(String s) {
        int n = Math.min(s.length(), 21845), size = 0;
        for (int i = 0; i < n; i++) size += width(s.charAt(i));
        u8(size >>> 8).u8(size);
        for (int i = 0; i < n; i++) {
            char c = s.charAt(i);
            int w = width(c);
            if (w == 1) {
                u8(c);
                continue;
            }
            if (w == 3) u8(0xe0 | c >>> 12).u8(0x80 | c >>> 6 & 0x3f);
            else u8(0xc0 | c >>> 6);
            u8(0x80 | c & 0x3f);
        }
        return this;
    }

    private static int width(char c) {
        return c >= 1 & c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
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

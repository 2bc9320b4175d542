package rivulet.agent;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/**
 * Takes a message apart: big-endian, as package wire says. Without DataInputStream: JDK 21 and later initialize a class for
 * that, and where the heap is full just then, the class can't be used by the program either, for good. Nor may the hook
 * be the first to load a class: its own transform would need that class.
 */
final class In {
    private final byte[] bytes;
    private int at;

    In(byte[] message) {
        bytes = message;
    }

    /** The next message of a stream: its length, and so many bytes. */
    static In next(InputStream in) throws IOException {
        return new In(read(in, new In(read(in, 4)).u32()));
    }

    private static byte[] read(InputStream in, int size) throws IOException {
        if (size < 0) throw new IOException("a message of " + size + " bytes");
        byte[] b = new byte[size];
        for (int at = 0, n; at < size; at += n) {
            n = in.read(b, at, size - at);
            if (n < 0) throw new EOFException();
        }
        return b;
    }

    /** Where so many bytes begin, which are taken. */
    private int take(int size) throws IOException {
        if (size < 0 || size > bytes.length - at) throw new EOFException();
        at += size;
        return at - size;
    }

    int u8() throws IOException {
        return bytes[take(1)] & 0xff;
    }

    int u32() throws IOException {
        return u8() << 24 | u8() << 16 | u8() << 8 | u8();
    }

    byte[] block() throws IOException {
        int size = u32(), from = take(size);
        return java.util.Arrays.copyOfRange(bytes, from, from + size);
    }

    /** As Out.str writes it (JVMS 4.4.7). */
    String str() throws IOException {
        int left = u8() << 8 | u8(), n = 0;
        if (left > bytes.length - at) throw new EOFException();
        char[] chars = new char[left];
        for (int end = at + left; at < end; ) {
            int c = u8();
            if (c >= 0xe0) c = (c & 0xf) << 12 | (u8() & 0x3f) << 6 | u8() & 0x3f;
            else if (c >= 0x80) c = (c & 0x1f) << 6 | u8() & 0x3f;
            chars[n++] = (char) c;
        }
        return new String(chars, 0, n);
    }
}

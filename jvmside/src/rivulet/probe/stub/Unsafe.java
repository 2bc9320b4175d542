package rivulet.probe.stub;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.security.ProtectionDomain;

/**
 * Stands for the JVM's Unsafe at compile time and is left out of the jar. The controller renames it to
 * jdk.internal.misc.Unsafe, on JDK 8 to sun.misc.Unsafe, whose differing method names it renames too.
 */
public class Unsafe {
    public static Unsafe getUnsafe() { return null; }
    public native long objectFieldOffset(Field f);
    public native int getInt(long address);
    public native void putInt(long address, int v);
    public native long getLong(long address);
    public native void putLong(long address, long v);
    public native byte getByte(long address);
    public native short getShort(long address);
    public native void putShort(long address, short v);
    public native void putByte(long address, byte v);
    public native void putChar(long address, char v);
    public native long getLong(Object o, long offset);
    public native int getInt(Object o, long offset);
    public native void putIntRelease(Object o, long offset, int v);
    public native void putLongRelease(Object o, long offset, long v);
    public native int getIntVolatile(Object o, long offset);
    public native long getLongVolatile(Object o, long offset);
    public native boolean compareAndSetInt(Object o, long offset, int expected, int v);
    public native boolean compareAndSetLong(Object o, long offset, long expected, long v);
    public native long getAndAddLong(Object o, long offset, long delta);
    public native void setMemory(long address, long bytes, byte v);
    public native long allocateMemory(long bytes);
    public native void park(boolean absolute, long time);
    public native void unpark(Object thread);
    public native boolean shouldBeInitialized(Class<?> c);
    public native Class<?> defineClass(String name, byte[] b, int off, int len, ClassLoader loader, ProtectionDomain pd);
    public native void invokeCleaner(ByteBuffer buffer);
}

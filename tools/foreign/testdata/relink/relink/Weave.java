package relink;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes the class {@link Sites} anew, with an invokedynamic for each method's body, since Java
 * has no syntax for one with a bootstrap method of the program's own. Its argument is the folder
 * of the class files.
 */
final class Weave {
    private final ByteArrayOutputStream pool = new ByteArrayOutputStream();
    private final DataOutputStream constants = new DataOutputStream(pool);
    private final Map<String, Integer> known = new LinkedHashMap<>();

    public static void main(String[] args) throws IOException {
        for (Class<?> c : new Class<?>[] {Sites.class, Late.class}) {
            Files.write(Paths.get(args[0], c.getName().replace('.', '/') + ".class"), new Weave().write(c));
        }
    }

    private byte[] write(Class<?> from) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream body = new DataOutputStream(bytes);
        shorts(body, 0x21, type(from.getName()), type("java.lang.Object"), 0, 0); // public super, no interfaces, no fields
        Method[] methods = from.getDeclaredMethods();
        body.writeShort(methods.length);
        for (Method m : methods) method(body, m);
        int link = constant(15, 6, member("relink.Boot", "link",
            "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;"));
        shorts(body, 1, utf8("BootstrapMethods"));
        body.writeInt(6);
        shorts(body, 1, link, 0);
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(file);
        out.writeInt(0xcafebabe);
        shorts(out, 0, 52, known.size() + 1);
        pool.writeTo(out);
        bytes.writeTo(out);
        return file.toByteArray();
    }

    /** A static method that passes its parameters to an invokedynamic of its own name and type. */
    private void method(DataOutputStream out, Method m) throws IOException {
        MethodType type = MethodType.methodType(m.getReturnType(), m.getParameterTypes());
        String desc = type.toMethodDescriptorString();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream code = new DataOutputStream(bytes);
        int local = 0;
        for (Class<?> p : type.parameterArray()) {
            code.writeByte(21 + kind(p)); // iload, lload, ...
            code.writeByte(local);
            local += p == long.class || p == double.class ? 2 : 1;
        }
        code.writeByte(186);
        shorts(code, constant(18, 0, nameAndType(m.getName(), desc)), 0);
        code.writeByte(172 + kind(m.getReturnType()));
        shorts(out, 9, utf8(m.getName()), utf8(desc), 1, utf8("Code"));
        out.writeInt(12 + bytes.size());
        shorts(out, Math.max(local, 2), local);
        out.writeInt(bytes.size());
        bytes.writeTo(out);
        shorts(out, 0, 0);
    }

    /** The order in which opcodes for int, long, float, double and references follow each other. */
    private static int kind(Class<?> c) {
        return c == int.class ? 0 : c == long.class ? 1 : c == float.class ? 2 : c == double.class ? 3 : 4;
    }

    private static void shorts(DataOutputStream out, int... values) throws IOException {
        for (int v : values) out.writeShort(v);
    }

    private int utf8(String s) throws IOException {
        Integer have = known.get("u" + s);
        if (have != null) return have;
        constants.writeByte(1);
        constants.writeUTF(s);
        return number("u" + s);
    }

    private int type(String name) throws IOException { return constant(7, utf8(name.replace('.', '/'))); }

    private int nameAndType(String name, String desc) throws IOException { return constant(12, utf8(name), utf8(desc)); }

    private int member(String owner, String name, String desc) throws IOException {
        return constant(10, type(owner), nameAndType(name, desc));
    }

    /** A constant of two-byte items; of a MethodHandle (15) the first is a byte. */
    private int constant(int tag, int... items) throws IOException {
        String key = tag + java.util.Arrays.toString(items);
        Integer have = known.get(key);
        if (have != null) return have;
        constants.writeByte(tag);
        for (int i = 0; i < items.length; i++) {
            if (tag == 15 && i == 0) constants.writeByte(items[i]);
            else constants.writeShort(items[i]);
        }
        return number(key);
    }

    private int number(String key) {
        known.put(key, known.size() + 1);
        return known.size();
    }
}

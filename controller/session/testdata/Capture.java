package t;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.MessageDigest;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.TreeMap;

/**
 * Another agent. Its argument is "digest", which retransforms t.Load and its inner classes, or "digest CLASS,...", which
 * retransforms those, and prints what bytes come by; "stay", which leaves a transformer that adds nothing but new bytes of the same contents; or "touch", which
 * retransforms them as they are.
 */
public class Capture implements ClassFileTransformer {
    private final Map<String, String> seen;
    private byte[] other;
    private java.util.List<String> names = new java.util.ArrayList<>();

    private Capture(Map<String, String> seen) {
        this.seen = seen;
    }

    @Override
    public byte[] transform(ClassLoader l, String name, Class<?> c, ProtectionDomain d, byte[] b) {
        if (other != null) return "t/Traps$Grown".equals(name) ? other : null;
        if (name == null || !wants(name.replace('/', '.'))) return null;
        if (seen == null) return b.clone();
        try {
            StringBuilder s = new StringBuilder();
            for (byte x : MessageDigest.getInstance("MD5").digest(b)) s.append(String.format("%02x", x));
            seen.put(name, b.length + "-" + s);
        } catch (Exception e) {
            seen.put(name, e.toString());
        }
        return null;
    }

    private boolean wants(String name) {
        return names.isEmpty() ? name.startsWith("t.Load") : names.contains(name);
    }

    public static void premain(String arg, Instrumentation inst) throws Exception {
        agentmain(arg, inst);
    }

    public static void agentmain(String arg, Instrumentation inst) throws Exception {
        if (arg.startsWith("swap ")) {
            byte[] other = java.nio.file.Files.readAllBytes(java.nio.file.Paths.get(arg.substring(5)));
            Capture t = new Capture(null);
            t.other = other;
            inst.addTransformer(t, true);
            Class.forName("t.Traps$Grown", false, ClassLoader.getSystemClassLoader());
            inst.removeTransformer(t);
            return;
        }
        if (arg.equals("stay")) {
            inst.addTransformer(new Capture(null), true);
            System.out.println("STAYS");
            return;
        }
        TreeMap<String, String> seen = new TreeMap<>();
        Capture t = new Capture(seen);
        if (arg.startsWith("digest ")) t.names.addAll(java.util.Arrays.asList(arg.substring(7).split(",")));
        if (!arg.equals("touch")) inst.addTransformer(t, true);
        for (Class<?> c : inst.getAllLoadedClasses()) {
            if (t.wants(c.getName()) && inst.isModifiableClass(c) && !c.isArray() && c.getName().indexOf('/') < 0) inst.retransformClasses(c);
        }
        inst.removeTransformer(t);
        System.out.println(arg.equals("touch") ? "TOUCHED" : "DIGEST " + seen);
    }
}

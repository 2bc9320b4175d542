import java.io.*;
import java.lang.management.ManagementFactory;
import java.util.*;
import org.objectweb.asm.*;
import org.objectweb.asm.commons.LocalVariablesSorter;

/** Does with ASM what probe.Rewrite does, except for resync at the handlers and catch-alls in constructors. */
public class AsmRace implements Opcodes {
    static final String PROBE = "java/lang/RivuletStub";

    static class Probe extends LocalVariablesSorter {
        final Label start = new Label();
        final boolean constructor;
        final int id;
        int token;

        Probe(int access, String name, String desc, MethodVisitor mv, int id) {
            super(ASM9, access, desc, mv);
            constructor = name.equals("<init>");
            this.id = id;
        }
        @Override public void visitCode() {
            super.visitCode();
            token = newLocal(Type.LONG_TYPE);
            if (id < 32768) mv.visitIntInsn(SIPUSH, id);
            else mv.visitLdcInsn(id);
            mv.visitMethodInsn(INVOKESTATIC, PROBE, "enter", "(I)J", false);
            mv.visitVarInsn(LSTORE, token);
            mv.visitLabel(start);
        }
        @Override public void visitInsn(int op) {
            if (op >= IRETURN && op <= RETURN) {
                mv.visitVarInsn(LLOAD, token);
                mv.visitMethodInsn(INVOKESTATIC, PROBE, "exit", "(J)V", false);
            }
            super.visitInsn(op);
        }
        @Override public void visitMaxs(int stack, int locals) {
            if (!constructor) {
                Label handler = new Label();
                mv.visitTryCatchBlock(start, handler, handler, null);
                mv.visitLabel(handler);
                Object[] before = new Object[token + 1];
                Arrays.fill(before, TOP);
                before[token] = LONG;
                mv.visitFrame(F_NEW, token + 1, before, 1, new Object[] {"java/lang/Throwable"});
                mv.visitVarInsn(LLOAD, token);
                mv.visitMethodInsn(INVOKESTATIC, PROBE, "thrown", "(J)V", false);
                mv.visitInsn(ATHROW);
            }
            super.visitMaxs(stack + 3, locals);
        }
    }

    static int id;

    static byte[] rewrite(byte[] b) {
        ClassReader reader = new ClassReader(b);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new ClassVisitor(ASM9, writer) {
            @Override public MethodVisitor visitMethod(int access, String name, String desc, String signature, String[] exceptions) {
                MethodVisitor mv = super.visitMethod(access, name, desc, signature, exceptions);
                return (access & (ACC_NATIVE | ACC_ABSTRACT)) != 0 ? mv : new Probe(access, name, desc, mv, ++id % 70000);
            }
        }, ClassReader.EXPAND_FRAMES);
        return writer.toByteArray();
    }

    public static void main(String[] args) throws Exception {
        List<byte[]> classes = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(args[0])))) {
            for (int n = in.readInt(); n > 0; n--) {
                byte[] b = new byte[in.readInt()];
                in.readFully(b);
                classes.add(b);
            }
        }
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId(), best = Long.MAX_VALUE, allocated = 0;
        boolean warm = !args[1].equals("1");
        for (int round = Integer.parseInt(args[1]); round > 0; round--) {
            long bytes = threads.getThreadAllocatedBytes(self), start = warm ? threads.getCurrentThreadCpuTime() : System.nanoTime();
            for (byte[] b : classes) rewrite(b);
            best = Math.min(best, (warm ? threads.getCurrentThreadCpuTime() : System.nanoTime()) - start);
            allocated = threads.getThreadAllocatedBytes(self) - bytes;
        }
        System.out.println("nanos " + best / classes.size() + " bytes " + allocated / classes.size());
        if (args.length > 2) try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(args[2])))) {
            for (byte[] b : classes) {
                b = rewrite(b);
                out.writeInt(b.length);
                out.write(b);
            }
        }
    }
}

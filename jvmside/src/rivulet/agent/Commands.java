package rivulet.agent;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;
import rivulet.probe.Layout;

/** What the controller commands, one command after another. The agent's thread alone obeys. */
final class Commands {
    private final Instrumentation inst;
    private final Memory memory;
    private final Mailbox mailbox;
    private final Loaders loaders;
    private final Hook hook;
    private final Listing listing;
    private final Calibrate calibrate;
    final Flight flight = new Flight();
    /** The program may begin: who waits in premain goes on. */
    volatile boolean go;
    /** The command that ended the session wants the classes to be restored little by little. */
    boolean gently;

    Commands(Instrumentation inst, Memory memory, Mailbox mailbox, Loaders loaders, Hook hook, Tracing tracing) {
        this.inst = inst;
        this.memory = memory;
        this.mailbox = mailbox;
        this.loaders = loaders;
        this.hook = hook;
        listing = new Listing(inst, mailbox, loaders, tracing);
        calibrate = new Calibrate(mailbox);
    }

    /** Returns the reason for which the session is to end. */
    int obey(InputStream commands) throws IOException {
        InputStream in = new BufferedInputStream(commands, 4096);
        for (;;) {
            In m = In.next(in);
            int type = m.u8();
            if (!memory.up()) return Layout.REASON_HEARTBEAT; // the watch was faster
            switch (type) {
                case Wire.CMD_LIST:
                    if (m.u8() > 0) loaders.open();
                    listing.classes();
                    break;
                case Wire.CMD_FETCH: fetch(m); break;
                case Wire.CMD_RETRANSFORM: retransform(m); break;
                case Wire.CMD_FIND: listing.find(m.str()); break;
                case Wire.CMD_NAMES: listing.names(); break;
                case Wire.CMD_CALIBRATE: calibrate.run(m); break;
                case Wire.CMD_GO: go = true; break;
                case Wire.CMD_FLIGHT: flight.name = m.str(); break;
                case Wire.CMD_STOP:
                    gently = m.u8() > 0;
                    return Layout.REASON_COMMAND;
                default: throw new IOException("command " + type);
            }
        }
    }

    private void fetch(In m) throws IOException {
        int[] ids = new int[m.u32()];
        String[] names = new String[ids.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = m.u32();
            names[i] = m.str();
        }
        listing.files(ids, names);
    }

    private void retransform(In m) throws IOException {
        int batch = m.u32();
        boolean all = m.u8() != 0;
        Out out = new Out();
        int[] rows = {0};
        List<Class<?>> classes = new ArrayList<>();
        for (Object[] k : Loaders.keys(m)) {
            Class<?> c = loaders.search(inst, (Integer) k[0], (String) k[1]);
            if (c == null) row(out, rows, k, Wire.OUTCOME_GONE, "not loaded any more");
            else if (!inst.isModifiableClass(c)) row(out, rows, k, Wire.OUTCOME_REFUSED, "the JVM does not let agents modify it");
            else if (!all && Memory.U.shouldBeInitialized(c)) row(out, rows, k, Wire.OUTCOME_LEFT, "");
            else classes.add(c);
        }
        long from = System.nanoTime();
        Batch b = new Batch(inst, hook);
        b.run(classes, Agent.PATIENCE);
        long ns = System.nanoTime() - from;
        for (int i = 0; i < b.refusals(); i++) row(out, rows, loaders.key(b.refused(i)), Wire.OUTCOME_REFUSED, b.reason(i));
        mailbox.call(Wire.REQ_BATCH, Out.join(new Out().u32(batch).u64(ns).u32(rows[0]), out), Agent.PATIENCE);
    }

    private static void row(Out out, int[] rows, Object[] key, int outcome, String reason) {
        out.u32((Integer) key[0]).str((String) key[1]).u8(outcome).str(reason);
        rows[0]++;
    }
}

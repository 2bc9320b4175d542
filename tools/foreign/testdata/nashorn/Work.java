import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.script.Invocable;
import javax.script.ScriptEngine;
import javax.script.ScriptEngineManager;

/**
 * Runs work.js in Nashorn. The root is Work.root, which calls the script's order; the
 * script's functions become methods of classes whose names Nashorn makes up.
 * Argument: the number of roots (0: until a line comes).
 */
public final class Work {
    private Work() {}

    public static void main(String[] args) throws Exception {
        long most = args.length > 0 ? Long.parseLong(args[0]) : 0;
        CountDownLatch done = new CountDownLatch(1);
        if (most == 0) awaitLine(done);
        ScriptEngine engine = new ScriptEngineManager().getEngineByName("nashorn");
        engine.put("javax.script.filename", "work.js");
        engine.eval(new InputStreamReader(Work.class.getResourceAsStream("work.js"), "UTF-8"));
        Invocable script = (Invocable) engine;
        System.out.println("PID " + ManagementFactory.getRuntimeMXBean().getName().split("@")[0]);
        long roots = 0;
        for (; most == 0 && roots < 300; roots++) root(script);
        System.out.println("READY");
        for (; most == 0 ? !done.await(4, TimeUnit.MILLISECONDS) : roots < most; roots++) root(script);
        script.invokeFunction("report");
        System.out.println("ROOTS " + roots);
    }

    static Object root(Invocable script) throws Exception {
        return script.invokeFunction("order");
    }

    private static void awaitLine(CountDownLatch done) {
        Thread t = new Thread(() -> {
            try {
                System.in.read();
            } catch (java.io.IOException e) {
                e.printStackTrace();
            }
            done.countDown();
        });
        t.setDaemon(true);
        t.start();
    }
}

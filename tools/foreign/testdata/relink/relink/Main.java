package relink;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A program that links call sites by a bootstrap method of its own, and relinks them while it
 * runs. Each root invocation, relink.Main.root, takes the same steps three times each, in an
 * order of its own that repeats from run to run. Arguments: the number of roots (0: until a line
 * comes), and "late", with which each root also loads a class whose site is not linked yet.
 */
public final class Main {
    private static final int TIMES = 3;
    private static final List<Step> STEPS = new ArrayList<>();
    private static boolean late;

    /** One thing that a root does; returns anything, so that no call is dead. */
    interface Step {
        int take(int x) throws Throwable;
    }

    private Main() {}

    public static void main(String[] args) throws Throwable {
        long most = args.length > 0 ? Long.parseLong(args[0]) : 0;
        late = Arrays.asList(args).contains("late");
        CountDownLatch done = new CountDownLatch(1);
        if (most == 0) daemon(() -> awaitLine(done));
        SiteSteps.addTo(STEPS);
        HandleSteps.addTo(STEPS);
        addNewer();
        List<Step> all = new ArrayList<>();
        for (int i = 0; i < TIMES; i++) all.addAll(STEPS);
        System.out.println("PID " + ManagementFactory.getRuntimeMXBean().getName().split("@")[0]);
        Relinker.start();
        Boot.target("leaf"); // initializes what the roots need
        Handles.choose(0);
        Calls.clear();
        Random random = new Random(42);
        long roots = 0;
        for (; most == 0 && roots < 300; roots++) root(shuffled(all, random));
        System.out.println("READY");
        for (; most == 0 ? !done.await(4, TimeUnit.MILLISECONDS) : roots < most; roots++) root(shuffled(all, random));
        Calls.set("relink.Targets.leaf", Targets.leaves);
        Calls.print(roots);
        System.exit(0);
    }

    private static Step[] shuffled(List<Step> all, Random random) {
        Collections.shuffle(all, random);
        return all.toArray(new Step[0]);
    }

    static int root(Step[] steps) throws Throwable {
        int sum = 0;
        for (int i = 0; i < steps.length; i++) sum += steps[i].take(i);
        if (late) sum += Loading.late(sum);
        return sum;
    }

    /** The steps that take a newer JDK than 8 are in a folder of their own. */
    @SuppressWarnings("unchecked")
    private static void addNewer() throws ReflectiveOperationException {
        try {
            Class.forName("relink.NewerSteps").getDeclaredMethod("addTo", List.class).invoke(null, STEPS);
        } catch (ClassNotFoundException e) {
            System.out.println("without the steps for JDK 9 and later");
        }
    }

    private static void awaitLine(CountDownLatch done) {
        try {
            System.in.read();
        } catch (IOException e) {
            e.printStackTrace();
        }
        done.countDown();
    }

    static void daemon(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        t.start();
    }
}

package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestLookSeveral counts the objects of three JVMs, of which one has far more of a class, and looks at the locks of all, of
// which one has a deadlock; a process that there isn't is named, and what makes no sense is refused.
func TestLookSeveral(t *testing.T) {
	t.Parallel()
	j := jvmtest.Any(t)
	dir := jvmtest.Compile(t, j, 8, map[string]string{"Kept.java": `
public class Kept {
    static final java.util.List<Kept> all = new java.util.ArrayList<>();
    long a, b, c, d;
    static Thread lock(Object first, Object second, java.util.concurrent.CountDownLatch got) {
        Thread t = new Thread(() -> {
            synchronized (first) {
                got.countDown();
                try { got.await(); } catch (InterruptedException e) { return; }
                synchronized (second) { }
            }
        });
        t.setDaemon(true);
        t.start();
        return t;
    }
    public static void main(String[] args) throws Exception {
        for (int i = Integer.parseInt(args[0]); i > 0; i--) all.add(new Kept());
        if (args.length > 1) {
            Object left = new Object(), right = new Object();
            java.util.concurrent.CountDownLatch got = new java.util.concurrent.CountDownLatch(2);
            for (Thread t : new Thread[] {lock(left, right, got), lock(right, left, got)}) {
                while (t.getState() != Thread.State.BLOCKED) Thread.sleep(1);
            }
        }
        System.out.println("READY");
        System.in.read();
    }
}`})
	var pids []string
	for _, args := range [][]string{{"10"}, {"20"}, {"100000", "stuck"}} {
		p := jvmtest.Start(t, j, []string{"-Xmx64m"}, "Kept", args, dir)
		p.WaitLine("READY")
		pids = append(pids, fmt.Sprint(p.PID()))
	}
	code, stdout, stderr := command(append([]string{"heap", "--histogram", "--json"}, pids...)...)
	var heap fleetHeapJSON
	if err := json.Unmarshal([]byte(stdout), &heap); err != nil || code != 0 || len(heap.Processes) != 3 || !strings.Contains(stderr, "stood still") {
		t.Fatalf("code %d, %v: %s%s", code, err, stdout, stderr)
	}
	for _, c := range heap.Classes {
		if c.Class == "Kept" && (c.Objects != 100_030 || c.Processes.Objects[0] != 10 || c.Processes.Objects[1] != 20 || c.Processes.Objects[2] != 100_000) {
			t.Errorf("%+v", c)
		}
	}
	odd := false
	for _, o := range heap.Outliers {
		odd = odd || o.Class == "Kept" && fmt.Sprint(o.PID) == pids[2] && o.Host == ""
	}
	if !odd {
		t.Errorf("%+v", heap.Outliers)
	}
	code, stdout, stderr = command("heap", "--histogram", "--pid", pids[0], "--pid", pids[1], "--pid", "999999999")
	if code != 1 || !strings.Contains(stdout, "in 2 JVMs") || !strings.Contains(stdout, "pid "+pids[0]) || !strings.Contains(stderr, "1 of 3 processes failed") {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = command(append([]string{"locks"}, pids...)...)
	if code != 0 || !strings.Contains(stdout, "no deadlock in 2 JVMs") || !strings.Contains(stdout, "pid "+pids[2]+", Kept") {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = command(append([]string{"locks", "--for", "500ms", "--json"}, pids[:2]...)...)
	var locks fleetLocksJSON
	if err := json.Unmarshal([]byte(stdout), &locks); err != nil || code != 0 || len(locks.Processes) != 2 || locks.Processes[0].Locks == nil || locks.Processes[0].Locks.Seconds <= 0 {
		t.Errorf("code %d, %v: %s%s", code, err, stdout, stderr)
	}
	for args, want := range map[string]string{
		"heap " + pids[0] + " " + pids[1]:                      "--histogram counts the objects of several",
		"heap --histogram --for 1s " + pids[0] + " " + pids[1]: "--for is of one JVM",
		"heap a.hprof b.hprof":                                 "one argument too many",
		"heap":                                                 "PID|FILE is missing",
		"heap --histogram --match main=none":                   "no JVM is meant",
		"locks":                                                "PID is missing",
		"locks --match shape=round":                            "where KEY is main",
		"heap --histogram --pid 999999998 --pid 999999999":     "none of 2 processes",
	} {
		if code, _, stderr := command(strings.Fields(args)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d: %s", args, code, stderr)
		}
	}
}

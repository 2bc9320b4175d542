package probe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// clockJava takes what the timers report, and keeps the books.
const clockJava = `
import java.util.concurrent.atomic.*;

public class Clock {
    static final AtomicLongArray begun = new AtomicLongArray(100000), done = new AtomicLongArray(100000), failed = new AtomicLongArray(100000);

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            for (int i = 0; i < begun.length(); i++) {
                if (begun.get(i) > 0) System.err.println("TIMED " + i + " " + begun.get(i) + " " + done.get(i) + " " + failed.get(i));
            }
        }));
    }

    public static long begin(int id) {
        begun.incrementAndGet(id);
        return id + 1000000L;
    }

    public static void stop(int id, long from) {
        if (from != id + 1000000L) System.err.println("WRONG " + id + " " + from);
        done.incrementAndGet(id);
    }

    public static void fail(int id, long from) {
        if (from != id + 1000000L) System.err.println("WRONG " + id + " " + from);
        failed.incrementAndGet(id);
    }
}
`

// TestTimers runs a program bare and with every method timed. What it prints
// must be the same, each invocation must end once, with the value that its
// entry got, and the counts must be those that the program keeps itself.
func TestTimers(t *testing.T) {
	home := classtest.Home(t)
	dir := compileBehave(t, home, "-source", "8", "-target", "8")
	clock := classtest.Compile(t, home, map[string]string{"Clock.java": clockJava}, "-source", "8", "-target", "8")
	in := probe.Timers(probe.Clocks{Class: "Clock", Begin: "begin", Stop: "stop", Fail: "fail"})
	to, ids := t.TempDir(), []string{}
	for _, c := range append(classtest.ReadDir(t, dir), classtest.ReadDir(t, clock)...) {
		if !strings.HasPrefix(c.Name, "Truth") && !strings.HasPrefix(c.Name, "Shadow") && c.Name != "Clock" {
			r, err := in.Rewrite(c.Bytes, func(k probe.MethodKey) (int32, bool) {
				ids = append(ids, c.Name+"."+k.String())
				return int32(len(ids) - 1), true
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Bytes != nil {
				c.Bytes = r.Bytes
			}
		}
		if err := os.WriteFile(filepath.Join(to, c.Name+".class"), c.Bytes, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		bare, truth := runProgram(t, j.Home, "-cp", dir, "Behave")
		out, books := runProgram(t, j.Home, "-Xverify:all", "-cp", to, "Behave")
		if out != bare {
			t.Errorf("the output changed:\n%s\nwas:\n%s", out, bare)
		}
		counts := map[string]int{}
		for line := range strings.Lines(books) {
			var id, begun, done, failed int
			if n, _ := fmt.Sscanf(line, "TIMED %d %d %d %d", &id, &begun, &done, &failed); n == 4 {
				counts[ids[id]] = begun
				if begun != done+failed && !strings.Contains(ids[id], ".<init>(") {
					t.Errorf("%s: %d begun, %d done, %d failed", ids[id], begun, done, failed)
				}
			}
			if strings.HasPrefix(line, "WRONG") {
				t.Error(line)
			}
		}
		checkTruth(t, truth, counts, 20)
	}, 8, 17, 25)
}

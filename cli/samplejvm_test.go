package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// sampledProgram has one thread that computes: loop never returns, and calls handle again
// and again, which calls price.
const sampledProgram = `
public class Sampled {
    static long sink;
    static long price(int n) { long x = n; for (int i = 0; i < 2000; i++) x = x * 31 + (x >>> 7); return x; }
    static void handle(int n) { for (int i = 0; i < 200; i++) sink += price(n + i); }
    static void loop() { for (int n = 0; sink != 42; n++) handle(n); }
    public static void main(String[] args) throws Exception {
        Thread idle = new Thread(() -> { synchronized (Sampled.class) { try { Sampled.class.wait(); } catch (InterruptedException e) { } } }, "idle");
        idle.setDaemon(true);
        idle.start();
        for (int n = 0; n < 300; n++) handle(n);
        System.out.println("READY");
        loop();
    }
}`

type sampledNode struct {
	Method       string
	Thread       string
	SelfSamples  int64 `json:"self_samples"`
	TotalSamples int64 `json:"total_samples"`
	Entries      int64
	Children     []sampledNode
}

// TestSampleJVM samples a JVM: who calls whom is known, and what is entered once.
// Nothing of it is left.
func TestSampleJVM(t *testing.T) {
	t.Parallel()
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Sampled.java": sampledProgram})
		// Without inlining, so that all frames are physical ones.
		p := jvmtest.Start(t, j, []string{"-Xmx64m", "-XX:-Inline"}, "Sampled", nil, dir)
		p.WaitLine("READY")
		before := threadNames(t, p.PID())
		pid := strconv.Itoa(p.PID())
		code, out, errs := rivulet(t, "", "sample", pid, "--for", "1500ms", "--hz", "199", "--json")
		if code == 1 && (strings.Contains(errs, "perf_event") || strings.Contains(errs, "perf events")) {
			t.Skip("perf events are not to be had here")
		}
		var r struct {
			Kind     string
			Sampling struct {
				Source, Mode      string
				Samples, Complete int64
			}
			Tree []sampledNode
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Kind != "sample" {
			t.Fatalf("code %d, %v: %s%s", code, err, errs, out)
		}
		if s := r.Sampling; s.Source != "perf" || s.Mode != "cpu" || s.Samples == 0 {
			t.Errorf("%+v", s)
		}
		at := sampledNode{Children: r.Tree}
		for _, want := range []string{"Sampled.main([Ljava/lang/String;)V", "Sampled.loop()V", "Sampled.handle(I)V", "Sampled.price(I)J"} {
			var next *sampledNode
			for i := range at.Children {
				if at.Children[i].Method == want {
					next = &at.Children[i]
				}
			}
			if next == nil {
				t.Fatalf("no %s below %s:\n%s", want, at.Method, out)
			}
			at = *next
			switch main := strings.HasPrefix(want, "Sampled.main"); {
			case main && at.Entries != 0:
				t.Errorf("main was entered %d times", at.Entries)
			case strings.HasPrefix(want, "Sampled.handle") && at.Entries < 2:
				t.Errorf("handle was entered %d times in %d samples", at.Entries, at.TotalSamples)
			}
		}
		if at.SelfSamples == 0 {
			t.Error("no sample is in price itself")
		}
		code, out, errs = rivulet(t, "", "sample", pid, "--wall", "--for", "500ms", "--format", "collapsed")
		if code != 0 || !strings.Contains(out, ";(waits_at_a_java.lang.Class) ") {
			t.Errorf("code %d, the thread that waits at a class: %s%s", code, out, errs)
		}
		if after := threadNames(t, p.PID()); strings.Contains(after, "Attach Listener") || strings.Contains(after, "rivulet") {
			t.Errorf("threads were\n%s, now they are\n%s", before, after)
		}
		code, out, errs = rivulet(t, "", "suggest", pid, "--for", "500ms", "--hz", "199", "--json")
		if code != 0 || !strings.Contains(out, `"root": "Sampled.handle"`) || strings.Contains(out, `"root": "Sampled.main"`) {
			t.Errorf("code %d, suggestions: %s%s", code, out, errs)
		}
	})
}

func threadNames(t *testing.T, pid int) string {
	t.Helper()
	files, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/comm")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range files {
		name, _ := os.ReadFile(f)
		out.Write(name)
	}
	return out.String()
}

// TestWatchJVM has two rules come true in a JVM, and its samples kept.
func TestWatchJVM(t *testing.T) {
	t.Parallel()
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Sampled.java": sampledProgram})
		p := jvmtest.Start(t, j, []string{"-Xmx64m"}, "Sampled", nil, dir)
		p.WaitLine("READY")
		pid, kept := strconv.Itoa(p.PID()), t.TempDir()
		code, out, errs := rivulet(t, "", "watch", pid, "--dir", kept, "--json", "--for", "7s", "--after", "0s",
			"--when", "cpu > 0.1% for 2s", "--when", "p50(Sampled.handle) > 1ns for 2s")
		if code != 0 || !strings.Contains(out, `"rule":"cpu > 0.1% for 2s"`) || !strings.Contains(out, `"rule":"p50(Sampled.handle) > 1ns for 2s"`) {
			t.Fatalf("code %d: %s%s", code, out, errs)
		}
		for _, capture := range []string{"", "last"} {
			args := []string{"watch", "show", kept, "--format", "collapsed"}
			if capture != "" {
				args = append(args, "--capture", capture)
			}
			code, out, errs = rivulet(t, "", args...)
			if code != 0 || !strings.Contains(out, "Sampled.main([Ljava/lang/String:)V;Sampled.loop()V") {
				t.Errorf("code %d: %s%s", code, out, errs)
			}
		}
		wantNoAgent(t, p.PID())
	})
}

// TestSampleBesideJVM has samples in the tree of a recording: what computes is on a core, what sleeps is not,
// and what the JDK does lies below the method that called it. That is so with samples of all threads, and
// with those of threads in the root alone.
func TestSampleBesideJVM(t *testing.T) {
	t.Parallel()
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Mixed.java": `
import java.util.Arrays;
public class Mixed {
    static int[] numbers = new int[200000];
    static void sort() { for (int i = 0; i < numbers.length; i++) numbers[i] = i * 7919 % 100003; Arrays.sort(numbers); }
    static void rest() throws Exception { Thread.sleep(20); }
    static void handle() throws Exception { sort(); rest(); }
    public static void main(String[] args) throws Exception {
        for (int n = 0; ; n++) { handle(); if (n == 20) System.out.println("READY"); }
    }
}`})
		p := jvmtest.Start(t, j, []string{"-Xmx64m", "-XX:-Inline"}, "Mixed", nil, dir)
		p.WaitLine("READY")
		for _, rate := range []string{"199", "inside,199"} {
			besideJVM(t, p.PID(), rate)
		}
	})
}

func besideJVM(t *testing.T, pid int, rate string) {
	t.Run(rate, func(t *testing.T) {
		code, out, errs := rivulet(t, "", "profile", strconv.Itoa(pid), "--root", "Mixed.handle", "--sample="+rate, "--for", "2s", "--format", "json")
		if code == 1 && (strings.Contains(errs, "perf_event") || strings.Contains(errs, "perf events")) {
			t.Skip("perf events are not to be had here")
		}
		type node struct {
			Method    string
			Calls     int64
			Ran       int64 `json:"cpu_ran_ns"`
			Wall      int64 `json:"cpu_wall_ns"`
			Estimates struct {
				States  map[string]int64
				Callees []struct{ Method string }
			}
			Children []node
		}
		var r struct {
			Tree      []node
			Estimates struct{ Source string }
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || len(r.Tree) != 1 {
			t.Fatalf("code %d, %v: %s%s", code, err, errs, out)
		}
		if inside := strings.HasPrefix(rate, "inside"); inside != (r.Estimates.Source == "ptrace") && r.Estimates.Source != "anchors" {
			t.Errorf("the source is %q", r.Estimates.Source)
		}
		sorts := false
		for _, n := range r.Tree[0].Children {
			switch n.Method {
			case "Mixed.sort()V":
				for _, c := range n.Estimates.Callees {
					sorts = sorts || strings.HasPrefix(c.Method, "java.util.Arrays.sort")
				}
			case "Mixed.rest()V":
				for _, c := range n.Children { // Thread.sleep, whose calls are counted
					if c.Wall == 0 || 2*c.Ran > c.Wall {
						t.Errorf("%s was on a core for %d of %d ns", c.Method, c.Ran, c.Wall)
					}
				}
			}
		}
		if !sorts {
			t.Errorf("nothing of Arrays.sort:\n%s", out)
		}
	})
}

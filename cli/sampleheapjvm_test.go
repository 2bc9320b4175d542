package cli_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// heapProgram allocates what the compiler removes, what stays, and what the JDK makes.
const heapProgram = `
public class Heap {
    static class Point {
        int x, y;
        Point(int x, int y) { this.x = x; this.y = y; }
    }
    static Object sink;
    static int removed(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            Point p = new Point(i, s);
            s += p.x ^ p.y;
        }
        return s;
    }
    static void kept(int n) { for (int i = 0; i < n; i++) sink = new long[14]; }
    static void text(int n) { for (int i = 0; i < n; i++) sink = Integer.toString(i); }
    static void work() { removed(300_000); kept(50_000); text(50_000); }
    public static void main(String[] args) throws Exception {
        for (int n = 0; ; n++) {
            work();
            if (n == 200) System.out.println("READY");
        }
    }
}`

// TestHeapTooOld: a JVM that can't say what it puts on the heap is recorded all the same, and the report says so.
func TestHeapTooOld(t *testing.T) {
	t.Parallel()
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Heap.java": heapProgram})
	p := jvmtest.Start(t, jvmtest.Need(t, 11), []string{"-Xmx64m"}, "Heap", nil, dir)
	p.WaitLine("READY")
	code, out, errs := rivulet(t, "", "profile", strconv.Itoa(p.PID()), "--root", "Heap.work", "--count", "heap", "--until-calls", "1", "--format", "json")
	var r struct {
		Objects int64 `json:"allocated_objects"`
		Heap    any   `json:"heap_sampling"`
		Notes   []string
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("code %d, %v: %s%s", code, err, errs, out)
	}
	if r.Objects == 0 || r.Heap != nil || !slices.Contains(r.Notes, "It is not known what was allocated on the heap: JVMs tell that from JDK 16 on.") {
		t.Errorf("%+v", r)
	}
}

// TestSampleHeapJVM sees beside what is executed what of it is on the heap: not what the compiler
// removes, and what the JDK allocates besides.
func TestSampleHeapJVM(t *testing.T) {
	t.Parallel()
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Heap.java": heapProgram})
	p := jvmtest.Start(t, jvmtest.Need(t, 17), []string{"-Xmx64m"}, "Heap", nil, dir)
	p.WaitLine("READY")
	code, out, errs := rivulet(t, "", "profile", strconv.Itoa(p.PID()), "--root", "Heap.work", "--scheme", "A", "--count", "heap", "--for", "3s", "--format", "json")
	type sample struct {
		Type, Via      string
		Samples, Bytes int64
	}
	type method struct {
		Method      string
		Allocations []struct {
			Type  string
			Bytes int64
		}
		Heap []sample `json:"heap_samples"`
	}
	var r struct {
		Flat []method
		Heap struct{ Samples, Bytes, Unplaced int64 } `json:"heap_sampling"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("code %d, %v: %s%s", code, err, errs, out)
	}
	of := map[string]method{}
	for _, m := range r.Flat {
		of[strings.TrimPrefix(m.Method[:strings.IndexByte(m.Method, '(')], "Heap.")] = m
	}
	met := func(m string, is func(sample) bool) (bytes int64) {
		for _, s := range of[m].Heap {
			if is(s) {
				bytes += s.Bytes
			}
		}
		return bytes
	}
	executed := func(m string) int64 {
		if len(of[m].Allocations) != 1 {
			t.Fatalf("%s: %+v", m, of[m])
		}
		return of[m].Allocations[0].Bytes
	}
	own := func(s sample) bool { return s.Via == "" }
	if all, heap := executed("removed"), met("removed", own); all == 0 || heap > all/4 {
		t.Errorf("removed: %d bytes executed, %d on the heap", all, heap)
	}
	if all, heap := executed("kept"), met("kept", own); heap < all/2 || heap > all*2 {
		t.Errorf("kept: %d bytes executed, %d on the heap", all, heap)
	}
	if heap := met("text", func(s sample) bool { return strings.HasPrefix(s.Via, "java.lang.Integer.toString(") }); heap == 0 || met("text", own) != 0 || len(of["text"].Allocations) != 0 {
		t.Errorf("text: %+v", of["text"])
	}
	if r.Heap.Samples < 100 || r.Heap.Unplaced != 0 {
		t.Errorf("%+v", r.Heap)
	}
}

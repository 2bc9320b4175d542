package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/heap"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// leaks compiles the program with planted leaks.
func leaks(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../controller/heap/testdata/Leaks.java")
	if err != nil {
		t.Fatal(err)
	}
	return jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Leaks.java": string(text)})
}

// heapReport analyses a dump by the command line.
func heapReport(t *testing.T, args ...string) (*heap.Report, string) {
	t.Helper()
	code, stdout, stderr := heapCommand(append([]string{"--json"}, args...)...)
	if code != 0 {
		t.Fatalf("heap %q: code %d: %s", args, code, stderr)
	}
	r := &heap.Report{}
	if err := json.Unmarshal([]byte(stdout), r); err != nil {
		t.Fatal(err)
	}
	return r, stderr
}

// TestHeapLeaks dumps programs that leak in five ways: each leak is the first suspect, by
// the right class and with what there is to say about it.
func TestHeapLeaks(t *testing.T) {
	dir := leaks(t)
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		for _, leak := range []struct {
			name, class string
			why, path   []string
		}{
			{"listener", "Leaks$WindowListener", []string{"60 instances", "below Leaks$Bus, by listeners", "listeners that nobody has removed"}, []string{"class Leaks", "static bus: Leaks$Bus"}},
			{"cache", "Leaks$SessionCache", []string{"by static sessions (java.util.HashMap)", "in 60 instances of byte[]"}, []string{"class Leaks$SessionCache"}},
			{"threadlocal", "Leaks$RequestContext", []string{"60 instances", "values of thread locals"}, []string{`thread: java.lang.Thread "worker-`, "threadLocals: java.lang.ThreadLocal$ThreadLocalMap"}},
			{"loader", "Leaks$PluginLoader", []string{"60 class loaders", "because of 60 instances of Plugin", "static registry", "60 of the loaders have loaded a class Plugin"}, []string{"static registry", "its loader: Leaks$PluginLoader"}},
			{"inner", "Leaks$Screen$Task", []string{"60 instances", "keeps its Leaks$Screen alive by the field this$0"}, []string{"static tasks: java.util.ArrayList"}},
		} {
			t.Run(leak.name, func(t *testing.T) {
				t.Parallel()
				p := jvmtest.Start(t, j, []string{"-Xmx64m", "-XX:+UseSerialGC"}, "Leaks", []string{leak.name}, dir)
				p.WaitLine("ready")
				r, stderr := heapReport(t, fmt.Sprint(p.PID()))
				if len(r.Suspects) == 0 {
					t.Fatalf("no suspect; %s", stderr)
				}
				s := r.Suspects[0]
				if s.Class != leak.class || s.Retained < 60*20_000 {
					t.Errorf("the first suspect is %s with %d bytes: %s", s.Class, s.Retained, s.Why)
				}
				for _, want := range leak.why {
					if !strings.Contains(s.Why, want) {
						t.Errorf("%q is not in %q", want, s.Why)
					}
				}
				for _, want := range leak.path {
					if !strings.Contains(strings.Join(s.Path, "\n"), want) {
						t.Errorf("%q is not in the path %q", want, s.Path)
					}
				}
				for _, want := range []string{"the JVM stands still for a full collection", " dumped in ", "its threads stood still for "} {
					if !strings.Contains(stderr, want) {
						t.Errorf("%q is not in %q", want, stderr)
					}
				}
				if leak.name == "cache" {
					sameSizes(t, p, r)
				}
				p.CloseStdin()
				if code := p.Wait(); code != 0 {
					t.Errorf("the target ended with %d", code)
				}
			})
		}
	}, 8, 17, 21, 25)
}

// heapCommand runs the command line.
func heapCommand(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = Main(append([]string{"heap"}, args...), strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// sameSizes compares the sizes of objects with the JVM's own.
func sameSizes(t *testing.T, p *jvmtest.Proc, r *heap.Report) {
	t.Helper()
	code, stdout, stderr := heapCommand(fmt.Sprint(p.PID()), "--histogram", "--json")
	var h histogramJSON
	if err := json.Unmarshal([]byte(stdout), &h); err != nil || code != 0 {
		t.Fatalf("histogram: code %d, %v: %s", code, err, stderr)
	}
	loaded := int64(0)
	for _, l := range h.Loaders {
		loaded += l.Objects
	}
	if loaded != h.Objects && len(h.Notes) == 0 {
		t.Errorf("%d objects by loader, %d in all: %+v", loaded, h.Objects, h.Loaders)
	}
	dumped := map[string]heap.ClassStat{}
	for _, c := range r.Classes {
		d := dumped[c.Class]
		d.Objects += c.Objects
		d.Shallow += c.Shallow
		dumped[c.Class] = d
	}
	compared, wrong := 0, 0
	for _, c := range h.Classes {
		d, ok := dumped[c.Class]
		// A JVM has classes and arrays that it dumps in another way, or not at all.
		if !ok || d.Objects != c.Objects || c.Class == "java.lang.Class" {
			continue
		}
		if compared++; d.Shallow != c.Bytes {
			wrong++
			if c.Objects >= 16 { // enough to have seen their padding
				t.Errorf("%s: %d objects, %d bytes, the JVM says %d", c.Class, c.Objects, d.Shallow, c.Bytes)
			}
			t.Logf("%s: %d objects, %d bytes, the JVM says %d", c.Class, c.Objects, d.Shallow, c.Bytes)
		}
	}
	if compared < 100 || wrong*20 > compared {
		t.Errorf("of %d classes %d have another size than the JVM says", compared, wrong)
	}
}

// TestHeapKeep: a dump that is kept is read from its file, compressed or not, and compares
// equal with itself.
func TestHeapKeep(t *testing.T) {
	j := jvmtest.Any(t)
	p := jvmtest.Start(t, j, []string{"-Xmx64m"}, "Leaks", []string{"cache"}, leaks(t))
	p.WaitLine("ready")
	file := filepath.Join(t.TempDir(), "kept.hprof")
	dir := t.TempDir()
	running, _ := heapReport(t, fmt.Sprint(p.PID()), "--keep", file, "--dump-dir", dir)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left where the dump was: %v, %v", left, err)
	}
	kept, _ := heapReport(t, file)
	if running.Objects != kept.Objects || running.Bytes != kept.Bytes || kept.File != file || len(kept.Classes) != len(running.Classes) {
		t.Errorf("%d objects, %d bytes of the process, %d, %d of the file", running.Objects, running.Bytes, kept.Objects, kept.Bytes)
	}
	code, stdout, stderr := heapCommand("diff", file, file, "--json")
	var d heap.Difference
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != 0 || len(d.Classes) != 0 || len(d.Dominators) != 0 {
		t.Errorf("difference from itself: code %d, %v, %s", code, err, stderr)
	}
	// Cut in the middle: what is readable is shown, and where it ends.
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, info.Size()*3/4); err != nil {
		t.Fatal(err)
	}
	cut, _ := heapReport(t, file)
	if !strings.Contains(cut.Damage, "offset ") || cut.Objects == 0 || cut.Objects > kept.Objects {
		t.Errorf("cut: damage %q, %d objects", cut.Damage, cut.Objects)
	}
	if code, text, _ := heapCommand(file); code != 0 || !strings.Contains(text, "the dump is cut off") {
		t.Errorf("code %d: %s", code, text)
	}
	code, text, stderr := heapCommand(fmt.Sprint(p.PID()), "--histogram", "--for", "1ms")
	if code != 0 || !strings.Contains(text, "MORE") {
		t.Errorf("code %d: %s %s", code, text, stderr)
	}
}

// TestHeapAllocations says who allocated what is in a heap, by a recording of the same program.
func TestHeapAllocations(t *testing.T) {
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Sessions.java": `
import java.util.*;
public class Sessions {
    static final class Session { byte[] data = new byte[2000]; }
    static final List<Session> all = new ArrayList<>();
    static void open() { all.add(new Session()); }
    static void login() { for (int i = 0; i < 1000; i++) open(); }
    static void restore() { for (int i = 0; i < 500; i++) open(); }
    static void fill() { login(); restore(); }
    public static void main(String[] a) throws Exception {
        fill();
        if (a.length > 0) {
            System.out.println("ready");
            while (System.in.read() >= 0) { }
        }
    }
}`})
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		rec := filepath.Join(t.TempDir(), "rec.json")
		if code, _, stderr := command("run", "--root", "Sessions.fill", "--count", "allocations", "-o", rec, "--", j.Java(), "-cp", dir, "Sessions"); code != 0 {
			t.Fatalf("code %d: %s", code, stderr)
		}
		p := jvmtest.Start(t, j, []string{"-Xmx64m", "-XX:+UseSerialGC"}, "Sessions", []string{"stay"}, dir)
		p.WaitLine("ready")
		r, _ := heapReport(t, fmt.Sprint(p.PID()), "--allocations", rec, "--top", "0")
		want := []heap.Site{
			{Method: "Sessions.open()V", Context: []string{"Sessions.fill()V", "Sessions.login()V", "Sessions.open()V"}, Objects: 1000},
			{Method: "Sessions.open()V", Context: []string{"Sessions.fill()V", "Sessions.restore()V", "Sessions.open()V"}, Objects: 500},
		}
		same := func(what string, a *heap.Allocated, objects int64) {
			t.Helper()
			if a == nil || objects != 1500 || a.Objects != 1500 || len(a.Top) != 2 {
				t.Fatalf("%s: %d objects, %+v", what, objects, a)
			}
			for i, w := range want {
				if got := a.Top[i]; got.Method != w.Method || got.Objects != w.Objects || strings.Join(got.Context, " ") != strings.Join(w.Context, " ") {
					t.Errorf("%s: %+v", what, got)
				}
			}
		}
		for _, c := range r.Classes {
			if c.Class == "Sessions$Session" {
				same("the class", c.Allocated, c.Objects)
			}
		}
		if len(r.Suspects) == 0 || !strings.HasPrefix(r.Suspects[0].Class, "Sessions") {
			t.Fatalf("suspects %+v", r.Suspects)
		}
		found := 0
		for _, k := range r.Suspects[0].Parts {
			if k.Class == "Sessions$Session" {
				same("the suspect", k.Allocated, k.Objects)
				found++
			}
		}
		if found != 1 || r.Allocations != rec {
			t.Errorf("parts %+v, by %s", r.Suspects[0].Parts, r.Allocations)
		}
		page := filepath.Join(t.TempDir(), "heap.html")
		if code, _, stderr := heapCommand(fmt.Sprint(p.PID()), "--allocations", rec, "-o", page); code != 0 {
			t.Fatalf("code %d: %s", code, stderr)
		}
		if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), `"allocated_by":{"objects":1500`) {
			t.Errorf("%v: the page doesn't have who allocated", err)
		}
	}, 8, 11, 17, 21, 25)
	for _, args := range [][]string{{"--histogram", "--allocations", "x.json", "4711"}, {"--allocations", "no-such.json", "x.hprof"}} {
		if code, _, stderr := heapCommand(args...); code != 2 {
			t.Errorf("%q: code %d: %s", args, code, stderr)
		}
	}
}

package session_test

import (
	"archive/zip"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// record runs one session of some root invocations.
func record(t *testing.T, p *jvmtest.Proc, rec session.Recording) {
	t.Helper()
	s := attached(t, p)
	start(t, s, rec)
	finish(t, s)
}

var loadRoot = session.Recording{Roots: []string{"t.Load.root"}, UntilCalls: 100}

// TestLeftovers attaches ten times, on two JDKs four times: each time everything goes that is not on
// the list of promise 3, and reflection sees what it saw before.
func TestLeftovers(t *testing.T) {
	dir := compiled(t, []string{"-parameters"}, "Load")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Load", nil)
		p.Send("reflect")
		before := p.WaitLine("REFLECT")
		if !strings.Contains(before, "second") {
			t.Fatalf("no parameter names to begin with: %s", before)
		}
		_, names := traces(p.PID())
		var second [3]int
		last := 4
		if j.Version == 17 {
			last = 10
		}
		for i := 1; i <= last; i++ {
			rec := loadRoot
			rec.Scheme = string("AB"[i%2])
			s := attached(t, p)
			start(t, s, rec)
			finish(t, s)
			gone(t, p.PID(), patient)
			if i == 2 {
				second[0], second[1], second[2] = numbers(t, p.PID())
			}
		}
		fds, maps, threads := numbers(t, p.PID())
		t.Logf("second attach: %v descriptors, mappings, threads; last: %d %d %d", second, fds, maps, threads)
		// The JVM maps heap and code as it likes, and a command's socket may be
		// open at the moment.
		if fds > second[0]+2 || threads > second[2]+2 || maps > second[1]+40 {
			t.Errorf("the last attach holds more than the second: %d descriptors, %d mappings, %d threads, then %v", fds, maps, threads, second)
		}
		p.Send("reflect")
		if after := p.WaitLine("REFLECT"); after != before {
			t.Errorf("reflection saw\n%s\nand now sees\n%s", before, after)
		}
		if left := ours(t, p.PID()); len(left) > 0 {
			t.Errorf("objects of ours after a collection: %q", left)
		}
		// Sessions of other tests have files there, too, until they end.
		_, now := traces(p.PID())
		for _, n := range now {
			if !slices.Contains(names, n) && !strings.Contains(n, "boot") {
				until(t, "file "+n+" is gone", patient, func() bool {
					_, err := os.Stat(n)
					return err != nil
				})
			}
		}
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}, 8, 17, 25)
}

// captureJar makes an agent jar of Capture.java.
func captureJar(t *testing.T) string {
	t.Helper()
	dir := sources(t, "Capture")
	file := filepath.Join(t.TempDir(), "capture.jar")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	class, err := os.ReadFile(filepath.Join(dir, "t", "Capture.class"))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]string{
		"META-INF/MANIFEST.MF": "Manifest-Version: 1.0\r\nAgent-Class: t.Capture\r\nPremain-Class: t.Capture\r\nCan-Retransform-Classes: true\r\n\r\n",
		"t/Capture.class":      string(class),
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(b))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

func loadAgent(t *testing.T, p *jvmtest.Proc, jar, options string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	vm, err := attach.Open(ctx, p.PID())
	if err == nil {
		err = vm.LoadAgent(ctx, jar, options)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// restored compares what another agent sees of classes' bytes before and after
// a session.
func restored(t *testing.T, j jvmtest.JDK, p *jvmtest.Proc, jar, options string, rec session.Recording) (before, after string) {
	t.Helper()
	digest := func() string {
		loadAgent(t, p, jar, options)
		return p.WaitLine("DIGEST")
	}
	before = digest()
	if !strings.Contains(before, "=") {
		t.Fatalf("no class was seen: %s", before)
	}
	record(t, p, rec)
	after = digest()
	switch {
	case after == before:
	case j.Version == 17 || j.Version == 21:
		// These merge constant pools in such a way that a class that was
		// redefined and redefined back keeps an unused constant or two,
		// whoever does it. It must not grow with each session.
		record(t, p, rec)
		if again := digest(); again != after {
			t.Errorf("before\n%s\nafter a session\n%s\nafter another\n%s", before, after, again)
		}
	default:
		t.Errorf("before a session\n%s\nafter it\n%s", before, after)
	}
	return before, after
}

// TestBytesRestored has another agent look at the bytes of the classes before
// and after a session, and in a JVM that never saw one.
func TestBytesRestored(t *testing.T) {
	t.Parallel()
	dir := compiled(t, []string{"-parameters"}, "Load")
	jar := captureJar(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Load", nil)
		before, after := restored(t, j, p, jar, "digest", loadRoot)
		p = program(t, j, dir, "Load", nil)
		record(t, p, loadRoot)
		loadAgent(t, p, jar, "digest")
		if first := p.WaitLine("DIGEST"); first != after {
			t.Logf("without a session\n%s\nafter the first\n%s", before, first)
		}
	})
}

// TestBootBytesRestored does so with classes of the bootstrap loader: those by
// which reflection and tasks are followed, and opened ones.
func TestBootBytesRestored(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Load")
	jar := captureJar(t)
	rec := loadRoot
	rec.Follow = true
	if err := rec.Filter.Add("java.util.*Map", true); err != nil {
		t.Fatal(err)
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Load", nil)
		before, _ := restored(t, j, p, jar, "digest java.lang.reflect.Method,java.lang.reflect.Constructor,java.lang.Thread,java.util.TreeMap,java.util.HashMap", rec)
		if n := strings.Count(before, "="); n < 3 { // a TreeMap may not be loaded
			t.Errorf("only %d classes: %s", n, before)
		}
	}, 8, 17, 25)
}

package session_test

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// A lockCase is a case of Locks.java, and what is recorded of it.
type lockCase struct {
	name    string
	want    map[string]int64
	stalled bool // the agent's thread gets stuck, once
}

var lockCases = []lockCase{
	{"transformer", map[string]int64{"root": 3, "locked": 1, "First.one": 1, "again": 2, "Third.three": 2, "Fourth.four": 2}, true},
	{"loader", map[string]int64{"root": 1, "far": 1, "Far1.call": 1, "Far2.work": 1}, false},
	{"parallel", map[string]int64{"root": 1, "far": 1, "Far1.call": 1, "Far2.work": 1}, false},
	{"init", map[string]int64{"root": 1, "init": 1, "Init.<clinit>": 1, "Init.helper": 1, "Init.get": 1}, false},
	{"verifier", map[string]int64{
		"root": 4, "verified": 2, "Base.make": 2, "Base.grow": 2, "Base.<init>": 2, "Sub.<init>": 2,
		"linked": 2, "Base2.make": 2, "Base2.grow": 2, "Base2.<init>": 2, "Sub2.<init>": 2,
	}, false},
}

// TestLocks records threads that hold locks which classes are loaded, initialized
// and transformed under. It never hangs: what can't be had is said.
func TestLocks(t *testing.T) {
	t.Parallel()
	dir, jar := locks(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for _, c := range lockCases {
			for _, virtual := range []bool{false, true} {
				switch {
				case virtual != (j.Version == 21):
					continue
				case j.Version == 8 && c.name != "parallel" && c.name != "verifier", j.Version == 21 && c.name != "transformer" && c.name != "init" && c.name != "verifier":
					continue // these take seconds, in all
				}
				for _, scheme := range []string{"B", "C"} {
					c := c
					c.stalled = c.stalled && scheme == "B" // C has done it before
					t.Run(fmt.Sprint(c.name, map[bool]string{true: "-virtual"}[virtual], "-", scheme), func(t *testing.T) {
						var options []string
						args := []string{c.name}
						if virtual {
							args = append(args, "virtual")
							options = append(options, "-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1")
						}
						if c.name == "transformer" {
							options = append(options, "-javaagent:"+jar)
						}
						lockRun(t, jvmtest.Start(t, j, options, "t.Locks", args, dir), c, scheme)
					})
				}
			}
		}
	}, 8, 17, 21)
}

// TestLocksArchived does the same with classes from an archive, which were
// verified when it was made.
func TestLocksArchived(t *testing.T) {
	t.Parallel()
	_, jar := locks(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		tmp := t.TempDir()
		archive, list, log := filepath.Join(tmp, "app.jsa"), filepath.Join(tmp, "list"), filepath.Join(tmp, "log")
		if j.Version < 13 {
			dump(t, j, "-Xshare:off", "-XX:DumpLoadedClassList="+list, "-cp", jar, "t.Locks", "init")
			dump(t, j, "-Xshare:dump", "-XX:SharedClassListFile="+list, "-XX:SharedArchiveFile="+archive, "-cp", jar)
		} else {
			dump(t, j, "-XX:ArchiveClassesAtExit="+archive, "-cp", jar, "t.Locks", "init")
		}
		if _, err := os.Stat(archive); err != nil {
			t.Skipf("this JDK makes no archive of classes: %v", err)
		}
		lockRun(t, jvmtest.Start(t, j, []string{"-XX:SharedArchiveFile=" + archive, "-Xlog:class+load:file=" + log}, "t.Locks", []string{"init"}, jar), lockCases[3], "B")
		b, err := os.ReadFile(log)
		if err != nil || !strings.Contains(string(b), "t.Locks$Slow source: shared objects file") {
			t.Errorf("the classes did not come from the archive: %v", err)
		}
	}, 11, 17)
}

// dump runs a JVM to its end, with a program that reads a line.
func dump(t *testing.T, j jvmtest.JDK, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	cmd := exec.CommandContext(ctx, j.Java(), args...)
	cmd.Stdin = strings.NewReader("go\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func lockRun(t *testing.T, p *jvmtest.Proc, c lockCase, scheme string) {
	p.WaitLine("READY")
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	s, err := session.Attach(ctx, p.PID(), session.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // after Finish it does nothing
	if err := s.Start(ctx, session.Recording{Roots: []string{"t.Locks.root"}, Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	barks := time.AfterFunc(patient, p.Kill)
	p.Send("go")
	p.WaitLine("OK")
	barks.Stop()
	r, err := s.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		m, _ := r.Lookup(f.Method)
		name, _, _ := strings.Cut(strings.TrimPrefix(m.Name, "t.Locks"), "(")
		got[strings.TrimLeft(name, ".$")] += f.Calls
	}
	for name, n := range c.want {
		if got[name] != n {
			t.Errorf("%s: %d calls, want %d (all: %v)", name, got[name], n, got)
		}
	}
	notes := strings.Join(r.Notes, "\n")
	if stuck := strings.Contains(notes, "stuck when it redefined"); stuck != c.stalled || (r.Tree.Incomplete > 0) != c.stalled {
		t.Errorf("incomplete %d, notes %q", r.Tree.Incomplete, notes)
	}
	p.CloseStdin()
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// locks compiles Locks.java and packs it as an agent and as the program.
func locks(t *testing.T) (dir, jar string) {
	t.Helper()
	source, err := os.ReadFile("testdata/Locks.java")
	if err != nil {
		t.Fatal(err)
	}
	dir = jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"t/Locks.java": string(source)})
	jar = filepath.Join(t.TempDir(), "locks.jar")
	f, err := os.Create(jar)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	w, err := z.Create("META-INF/MANIFEST.MF")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, "Manifest-Version: 1.0\r\nPremain-Class: t.Locks\r\nCan-Retransform-Classes: true\r\n\r\n")
	if err := z.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, jar
}

package session_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/session/sessiontest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestOtherAgents records while other agents retransform the same classes: one
// that was there before, one that comes meanwhile, one that touches ours.
func TestOtherAgents(t *testing.T) {
	t.Parallel()
	dir, jar := compiled(t, []string{"-parameters"}, "Load"), captureJar(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Load", []string{"-javaagent:" + jar + "=stay"})
		for _, scheme := range []string{"A", "B"} {
			s := attached(t, p)
			start(t, s, session.Recording{Roots: loadRoot.Roots, Scheme: scheme, UntilCalls: 4000})
			for _, what := range []string{"touch", "stay", "touch"} {
				loadAgent(t, p, jar, what)
			}
			r := finish(t, s)
			got := calls(r)
			n := got["Load.root"]
			wantCalls(t, r, map[string]int64{"Load.fib": 565 * n, "Load.catcher": 40 * n, "Load.thrower": 40 * n, "Load.lambdas": 20 * n, "Load$Square.<init>": 2 * n})
			if n < 4000 {
				t.Errorf("%d root calls", n)
			}
			gone(t, p.PID(), patient)
		}
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

// TestRefusedClass has a class that the JVM refuses to retransform: it is
// listed, and the others are recorded.
func TestRefusedClass(t *testing.T) {
	t.Parallel()
	dir, jar := sources(t, "Traps"), captureJar(t)
	src, err := os.ReadFile("testdata/Traps.java")
	if err != nil {
		t.Fatal(err)
	}
	other := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"t/Traps.java": strings.Replace(string(src), "//EXTRA", "public int extra() { return 1; }", 1)})
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for _, scheme := range []string{"A", "B"} {
			p := program(t, j, dir, "Traps", []string{"-javaagent:" + jar + "=swap " + filepath.Join(other, "t", "Traps$Grown.class")}, "refused")
			s := attached(t, p)
			start(t, s, session.Recording{Roots: []string{"t.Traps.grown"}, Scheme: scheme})
			p.Send("go")
			p.WaitLine("OK")
			r := stopped(t, s)
			exact(t, r)
			wantCalls(t, r, map[string]int64{"Traps.grown": 3, "Traps.calm": 6 + 3, "Traps$Inner.leaf": 6})
			listed := false
			for _, k := range r.Skipped {
				listed = listed || strings.HasPrefix(k.Method, "t.Traps$Grown.m") && k.Reason != ""
			}
			if !listed {
				t.Errorf("the refused class is not among %v", r.Skipped)
			}
			p.Send("end")
			if code := p.Wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		}
	})
}

// TestParameterNamesKept has a class with names of parameters whose file can't
// be had: where the JVM would lose them it is left alone. Those before JDK 19 do, but
// later updates of JDK 17 don't (JDK-8240908).
func TestParameterNamesKept(t *testing.T) {
	t.Parallel()
	dir := compiled(t, []string{"-parameters"}, "Traps")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Traps", nil, "island")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Traps$Island.enter"}})
		p.Send("go")
		p.WaitLine("OK")
		r := stopped(t, s)
		if j.Version >= 19 || j.Version == 17 && len(r.Skipped) == 0 {
			wantCalls(t, r, map[string]int64{"Traps$Island.enter": 1, "Traps$Island.work": 4})
		} else if len(r.Skipped) == 0 || !strings.Contains(r.Skipped[0].Reason, "parameters") {
			t.Errorf("skipped: %v", r.Skipped)
		}
	}, 8, 17, 21)
}

// inNamespace starts a program in namespaces of its own.
func inNamespace(t *testing.T, j jvmtest.JDK, dir string, unshare []string, before, class string, args ...string) *jvmtest.Proc {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root for namespaces")
	}
	script := fmt.Sprintf(`%s; exec "$0" "$@"`, before)
	line := append(append([]string{}, unshare...), "sh", "-c", script, j.Java(), "-Xshare:auto", "-cp", dir, "t."+class)
	p := jvmtest.StartCmd(t, exec.Command("unshare", append(line, args...)...))
	p.WaitLine("READY")
	return p
}

// TestSmallSharedMemory has /dev/shm too small for anything, and large enough
// to begin with.
func TestSmallSharedMemory(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Traps")
	mount := func(size string) string { return "mount -t tmpfs -o size=" + size + " tmpfs /dev/shm" }
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := inNamespace(t, j, dir, []string{"-m"}, mount("2m"), "Traps", "bushy")
		ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
		defer cancel()
		if s, err := session.Attach(ctx, p.PID(), session.Config{}); err == nil {
			t.Error("2 MB suffice")
			s.Close()
		} else if !strings.Contains(err.Error(), "shm") {
			t.Errorf("2 MB: %v", err)
		}
		p.Send("go")
		p.WaitLine("OK")

		p = inNamespace(t, j, dir, []string{"-m"}, mount("8m"), "Traps", "bushy")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Traps.left"}})
		if out, err := exec.Command("nsenter", "-t", fmt.Sprint(p.PID()), "-m", "sh", "-c", "head -c 20M /dev/zero > /dev/shm/full; ls -la /dev/shm/full").CombinedOutput(); err != nil {
			t.Logf("filling the rest: %v %s", err, out)
		}
		p.Send("go")
		p.WaitLine("OK")
		r := stopped(t, s)
		if r.Tree.Overflow == 0 {
			t.Error("no overflow")
		}
		t.Logf("overflow %d of %d calls", r.Tree.Overflow, 3*(1<<19-1))
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}, 8, 17, 25)
}

// TestTimeNamespace has the target's clock a million seconds ahead, and behind.
func TestTimeNamespace(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Traps")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for _, ahead := range []string{"1000000", "-100"} {
			p := inNamespace(t, j, dir, []string{"-T", "--monotonic", ahead}, "true", "Traps", "init")
			s := attached(t, p)
			start(t, s, session.Recording{Roots: []string{"t.Traps.init"}})
			p.Send("go")
			p.WaitLine("OK")
			time.Sleep(1500 * time.Millisecond) // the heartbeat is on the right clock
			r := stopped(t, s)
			exact(t, r)
			wantCalls(t, r, map[string]int64{"Traps.init": 6})
			var self int64
			for _, n := range r.Tree.Roots() {
				self += n.Total
			}
			if r.Ended != "stopped" || self < int64(200*time.Millisecond) || self > int64(time.Hour) || r.Time > time.Hour {
				t.Errorf("%s: %v inside, %v in all, ended: %s", ahead, time.Duration(self), r.Time, r.Ended)
			}
		}
	}, 8, 25)
}

// TestRun starts programs through a script that starts another JVM first.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Traps")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		named := filepath.Join(t.TempDir(), "room")
		script := filepath.Join(t.TempDir(), "start.sh")
		text := "#!/bin/sh\nenv | grep -o '/tmp/.rivulet-run-[0-9a-f]*' | head -1 >" + named + "\n" +
			"java -version 2>/dev/null\njava \"$@\" || exit 9\njava -version 2>/dev/null || exit 8\nexit 7\n"
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		file := sessiontest.Binary(t)
		report := filepath.Join(t.TempDir(), "report.json")
		cmd := exec.Command(file, "run", "--root", "t.Traps.init", "--format", "json", "-o", report, "--", script, "-cp", dir, "t.Traps", "init")
		cmd.Env = append(os.Environ(), "JAVA_HOME="+j.Home, "PATH="+filepath.Join(j.Home, "bin")+":"+os.Getenv("PATH"), "JDK_JAVA_OPTIONS=-Dsome=thing")
		p := jvmtest.StartCmd(t, cmd)
		p.WaitLine("READY")
		p.Send("go")
		p.WaitLine("OK")
		p.Send("end")
		if code := p.Wait(); code != 7 {
			t.Errorf("exit code %d: %s", code, p.Stderr())
		}
		b, err := os.ReadFile(report)
		if err != nil || !strings.Contains(string(b), `"t.Traps.init()I","loader":"app","calls":6`) {
			t.Errorf("report: %v %.600s", err, b)
		}
		room, _ := os.ReadFile(named)
		if _, err := os.Stat(strings.TrimSpace(string(room))); len(room) == 0 || !os.IsNotExist(err) {
			t.Errorf("the room %q: %v", room, err)
		}

		c := rivulet(t, "run", "--root", "t.Traps.init", "--", "sh", "-c", "exit 5")
		if code := c.Wait(); code != 5 {
			t.Errorf("a program without a JVM: exit code %d, %s", code, c.Stderr())
		}
	}, 8, 11, 17, 25)
}

// TestDiagnose has roots that record nothing, for each reason there is.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Load")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Load", nil)
		for _, c := range []struct{ root, want, hint string }{
			{"t.Load.work", "is running in thread", "t.Load.root"},
			{"t.Load.reflect", "has not been called", ""},
			{"t.Load$Late.area", "is not loaded yet", ""},
		} {
			s := attached(t, p)
			start(t, s, session.Recording{Roots: []string{c.root}})
			time.Sleep(100 * time.Millisecond)
			ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
			if text := s.Diagnose(ctx); !strings.Contains(text, c.want) || !strings.Contains(text, c.hint) {
				t.Errorf("%s: %q", c.root, text)
			}
			cancel()
			stopped(t, s)
		}
		// A class that is not loaded yet is recorded from its first call.
		q := program(t, j, dir, "Load", nil, "later")
		s := attached(t, q)
		start(t, s, session.Recording{Roots: []string{"t.Load$Late.area"}, UntilCalls: 5})
		q.Send("late")
		r := finish(t, s)
		wantCalls(t, r, map[string]int64{"Load$Late.area": 5, "Load.fib": 75})
	}, 8, 17, 25)
}

package attach

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestMain lets the test binary act as another program: a tool of another user,
// a listener, or a process with certain files mapped.
func TestMain(m *testing.M) {
	role, arg, _ := strings.Cut(os.Getenv("ATTACH_TEST_ROLE"), "=")
	switch role {
	case "":
		flag.Parse()
		if p := flag.Lookup("test.parallel"); p.Value.String() == fmt.Sprint(runtime.GOMAXPROCS(0)) {
			_ = p.Value.Set("6") // these tests mostly wait
		}
		code := m.Run()
		if work != "" {
			os.RemoveAll(work)
		}
		os.Exit(code)
	case "open":
		pid, _ := strconv.Atoi(arg)
		ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
		defer cancel()
		vm, err := Open(ctx, pid)
		if err == nil {
			_, err = vm.Execute(ctx, "properties")
		}
		fmt.Println("open:", kindOf(err), "/", err)
		p, err := Inspect(pid)
		fmt.Println("inspect:", p.Attachable, p.Main, "/", p.Reason, "/", err)
	case "listen":
		l, err := net.Listen("unix", arg)
		fmt.Println("up", l, err)
		io.Copy(io.Discard, os.Stdin)
	case "map":
		for _, name := range strings.Split(arg, ":") {
			f, err := os.Open(name)
			if err == nil {
				_, err = unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE)
			}
			if err != nil {
				fmt.Println(err)
			}
		}
		fmt.Println("up")
		io.Copy(io.Discard, os.Stdin)
	}
}

// role prepares a command that runs this binary in a role.
func role(name, arg string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "ATTACH_TEST_ROLE="+name+"="+arg)
	return cmd
}

func kindOf(err error) string {
	var e *Error
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &e):
		return e.Kind.Error()
	}
	return "untyped"
}

// eachJDK runs f in parallel on every JDK of at least the given version.
func eachJDK(t *testing.T, least int, f func(t *testing.T, j jvmtest.JDK)) {
	var versions []int
	for _, v := range jvmtest.Versions {
		if v >= least {
			versions = append(versions, v)
		}
	}
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		f(t, j)
	}, versions...)
}

var (
	work      string
	buildOnce sync.Once
	buildErr  error
)

// classes compiles testdata once, into a directory that everybody may read,
// and packs agent.jar and noagent.jar there.
func classes(t testing.TB) string {
	t.Helper()
	sources := map[string]string{}
	for _, name := range []string{"Target.java", "Agent.java"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sources[name] = string(b)
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, sources)
	buildOnce.Do(func() { buildErr = pack(dir) })
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return work
}

func pack(dir string) (err error) {
	if work, err = os.MkdirTemp("/tmp", "attach-test-"); err != nil {
		return err
	}
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		return err
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	class, err := os.ReadFile(filepath.Join(work, "Agent.class"))
	if err != nil {
		return err
	}
	for name, manifest := range map[string]string{"agent.jar": "Agent-Class: Agent\n", "noagent.jar": ""} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, _ := z.Create("META-INF/MANIFEST.MF")
		io.WriteString(w, "Manifest-Version: 1.0\n"+manifest)
		w, _ = z.Create("Agent.class")
		w.Write(class)
		if err := z.Close(); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A target is a running test program.
type target struct {
	*jvmtest.Proc
	t   testing.TB
	pid int
	dir string
}

// launch starts a command, whose process ends with the test.
func launch(t testing.TB, cmd *exec.Cmd) *target {
	t.Helper()
	if cmd.Dir == "" {
		cmd.Dir = t.TempDir()
	}
	p := jvmtest.StartCmd(t, cmd)
	tg := &target{p, t, p.PID(), cmd.Dir}
	t.Cleanup(func() { // a killed JVM leaves its socket behind
		p.CloseStdin() // for a JVM that is not p itself but its child
		p.Kill()
		os.Remove(tg.socket())
	})
	return tg
}

// java prepares a command that runs Target.
func java(t testing.TB, j jvmtest.JDK, options ...string) *exec.Cmd {
	t.Helper()
	return exec.Command(j.Java(), append(options, "-cp", classes(t), "Target", "one", "two words")...)
}

// start launches Target and waits until it is up.
func start(t testing.TB, j jvmtest.JDK, options ...string) *target {
	t.Helper()
	tg := launch(t, java(t, j, options...))
	tg.WaitLine("up")
	return tg
}

func (tg *target) socket() string { return fmt.Sprintf("/tmp/.java_pid%d", tg.pid) }
func (tg *target) out() string    { return strings.Join(tg.Stdout(), "\n") }
func (tg *target) err() string    { return strings.Join(tg.Stderr(), "\n") }

// awaitState waits until the kernel says that a process is in a state, as a letter of proc(5).
func awaitState(t testing.TB, pid int, state byte) {
	t.Helper()
	for over := time.Now().Add(jvmtest.Patience); ; time.Sleep(5 * time.Millisecond) {
		s, err := readStatus(pid)
		if err == nil && s.state == state {
			return
		}
		if time.Now().After(over) {
			t.Fatalf("state %c, want %c (%v)", s.state, state, err)
		}
	}
}

func (tg *target) awaitState(state byte) {
	tg.t.Helper()
	awaitState(tg.t, tg.pid, state)
}

// unharmed fails the test if the target died, printed a thread dump, or has a
// trigger file left.
func (tg *target) unharmed() {
	tg.t.Helper()
	time.Sleep(50 * time.Millisecond)
	if !tg.Running() {
		tg.t.Errorf("target has ended")
	}
	if strings.Contains(tg.out(), "Full thread dump") {
		tg.t.Errorf("target printed a thread dump")
	}
	for _, dir := range []string{"/tmp", tg.dir} {
		if _, err := os.Lstat(filepath.Join(dir, triggerName(tg.pid))); err == nil {
			tg.t.Errorf("trigger left in %s", dir)
		}
	}
}

func open(t testing.TB, pid int) *VM {
	t.Helper()
	vm, err := Open(deadline(t, jvmtest.Patience), pid)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

func deadline(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// wantErr checks the kind of an error and that it names pid and way out.
func wantErr(t testing.TB, err, kind error, pid int) {
	t.Helper()
	var e *Error
	if !errors.Is(err, kind) || !errors.As(err, &e) {
		t.Fatalf("error %v, want %v", err, kind)
	}
	if s := err.Error(); !strings.HasPrefix(s, fmt.Sprintf("pid %d: ", pid)) || strings.Contains(s, "\n") {
		t.Errorf("error is not one line about pid %d: %q", pid, s)
	}
	t.Log(err)
}

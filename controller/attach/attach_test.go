package attach

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestAttach goes through the whole protocol on every JDK.
func TestAttach(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j, "-Xmx64m")
		p, err := Inspect(tg.pid)
		if err != nil || !p.Attachable || p.Err != nil {
			t.Fatalf("Inspect: %+v, %v", p, err)
		}
		if p.Major() != j.Version || p.Main != "Target" || p.Args != "one two words" || !strings.Contains(p.VM, "VM") {
			t.Errorf("Inspect: %+v", p)
		}
		if d := time.Since(p.Started); d < 0 || d > 20*time.Second {
			t.Errorf("started %v ago", d)
		}
		ctx := deadline(t, 30*time.Second)
		vm := open(t, tg.pid)
		r, err := vm.Execute(ctx, "properties")
		if err != nil || r.Code != 0 || !strings.Contains(r.Text, "java.version="+p.JavaVersion) {
			t.Errorf("properties: %v %.300v", err, r)
		}
		if s, err := vm.ThreadDump(ctx); err != nil || !strings.Contains(s, `"rivulet-agent"`) {
			t.Errorf("thread dump: %v %.300s", err, s)
		}
		flags, err := vm.Flags(ctx)
		if f := flags["MaxHeapSize"]; err != nil || f.Value != "67108864" || f.Kind != "product" || j.Version > 8 && f.Origin != "command line" {
			t.Errorf("flags: %v, %d of them, MaxHeapSize %+v", err, len(flags), f)
		}
		if r, err = vm.Execute(ctx, "nonsense"); err != nil || r.Code != -1 {
			t.Errorf("unknown command: %v, %v", r, err)
		}
		_, err = vm.command(ctx, "jcmd", "No.such")
		wantErr(t, err, ErrRejected, tg.pid)
		if c, err := Counters(tg.pid); err != nil || c["sun.rt.javaCommand"] != "Target one two words" || c["sun.rt.createVmEndTime"].(int64) == 0 {
			t.Errorf("counters: %v, %d of them", err, len(c))
		}
		open(t, tg.pid)
		tg.unharmed()
	})
}

// TestLimits checks that what the protocol can't carry is not sent: a listener
// that reads too much writes an error to the target's output.
func TestLimits(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		vm, ctx := open(t, tg.pid), deadline(t, 30*time.Second)
		for _, bad := range [][]string{
			{strings.Repeat("c", 17)},
			{"properties", strings.Repeat("a", 1025)},
			{"properties", "1", "2", "3", "4"},
		} {
			r, err := vm.Execute(ctx, bad[0], bad[1:]...)
			if j.Version >= 24 {
				if err != nil {
					t.Errorf("version 2 of %.20q: %v", bad, err)
				}
				continue
			}
			wantErr(t, err, ErrTooLong, tg.pid)
			if r != (Reply{}) {
				t.Errorf("reply with an error: %v", r)
			}
		}
		_, err := vm.Execute(ctx, "properties", strings.Repeat("a", 300<<10))
		wantErr(t, err, ErrTooLong, tg.pid)
		_, err = vm.Execute(ctx, "jcmd", "a\x00b")
		wantErr(t, err, ErrRejected, tg.pid)
		if r, err := vm.Execute(ctx, "jcmd", "VM.version"+strings.Repeat(" ", 1014)); err != nil || r.Code != 0 {
			t.Errorf("argument of 1024 bytes: %v, %v", r, err)
		}
		tg.unharmed()
		if s := tg.out() + tg.err(); s != "up" {
			t.Errorf("target printed %q", s)
		}
	})
}

// TestLoadAgent decodes every result of loading.
func TestLoadAgent(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		vm, ctx := open(t, tg.pid), deadline(t, 30*time.Second)
		dir := classes(t)
		warn, err := vm.DynamicAgentWarning(ctx)
		if err != nil || warn != (j.Version >= 21) {
			t.Errorf("warning foretold: %v, %v", warn, err)
		}
		if err := vm.LoadAgent(ctx, dir+"/agent.jar", "hello=1"); err != nil {
			t.Error(err)
		}
		tg.WaitLine("agent:hello=1")
		if s := tg.err(); strings.Contains(s, "WARNING") != warn {
			t.Errorf("warning was foretold as %v, got %q", warn, s)
		}
		for _, c := range []struct {
			jar, options string
			code         int
		}{
			{dir + "/missing.jar", "", agentBadJar},
			{dir + "/noagent.jar", "x", agentBadJar},
			{dir + "/agent.jar", "boom", agentStartError},
			{"relative.jar", "", 0},
			{"/tmp/a=b.jar", "", 0},
		} {
			err := vm.LoadAgent(ctx, c.jar, c.options)
			wantErr(t, err, ErrRejected, tg.pid)
			var e *Error
			if errors.As(err, &e); e.Code != c.code {
				t.Errorf("%s: code %d, want %d", c.jar, e.Code, c.code)
			}
		}
		// The listener is busy with agentmain; waiting for it ends in time.
		slow := make(chan error)
		go func() { slow <- vm.LoadAgent(ctx, dir+"/agent.jar", "slow") }()
		time.Sleep(300 * time.Millisecond)
		_, err = vm.Execute(deadline(t, 300*time.Millisecond), "properties")
		wantErr(t, err, ErrNoAnswer, tg.pid)
		if err := <-slow; err != nil {
			t.Error(err)
		}
		tg.unharmed()
	})
}

// TestAgentsDisabled: commands work, agents don't, from any origin of the flag.
func TestAgentsDisabled(t *testing.T) {
	eachJDK(t, 11, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j, "-XX:-EnableDynamicAgentLoading")
		p, err := Inspect(tg.pid)
		if err != nil || p.Attachable {
			t.Errorf("Inspect: %+v, %v", p, err)
		}
		wantErr(t, p.Err, ErrAgentsDisabled, tg.pid)
		vm, ctx := open(t, tg.pid), deadline(t, 20*time.Second)
		_, err = vm.DynamicAgentWarning(ctx)
		wantErr(t, err, ErrAgentsDisabled, tg.pid)
		wantErr(t, vm.LoadAgent(ctx, classes(t)+"/agent.jar", ""), ErrAgentsDisabled, tg.pid)
		r, err := vm.Execute(ctx, "load", "instrument", "false", classes(t)+"/agent.jar")
		if err != nil {
			t.Fatal(err)
		}
		wantErr(t, vm.agentError("x.jar", r), ErrAgentsDisabled, tg.pid)
		tg.unharmed()
	})
}

// TestWarningOrigin: only the command line silences the warning of JDK 21.
func TestWarningOrigin(t *testing.T) {
	eachJDK(t, 21, func(t *testing.T, j jvmtest.JDK) {
		for _, c := range []struct {
			env, option string
			warn        bool
		}{
			{"JAVA_TOOL_OPTIONS=-XX:+EnableDynamicAgentLoading", "-Xmx64m", true},
			{"JDK_JAVA_OPTIONS=-XX:+EnableDynamicAgentLoading", "-Xmx64m", false},
			{"A=b", "-XX:+EnableDynamicAgentLoading", false},
		} {
			cmd := java(t, j, c.option)
			cmd.Env = append(os.Environ(), c.env)
			tg := launch(t, cmd)
			tg.WaitLine("up")
			vm, ctx := open(t, tg.pid), deadline(t, 20*time.Second)
			warn, err := vm.DynamicAgentWarning(ctx)
			if err != nil || warn != c.warn {
				t.Errorf("%v: foretold %v, %v", c, warn, err)
			}
			if err := vm.LoadAgent(ctx, classes(t)+"/agent.jar", ""); err != nil {
				t.Error(err)
			}
			if s := tg.err(); strings.Contains(s, "WARNING: A Java agent") != c.warn {
				t.Errorf("%v: printed %q", c, s)
			}
		}
	})
}

// TestDisabled: a JVM with attach disabled answers SIGQUIT with a thread dump,
// so it must not get one, wherever the flag stands.
func TestDisabled(t *testing.T) {
	const flag = "-XX:+DisableAttachMechanism"
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		dir := t.TempDir()
		argFile, flagsFile := filepath.Join(dir, "args"), filepath.Join(dir, "flags")
		os.WriteFile(argFile, []byte("# comment\n\"-Xmx64m\" "+flag+"\n"), 0o644)
		os.WriteFile(flagsFile, []byte("+DisableAttachMechanism\n"), 0o644)
		for _, c := range []struct {
			env     string
			options []string
			least   int
		}{
			{"", []string{flag}, 8},
			{"", []string{flag, "-XX:-UsePerfData"}, 8},
			{"", []string{"-XX:Flags=" + flagsFile, "-XX:-UsePerfData"}, 8},
			{"JAVA_TOOL_OPTIONS=" + flag, nil, 8},
			{"JAVA_TOOL_OPTIONS=" + flag, []string{"-XX:-UsePerfData"}, 8},
			{"_JAVA_OPTIONS=" + flag, []string{"-XX:+PerfDisableSharedMem"}, 8},
			{"JDK_JAVA_OPTIONS=-Xmx64m " + flag, []string{"-XX:-UsePerfData"}, 11},
			{"", []string{"@" + argFile, "-XX:-UsePerfData"}, 11},
		} {
			if j.Version < c.least {
				continue
			}
			cmd := java(t, j, c.options...)
			cmd.Env = append(os.Environ(), c.env)
			tg := launch(t, cmd)
			tg.WaitLine("up")
			_, err := Open(deadline(t, 10*time.Second), tg.pid)
			wantErr(t, err, ErrAttachDisabled, tg.pid)
			p, err := Inspect(tg.pid)
			if err != nil || p.Attachable || p.Main != "Target" || p.Major() != j.Version {
				t.Errorf("Inspect: %+v, %v", p, err)
			}
			tg.unharmed()
		}
	})
}

// TestNoPerfData: JVMs without hsperfdata, or whose file a cleaner removed.
func TestNoPerfData(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		for _, option := range []string{"-XX:-UsePerfData", "-XX:+PerfDisableSharedMem", "-Dcleaned=1"} {
			tg := start(t, j, option)
			if option == "-Dcleaned=1" {
				l, err := readLayout(tg.pid)
				if err != nil || os.Remove(l.perf.path) != nil {
					t.Fatal(err, l)
				}
			}
			vm := open(t, tg.pid)
			p := vm.Process()
			if p.Major() != j.Version || p.Main != "Target" || p.Args != "one two words" {
				t.Errorf("%s: %+v", option, p)
			}
			if _, err := vm.Execute(deadline(t, 10*time.Second), "properties"); err != nil {
				t.Error(err)
			}
			tg.unharmed()
		}
	})
}

// TestJustStarted attaches while the JVM has not installed its handler yet, at
// various points of its start-up.
func TestJustStarted(t *testing.T) {
	runs := 8 // on each of five JDKs
	if testing.Short() {
		runs = 3
	}
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		for i := range runs {
			options := []string{"-Dx=1"}
			if i%4 == 3 {
				options = []string{"-XX:-UsePerfData"}
			}
			tg := launch(t, java(t, j, options...))
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
			vm, err := Open(deadline(t, 20*time.Second), tg.pid)
			if err != nil {
				t.Errorf("run %d: %v", i, err)
			} else if r, err := vm.Execute(deadline(t, 10*time.Second), "properties"); err != nil || r.Code != 0 {
				t.Errorf("run %d: %v %v", i, err, r.Code)
			}
			tg.WaitLine("up")
			tg.unharmed()
			if t.Failed() {
				return
			}
		}
	})
}

// TestNoWait proves the need for settle: it is SigCgt that tells.
func TestNoWait(t *testing.T) {
	tg := launch(t, java(t, jvmtest.Any(t)))
	defer tg.unharmed()
	st, err := readStatus(tg.pid)
	if err != nil {
		t.Fatal(err)
	}
	if st.catchesQuit() {
		t.Skip("the JVM was faster")
	}
	tg.WaitLine("up")
	if st, _ = readStatus(tg.pid); !st.catchesQuit() {
		t.Error("SIGQUIT is not caught by a running JVM")
	}
}

func TestReducedSignals(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j, "-Xrs")
		vm := open(t, tg.pid)
		if _, err := vm.Execute(deadline(t, 10*time.Second), "properties"); err != nil {
			t.Error(err)
		}
		if err := os.Remove(tg.socket()); err != nil {
			t.Fatal(err)
		}
		_, err := Open(deadline(t, 10*time.Second), tg.pid)
		wantErr(t, err, ErrNoSocket, tg.pid)
		tg.unharmed()
	})
}

// TestCleanedSocket: cleaners of /tmp delete the socket of a listening JVM.
func TestCleanedSocket(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		vm := open(t, tg.pid)
		socket := tg.socket()
		for _, stale := range []bool{false, true} {
			os.Remove(socket)
			if stale { // a socket on which nobody listens
				l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
				if err != nil {
					t.Fatal(err)
				}
				l.SetUnlinkOnClose(false)
				l.Close()
			}
			if _, err := vm.Execute(deadline(t, 10*time.Second), "properties"); err != nil {
				t.Errorf("stale %v: %v", stale, err)
			}
			tg.unharmed()
		}
	})
}

// TestManyAtOnce: tools that shake hands at the same time.
func TestManyAtOnce(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				vm, err := Open(deadline(t, 20*time.Second), tg.pid)
				if err == nil {
					_, err = vm.Execute(deadline(t, 20*time.Second), "properties")
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		tg.unharmed()
	})
}

func TestNotJVM(t *testing.T) {
	t.Parallel()
	_, err := Open(deadline(t, 5*time.Second), 1<<30)
	wantErr(t, err, ErrNoProcess, 1<<30)
	_, err = Inspect(-1)
	wantErr(t, err, ErrNoProcess, -1)
	me := os.Getpid() // a Go process, which catches SIGQUIT and dies of it
	_, err = Open(deadline(t, 5*time.Second), me)
	wantErr(t, err, ErrNotJVM, me)
	tg := launch(t, exec.Command("sleep", "100"))
	_, err = Open(deadline(t, 5*time.Second), tg.pid)
	wantErr(t, err, ErrNotJVM, tg.pid)
	tg.unharmed()
	if _, err := Counters(tg.pid); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("counters of sleep: %v", err)
	}
}

func TestStoppedAndExited(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		syscall.Kill(tg.pid, syscall.SIGSTOP)
		time.Sleep(20 * time.Millisecond)
		begin := time.Now()
		_, err := Open(deadline(t, 10*time.Second), tg.pid)
		wantErr(t, err, ErrStopped, tg.pid)
		if d := time.Since(begin); d > time.Second {
			t.Errorf("took %v", d)
		}
		syscall.Kill(tg.pid, syscall.SIGCONT)
		vm := open(t, tg.pid)
		syscall.Kill(tg.pid, syscall.SIGSTOP)
		time.Sleep(20 * time.Millisecond)
		_, err = vm.Execute(deadline(t, 5*time.Second), "properties")
		wantErr(t, err, ErrStopped, tg.pid)
		syscall.Kill(tg.pid, syscall.SIGCONT)
		tg.unharmed()

		go func() {
			time.Sleep(100 * time.Millisecond)
			tg.Kill()
		}()
		for err = nil; err == nil; {
			_, err = vm.Execute(deadline(t, 5*time.Second), "jcmd", "VM.flags -all")
		}
		wantErr(t, err, ErrExited, tg.pid)
		tg.Wait()
		_, err = Open(deadline(t, 5*time.Second), tg.pid)
		wantErr(t, err, ErrNoProcess, tg.pid)
	})
}

// TestStopRace attaches while a stop takes effect: a signal that the JVM only
// finds on continuing must still find its trigger.
func TestStopRace(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			time.Sleep(time.Duration(j.Version%5) * 500 * time.Microsecond)
			syscall.Kill(tg.pid, syscall.SIGSTOP)
		}()
		_, err := Open(deadline(t, 200*time.Millisecond), tg.pid)
		<-stop
		t.Log(err)
		if err != nil && !errors.Is(err, ErrStopped) {
			t.Errorf("got %v", err)
		}
		syscall.Kill(tg.pid, syscall.SIGCONT)
		time.Sleep(50 * time.Millisecond)
		open(t, tg.pid)
		if err != nil && strings.Contains(err.Error(), "stays in its /tmp") {
			os.Remove("/tmp/" + triggerName(tg.pid))
		}
		tg.unharmed()
	})
}

// TestZombie: a child that nobody waited for.
func TestZombie(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	time.Sleep(100 * time.Millisecond)
	_, err := Open(deadline(t, 5*time.Second), cmd.Process.Pid)
	wantErr(t, err, ErrExited, cmd.Process.Pid)
}

// TestCancel: the trigger goes when the context does.
func TestCancel(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p, err := Inspect(tg.pid)
		if err != nil {
			t.Fatal(err)
		}
		err = (&VM{proc: p}).listen(ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("listen: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
		tg.unharmed()
	})
}

// TestList finds every JVM once.
func TestList(t *testing.T) {
	t.Parallel()
	want := map[int]int{}
	for _, j := range jvmtest.JDKs(t) {
		want[start(t, j).pid] = j.Version
		want[start(t, j, "-XX:-UsePerfData").pid] = j.Version
	}
	list, err := List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if major, ok := want[p.PID]; ok {
			delete(want, p.PID)
			if p.Major() != major || p.Main != "Target" || !p.Attachable {
				t.Errorf("%+v", p)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

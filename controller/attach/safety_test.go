package attach

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

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
			_, err := Open(deadline(t, jvmtest.Patience), tg.pid)
			wantErr(t, err, ErrAttachDisabled, tg.pid)
			p, err := Inspect(tg.pid)
			if err != nil || p.Attachable || p.Main != "Target" || p.Major() != j.Version {
				t.Errorf("Inspect: %+v, %v", p, err)
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
			vm, err := Open(deadline(t, jvmtest.Patience), tg.pid)
			if err != nil {
				t.Fatalf("run %d: %v", i, err)
			}
			// Where it takes longer than startLimit to start, it may listen before it can answer.
			r, err := vm.Execute(deadline(t, jvmtest.Patience), "properties")
			tg.WaitLine("up")
			if err == nil && r.Code == -1 {
				r, err = vm.Execute(deadline(t, jvmtest.Patience), "properties")
			}
			if err != nil || r.Code != 0 {
				t.Errorf("run %d: %v %v", i, err, r.Code)
			}
			tg.unharmed()
			if t.Failed() {
				return
			}
		}
	})
}

// TestNoWait shows why Open waits: a JVM that has just started would die of SIGQUIT.
func TestNoWait(t *testing.T) {
	tg := launch(t, java(t, jvmtest.Any(t)))
	defer tg.unharmed()
	st, err := readStatus(tg.pid)
	if err != nil {
		t.Fatal(err)
	}
	if st.catchesQuit() {
		t.Log("the JVM was faster")
	}
	tg.WaitLine("up")
	if st, _ = readStatus(tg.pid); !st.catchesQuit() {
		t.Error("SIGQUIT is not caught by a running JVM")
	}
}

func TestStoppedAndExited(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		syscall.Kill(tg.pid, syscall.SIGSTOP)
		tg.awaitState('T')
		_, err := Open(t.Context(), tg.pid) // without a deadline: nothing is waited for
		wantErr(t, err, ErrStopped, tg.pid)
		syscall.Kill(tg.pid, syscall.SIGCONT)
		vm := open(t, tg.pid)
		syscall.Kill(tg.pid, syscall.SIGSTOP)
		tg.awaitState('T')
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
		_, err := Open(deadline(t, 3*time.Second), tg.pid)
		<-stop
		t.Log(err)
		if err != nil && !errors.Is(err, ErrStopped) {
			t.Errorf("got %v", err)
		}
		syscall.Kill(tg.pid, syscall.SIGCONT)
		time.Sleep(50 * time.Millisecond)
		open(t, tg.pid)
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
	awaitState(t, cmd.Process.Pid, 'Z')
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

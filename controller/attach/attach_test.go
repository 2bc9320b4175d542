package attach

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
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
		if d := time.Since(p.Started); d < 0 || d > jvmtest.Patience {
			t.Errorf("started %v ago", d)
		}
		ctx := deadline(t, jvmtest.Patience)
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
		if ok, err := HasThread(tg.pid, "rivulet-agent"); !ok || err != nil {
			t.Errorf("thread name not seen: %v, %v", ok, err)
		}
		if ok, err := HasThread(tg.pid, "rivulet"); ok || err != nil {
			t.Errorf("part of a thread name taken for it: %v, %v", ok, err)
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
		vm, ctx := open(t, tg.pid), deadline(t, jvmtest.Patience)
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
			if _, err := vm.Execute(deadline(t, jvmtest.Patience), "properties"); err != nil {
				t.Error(err)
			}
			tg.unharmed()
		}
	})
}

func TestReducedSignals(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j, "-Xrs")
		vm := open(t, tg.pid)
		if _, err := vm.Execute(deadline(t, jvmtest.Patience), "properties"); err != nil {
			t.Error(err)
		}
		if err := os.Remove(tg.socket()); err != nil {
			t.Fatal(err)
		}
		_, err := Open(deadline(t, jvmtest.Patience), tg.pid)
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
			if _, err := vm.Execute(deadline(t, jvmtest.Patience), "properties"); err != nil {
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
				vm, err := Open(deadline(t, jvmtest.Patience), tg.pid)
				if err == nil {
					_, err = vm.Execute(deadline(t, jvmtest.Patience), "properties")
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

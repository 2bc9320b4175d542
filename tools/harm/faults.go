package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A fault is one row of the table.
type fault struct {
	name, does string
	run        func(*round) error
	needs      func() error // why it can't be injected here, nil if it can
	flags      []string     // of the JVM
	private    bool         // the target has /tmp and /dev/shm of its own
	shmMB      int          // that is so big; 0 for 64
	most       int          // newest JDK that has it, 0 for all
	refuses    bool         // a recording may be refused for it
	loses      bool         // root calls may be missing: a known limit, in docs/reliability.md
	cut        bool         // root calls end by exceptions at places of which the program knows nothing

	why     error // it was left out
	outcome outcome
}

// faults are all of them, those of the controller first.
var faults = []fault{
	{name: "kill", does: "controller: kill -9", run: killed},
	{name: "kill-leaving", does: "controller: kill -9 while it leaves", run: killedLeaving},
	{name: "stop", does: "controller: SIGSTOP for up to 4 s, then SIGCONT", run: stopped},
	{name: "term", does: "controller: SIGTERM, SIGHUP or SIGINT", run: terminated},
	{name: "terminal", does: "controller: its terminal is closed", run: hungUp},
	{name: "disk", does: "controller: the disk of its report is full", run: diskFull, needs: mounts},
	{name: "shm", does: "controller: /dev/shm gets full", run: shmFull, needs: mounts, private: true, shmMB: 24},
	{name: "descriptors", does: "controller: no more descriptors", run: descriptors},
	{name: "other", does: "controller: kill -9 of sample, heap, threads, locks, time", run: killedOthers},
	{name: "target-kill", does: "target: kill -9", run: targetKilled},
	{name: "target-end", does: "target: main returns", run: ends("", 0)},
	{name: "target-exit", does: "target: System.exit below the root", run: ends("exit", 7)},
	{name: "target-halt", does: "target: Runtime.halt below the root", run: ends("halt", 7)},
	{name: "huge", does: "target: OutOfMemoryError for an array, caught below the root", run: troubled("huge")},
	{name: "heap", does: "target: heap full, OutOfMemoryError anywhere", run: troubled("full"), cut: true, refuses: true},
	{name: "overflow", does: "target: StackOverflowError below the root", run: troubled("overflow")},
	{name: "throw", does: "target: exceptions out of the root", run: troubled("throw"), cut: true},
	{name: "interrupt", does: "target: interrupts of a thread below the root", run: troubled("waits")},
	{name: "thread-stop", does: "target: Thread.stop of a thread below the root", run: troubled("stop"), most: 17, cut: true, loses: true},
	{name: "fork", does: "target: fork and exec below the root", run: troubled("fork")},
	{name: "target-stop", does: "target: SIGSTOP for up to 4 s, then SIGCONT", run: targetStopped},
	{name: "sleep", does: "both: SIGSTOP for up to 4 s, as a machine that sleeps", run: bothStopped},
	{name: "target-descriptors", does: "target: no more descriptors", run: targetDescriptors},
	{name: "fifo-agent", does: "between: garbage in the FIFO to the agent", run: garbageToAgent},
	{name: "fifo-controller", does: "between: garbage in the FIFO to the controller", run: garbageToController},
	{name: "fifo-loss", does: "between: bytes of the FIFOs get lost", run: lost},
	{name: "data", does: "between: garbage in the data file of a target that is stopped, then killed", run: garbageInData},
	{name: "reaped", does: "between: /tmp is reaped", run: reaped, needs: mounts, private: true},
}

// mounts is nil if a target can have /tmp and /dev/shm of its own here.
var mounts = sync.OnceValue(func() error {
	if out, err := exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/tmp").CombinedOutput(); err != nil {
		return fmt.Errorf("can't mount a file system, which takes root: %w: %s", err, out)
	}
	return nil
})

// gone waits for a controller that was killed.
func (r *round) gone() error {
	if r.c.data == nil {
		r.c.find() //nolint:errcheck // it may have none yet
	}
	begin := time.Now()
	r.c.signal(unix.SIGKILL)
	r.t.jarStays = true
	if err := r.quiet(begin); err != nil {
		return err
	}
	if _, err := r.c.end(); err != nil && r.c.Cmd.ProcessState == nil {
		return err
	}
	if err := r.restore(begin, true); err != nil {
		return err
	}
	return r.after()
}

func killed(r *round) error {
	if err := r.moment(false); err != nil {
		return err
	}
	return r.gone()
}

func killedLeaving(r *round) error {
	if err := r.moment(true); err != nil {
		return err
	}
	r.c.signal(unix.SIGINT)
	r.wait(400 * time.Millisecond)
	return r.gone()
}

// leave ends a recording by a signal, or waits for its end, and looks at the report and at what
// is left. The exit code must be one of these.
func (r *round) leave(s unix.Signal, codes ...int) error {
	begin := time.Now()
	if s != 0 {
		r.c.signal(s)
	}
	code, err := r.c.end()
	if err != nil {
		return err
	}
	ok := false
	for _, c := range codes {
		ok = ok || c == code
	}
	if !ok {
		return fmt.Errorf("rivulet's exit code is %d: %s", code, r.c.Err.All())
	}
	if code == 0 {
		if err := r.kept(); err != nil {
			return err
		}
	}
	r.jar()
	return r.restore(begin, true)
}

// jar looks whether Rivulet has said that it leaves the boot jar: the JVM did not answer before Rivulet was to leave.
func (r *round) jar() {
	r.t.jarStays = r.t.jarStays || strings.Contains(r.c.Err.All(), "stays until the next recording ends")
}

func terminated(r *round) error {
	if err := r.moment(false); err != nil {
		return err
	}
	s := []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT}[r.rng.IntN(3)]
	codes := []int{0}
	if !r.recording {
		codes = []int{0, 1, -1} // before it has set the signal's handler, the signal kills
	}
	if err := r.leave(s, codes...); err != nil {
		return err
	}
	return r.after()
}

func stopped(r *round) error {
	if err := r.moment(false); err != nil {
		return err
	}
	for _, f := range []func() error{
		func() error { r.c.signal(unix.SIGSTOP); r.wait(4 * time.Second); r.c.signal(unix.SIGCONT); return nil },
		func() error { time.Sleep(300 * time.Millisecond); return nil },
		func() error { return r.leave(unix.SIGINT, 0, 1) },
		r.after,
	} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func targetStopped(r *round) error {
	if err := r.moment(false); err != nil {
		return err
	}
	unix.Kill(r.t.pid, unix.SIGSTOP) //nolint:errcheck // it is there
	r.wait(4 * time.Second)
	unix.Kill(r.t.pid, unix.SIGCONT) //nolint:errcheck // it is there
	time.Sleep(300 * time.Millisecond)
	if err := r.leave(unix.SIGINT, 0, 1); err != nil {
		return err
	}
	return r.after()
}

func bothStopped(r *round) error {
	if err := r.moment(false); err != nil {
		return err
	}
	first, second := r.c.pid, r.t.pid
	if r.rng.IntN(2) == 0 {
		first, second = second, first
	}
	unix.Kill(first, unix.SIGSTOP)  //nolint:errcheck // it is there
	unix.Kill(second, unix.SIGSTOP) //nolint:errcheck // it is there
	r.wait(4 * time.Second)
	unix.Kill(first, unix.SIGCONT) //nolint:errcheck // it is there
	r.wait(500 * time.Millisecond)
	unix.Kill(second, unix.SIGCONT) //nolint:errcheck // it is there
	time.Sleep(300 * time.Millisecond)
	if err := r.leave(unix.SIGINT, 0, 1); err != nil {
		return err
	}
	return r.after()
}

func targetKilled(r *round) error {
	if err := r.moment(false); err != nil {
		return err
	}
	r.t.Kill()
	return r.died()
}

// died waits for the end of both, and looks at the report.
func (r *round) died() error {
	r.t.Wait() //nolint:errcheck // how it ended is looked at by those who want a code
	code, err := r.c.end()
	switch {
	case err != nil:
		return err
	case r.recording && code != 0:
		return fmt.Errorf("rivulet's exit code is %d: %s", code, r.c.Err.All())
	case !r.recording && code != 0 && code != 1 && code != 2:
		return fmt.Errorf("rivulet's exit code is %d: %s", code, r.c.Err.All())
	}
	if err := r.kept(); err != nil {
		return err
	}
	return r.dead()
}

// ends has the program end by itself, with this code.
func ends(mode string, want int) func(*round) error {
	return func(r *round) error {
		if err := r.moment(false); err != nil {
			return err
		}
		command := "end"
		if mode != "" {
			command = "mode " + mode
		}
		if err := r.t.Send(command); err != nil {
			return err
		}
		if err := r.died(); err != nil {
			return err
		}
		if code := r.t.Cmd.ProcessState.ExitCode(); code != want {
			return fmt.Errorf("the program ended with %d instead of %d: %s", code, want, r.t.Err.All())
		}
		return nil
	}
}

// troubled has the program do something from a random moment on.
func troubled(mode string) func(*round) error {
	return func(r *round) error {
		first := r.rng.IntN(2) == 0
		if first {
			if err := r.t.Send("mode " + mode); err != nil {
				return err
			}
		}
		err := r.moment(false)
		if errors.Is(err, errRefused) && r.fault.refuses {
			if err := r.leave(0, 1); err != nil {
				return err
			}
			return r.after()
		}
		if err != nil {
			return err
		}
		if !first {
			if err := r.t.Send("mode " + mode); err != nil {
				return err
			}
		}
		r.wait(800 * time.Millisecond)
		if !r.fault.refuses { // else the recording may have ended when it began
			_, r.ended, _ = r.t.calls()
		}
		codes := []int{0}
		if !r.recording {
			codes = []int{0, 1, -1}
		}
		if err := r.leave(unix.SIGINT, codes...); err != nil {
			return err
		}
		return r.after()
	}
}

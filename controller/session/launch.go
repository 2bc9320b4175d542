package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/headroom"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// Stdio are a launched program's streams. Files are passed on as they are.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// A Launched is the session of a program that Rivulet started. Its main
// thread waits before the program's first instruction until Start has armed
// the roots.
type Launched struct {
	*Session
	cmd    *exec.Cmd
	exited chan struct{}
	code   int // valid when exited is closed

	began, came, went time.Time // was started, its JVM came, its main thread was let go
	left              time.Time // valid when exited is closed
}

// An ExitError reports a program that ended before a JVM of its came to the
// session. Code is its exit code.
type ExitError struct{ Code int }

func (e *ExitError) Error() string {
	return fmt.Sprintf("the program exited with code %d before a JVM of its could be profiled; is it a Java program, and does it pass JDK_JAVA_OPTIONS (on Java 8 JAVA_TOOL_OPTIONS) on?", e.Code)
}

// Launch starts a program and waits for the first JVM that it starts, itself
// or through scripts, to come to the session. JVMs without a main class, such
// as java -version, are let through.
func Launch(ctx context.Context, argv []string, std Stdio, cfg Config) (l *Launched, err error) {
	s, err := newSession(cfg, attach.Process{}, 0)
	if err != nil {
		return nil, err
	}
	l = &Launched{Session: s, exited: make(chan struct{})}
	s.start()
	l.cmd = command(argv, fmt.Sprintf("-javaagent:%s=%s", s.room.Boot, s.room.Dir))
	l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr = std.In, std.Out, std.Err
	l.began = time.Now()
	if err := headroom.Start(l.cmd); err != nil {
		s.abort(err)
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	go func() {
		defer close(l.exited)
		l.code = ExitCode(l.cmd.Wait())
		l.left = time.Now()
		os.RemoveAll(s.room.Dir) // nobody looks for the boot jar any more
	}()
	s.running = func() bool {
		select {
		case <-l.exited:
			return false
		default:
			return true
		}
	}
	if err := l.awaitJVM(ctx); err != nil {
		s.abort(err)
		return nil, err
	}
	l.came = time.Now()
	s.room.Unlink(true)
	return l, s.mirrorClasses(ctx, &stepLog{s.log, l.came})
}

// awaitJVM waits for the agent's hello for as long as the program runs.
func (l *Launched) awaitJVM(ctx context.Context) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		var pid int
		if err := l.do(ctx, func() { pid = l.loop.pid }); err != nil {
			return err
		}
		if pid != 0 {
			if p, err := attach.Inspect(pid); err == nil || p.JavaVersion != "" {
				if err := l.do(ctx, func() {
					l.proc = p
					if slices.Contains(p.Options, "-Xint") { // the counters don't say so yet
						l.loop.calibrator.Interprets()
					}
				}); err != nil {
					return err
				}
			}
			l.watchLife(pid)
			l.watchMemory(pid)
			return nil
		}
		if text := l.room.AgentError(); text != "" {
			first, _, _ := strings.Cut(text, "\n")
			l.log.Error("agent failed to start", "trace", text)
			return fmt.Errorf("the agent failed to start: %s", first)
		}
		select {
		case <-tick.C:
		case <-l.exited:
			return &ExitError{Code: l.code}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Start arms the roots and lets the program run.
func (l *Launched) Start(ctx context.Context, rec Recording) error {
	if err := l.Session.Start(ctx, rec); err != nil {
		return err
	}
	return l.letGo(ctx)
}

// letGo has the program's main thread go on.
func (l *Launched) letGo(ctx context.Context) error {
	l.went = time.Now()
	return l.do(ctx, func() { l.loop.send(&link.Go{}) })
}

// Signal sends the program a signal.
func (l *Launched) Signal(sig os.Signal) error { return l.cmd.Process.Signal(sig) }

// Exited is closed when the program has ended.
func (l *Launched) Exited() <-chan struct{} { return l.exited }

// ExitCode is the program's, once it has ended: 128 and the signal's number
// if one ended it.
func (l *Launched) ExitCode() int { return l.code }

// ExitCode is the exit code of a program whose Run or Wait returned err: 128 and
// the signal's number if one ended it, 1 if it could not be run.
func ExitCode(err error) int {
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &e):
		return 1
	}
	if st, ok := e.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return 128 + int(st.Signal())
	}
	return e.ExitCode()
}

// abandonPatience is how long a program has to end after a SIGTERM.
const abandonPatience = 3 * time.Second

// Abandon ends the program, the JVM as well as what was started, which may be a
// script, and then the session.
func (l *Launched) Abandon() {
	end := func(sig syscall.Signal) {
		_ = l.Signal(sig) // an error means that it is gone already
		if pid := l.Target().PID; pid > 0 {
			_ = syscall.Kill(pid, sig)
		}
	}
	end(syscall.SIGTERM)
	defer l.Close() //nolint:errcheck // why it was abandoned is what the user hears
	select {
	case <-l.exited:
	case <-time.After(abandonPatience):
		end(syscall.SIGKILL)
	}
}

// Ran is how long the program ran, without the time for which its start was held
// back, once it has ended: what it took until its JVM came to the session, and
// from when it went on to its end.
func (l *Launched) Ran() time.Duration { return l.came.Sub(l.began) + l.left.Sub(l.went) }

// StartTiming arms the roots of a timing and lets the program run.
func (l *Launched) StartTiming(ctx context.Context, t Timing) error {
	if err := l.Session.StartTiming(ctx, t); err != nil {
		return err
	}
	return l.letGo(ctx)
}

// command gives the agent to a java launcher as its first argument, and to
// anything else through the environment variable that the java at hand reads.
func command(argv []string, agent string) *exec.Cmd {
	if b := filepath.Base(argv[0]); b == "java" {
		return exec.Command(argv[0], append([]string{agent}, argv[1:]...)...)
	}
	name := "JDK_JAVA_OPTIONS"
	if j, ok := javaAtHand(); ok && j.Version < 9 {
		name = "JAVA_TOOL_OPTIONS"
	}
	value := agent
	if old := os.Getenv(name); old != "" {
		value = old + " " + agent
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), name+"="+value)
	return cmd
}

// javaAtHand is the JDK that a script is likely to start.
func javaAtHand() (jdk.JDK, bool) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		if j, err := jdk.At(home); err == nil {
			return j, true
		}
	}
	return jdk.Default()
}

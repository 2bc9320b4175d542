package session

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// CompareRuns runs a program without a profiler, then with its roots timed
// alone, then once by each scheme, each time from its beginning to its end, and
// yields the columns of papers/002, Tables 1 and 2. Each run reads std.In, so that
// should be nothing, or a file that does not matter. When ctx ends, so does the
// program that is running. Errors are those of Launch and Start, and a program
// that can't be started; what was compared before is returned with them.
func CompareRuns(ctx context.Context, argv []string, std Stdio, c Comparing) (*export.Comparison, error) {
	out := &export.Comparison{Command: argv, Clock: clockOf(c.Clock)}
	c.Wait = true // any class may still come
	c.say("running without a profiler")
	whole, code, err := runBare(ctx, argv, std)
	if err != nil {
		return nil, err
	}
	out.Whole = &whole
	if code != 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("The program ended with code %d.", code))
	}
	check := func(l *Launched, what string) {
		if l.code != code {
			out.Notes = append(out.Notes, fmt.Sprintf("%s the program ended with code %d, without a profiler with %d.", what, l.code, code))
		}
	}

	c.say("running with the roots timed alone")
	l, err := c.launch(ctx, argv, std, func(l *Launched) error {
		return l.StartTiming(ctx, Timing{Roots: c.Roots, Wait: true})
	})
	if err != nil {
		return nil, err
	}
	timing, err := l.FinishTiming(ctx)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	out.Root = timing.Bare()
	check(l, "With the roots timed")

	for _, name := range c.Schemes {
		c.say("running by scheme %s", name)
		begin := time.Now()
		var armed time.Duration
		l, err := c.launch(ctx, argv, std, func(l *Launched) error {
			err := l.Start(ctx, c.scheme(name))
			armed = time.Since(begin)
			return err
		})
		if err != nil {
			return c.sofar(out, name, err)
		}
		r, err := l.Finish(ctx)
		if err != nil {
			return c.sofar(out, name, errors.Join(err, l.Close()))
		}
		ran := l.Ran()
		c.add(out, r, armed).Whole = &ran
		check(l, "By scheme "+name)
	}
	c.judge(out)
	return out, nil
}

// launch runs a program to its end, with what start begins on. The session is
// then to be finished.
func (c *Comparing) launch(ctx context.Context, argv []string, std Stdio, start func(*Launched) error) (*Launched, error) {
	l, err := Launch(ctx, argv, std, c.Config)
	if err != nil {
		return nil, err
	}
	if err := start(l); err != nil {
		l.Abandon()
		return nil, err
	}
	if err := c.await(ctx, l.Session, 0, l.exited); err != nil {
		l.Abandon()
		return nil, err
	}
	select {
	case <-l.exited:
		return l, nil
	case <-ctx.Done():
		l.Abandon()
		return nil, ctx.Err()
	}
}

// runBare runs a program as it is.
func runBare(ctx context.Context, argv []string, std Stdio) (took time.Duration, code int, err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = abandonPatience
	cmd.Stdin, cmd.Stdout, cmd.Stderr = std.In, std.Out, std.Err
	begin := time.Now()
	err = cmd.Run()
	took = time.Since(begin)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, 0, ctx.Err()
	case err != nil && !errors.As(err, &exit):
		return 0, 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	return took, exitCode(err), nil
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

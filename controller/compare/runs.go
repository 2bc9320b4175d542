package compare

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/headroom"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// Runs runs a program without a profiler, then with its roots timed
// alone, then once by each scheme, each time from its beginning to its end, and
// yields the columns of Dmitriev, "Design of JFluid", Tables 1 and 2. Each run reads std.In, so that
// should be nothing, or a file that does not matter. When ctx ends, so does the
// program that is running. Errors are those of [session.Launch] and
// [session.Session.Start], and a program
// that can't be started; what was compared before is returned with them.
func Runs(ctx context.Context, argv []string, std session.Stdio, c Options) (*export.Comparison, error) {
	out := &export.Comparison{Command: attach.Mask(argv), Clock: clockOf(c.Clock)}
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
	check := func(l *session.Launched, what string) {
		if l.ExitCode() != code {
			out.Notes = append(out.Notes, fmt.Sprintf("%s the program ended with code %d, without a profiler with %d.", what, l.ExitCode(), code))
		}
	}

	c.say("running with the roots timed alone")
	l, err := c.launch(ctx, argv, std, func(l *session.Launched) error {
		return l.StartTiming(ctx, session.Timing{Roots: c.Roots, Wait: true})
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
		l, err := c.launch(ctx, argv, std, func(l *session.Launched) error {
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
func (c *Options) launch(ctx context.Context, argv []string, std session.Stdio, start func(*session.Launched) error) (*session.Launched, error) {
	l, err := session.Launch(ctx, argv, std, c.Config)
	if err != nil {
		return nil, err
	}
	if err := start(l); err != nil {
		l.Abandon()
		return nil, err
	}
	if err := c.await(ctx, l.Session, 0, l.Exited()); err != nil {
		l.Abandon()
		return nil, err
	}
	select {
	case <-l.Exited():
		return l, nil
	case <-ctx.Done():
		l.Abandon()
		return nil, ctx.Err()
	}
}

// bareWait is how long a program that runs without a profiler has to end after
// a SIGTERM.
const bareWait = 3 * time.Second

// runBare runs a program as it is.
func runBare(ctx context.Context, argv []string, std session.Stdio) (took time.Duration, code int, err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = bareWait
	cmd.Stdin, cmd.Stdout, cmd.Stderr = std.In, std.Out, std.Err
	begin := time.Now()
	if err = headroom.Start(cmd); err == nil {
		err = cmd.Wait()
	}
	took = time.Since(begin)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, 0, ctx.Err()
	case err != nil && !errors.As(err, &exit):
		return 0, 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	return took, session.ExitCode(err), nil
}

package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// found is how many methods find lists.
const found = 30

func find(ctx context.Context, c *Console, out io.Writer, args []string) error {
	best, count := c.live.Search(ctx, strings.Join(args, " "), found)
	if count == 0 {
		return fmt.Errorf("no loaded method matches; a class that is not loaded yet can hold a root all the same")
	}
	for _, m := range best {
		line := m.Name
		if m.Reason != "" {
			line += "  (" + m.Reason + ")"
		}
		fmt.Fprintln(out, export.Clean(line))
	}
	if more := count - len(best); more > 0 {
		fmt.Fprintf(out, "and %s\n", export.Plural(int64(more), "more", "more"))
	}
	return nil
}

func roots(_ context.Context, c *Console, out io.Writer, args []string) error {
	for _, text := range args {
		if err := c.AddRoot(text); err != nil {
			return err
		}
	}
	if len(args) == 0 {
		for _, r := range c.Settings().Roots {
			fmt.Fprintln(out, export.Clean(r))
		}
	}
	return nil
}

func unroot(_ context.Context, c *Console, _ io.Writer, args []string) error {
	if args[0] == "all" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.set.Roots = nil
		return nil
	}
	if !c.DropRoot(args[0]) {
		return wrong("%q is no root; root lists them", args[0])
	}
	return nil
}

// rule adds a rule of the filter.
func rule(prefix string) func(context.Context, *Console, io.Writer, []string) error {
	return func(_ context.Context, c *Console, _ io.Writer, args []string) error {
		return c.Set(spec.Find("filter"), prefix+strings.Join(args, ""))
	}
}

func filters(_ context.Context, c *Console, out io.Writer, args []string) error {
	if len(args) > 0 && args[0] != "clear" {
		return wrong("filters %q: there is only clear", args[0])
	}
	return c.option(spec.Find("filter"), out, args)
}

// option shows an option of the next recording, or sets it.
func (c *Console) option(o *spec.Option, out io.Writer, args []string) error {
	if len(args) > 0 {
		return c.Set(o, args[0])
	}
	next := c.Settings()
	if !o.IsList() {
		fmt.Fprintln(out, export.Clean(o.Get(&next)))
		return nil
	}
	for _, value := range o.List(&next) {
		fmt.Fprintln(out, export.Clean(value))
	}
	return nil
}

// switched is the command of an option that can be changed while a recording is on.
func switched(name string, set func(*Console, context.Context, string) error) func(context.Context, *Console, io.Writer, []string) error {
	return func(ctx context.Context, c *Console, out io.Writer, args []string) error {
		if len(args) == 0 || args[0] == "clear" {
			return c.option(spec.Find(name), out, args)
		}
		return set(c, ctx, args[0])
	}
}

func start(ctx context.Context, c *Console, out io.Writer, args []string) error {
	if len(args) > 0 {
		before := c.Settings().Roots
		c.mu.Lock()
		c.set.Roots = nil
		c.mu.Unlock()
		if err := roots(ctx, c, out, args); err != nil {
			c.mu.Lock()
			c.set.Roots = before
			c.mu.Unlock()
			return err
		}
	}
	if len(args) > 0 && c.live.Phase() == live.InRecording {
		return c.live.Do(ctx, "roots", strings.Join(c.Settings().Roots, "\n"))
	}
	return c.Start(ctx)
}

func do(action string) func(context.Context, *Console, io.Writer, []string) error {
	return func(ctx context.Context, c *Console, _ io.Writer, _ []string) error {
		return c.live.Do(ctx, action, "")
	}
}

func stop(ctx context.Context, c *Console, _ io.Writer, _ []string) error { return c.live.Stop(ctx) }

// lookEvery is how often wait looks.
const lookEvery = 50 * time.Millisecond

func wait(ctx context.Context, c *Console, _ io.Writer, args []string) error {
	switch {
	case args[0] == "end" && len(args) == 1:
		if p := c.live.Phase(); p != live.InRecording && p != live.Stopping && p != live.Stopped {
			return wrong("nothing is being recorded; start begins")
		}
		return until(ctx, 0, func() (bool, error) { return c.live.Phase() == live.Stopped, nil })
	case args[0] == "calls" && len(args) > 1:
		return waitCalls(ctx, c, args[1:])
	case len(args) == 1:
		d, err := time.ParseDuration(args[0])
		if err != nil || d <= 0 {
			break
		}
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return wrong("give a time such as 5s, end, or calls N")
}

func waitCalls(ctx context.Context, c *Console, args []string) error {
	n, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || n <= 0 {
		return wrong("%q is no number of calls", args[0])
	}
	var most time.Duration
	if len(args) > 1 {
		if most, err = time.ParseDuration(args[1]); err != nil || most <= 0 {
			return wrong("%q is no time such as 5s", args[1])
		}
	}
	got := int64(0)
	err = until(ctx, most, func() (bool, error) {
		over := c.live.Phase() != live.InRecording
		if _, err := c.live.RecentReport(ctx); err != nil {
			return false, err
		}
		if f := c.live.State().Figures; f != nil {
			got = f.Calls
		}
		if over && got < n {
			return false, fmt.Errorf("nothing is being recorded any more, and only %s are", export.Plural(got, "call", "calls"))
		}
		return got >= n, nil
	})
	if errors.Is(err, errLate) {
		return fmt.Errorf("after %v there are only %s", most, export.Plural(got, "call", "calls"))
	}
	return err
}

var errLate = errors.New("too late")

// until looks again and again, for at most so long; 0 is for ever.
func until(ctx context.Context, most time.Duration, done func() (bool, error)) error {
	begin := time.Now()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if most > 0 && time.Since(begin) >= most {
			return errLate
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func quit(context.Context, *Console, io.Writer, []string) error { return ErrQuit }

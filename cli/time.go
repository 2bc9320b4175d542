package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

func (a *app) time() *cobra.Command {
	f := newRecordFlags()
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "time PID --root CLASS.METHOD[(DESC)RET]",
		Short: "Time single methods of a running JVM: count, mean, percentiles, nothing beneath",
		Long: `Attaches to a running JVM and instruments entry and exit of the root methods,
and nothing that they call: the program runs at its own speed except for two clock
readings an invocation. Shows for each method how often it ended, how often by
an exception, and total, shortest, mean and longest time and percentiles.

Only invocations that begin and end while timing count. Of a recursive method
each invocation is timed by itself, so the outer ones contain the inner ones and
the total can exceed the time that passed. Times are wall-clock times: waiting
counts. An interface's method stands for all its implementations, also those
that are loaded later; each has its own row.

Without --for and --until-calls it times until Ctrl-C, which detaches cleanly,
reports, and exits 0. A second Ctrl-C no longer waits for the target.`,
		Example: `  rivulet time 4711 --root shop.orders.OrderService.process --for 10s
  rivulet time 4711 --root shop.Price.of --root shop.Stock.take --until-calls 10000
  rivulet time 4711 --root 'shop.Cache.<init>' --json -o cache.json --for 1m
  rivulet time 4711 --root shop.payment.Payment.pay      # an interface: a row each`,
		Args: takes(1, "PID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := parsePID(args[0])
			if err != nil {
				return err
			}
			if err := f.asJSON(cmd, asJSON); err != nil {
				return err
			}
			if err := f.check(cmd); err != nil {
				return err
			}
			return a.timeRunning(pid, f)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.addOptions(fs, "root")
	fs.DurationVar(&f.length, "for", 0, "time for this `time`, such as 10s (default: until Ctrl-C)")
	f.addOptions(fs, "until-calls")
	fs.StringVar(&f.format, "format", "text", "`text` or json")
	fs.BoolVar(&asJSON, "json", false, "short for --format json")
	f.addYes(fs)
	fs.StringVarP(&f.file, "output", "o", "", "write the report to this `file`")
	f.addOptions(fs, "wait")
	return cmd
}

func (a *app) timeRunning(pid int, f *recordFlags) error {
	return a.with(f.file, a.stdout, func(in *interrupts, out *output) error { return a.timeOn(in, out, pid, f) })
}

func (a *app) timeOn(in *interrupts, out *output, pid int, f *recordFlags) error {
	if err := a.askFlush(in, pid, f.yes); err != nil {
		return err
	}
	s, m, err := a.attachShown(in, pid, a.config(0))
	if err != nil {
		return err
	}
	defer m.stop()
	if err := armBy(in, s, m, func(ctx context.Context) error {
		return s.StartTiming(ctx, session.Timing{Roots: f.rec.Roots, UntilCalls: f.rec.UntilCalls, Wait: f.rec.Wait})
	}); err != nil {
		return err
	}
	m.armed()
	await(s, m, f.length, in.first)
	r, notes, failed := finishBy(in, s, m, s.FinishTiming)
	if r == nil {
		return failed
	}
	r.Notes = append(r.Notes, notes...)
	if r.Ended != "" {
		a.say("%s after %s", oneLine(r.Ended), export.Duration(int64(r.Time.Round(time.Millisecond))))
	}
	if err := out.write(func(w io.Writer) error {
		if f.format == "json" {
			return r.JSON(w)
		}
		return r.Text(w, hasColor(out.w))
	}); err != nil {
		return errors.Join(failed, err)
	}
	if out.path != "" {
		a.say("report written to %s", out.path)
	}
	return failed
}

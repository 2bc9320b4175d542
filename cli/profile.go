package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

func (a *app) profile() *cobra.Command {
	f := newRecordFlags()
	var dry bool
	var targets targetFlags
	cmd := &cobra.Command{
		Use:   "profile " + targetsUse + " --root CLASS.METHOD[(DESC)RET]",
		Short: "Record what a root method of a running JVM calls, and report",
		Long: `Attaches to a running JVM, instruments what the root method calls, records
until told to stop, silences all probes, reports, and has every class restored. Only
invocations of the root that begin while recording count.

A root may be a pattern of class and method, such as 'com.acme.*Service.find*':
all matching methods are roots then, those of classes loaded later included. With
--root auto ten seconds of samples choose it, as rivulet suggest does.

Without --for and --until-calls it records until Ctrl-C, which detaches cleanly,
reports, and exits 0. A second Ctrl-C no longer waits for the target.

With several PIDs, --match or --all the same roots are recorded in several JVMs at the same time, and
the reports are put together: those of one program in one tree, with columns that say what each process
has. A process that fails is named; the report is of the others, and the exit code 1.

--dry-run says what scheme A would instrument. For that the agent is loaded, lists
the classes, reads their files, and leaves; no class is redefined.

` + filterHelp,
		Example: `  rivulet profile 4711 --root shop.orders.OrderService.process --for 10s
  rivulet profile 4711 --root 'shop.Price.of(I)J' --root 'shop.Price.of(J)J' --until-calls 1000
  rivulet profile 4711 --root auto --for 10s
  rivulet profile --match 'main=*Order*' --root shop.orders.OrderService.process --for 10s
  rivulet profile 4711 --root shop.Main.loop --dry-run
  rivulet profile 4711 --root 'shop.**.*Service.find*' --for 10s
  rivulet profile 4711 --root shop.Front.serve --overhead 5% --for 1m
  rivulet profile 4711 --root 'shop.Outer$Inner.<init>' --scheme A
  rivulet profile 4711 --root shop.Main.loop --clock precise --until-calls 10
  rivulet profile 4711 --root shop.Main.loop --sample --for 10s
  rivulet profile 4711 --root shop.Main.loop --count heap --for 10s
  rivulet profile 4711 --root shop.Main.loop --warmup 5s --for 10s --mode 'shop.util.*=counted'
  rivulet profile 4711 --root shop.Main.loop --slowest 10 --over 50ms --trace timeline.json --for 1m
  rivulet profile 4711 --root shop.Main.loop --exclude 'shop.log.**' --exclude 'shop.**.get*' --for 10s
  rivulet profile 4711 --root shop.Main.loop --for 1m --count bytecodes --agent rates.star
  rivulet profile 4711 --root shop.Main.loop --for 1m --format json -o report.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			pids, err := targets.choose(cmd.Context(), a.backend, args)
			if err == nil {
				err = errors.Join(f.check(cmd), f.checkSamples(cmd))
			}
			if err != nil {
				return err
			}
			if len(pids) > 1 {
				if dry {
					return usage("--dry-run is of one JVM: give one PID")
				}
				return a.profileSeveral(pids, f)
			}
			pid := pids[0]
			if f.auto {
				if err := a.chooseRoot(pid, f); err != nil {
					return err
				}
			}
			if f.ui {
				return a.profileOnPage(pid, f)
			}
			if f.restore != restoreGently && f.restore != restoreNow {
				return usage("--restore %q: there is only %s and %s", f.restore, restoreGently, restoreNow)
			}
			if dry {
				return a.dryRun(cmd, pid, f)
			}
			return a.profileRunning(pid, f)
		},
	}
	f.add(cmd)
	f.allowAuto(cmd)
	f.allowSamples(cmd)
	targets.add(cmd.Flags())
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what --scheme A would instrument, and leave without redefining anything")
	f.addOptions(cmd.Flags(), "wait")
	cmd.Flags().StringVar(&f.restore, "restore", restoreGently, "`gently`: report at once, while the agent restores classes by itself; now: restore them first")
	f.addYes(cmd.Flags())
	cmd.Flags().BoolVar(&f.ui, "ui", false, "show the recording on a page while it goes on; the report comes at the end, by Ctrl-C")
	cmd.Flags().StringVar(&f.listen, "listen", defaultListen, "`ADDRESS:PORT` of the page, with --ui")
	addSnapshots(cmd.Flags(), &f.snapshots)
	return cmd
}

func parsePID(s string) (int, error) {
	pid, err := strconv.Atoi(s)
	if err != nil || pid <= 0 {
		return 0, usage("%q is not a process id; rivulet ps lists the JVMs and theirs", s)
	}
	return pid, nil
}

func (a *app) profileRunning(pid int, f *recordFlags) error {
	return a.with(f.file, a.stdout, func(in *interrupts, out *output) error {
		if _, err := out.format(f.format); err != nil {
			return err
		}
		defer f.discardMore()
		if err := f.openMore(a.stdout); err != nil {
			return err
		}
		if err := a.askFlush(in, pid, f.yes); err != nil {
			return err
		}
		cfg := a.config(f.rec.Memory)
		cfg.Observe = f.rec.Scheme == "D" || f.rec.Scheme == spec.SchemeAuto
		cfg.Gently = f.restore == restoreGently
		s, m, err := a.attachShown(in, pid, cfg)
		if err != nil {
			return err
		}
		defer m.stop()
		samples, err := a.openBeside(in.first, pid, f, s)
		defer samples.stop()
		if err != nil {
			return errors.Join(fmt.Errorf("--sample: %w", err), s.Close())
		}
		s = withAgents(s, f.agents.sources, m.say)
		if err := arm(in, s, m, f.rec); err != nil {
			return err
		}
		m.armed()
		if err := f.warm(s, m, in.first); err != nil {
			return errors.Join(err, s.Close())
		}
		samples.start()
		await(s, m, f.length, in.first)
		samples.stop()
		r, err := finish(in, s, m)
		samples.join(r)
		if err = a.deliver(r, err, f, out); err == nil {
			a.sayRestoring(in.second, pid)
		}
		return err
	})
}

// deliver writes the report. A report with an error is one that lacks
// something: it is written, and the command fails all the same.
func (a *app) deliver(r *export.Report, failed error, f *recordFlags, out *output) error {
	if r == nil {
		return failed
	}
	if r.Ended != "" {
		a.say("%s after %s", oneLine(r.Ended), export.Duration(int64(r.Time.Round(time.Millisecond))))
	}
	if err := f.report(r, out); err != nil {
		return errors.Join(failed, err)
	}
	if out.path != "" {
		a.say("report written to %s", out.path)
	}
	if f.timeline != nil && r.Timeline != nil {
		if err := a.writeTrace(r, f.timeline); err != nil {
			return errors.Join(failed, err)
		}
	}
	if f.streamed != nil && r.Stream != nil {
		if err := f.streamed.write(r.StreamText); err != nil {
			return errors.Join(failed, err)
		}
		if kept, left := r.Stream.Len(); f.streamed.path != "" {
			a.say("events written to %s: %s, and %s came after them", f.streamed.path, export.Plural(int64(kept), "event", "events"), export.Count(left))
		}
	}
	if slices.ContainsFunc(r.Agents, func(x export.Agent) bool { return x.Failed != "" }) {
		a.code = exitFailed
	}
	return failed
}

// writeTrace writes the timeline that a report has.
func (a *app) writeTrace(r *export.Report, out *output) error {
	err := out.write(r.Trace)
	if err == nil && out.path != "" {
		a.say("timeline written to %s: %s", out.path, r.Timeline.Summary())
	}
	return err
}

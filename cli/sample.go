package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/below"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// sampleFlags say what is sampled; sample, top and suggest have them.
type sampleFlags struct {
	hz      int
	wall    bool
	source  string
	threads string
	native  bool
	inlined bool
	frames  int
	lines   bool
	roots   []string
}

const (
	usualHz   = 99 // not 100, so that it keeps no step with a program's own timers
	mostHz    = 10000
	usualWall = 20
)

func (f *sampleFlags) add(fs *pflag.FlagSet) {
	fs.IntVar(&f.hz, "hz", 0, fmt.Sprintf("`N` samples a second of a thread's time, 1 to %d (default %d, with --wall %d)", mostHz, usualHz, usualWall))
	fs.BoolVar(&f.wall, "wall", false, "sample all threads, also those that wait, with what they wait for; else only time on a core")
	fs.StringVar(&f.source, "source", autoSource, "take samples by `SOURCE`: "+enumerate(sourceNames)+"; auto takes the first one that is possible")
	fs.StringVar(&f.threads, "threads", "", "sample threads whose name has this `PATTERN` in it, or matches it with * and ?")
	fs.BoolVar(&f.native, "native", false, "show functions of native code and of the kernel, too")
	fs.BoolVar(&f.inlined, "inlined", false, "give self time to inlined methods even if the JVM runs without -XX:+DebugNonSafepoints and only guesses which")
}

// options are what the flags ask for.
func (f *sampleFlags) options(cmd *cobra.Command) (o sampleOptions, err error) {
	changed := cmd.Flags().Changed
	switch {
	case changed("hz") && (f.hz < 1 || f.hz > mostHz):
		return o, usage("--hz %d: give a number from 1 to %d", f.hz, mostHz)
	case f.frames < 0:
		return o, usage("--frames %d: give a number of frames, or 0 for all", f.frames)
	case f.frames > 0 && len(f.roots) > 0:
		return o, usage("--root and --frames %d: whole stacks say what is below a root; give one of both", f.frames)
	}
	if err := checkSource(f.source, f.wall); err != nil {
		return o, err
	}
	if _, err := below.New(f.roots); err != nil {
		return o, usage("--root %w", err)
	}
	return f.plain(), nil
}

// plain is options of flags that were checked.
func (f *sampleFlags) plain() (o sampleOptions) {
	o.sampler.Hz, o.sampler.Wall, o.sampler.Native = f.hz, f.wall, f.native
	if f.source != "" && f.source != autoSource {
		o.sampler.Source = f.source
	}
	if f.hz == 0 {
		o.sampler.Hz = usualHz
		if f.wall {
			o.sampler.Hz = usualWall
		}
	}
	if f.threads != "" {
		o.sampler.Threads = wildcard(f.threads)
	}
	o.roots = f.roots
	o.tree.Depth, o.tree.Lines, o.tree.States, o.inlined = f.frames, f.lines, f.wall, f.inlined
	return o
}

// wildcard tells which names have a pattern in them, or match it where it has * or ?.
func wildcard(pattern string) func(string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return func(name string) bool { return strings.Contains(name, pattern) }
	}
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for _, r := range pattern {
		switch r {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String()).MatchString
}

func (a *app) sampleCommand() *cobra.Command {
	var f sampleFlags
	var v viewFlags
	var targets targetFlags
	var length time.Duration
	var asJSON, ui bool
	var listen string
	cmd := &cobra.Command{
		Use:   "sample " + targetsUse,
		Short: "Sample the stacks of a running JVM, or of several, from outside, and report",
		Long: `Samples the stacks of a JVM's threads from outside: no agent is loaded, nothing is
changed in the JVM, and nothing stays in it. The report says which methods take the
time, in which contexts, with the interval in which each share lies, and how many
activations of each were met: at least so often it is called. For exact counts below
one method see rivulet profile; rivulet suggest says which are worth it.

With --root only samples below a method are kept, as a recording has the calls below its
root: what a request does and waits for, without probes.

Without --for it samples until Ctrl-C, which reports and exits 0. With --ui a page in the
browser shows the tree while it grows, until Ctrl-C.

Several JVMs are sampled at the same time and put together, those of one program in one tree, with
columns that say what each process has: give several PIDs, --match or --all. A process that can't be
sampled is named; the report is of the others, and the exit code 1.

Time on a core is sampled by perf events. That needs the target's user, or root. Without
perf events, threads are stopped for each sample, by ptrace. Where neither is allowed, as in
some containers, the JVM itself samples, by a recording of Flight Recorder, which is
removed at the end; and where it has none, five thread dumps a second are taken. One line says
which it is, and why; --source chooses.`,
		Example: `  rivulet sample 4711 --for 10s
  rivulet sample 4711 --for 30s -o flame.html
  rivulet sample 4711 --ui
  rivulet sample 4711 --root shop.ItemAction.execute --wall --for 30s
  rivulet sample --match 'main=*Order*' --for 10s
  rivulet sample 4711 4712 4713 --for 10s --json
  rivulet sample 4711 --wall --threads 'http-*' --for 10s
  rivulet sample 4711 --for 30s --source jfr
  rivulet sample 4711 --hz 999 --lines --json -o samples.json
  rivulet sample 4711 --for 10s -o before.rivulet && rivulet view before.rivulet --ui
  rivulet diff before.rivulet after.rivulet`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			begun := time.Now()
			if asJSON {
				if v.format != "" && v.format != "json" {
					return usage("--json and --format %s: give one of both", v.format)
				}
				v.format = "json"
			}
			o, err := f.options(cmd)
			if err := errors.Join(err, v.check(), checkLength(cmd, length)); err != nil {
				return err
			}
			if !ui && cmd.Flags().Changed("listen") {
				return usage("--listen is the page's address: give --ui with it")
			}
			pids, err := targets.choose(cmd.Context(), a.backend, args)
			if err != nil {
				return err
			}
			if ui && len(pids) > 1 {
				return usage("--ui shows one JVM: give one PID, or write a snapshot with -o FILE.rivulet and open it with rivulet view --ui")
			}
			depth := 0
			if cmd.Flags().Changed("depth") {
				depth = v.depth
			}
			options := export.FormatOptions{Text: export.TextOptions{Top: v.top, Depth: v.depth, Sort: v.sort, Frameworks: v.app.frameworks()}}
			options.JSON.Depth = depth
			out, err := openOutput(v.file, a.stdout)
			if err != nil {
				return err
			}
			defer out.discard()
			if _, err := out.format(v.format); err != nil {
				return err
			}
			var r *export.Report
			switch {
			case ui:
				r, err = a.sampleOnPage(pids[0], o, length, listen, v.app.app, begun)
			case len(pids) > 1:
				r, err = a.sampleSeveralFor(pids, o, length, begun)
			default:
				r, err = a.sampleFor(pids[0], o, length, begun)
			}
			if r == nil {
				return err
			}
			if writing := writeReport(r, out, v.format, options); writing != nil {
				return errors.Join(err, writing)
			}
			if out.path != "" {
				a.say("report written to %s", out.path)
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.DurationVar(&length, "for", 0, "sample for this `time`, such as 10s (default: until Ctrl-C)")
	targets.add(fs)
	f.add(fs)
	fs.StringArrayVar(&f.roots, "root", nil, "keep samples below this `METHOD` alone, such as shop.Main.loop, with * for any text; may be repeated")
	fs.IntVar(&f.frames, "frames", 0, "look at the innermost `N` frames of a stack only; 0 for all")
	fs.BoolVar(&f.lines, "lines", false, "count source lines of the innermost frames, for JSON")
	v.add(cmd)
	fs.BoolVar(&asJSON, "json", false, "write JSON: the same as --format json")
	fs.BoolVar(&ui, "ui", false, "show the tree on a page while it grows; the report comes at the end, by Ctrl-C")
	fs.StringVar(&listen, "listen", defaultListen, "`ADDRESS:PORT` of the page, with --ui")
	return cmd
}

func checkLength(cmd *cobra.Command, length time.Duration) error {
	if cmd.Flags().Changed("for") && length <= 0 {
		return usage("--for %v: give a time above zero, such as 10s", length)
	}
	return nil
}

// sampleFor samples for a time, or until it is interrupted, and shows progress. A report
// beside an error is one of samples until then.
func (a *app) sampleFor(pid int, o sampleOptions, length time.Duration, begun time.Time) (*export.Report, error) {
	in := watchInterrupts()
	defer in.stop()
	s, err := a.sample(in.first, pid, o, begun)
	if err != nil {
		return nil, err
	}
	m := startMeter(a.stderr, func() session.Progress {
		return session.Progress{Phase: "sampling", Times: export.Plural(s.collector.Samples(), "sample", "samples")}
	})
	defer m.stop()
	ctx := in.first
	if length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, length)
		defer cancel()
	}
	st := s.source.Stats()
	m.say("sampling " + howSampled(&st))
	ended, err := s.run(ctx)
	m.stop()
	if err != nil && s.collector.Samples() == 0 {
		return nil, err
	}
	r := s.report(ended)
	if ended != "stopped" {
		a.say("%s after %s", ended, export.Duration(int64(r.Time.Round(time.Millisecond))))
	}
	return r, err
}

func isProcessDone(err error) bool { return errors.Is(err, os.ErrProcessDone) }

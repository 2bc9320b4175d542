package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/compare"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// compareLength is how long each scheme records unless told otherwise.
const compareLength = 10 * time.Second

// A schemeList is --schemes.
type schemeList []string

func (*schemeList) Type() string     { return "A,B,C,D" }
func (l *schemeList) String() string { return strings.Join(*l, ",") }

func (l *schemeList) Set(text string) error {
	*l = nil
	for _, name := range strings.Split(strings.ToUpper(text), ",") {
		switch name = strings.TrimSpace(name); {
		case !slices.Contains(spec.Schemes, name):
			return fmt.Errorf("there are schemes %s; give some of them, as in A,D", spec.SchemeNames())
		case !slices.Contains(*l, name):
			*l = append(*l, name)
		}
	}
	return nil
}

func (a *app) compare() *cobra.Command {
	f := newRecordFlags()
	list := schemeList(slices.Clone(spec.Schemes))
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare PID --root CLASS.METHOD[(DESC)RET]",
		Short: "Try the schemes on a running JVM one after another, and say which to use",
		Long: `Attaches to a running JVM and times the roots alone, with nothing beneath them.
Then it records them by one scheme after another. Between two of them the JVM is
restored, and left alone until its compiler has little to do. Shows side by side
what each scheme recorded, instrumented and cost, and says which to use, and by
which figures.

Without --for and --until-calls each scheme records for 10 s. The JVM gets warmer
meanwhile, and its load may change: what differs by some percent is alike.
"rivulet run --compare" compares whole runs of a program instead. Ctrl-C restores
the JVM and ends the comparison.

` + filterHelp,
		Example: `  rivulet compare 4711 --root shop.orders.OrderService.process
  rivulet compare 4711 --root shop.orders.OrderService.process --for 30s --schemes B,C
  rivulet compare 4711 --root shop.Price.of --until-calls 1000 --json -o compared.json
  rivulet run --compare --root shop.Main.main -- java -jar shop.jar`,
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
			if f.length == 0 && f.rec.UntilCalls == 0 {
				f.length = compareLength
			}
			return a.with(f.file, a.stdout, func(in *interrupts, out *output) error {
				c, err := a.backend.compare(in.first, pid, a.comparing(f, list))
				return a.compared(c, interrupted(in, err), f, out)
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.addOptions(fs, "root")
	f.addFilters(fs)
	fs.Var(&list, "schemes", "which to try, in this order")
	fs.DurationVar(&f.length, "for", 0, "record for this `time` by each (default 10s)")
	f.addOptions(fs, "until-calls", "clock", "recursion", "natives", "probes", "leaves", "mode")
	fs.StringVar(&f.format, "format", "", "`text` or json")
	fs.BoolVar(&asJSON, "json", false, "short for --format json")
	fs.StringVarP(&f.file, "output", "o", "", "write the comparison to this `file`")
	f.addOptions(fs, "memory", "wait")
	return cmd
}

// asJSON looks at --json and --format, where there are only two forms.
func (f *recordFlags) asJSON(cmd *cobra.Command, given bool) error {
	if given {
		if cmd.Flags().Changed("format") && f.format != "json" {
			return usage("--json and --format %s contradict each other; give one of them", f.format)
		}
		f.format = "json"
	}
	return f.checkPlain()
}

func (a *app) comparing(f *recordFlags, schemes []string) compare.Options {
	return compare.Options{
		Recording: f.rec, Schemes: schemes, For: f.length, Config: a.config(f.rec.Memory),
		Say: func(text string) { a.say("%s", oneLine(text)) },
	}
}

// compared writes a comparison. One with an error lacks something: it is written,
// and the command fails all the same.
func (a *app) compared(c *export.Comparison, failed error, f *recordFlags, out *output) error {
	if c == nil {
		return failed
	}
	err := writeComparison(c, out, f.format)
	if err == nil && out.path != "" {
		a.say("comparison written to %s", out.path)
	}
	return errors.Join(failed, err)
}

// writeComparison writes a comparison as text or JSON: as asked for, or as the
// name of the file says.
func writeComparison(c *export.Comparison, out *output, format string) error {
	return out.write(func(w io.Writer) error {
		if format == "json" || format == "" && strings.HasSuffix(out.name, ".json") {
			return c.JSON(w)
		}
		return c.Text(w, textOptions(out.w))
	})
}

// compareRuns is "rivulet run --compare".
func (a *app) compareRuns(cmd *cobra.Command, argv []string, f *recordFlags, list schemeList) error {
	for _, flag := range []string{"scheme", "for", "until-calls", "warmup", "cpu", "record", "slowest", "over", "trace", "stream", "top", "depth", "agent"} {
		if cmd.Flags().Changed(flag) {
			return usage("--%s is nothing for --compare, which runs the whole program by each of --schemes; leave one of them away", flag)
		}
	}
	if err := f.checkPlain(); err != nil {
		return err
	}
	return a.with(f.file, a.stderr, func(in *interrupts, out *output) error {
		std := session.Stdio{Out: a.stdout, Err: a.stderr}
		c, err := a.backend.compareRuns(in.first, argv, std, a.comparing(f, list))
		return a.compared(c, interrupted(in, err), f, out)
	})
}

package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

func (a *app) check() *cobra.Command {
	var file string
	var asJSON bool
	name, most, top := metric.Bytecodes.Name, "1%", export.DefaultTop
	cmd := &cobra.Command{
		Use:   "check BASELINE REPORT",
		Short: "Fail if a program does more work than in a saved report",
		Long: `Compares what a root call executes in two reports that rivulet profile or run
--count bytecodes --format json (or snapshot) has written, and fails if that has grown by
more than it may: a gate for continuous integration. Executed bytecodes are exact and the
same on every machine, so that one percent more is one percent more work; the contexts
that have grown are listed.

The exit code is 0 if the report passes, 1 if it fails, and 2 if the reports can't be
compared.`,
		Example: `  rivulet run --root shop.Main.main --count bytecodes --format json -o now.json -- java -jar shop.jar
  rivulet check baseline.json now.json
  rivulet check baseline.json now.json --max-growth 0.1% --json
  rivulet check baseline.json now.json --metric calls`,
		Args: takes(2, "BASELINE", "REPORT"),
		RunE: func(_ *cobra.Command, args []string) error {
			share, err := parsePercent(most)
			if err != nil || top < 1 {
				return usage("--max-growth %s --top %d: give a share such as 1%%, and a number above zero", most, top)
			}
			before, err := a.loadReport(args[0])
			if err != nil {
				return err
			}
			after, err := a.loadReport(args[1])
			if err != nil {
				return err
			}
			g, err := export.GrowthOf(before, after, name, share, top)
			if err != nil {
				return usage("%s, %s: %w", args[0], args[1], err)
			}
			g.Names = [2]string{args[0], args[1]}
			if !g.Passed() {
				a.code = exitFailed
			}
			return a.writeDifference(file, asJSON, g)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&most, "max-growth", most, "`share` by which it may grow")
	fs.StringVar(&name, "metric", name, "what is compared: `bytecodes`, or calls")
	fs.IntVar(&top, "top", top, "`N` call paths that have grown")
	fs.BoolVar(&asJSON, "json", false, "write JSON")
	fs.StringVarP(&file, "output", "o", "", "write to this `file`; JSON if its name ends so")
	return cmd
}

// parsePercent reads "1%" as 0.01; a number without the sign is percent, too.
func parsePercent(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	if err == nil && !(v >= 0 && v <= 1e6) {
		err = strconv.ErrRange
	}
	return v / 100, err
}

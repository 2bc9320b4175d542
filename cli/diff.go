package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

func (a *app) diff() *cobra.Command {
	var file string
	var absolute, asJSON, unlike bool
	var p pageFlags
	options := live.DifferenceOptions{Each: true}
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Show what differs between two saved reports",
		Long: `Reads two reports that rivulet profile --format json (or snapshot) has written and
shows where they differ: the tree, followed where the difference is, and the
methods whose own time differs most. The figures of AFTER are scaled to as many
root calls as BEFORE has, so that recordings of different length can be
compared, unless --absolute is given; reports of rivulet sample are scaled to as many
seconds. Each change has its noise beside it: by how much the times of an unchanged
program may differ in these two recordings; methods that differ by less are not listed.
What makes the recordings unlike stands above. With --ui the page shows both, all of the tree
and each of them alone.`,
		Example: `  rivulet diff before.json after.json
  rivulet diff before.json after.json --ui
  rivulet diff before.json after.json --json -o difference.json
  rivulet diff before.json after.json --absolute --top 50`,
		Args: takes(2, "BEFORE", "AFTER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if options.Top < 1 || options.Depth < 1 {
				return usage("--top %d --depth %d: give numbers above zero", options.Top, options.Depth)
			}
			if err := p.check(cmd); err != nil {
				return err
			}
			before, err := a.loadReport(args[0])
			if err != nil {
				return err
			}
			after, err := a.loadReport(args[1])
			if err != nil {
				return err
			}
			if err := export.Comparable(before, after); err != nil {
				return usage("%s and %s: %w", args[0], args[1], err)
			}
			if p.ui {
				return a.showPage(p.listen, nil, args, []export.Saved{{Report: before}, {Report: after}}, absolute)
			}
			if found := export.UnlikeOf(before, after); !unlike {
				for _, u := range found {
					if u.Kind == export.UnlikeRoots && u.Grave {
						return usage("%s and %s: %s --unlike shows both all the same", args[0], args[1], u.Text)
					}
				}
			}
			options.Each = !absolute
			d := live.Difference(before, after, options)
			d.Names = [2]string{args[0], args[1]}
			return a.writeDifference(file, asJSON, d)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&absolute, "absolute", false, "don't scale")
	fs.BoolVar(&unlike, "unlike", false, "show reports without a common root, too")
	fs.IntVar(&options.Top, "top", export.DefaultTop, "`N` methods")
	fs.IntVar(&options.Depth, "depth", export.DefaultDepth, "`N` levels of the tree")
	fs.BoolVar(&asJSON, "json", false, "write JSON: both sides, the tree and the methods")
	fs.StringVarP(&file, "output", "o", "", "write to this `file`; JSON if its name ends so")
	p.add(fs)
	return cmd
}

// A difference is what lies between two reports, in its two forms.
type difference interface {
	JSON(w io.Writer) error
	Text(w io.Writer, o export.TextOptions) error
}

// writeDifference writes to a file, or to stdout where it has no name: JSON if that is
// asked for or the name ends so, else text.
func (a *app) writeDifference(file string, asJSON bool, d difference) error {
	return a.with(file, a.stdout, func(_ *interrupts, out *output) error {
		if asJSON || strings.HasSuffix(out.name, ".json") {
			return out.write(d.JSON)
		}
		o := textOptions(out.w)
		return out.write(func(w io.Writer) error { return d.Text(w, o) })
	})
}

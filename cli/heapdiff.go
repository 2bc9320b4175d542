package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/heap"
)

func (a *app) heapDiff() *cobra.Command {
	var f heapFlags
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Show what grew from one heap dump to another",
		Long: `Reads two heap dumps of the same program and shows which classes have more instances and bytes, which
objects retain more, and the suspects of the second dump.`,
		Example: `  rivulet heap diff before.hprof after.hprof
  rivulet heap diff before.hprof.gz after.hprof.gz --json -o growth.json`,
		Args: takes(2, "BEFORE", "AFTER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, "text", "json"); err != nil {
				return err
			}
			return a.with(f.file, a.stdout, func(in *interrupts, out *output) error {
				var r [2]*heap.Report
				for i, path := range args {
					// More rows than are shown, so that most objects find each other.
					g := f
					g.top = 1000
					var err error
					if r[i], err = a.analyse(in.first, path, &g); err != nil {
						return interrupted(in, err)
					}
					r[i].File = path
				}
				d := heap.Compare(r[0], r[1])
				return out.write(func(w io.Writer) error {
					if f.format == "json" {
						return writeJSON(w, d)
					}
					top := f.top
					if top == 0 {
						top = 1 << 30
					}
					return d.Text(w, heap.TextOptions{Top: top, Width: textOptions(out.w).Width})
				})
			})
		},
	}
	f.add(cmd)
	return cmd
}

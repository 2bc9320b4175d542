package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// load reads what was saved; "-" is standard input.
func (a *app) load(path string) (export.Saved, error) {
	from := a.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return export.Saved{}, usage("%w", err)
		}
		defer f.Close()
		from = f
	}
	s, err := export.ReadSaved(from)
	if errors.Is(err, export.ErrNotReport) {
		return export.Saved{}, usage("%s: %w; write one with rivulet profile --format json -o FILE, or give samples as pprof or collapsed stacks", path, err)
	}
	if err != nil {
		return export.Saved{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// loadReport reads a report that was saved.
func (a *app) loadReport(path string) (*export.Report, error) {
	s, err := a.load(path)
	if err == nil && s.Report == nil {
		err = usage("%s: it is a comparison of schemes, which rivulet view shows", path)
	}
	return s.Report, err
}

// viewFlags say how a report is shown.
type viewFlags struct {
	format, file, sort, weight string
	top, depth                 int
	app                        appFlags
}

func (f *viewFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.format, "format", "", "`text`, or "+enumerate(export.FormatNames()[1:])+"; by default what the name of the output file says")
	fs.StringVarP(&f.file, "output", "o", "", "write to this `file`")
	fs.IntVar(&f.top, "top", export.DefaultTop, "`N` hot methods in the text; 0 for all")
	fs.IntVar(&f.depth, "depth", export.DefaultDepth, "`N` levels of the tree in the text; 0 for all")
	fs.StringVar(&f.sort, "sort", "self", "hot methods in the text by `KEY`: "+enumerate(export.Sorts))
	fs.StringVar(&f.weight, "weight", "self", "what counts in collapsed stacks: `METRIC` is "+enumerate(export.Weights))
	f.app.add(fs)
}

func (a *app) writeView(r *export.Report, f *viewFlags) error {
	return a.with(f.file, a.stdout, func(_ *interrupts, out *output) error {
		return writeReport(r, out, f.format, export.FormatOptions{Text: export.TextOptions{Top: f.top, Depth: f.depth, Sort: f.sort, Frameworks: f.app.frameworks()}, Weight: f.weight})
	})
}

func (a *app) view() *cobra.Command {
	var f viewFlags
	var p pageFlags
	var trace, span string
	cmd := &cobra.Command{
		Use:   "view FILE|FOLDER",
		Short: "Show a report or a comparison that was saved, or write it in another form; list those of a folder",
		Long: `Reads what rivulet profile --format json (or snapshot) has written and shows it,
or writes it in another form. Samples that other profilers have written are read, too, as pprof or
collapsed stacks (of async-profiler: collapsed, also by thread). html is one page that needs nothing else, pprof is
for go tool pprof, collapsed for flame graph tools, speedscope for
www.speedscope.app. A comparison, of rivulet compare --json or saved by the page,
is shown as that command does. With --ui it is opened on the page of rivulet serve:
the tree as flame graph and table, methods, callers and callees, and all else.

Of a folder its recordings are listed, which are files NAME.rivulet; with --ui on the
page, where each can be opened, and any two compared.`,
		Example: `  rivulet view report.json
  rivulet view monday.rivulet --ui
  rivulet view recordings/ --ui
  rivulet view report.json --top 50 --sort calls
  rivulet view report.json -o report.html
  rivulet view report.json --weight allocated_bytes -o bytes.collapsed
  rivulet view monday.rivulet --trace timeline.json
  rivulet view slow.rivulet --span 4bf92f3577b34da6a3ce929d0e0e4736
  rivulet view compared.json
  rivulet view async-profiler.collapsed --ui
  rivulet view report.json -o report.pb.gz && go tool pprof -top report.pb.gz`,
		Args: takes(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(f.check(), p.check(cmd)); err != nil {
				return err
			}
			if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
				return a.viewFolder(cmd, args[0], &f, &p)
			}
			s, err := a.load(args[0])
			if err == nil && span != "" {
				s, err = ofSpan(s, span, args[0])
			}
			switch {
			case err != nil:
				return err
			case p.ui:
				return a.showPage(p.listen, f.app.app, args, []export.Saved{s}, false)
			case s.Comparison != nil:
				return a.viewComparison(cmd, s.Comparison, &f)
			case trace != "":
				return a.viewTrace(s.Report, args[0], trace, &f)
			}
			return a.writeView(s.Report, &f)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&trace, "trace", "", "write the timeline that it has to this `file` instead, in the Chrome trace-event format (Perfetto, speedscope)")
	cmd.Flags().StringVar(&span, "span", "", "only those of the slowest root calls that belong to the OpenTelemetry trace, or span, of this `ID`: their tree in any form")
	p.add(cmd.Flags())
	return cmd
}

// ofSpan narrows a saved report to one trace or span.
func ofSpan(s export.Saved, id, file string) (export.Saved, error) {
	if s.Report == nil {
		return s, usage("%s: it is a comparison of schemes, which has no root calls", file)
	}
	r, err := s.Report.OfSpan(id)
	if err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return export.Saved{Report: r}, nil
}

// viewTrace writes a saved report's timeline.
func (a *app) viewTrace(r *export.Report, from, to string, f *viewFlags) error {
	if r.Timeline == nil {
		return usage("%s: it has no timeline: snapshots have one (-o NAME.rivulet, or the page's) of recordings with --trace, or with a timeline on the page", from)
	}
	if f.file != "" || f.format != "" {
		return usage("--trace writes the timeline and nothing else: leave out -o and --format, or give them without it")
	}
	out, err := openFlag("--trace", to, a.stdout)
	if err != nil {
		return err
	}
	defer out.discard()
	return a.writeTrace(r, out)
}

// viewComparison shows a comparison, or writes it in the other of its two forms.
func (a *app) viewComparison(cmd *cobra.Command, c *export.Comparison, f *viewFlags) error {
	for _, flag := range []string{"top", "depth", "sort", "weight", "trace", "app", "unfold"} {
		if cmd.Flags().Changed(flag) {
			return usage("--%s is nothing for a comparison of schemes, which has no methods, no tree and no timeline", flag)
		}
	}
	if !slices.Contains([]string{"", "text", "json"}, f.format) {
		return usage("--format %q: a comparison of schemes is written as text and json", f.format)
	}
	return a.with(f.file, a.stdout, func(_ *interrupts, out *output) error {
		return writeComparison(c, out, f.format)
	})
}

func (f *viewFlags) check() error {
	switch known := false; {
	case f.top < 0 || f.depth < 0:
		return usage("--top %d --depth %d: give numbers, or 0 for all", f.top, f.depth)
	default:
		for _, s := range export.Sorts {
			known = known || s == f.sort
		}
		if !known {
			return usage("--sort %q: there is only %s", f.sort, enumerate(export.Sorts))
		}
		if !slices.Contains(export.Weights, f.weight) {
			return usage("--weight %q: there is only %s", f.weight, enumerate(export.Weights))
		}
	}
	return errors.Join(f.app.check(), checkFormat(f.format))
}

func (a *app) merge() *cobra.Command {
	var f viewFlags
	cmd := &cobra.Command{
		Use:   "merge FILE FILE...",
		Short: "Put several saved reports together into one",
		Long: `Reads reports that rivulet profile --format json (or snapshot) has written, adds
them up, and shows the sum, or writes it. Contexts are put together by path, methods
by name and class loader, threads by id and name.`,
		Example: `  rivulet merge monday.json tuesday.json
  rivulet merge run*.json -o all.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("two files at least are put together; usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			var all []*export.Report
			for _, path := range args {
				r, err := a.loadReport(path)
				if err != nil {
					return err
				}
				all = append(all, r)
			}
			if err := export.Comparable(all...); err != nil {
				return usage("%w", err)
			}
			return a.writeView(export.Merge(all...), &f)
		},
	}
	f.add(cmd)
	return cmd
}

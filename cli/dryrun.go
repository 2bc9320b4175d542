package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// dryRun says what Scheme A would instrument. The agent has to be in the target
// for that, to list the loaded classes and read their files.
func (a *app) dryRun(cmd *cobra.Command, pid int, f *recordFlags) error {
	changed := cmd.Flags().Changed
	for _, flag := range []string{"for", "until-calls", "clock", "top", "depth", "record", "slowest", "over", "trace", "stream"} {
		if changed(flag) {
			return usage("--%s says how to record or report, and --dry-run records nothing; leave one of them away", flag)
		}
	}
	if changed("scheme") && f.rec.Scheme != "A" {
		return usage("--scheme %s instruments what is called, which only a recording tells; --dry-run shows scheme A's plan, of which that is a part", f.rec.Scheme)
	}
	if err := f.checkPlain(); err != nil {
		return err
	}
	return a.with(f.file, a.stdout, func(in *interrupts, out *output) error {
		cfg := a.config(f.rec.Memory)
		cfg.Look = true
		s, err := a.attach(in, pid, cfg)
		if err != nil {
			return err
		}
		p, err := s.DryRun(in.first, f.rec)
		closing := s.Close()
		if err != nil {
			return interrupted(in, err)
		}
		return errors.Join(closing, f.preview(p, out))
	})
}

func (f *recordFlags) preview(p *export.Preview, o *output) error {
	return o.write(func(w io.Writer) error {
		if f.format == "json" {
			return p.JSON(w)
		}
		return p.Text(w, hasColor(o.w))
	})
}

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

func (a *app) doctor() *cobra.Command {
	var asJSON bool
	var root, bundle string
	cmd := &cobra.Command{
		Use:   "doctor PID [--root CLASS.METHOD] [--bundle FILE.zip]",
		Short: "Say what stands in the way of profiling a JVM, or a root in it",
		Long: `Looks at a process for everything that can stand in the way of profiling it, and
says for each whether it does and what to do about it. It asks the JVM to open its
attach listener, and makes and removes files in its /tmp. With --root, and if
nothing is in the way so far, it loads the agent, which looks at the root and
leaves: nothing is redefined.

With --bundle it writes a zip file of texts for a bug report: versions, what was
found, its log, the JVM's flags and counters, and what the kernel says of the process
and the machine. Values that may be secret are left out; its README.txt says which.

Exit code 0: nothing fails (there may be warnings). 1: something does.`,
		Example: `  rivulet doctor 4711
  rivulet doctor 4711 --root shop.orders.OrderService.process
  rivulet doctor 4711 --json
  rivulet doctor 4711 --root shop.orders.OrderService.process --bundle report.zip`,
		Args: takes(1, "PID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := parsePID(args[0])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("root") {
				if root, err = spec.ParseRoot(root); err != nil {
					return usage("--%w", err)
				}
			}
			var out *output
			if bundle != "" {
				if out, err = openFlag("--bundle", bundle, a.stdout); err != nil {
					return err
				}
				defer out.discard()
				if isTerminal(out.w) || asJSON && out.w == a.stdout {
					return usage("--bundle %s: a zip file is nothing for a terminal or beside --json; give a file", bundle)
				}
			}
			in := watchInterrupts()
			defer in.stop()
			var checks []doctor.Check
			var e *doctor.Evidence
			cfg, log := a.config(0), (*bounded)(nil)
			if out != nil {
				cfg, log = a.logged(cfg)
				e = a.backend.gather(in.first, pid, root, cfg)
				checks = e.Checks
			} else {
				checks = a.backend.doctor(in.first, pid, root, cfg)
			}
			if in.first.Err() != nil {
				return errInterrupted
			}
			ok := !slices.ContainsFunc(checks, func(c doctor.Check) bool { return c.Status == doctor.Failure })
			if !ok {
				a.code = exitFailed
			}
			report := doctorJSON{export.Schema, "doctor", pid, root, ok, checks}
			if out != nil {
				if err := a.bundle(out, e, report, log.text()); err != nil {
					return fmt.Errorf("--bundle %s: %w", bundle, err)
				}
				a.say("bundle written to %s; look through it before you pass it on", bundle)
				if out.w == a.stdout {
					return nil
				}
			}
			if asJSON {
				return writeJSON(a.stdout, report)
			}
			return writeChecks(a.stdout, checks)
		},
	}
	cmd.Flags().StringVar(&root, "root", "", "look at this root too: `CLASS.METHOD[(DESC)RET]` or a pattern")
	cmd.Flags().StringVar(&bundle, "bundle", "", "write a bug report to this `FILE`, a zip file of texts without secrets")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON: an object with ok and a list of checks, each with check, status, text and fix")
	return cmd
}

type doctorJSON struct {
	Schema int            `json:"schema"`
	Kind   string         `json:"kind"`
	PID    int            `json:"pid"`
	Root   string         `json:"root,omitempty"`
	OK     bool           `json:"ok"`
	Checks []doctor.Check `json:"checks"`
}

// writeChecks writes a line for each check, and the way out below it.
func writeChecks(w io.Writer, checks []doctor.Check) error {
	var b strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&b, "%-5s %-12s %s\n", c.Status, c.Name, oneLine(c.Text))
		if c.Fix != "" {
			fmt.Fprintf(&b, "%18s -> %s\n", "", oneLine(c.Fix))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

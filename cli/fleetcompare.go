package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// A fleetComparison is the JSON form of rivulet fleet compare.
type fleetComparison struct {
	Schema int           `json:"schema"`
	Kind   string        `json:"kind"` // "fleet_comparison"
	By     string        `json:"by"`
	Base   string        `json:"base"` // the group that the others are compared with
	Groups []*fleetGroup `json:"groups"`
}

// A fleetGroup are the JVMs that have the same value of a key.
type fleetGroup struct {
	Value     string   `json:"value"`
	JVMs      int      `json:"jvms"`                 // whose recordings are in the figures
	RootCalls int64    `json:"root_invocations"`     // ended or not
	Calls     int64    `json:"calls"`                // below the root
	Total     int64    `json:"total_ns"`             // over all threads
	Mean      *int64   `json:"root_mean_ns"`         // total by root call; null without any
	PerRoot   *float64 `json:"calls_per_root"`       // null without any
	Why       string   `json:"error,omitempty"`      // why there are no figures, or what is missing in them
	Verdict   string   `json:"verdict,omitempty"`    // beside the base
	Differs   any      `json:"difference,omitempty"` // from the base: as rivulet diff --json has it

	report *export.Report
	diff   *export.Diff
}

func (a *app) fleetCompare() *cobra.Command {
	var f runFlags
	var by, base string
	var asJSON bool
	rec := newRecordFlags()
	cmd := &cobra.Command{
		Use:   "compare --by KEY --root METHOD --for TIME",
		Short: "Record groups of JVMs at the same time, such as those of each Java version, and compare them",
		Long: `Records the same root in all JVMs that --select means at the same time, puts those together that have the
same value of a key, and compares each group with one of them, the largest unless --base names another:
mean of a root call, calls below it, and the methods whose own time differs beyond noise.

Keys are those of --select (node, app, java, host, ...) and labels, such as version.`,
		Example: `  rivulet fleet compare --select app=orders --by java --root shop.orders.OrderService.process --for 30s
  rivulet fleet compare --select app=orders --by version --base 2.4.0 --root shop.Front.serve --for 30s --count bytecodes
  rivulet fleet compare --select app=orders --by zone --root shop.Front.serve --for 30s --json -o zones.json`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(rec.check(cmd), f.check()); err != nil {
				return err
			}
			switch {
			case by == "":
				return usage("--by says what groups are made by: %s, or a label", strings.Join(fleet.Keys(), ", "))
			case rec.length <= 0:
				return usage("--for is missing: how long shall each JVM be recorded?")
			case rec.trace != "" || rec.stream != "" || len(rec.agents.sources) > 0:
				return usage("--trace, --stream and --agent are of one JVM")
			}
			in := watchInterrupts()
			defer in.stop()
			c, failed := a.recordGroups(in, &f, &rec.rec, rec.length, by, base)
			if c == nil {
				return failed
			}
			c.compare(live.DifferenceOptions{Each: true, Top: max(rec.top, 1), Depth: max(rec.depth, 1)})
			return errors.Join(failed, a.with(rec.file, a.stdout, func(_ *interrupts, out *output) error {
				if asJSON || rec.format == "json" || strings.HasSuffix(out.name, ".json") {
					return out.write(func(w io.Writer) error { return writeJSON(w, c) })
				}
				return out.write(func(w io.Writer) error { return c.text(w, textOptions(out.w).Width) })
			}))
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&by, "by", "", "`KEY` or label whose values make the groups, such as java, node or version")
	fs.StringVar(&base, "base", "", "`VALUE` of the group that the others are compared with (default: the one with most JVMs)")
	rec.add(cmd)
	f.add(fs)
	fs.BoolVar(&asJSON, "json", false, "write JSON: each group with its difference from the base")
	return cmd
}

// recordGroups records all in one run. The error says which failed; the comparison is nil if there are no two groups.
func (a *app) recordGroups(in *interrupts, f *runFlags, rec *spec.Recording, length time.Duration, by, base string) (*fleetComparison, error) {
	l, err := f.dial(fleet.RoleRecord)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	all, err := a.selected(in.first, l, &f.fleetFlags, f.selection)
	if err != nil {
		return nil, err
	}
	c := &fleetComparison{Schema: export.Schema, Kind: "fleet_comparison", By: by, Base: base}
	of := map[string]*fleetGroup{}
	group := map[string]*fleetGroup{} // by value
	for i := range all {
		value := cmp.Or(all[i].JVM.Value(by, all[i].Node), "(none)")
		g := group[value]
		if g == nil {
			g = &fleetGroup{Value: value}
			group[value] = g
			c.Groups = append(c.Groups, g)
		}
		g.JVMs++
		of[all[i].Target().Key()] = g
	}
	slices.SortFunc(c.Groups, func(a, b *fleetGroup) int { return cmp.Or(cmp.Compare(b.JVMs, a.JVMs), cmp.Compare(a.Value, b.Value)) })
	var values []string
	for _, g := range c.Groups {
		values = append(values, g.Value)
	}
	switch {
	case len(values) < 2:
		return nil, usage("--by %s: all %d JVMs have %s; choose another key, or more JVMs by --select", by, len(all), values[0])
	case base == "":
		c.Base = values[0]
	case group[base] == nil:
		return nil, usage("--base %s: no JVM has that; there are %s", base, strings.Join(values, ", "))
	}
	made, err := a.operate(in, l, f, all, fleet.Command{Do: fleet.DoProfile, Recording: rec, Seconds: length.Seconds(), FullHeap: a.fullHeap})
	if err != nil {
		return nil, err
	}
	parts := map[*fleetGroup]*fleet.Outcome{}
	for _, g := range c.Groups {
		parts[g] = &fleet.Outcome{}
	}
	for _, r := range made.Results {
		if g := of[r.Target.Key()]; g != nil {
			parts[g].Results = append(parts[g].Results, r)
		}
	}
	for _, lost := range made.Lost {
		if g := of[lost.Target.Key()]; g != nil {
			parts[g].Lost = append(parts[g].Lost, lost)
		}
	}
	var failed []error
	with := 0
	for _, g := range c.Groups {
		r, err := a.mergeFleet(parts[g])
		if err != nil {
			g.Why = err.Error()
			failed = append(failed, fmt.Errorf("%s=%s: %w", by, g.Value, err))
		}
		if g.fill(r, parts[g]); r != nil {
			with++
		}
	}
	if group[c.Base].report == nil || with < 2 {
		return nil, errors.Join(append([]error{errors.New("there are no two groups with recordings to compare")}, failed...)...)
	}
	return c, stopped(made, errors.Join(failed...))
}

// fill takes a group's figures over.
func (g *fleetGroup) fill(r *export.Report, from *fleet.Outcome) {
	g.JVMs = 0
	for _, k := range from.Results {
		if len(k.Report) > 0 {
			g.JVMs++
		}
	}
	if g.report = r; r == nil || r.Tree == nil {
		return
	}
	for _, t := range r.Tree.Threads {
		g.RootCalls += t.RootEntries
		for _, root := range t.Roots {
			g.Total += root.Total
		}
	}
	g.Calls = cct.Sum(r.Tree.Roots()).Calls
	if g.RootCalls > 0 {
		mean, calls := g.Total/g.RootCalls, float64(g.Calls)/float64(g.RootCalls)
		g.Mean, g.PerRoot = &mean, &calls
	}
}

// compare compares each group with the base.
func (c *fleetComparison) compare(o live.DifferenceOptions) {
	base := c.Groups[slices.IndexFunc(c.Groups, func(g *fleetGroup) bool { return g.Value == c.Base })]
	for _, g := range c.Groups {
		if g == base || g.report == nil {
			continue
		}
		g.diff = live.Difference(base.report, g.report, o)
		g.diff.Names = [2]string{c.By + "=" + base.Value, c.By + "=" + g.Value}
		g.Verdict = g.diff.Verdict
		var b bytes.Buffer
		if g.diff.JSON(&b) == nil { // a buffer takes everything
			g.Differs = json.RawMessage(b.Bytes())
		}
	}
}

// text writes a line for each group, and then what differs.
func (c *fleetComparison) text(w io.Writer, width int) error {
	rows := [][]string{{strings.ToUpper(c.By), "JVMS", "ROOT CALLS", "MEAN", "CALLS EACH", "BESIDE " + c.Base}}
	for _, g := range c.Groups {
		mean, each, verdict := "", "", cmp.Or(g.Verdict, g.Why)
		if g.Mean != nil {
			mean, each = export.Duration(*g.Mean), fmt.Sprintf("%.4g", *g.PerRoot)
		}
		if g.Value == c.Base {
			verdict = cmp.Or(g.Why, "what the others are compared with")
		}
		rows = append(rows, []string{g.Value, fmt.Sprint(g.JVMs), export.Count(g.RootCalls), mean, each, export.Clean(verdict)})
	}
	if _, err := io.WriteString(w, table(rows, width)); err != nil {
		return err
	}
	for _, g := range c.Groups {
		if g.diff == nil {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s=%s\n\n", c.By, export.Clean(g.Value)); err != nil {
			return err
		}
		if err := g.diff.Text(w, export.TextOptions{Width: width}); err != nil {
			return err
		}
	}
	return nil
}

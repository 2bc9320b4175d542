package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

func (a *app) fleetDiff() *cobra.Command {
	var f runFlags
	var canary, baseline string
	var asJSON bool
	rec := newRecordFlags()
	options := live.DifferenceOptions{Each: true}
	cmd := &cobra.Command{
		Use:   "diff --canary RULES --baseline RULES --root METHOD --for TIME",
		Short: "Record a canary and its baseline at the same time, and show which call paths do more work",
		Long: `Records the same root in two groups of JVMs at the same time, and shows the difference of their merged
trees as rivulet diff does: scaled to as many root calls, with the noise of each change, and exact
differences of what is counted. --count bytecodes shows more work whatever the machines do.

--canary and --baseline have the rules that --select has; where both mean a JVM, it belongs to the canary.`,
		Example: `  rivulet fleet diff --canary app=orders,track=canary --baseline app=orders --root shop.orders.OrderService.process --for 30s
  rivulet fleet diff --canary node=web-9 --baseline app=orders --root shop.Front.serve --for 30s --count bytecodes --json`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(rec.check(cmd), f.check()); err != nil {
				return err
			}
			switch {
			case len(f.choose) > 0:
				return usage("--select: give --canary and --baseline instead")
			case canary == "" || baseline == "":
				return usage("--canary and --baseline say which JVMs are compared: give both")
			case rec.length <= 0:
				return usage("--for is missing: how long shall each JVM be recorded?")
			case rec.trace != "" || rec.stream != "" || len(rec.agents.sources) > 0:
				return usage("--trace, --stream and --agent are of one JVM")
			}
			after, err := fleet.ParseSelection([]string{canary})
			if err != nil {
				return usage("--canary %w", err)
			}
			before, err := fleet.ParseSelection([]string{baseline})
			if err != nil {
				return usage("--baseline %w", err)
			}
			in := watchInterrupts()
			defer in.stop()
			groups, failed := a.compareGroups(in, &f, rec, before, after)
			if groups[0] == nil || groups[1] == nil {
				return failed
			}
			options.Top, options.Depth = max(rec.top, 1), max(rec.depth, 1)
			d := live.Difference(groups[0], groups[1], options)
			d.Names = [2]string{"baseline " + baseline, "canary " + canary}
			return errors.Join(failed, a.writeDifference(rec.file, asJSON || rec.format == "json", d))
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&canary, "canary", "", "`RULES` of the JVMs that are tried out, as --select has them")
	fs.StringVar(&baseline, "baseline", "", "`RULES` of those that they are compared with")
	rec.add(cmd)
	f.add(fs)
	fs.BoolVar(&asJSON, "json", false, "write JSON: both sides, the tree and the methods")
	return cmd
}

// compareGroups records two groups in one run. Those that failed are named, and missing.
func (a *app) compareGroups(in *interrupts, f *runFlags, rec *recordFlags, before, after fleet.Selection) (out [2]*export.Report, err error) {
	l, err := f.dial(fleet.RoleRecord)
	if err != nil {
		return out, err
	}
	defer l.Close()
	canary, err := a.selected(in.first, l, &f.fleetFlags, after)
	if err != nil {
		return out, fmt.Errorf("--canary: %w", err)
	}
	others, err := a.selected(in.first, l, &f.fleetFlags, before)
	if err != nil {
		return out, fmt.Errorf("--baseline: %w", err)
	}
	is := map[string]bool{}
	for _, c := range canary {
		is[c.Target().Key()] = true
	}
	all := canary
	for _, o := range others {
		if !is[o.Target().Key()] {
			all = append(all, o)
		}
	}
	if len(all) == len(canary) {
		return out, usage("--baseline: all of its JVMs belong to the canary")
	}
	made, err := a.operate(in, l, f, all, fleet.Command{Do: fleet.DoProfile, Recording: &rec.rec, Seconds: rec.length.Seconds(), FullHeap: a.fullHeap})
	if err != nil {
		return out, err
	}
	var groups [2]fleet.Outcome
	for _, r := range made.Results {
		g := &groups[map[bool]int{true: 1}[is[r.Target.Key()]]]
		g.Results = append(g.Results, r)
	}
	for _, lost := range made.Lost {
		g := &groups[map[bool]int{true: 1}[is[lost.Target.Key()]]]
		g.Lost = append(g.Lost, lost)
	}
	for i := range groups {
		r, err := a.mergeFleet(&groups[i])
		if r == nil {
			return out, fmt.Errorf("%s: %w", []string{"--baseline", "--canary"}[i], err)
		}
		if err != nil {
			a.say("%s: %s", []string{"baseline", "canary"}[i], oneLine(err.Error()))
		}
		out[i] = r
	}
	return out, stopped(made, nil)
}

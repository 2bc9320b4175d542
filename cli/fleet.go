package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

func (a *app) fleetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Look at the JVMs of many hosts at once, through their nodes",
		Long: `Commands for JVMs of many hosts. On each host runs rivulet node, and in between rivulet hub or a
NATS cluster. A key says where that is and what you may do.

--select says which JVMs are meant: rules KEY=PATTERN or KEY!=PATTERN, with * and ?. Keys are
` + enumerate(fleet.Keys()) + `, or a label. All rules must be true.`,
		Example: `  rivulet fleet ps
  rivulet fleet profile --root shop.orders.OrderService.process --select app=orders --for 10s
  rivulet fleet sample --select app=orders,zone=a --for 10s`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.fleetPs(), a.fleetProfile(), a.fleetSample(), a.fleetHeap(), a.fleetLocks(), a.fleetDiff(), a.fleetCompare(), a.fleetRuns(), a.fleetCollect(), a.fleetAudit(), a.fleetEvents())
	return cmd
}

// fleetFlags are what all commands of fleets have.
type fleetFlags struct {
	link   linkFlags
	choose []string
	wait   time.Duration

	selection fleet.Selection
}

// usualAnswer is how long nodes may take to answer.
const usualAnswer = 3 * time.Second

func (f *fleetFlags) add(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.choose, "select", nil, "JVMs that `RULES` are true of, such as app=orders,zone!=b; may be repeated: all must be true")
	f.link.add(fs, personKeyFile)
	fs.DurationVar(&f.wait, "answer", usualAnswer, "how long nodes that were heard of lately may take to answer, a `time`")
}

func (f *fleetFlags) check() (err error) {
	if f.wait <= 0 {
		return usage("--answer %v: give a time above zero", f.wait)
	}
	if f.selection, err = fleet.ParseSelection(f.choose); err != nil {
		return usage("--select %w", err)
	}
	return nil
}

// dial connects as somebody who has at least a role.
func (f *fleetFlags) dial(role fleet.Role) (*link.Link, error) {
	k, err := f.link.read()
	if err != nil {
		return nil, err
	}
	if !k.Role.May(role) {
		return nil, usage("this takes the role %s, the key of %s has the role %s: rivulet hub key add makes keys", role, k.User, k.Role)
	}
	return link.Dial(k, link.Options{Name: "fleet"})
}

// nodes are those that answer, and after them those that are known and do not.
func nodes(ctx context.Context, l *link.Link, wait time.Duration) (here, away []fleet.Node, err error) {
	if here, away, err = l.Nodes(ctx, wait); err != nil {
		return nil, nil, err
	}
	for _, list := range [][]fleet.Node{here, away} {
		slices.SortFunc(list, func(a, b fleet.Node) int { return strings.Compare(a.Name, b.Name) })
	}
	return here, away, nil
}

// found are the JVMs of nodes that are selected, in order.
func found(nodes []fleet.Node, which fleet.Selection) []fleet.Found {
	out := []fleet.Found{}
	for i := range nodes {
		n := &nodes[i]
		for k := range n.JVMs {
			if which.Has(n.Name, &n.JVMs[k]) {
				out = append(out, fleet.Found{Node: n.Name, JVM: n.JVMs[k]})
			}
		}
	}
	slices.SortFunc(out, func(a, b fleet.Found) int { return a.Target().Compare(b.Target()) })
	return out
}

func (a *app) fleetPs() *cobra.Command {
	var f fleetFlags
	var asJSON, onlyNodes bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List the JVMs of all nodes",
		Example: `  rivulet fleet ps
  rivulet fleet ps --select app=orders
  rivulet fleet ps --nodes
  rivulet fleet ps --json`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			l, err := f.dial(fleet.RoleLook)
			if err != nil {
				return err
			}
			defer l.Close()
			here, away, err := nodes(cmd.Context(), l, f.wait)
			if err != nil {
				return err
			}
			for _, n := range away {
				a.say("node %s does not answer; it was last heard of at %s", n.Name, n.Seen.Local().Format(time.DateTime))
			}
			switch {
			case asJSON:
				return writeJSON(a.stdout, fleetJSON(found(here, f.selection), here, away))
			case onlyNodes:
				return writeRows(a.stdout, nodeRows(here, away), 0)
			case len(here) == 0:
				a.say("no node answers: rivulet node must run on the hosts, with a key of this hub")
				return nil
			}
			return writeRows(a.stdout, fleetRows(found(here, f.selection)), tableWidth(a.stdout))
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.add(fs)
	fs.BoolVar(&onlyNodes, "nodes", false, "list the nodes instead: version, host, what runs on each, which permissions it lacks")
	fs.BoolVar(&asJSON, "json", false, "write JSON: an object with jvms, nodes and away")
	return cmd
}

// fleetPsJSON is what rivulet fleet ps --json writes.
type fleetPsJSON struct {
	Schema int           `json:"schema"`
	Kind   string        `json:"kind"` // "fleet"
	JVMs   []fleet.Found `json:"jvms"`
	Nodes  []fleet.Node  `json:"nodes"` // that answer; without JVMs
	Away   []fleet.Node  `json:"away"`  // that do not
}

func fleetJSON(found []fleet.Found, here, away []fleet.Node) fleetPsJSON {
	out := fleetPsJSON{Schema: export.Schema, Kind: "fleet", JVMs: found, Nodes: []fleet.Node{}, Away: []fleet.Node{}}
	for _, n := range here {
		n.JVMs = nil
		out.Nodes = append(out.Nodes, n)
	}
	for _, n := range away {
		n.JVMs = nil
		out.Away = append(out.Away, n)
	}
	return out
}

func fleetRows(found []fleet.Found) [][]string {
	rows := [][]string{{"NODE", "PID", "APP", "USER", "JAVA", "UPTIME", "CONTAINER", "MAIN", ""}}
	for _, f := range found {
		j := &f.JVM
		note := ""
		if !j.Attachable {
			note = "not attachable: " + j.Reason
		}
		container := j.Container
		if len(container) > 12 {
			container = container[:12]
		}
		if j.PodUID != "" && j.Hostname != "" {
			container = "pod " + j.Hostname
		}
		uptime := export.Duration(int64(time.Since(j.Started).Truncate(time.Second)))
		rows = append(rows, []string{f.Node, fmt.Sprint(j.PID), j.App, j.User, j.Java, uptime, container, j.Main, note})
	}
	return rows
}

func nodeRows(here, away []fleet.Node) [][]string {
	rows := [][]string{{"NODE", "VERSION", "HOST", "CORES", "JVMS", "RUNNING", "WAITING", "ROOM", ""}}
	for _, n := range here {
		rows = append(rows, []string{n.Name, n.Version, n.Host, fmt.Sprint(n.Cores), fmt.Sprint(len(n.JVMs)), fmt.Sprint(n.Running), fmt.Sprint(n.Waiting), export.Bytes(n.Room), strings.Join(n.Lacks, "; ")})
	}
	for _, n := range away {
		rows = append(rows, []string{n.Name, n.Version, n.Host, fmt.Sprint(n.Cores), "-", "-", "-", "-", "does not answer since " + n.Seen.Local().Format(time.DateTime)})
	}
	return rows
}

func (a *app) fleetAudit() *cobra.Command {
	var f fleetFlags
	var asJSON bool
	since := 24 * time.Hour
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who did what to which JVM",
		Long: `Lists what nodes have written down of each command: accepted, refused, stopped, ended. The user
and the role are those that the broker has checked.`,
		Example: `  rivulet fleet audit
  rivulet fleet audit --since 1h --json`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			l, err := f.dial(fleet.RoleSample)
			if err != nil {
				return err
			}
			defer l.Close()
			lines, err := l.Audit(cmd.Context(), time.Now().Add(-since))
			if err != nil {
				return err
			}
			slices.SortStableFunc(lines, func(a, b fleet.Audit) int { return a.Time.Compare(b.Time) })
			if asJSON {
				return writeJSON(a.stdout, append([]fleet.Audit{}, lines...))
			}
			rows := [][]string{{"TIME", "NODE", "USER", "ROLE", "RUN", "WHAT", "PID", "MAIN", "ROOTS", ""}}
			for _, l := range lines {
				pid := ""
				if l.PID > 0 {
					pid = fmt.Sprint(l.PID)
				}
				rows = append(rows, []string{l.Time.Local().Format(time.DateTime), l.Node, l.User, string(l.Role), l.Run, l.What + " " + l.Do, pid, l.Main, strings.Join(l.Roots, " "), l.Detail})
			}
			return writeRows(a.stdout, rows, tableWidth(a.stdout))
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.DurationVar(&since, "since", since, "of the last `time`")
	f.link.add(fs, personKeyFile)
	f.wait = time.Second
	fs.BoolVar(&asJSON, "json", false, "write JSON: a list of objects with time, node, user, role, run, do, pid, main, roots, what and detail")
	return cmd
}

func (a *app) fleetRuns() *cobra.Command {
	var f fleetFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List what was sampled and recorded, as long as the hub keeps it",
		Example: `  rivulet fleet runs
  rivulet fleet collect 20260102-150405-a1b2c3 -o orders.rivulet`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.wait = time.Second
			if err := f.check(); err != nil {
				return err
			}
			l, err := f.dial(fleet.RoleSample)
			if err != nil {
				return err
			}
			defer l.Close()
			runs, err := l.Runs(cmd.Context(), "")
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.stdout, append([]*fleet.Run{}, runs...))
			}
			rows := [][]string{{"RUN", "USER", "BEGUN", "WHAT", "JVMS", "ROOTS"}}
			for _, r := range runs {
				roots := ""
				if r.Command.Recording != nil {
					roots = strings.Join(r.Command.Recording.Roots, " ")
				}
				rows = append(rows, []string{r.Run, r.User, r.Begun.Local().Format(time.DateTime), r.Command.Do, fmt.Sprint(len(r.Targets)), roots})
			}
			return writeRows(a.stdout, rows, tableWidth(a.stdout))
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.link.add(fs, personKeyFile)
	fs.BoolVar(&asJSON, "json", false, "write JSON: a list of objects with run, user, begun, command and targets")
	return cmd
}

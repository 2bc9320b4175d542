package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
)

// fleetLocksJSON is the JSON form of rivulet fleet locks.
type fleetLocksJSON struct {
	Schema    int            `json:"schema"`
	Kind      string         `json:"kind"` // "fleet locks"
	Processes []locksProcess `json:"processes"`
	Locks     []fleetLock    `json:"locks"` // of all processes, by class and contexts
}

type locksProcess struct {
	fleetProcess
	Locks *locksJSON `json:"locks"` // as rivulet locks --json has it; null if it failed
}

// A fleetLock is who waits for whom at locks of a class, in all processes.
type fleetLock struct {
	Class   string  `json:"class"`
	Waiter  string  `json:"waiter"`
	Owner   string  `json:"owner"`
	Count   int64   `json:"count"`
	Blocked int64   `json:"blocked_ns"`
	Each    []int64 `json:"processes_blocked_ns"` // in the order of processes
}

func (a *app) fleetLocks() *cobra.Command {
	var f runFlags
	var k locksFlags
	cmd := &cobra.Command{
		Use:   "locks",
		Short: "Find deadlocks in JVMs of many hosts, and with --for who waits for whom",
		Long: `Looks at the locks of all JVMs that --select means, as rivulet locks does: deadlocks, and with --for
who waits for whom, put together by the lock's class and the contexts of waiter and owner.`,
		Example: `  rivulet fleet locks --select app=orders
  rivulet fleet locks --select app=orders --for 10s --json -o locks.json`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			k.format, k.virtual = "text", true
			if err := errors.Join(k.check(cmd), f.check()); err != nil {
				return err
			}
			return a.with(k.file, a.stdout, func(in *interrupts, out *output) error {
				j, err := a.locksOf(in, &f, &fleet.Locks{Length: k.length, Hz: k.asked(), Exact: k.exact, Threshold: k.threshold})
				if j == nil {
					return err
				}
				return errors.Join(err, out.write(func(w io.Writer) error {
					if k.format == "json" {
						return writeJSON(w, j)
					}
					return writeFleetLocks(w, j, k.top)
				}))
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.DurationVar(&k.length, "for", 0, "look who waits for whom for this `time`, such as 10s")
	f.add(fs)
	fs.IntVar(&k.hz, "hz", 0, lockHzHelp)
	fs.BoolVar(&k.exact, "exact", false, "count and time each wait by JDK Flight Recorder")
	fs.DurationVar(&k.threshold, "threshold", 0, "with --exact, only waits of this `time` or longer")
	fs.IntVar(&k.top, "top", export.DefaultTop, "`N` rows in the text; 0 for all")
	fs.BoolVar(&k.asJSON, "json", false, "write JSON: an object with processes and locks")
	fs.StringVarP(&k.file, "output", "o", "", "write to this `file`; JSON if its name ends so")
	return cmd
}

// locksOf looks at the locks of all JVMs that are selected. The error says in which that failed.
func (a *app) locksOf(in *interrupts, f *runFlags, k *fleet.Locks) (*fleetLocksJSON, error) {
	role := fleet.RoleSample
	if k.Exact {
		role = fleet.RoleRecord
	}
	made, err := a.answers(in, f, role, fleet.Command{Do: fleet.DoLocks, Locks: k, Seconds: (k.Length + time.Minute).Seconds()})
	if err != nil {
		return nil, err
	}
	j, failed := mergeLocks(answersIn[locksJSON](made))
	return j, stopped(made, failed)
}

// mergeLocks puts the locks of n processes together.
func mergeLocks(n int, answers answersOf[locksJSON]) (*fleetLocksJSON, error) {
	j := &fleetLocksJSON{Schema: export.Schema, Kind: "fleet locks", Processes: []locksProcess{}, Locks: []fleetLock{}}
	at := map[[3]string]*fleetLock{}
	err := answers(func(p fleetProcess, l *locksJSON) {
		if l != nil {
			for _, r := range l.Locks {
				key := [3]string{r.Class, r.Waiter, r.Owner}
				if at[key] == nil {
					at[key] = &fleetLock{Class: r.Class, Waiter: r.Waiter, Owner: r.Owner, Each: make([]int64, n)}
				}
				at[key].Count += r.Count
				at[key].Blocked += r.Blocked
				at[key].Each[len(j.Processes)] += r.Blocked
			}
		}
		j.Processes = append(j.Processes, locksProcess{p, l})
	})
	for _, l := range at {
		j.Locks = append(j.Locks, *l)
	}
	slices.SortFunc(j.Locks, func(a, b fleetLock) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), strings.Compare(a.Class, b.Class), strings.Compare(a.Waiter, b.Waiter), strings.Compare(a.Owner, b.Owner))
	})
	return j, err
}

func writeFleetLocks(w io.Writer, j *fleetLocksJSON, top int) error {
	var b strings.Builder
	none := 0
	for _, p := range j.Processes {
		switch {
		case p.Locks == nil:
			fmt.Fprintf(&b, "%s failed: %s\n", export.Clean(p.name()), oneLine(p.Error))
		case len(p.Locks.Deadlocks) == 0:
			none++
		default:
			fmt.Fprintf(&b, "%s, %s\n", export.Clean(p.name()), export.Clean(p.Main))
			writeDeadlocks(&b, p.Locks.Deadlocks)
		}
	}
	fmt.Fprintf(&b, "no deadlock in %s\n", export.Plural(int64(none), "JVM", "JVMs"))
	if len(j.Locks) > 0 {
		rows := [][]string{{"WAITED", "WAITS", "JVMS", "MOST IN", "LOCK", "WAITER", "OWNER"}}
		shown := j.Locks
		if top > 0 && len(shown) > top {
			shown = shown[:top]
		}
		for _, l := range shown {
			in, most := 0, 0
			for i, v := range l.Each {
				if v > 0 {
					in++
				}
				if v > l.Each[most] {
					most = i
				}
			}
			rows = append(rows, []string{export.Duration(l.Blocked), fmt.Sprint(l.Count), fmt.Sprint(in), j.Processes[most].name(), l.Class, l.Waiter, l.Owner})
		}
		b.WriteString("\n" + table(rows, tableWidth(w)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

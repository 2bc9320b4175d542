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

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
)

// fleetProcess is a process in answers that are no reports.
type fleetProcess struct {
	Host  string `json:"host,omitempty"` // "" of this machine
	PID   int    `json:"pid"`
	Main  string `json:"main"`
	Error string `json:"error,omitempty"`
}

func (p *fleetProcess) name() string {
	of := export.Process{Host: p.Host, PID: p.PID}
	return of.Name()
}

// fleetHeapJSON is the JSON form of rivulet fleet heap. Lists of numbers are in the order of
// the processes.
type fleetHeapJSON struct {
	Schema    int             `json:"schema"`
	Kind      string          `json:"kind"` // "fleet heap"
	Objects   int64           `json:"objects"`
	Bytes     int64           `json:"bytes"`
	Processes []heapProcess   `json:"processes"`
	Classes   []fleetClass    `json:"classes"`
	Outliers  []fleetHeapOdds `json:"outliers"`
}

type heapProcess struct {
	fleetProcess
	Objects int64 `json:"objects"`
	Bytes   int64 `json:"bytes"`

	took time.Duration
}

type fleetClass struct {
	attach.ClassCount
	Processes struct {
		Objects []int64 `json:"objects"`
		Bytes   []int64 `json:"shallow_bytes"`
	} `json:"processes"`
}

// fleetHeapOdds is a process that has far more of a class than the others.
type fleetHeapOdds struct {
	Host   string `json:"host,omitempty"`
	PID    int    `json:"pid"`
	Class  string `json:"class"`
	Bytes  int64  `json:"shallow_bytes"`
	Median int64  `json:"median"`
}

func (a *app) fleetHeap() *cobra.Command {
	var f runFlags
	var all, asJSON bool
	var file string
	top := export.DefaultTop
	cmd := &cobra.Command{
		Use:   "heap",
		Short: "Count the objects of each class in JVMs of many hosts",
		Long: `Has each JVM that --select means count its objects by class, and adds up. Processes that have three
times as much of a class as the median process are named. Each JVM does a full collection before, during
which it stands still; --all counts dead objects, too, without one.`,
		Example: `  rivulet fleet heap --select app=orders
  rivulet fleet heap --select app=orders --max-at-once 5% --json -o heap.json`,
		Args: takes(0),
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if top < 0 {
				return usage("--top %d: give a number of classes, or 0 for all", top)
			}
			return a.with(file, a.stdout, func(in *interrupts, out *output) error {
				j, err := a.heapsOf(in, &f, all)
				if j == nil {
					return err
				}
				return errors.Join(err, out.write(func(w io.Writer) error {
					if asJSON || strings.HasSuffix(file, ".json") {
						return writeJSON(w, j)
					}
					return writeFleetHeap(w, j, top)
				}))
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.add(fs)
	fs.BoolVar(&all, "all", false, "dead objects, too: without a collection before")
	fs.IntVar(&top, "top", top, "`N` classes in the text; 0 for all")
	fs.BoolVar(&asJSON, "json", false, "write JSON: an object with processes, classes and outliers")
	fs.StringVarP(&file, "output", "o", "", "write to this `file`; JSON if its name ends so")
	return cmd
}

// heapsOf counts objects in all JVMs that are selected. The error says in which that failed; the answer is nil if it did in all.
func (a *app) heapsOf(in *interrupts, f *runFlags, all bool) (*fleetHeapJSON, error) {
	made, err := a.answers(in, f, fleet.RoleRecord, fleet.Command{Do: fleet.DoHeap, Heap: &fleet.Heap{All: all}, Seconds: patience.Seconds()})
	if err != nil {
		return nil, err
	}
	j, failed := mergeHeaps(answersIn[attach.Histogram](made))
	if len(j.Classes) == 0 && failed != nil {
		return nil, failed
	}
	return j, stopped(made, failed)
}

// answers does the same to all JVMs that are selected.
func (a *app) answers(in *interrupts, f *runFlags, role fleet.Role, c fleet.Command) (*fleet.Outcome, error) {
	l, err := f.dial(role)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	targets, err := a.selected(in.first, l, &f.fleetFlags, f.selection)
	if err != nil {
		return nil, err
	}
	return a.operate(in, l, f, targets, c)
}

// answersIn are the answers of an outcome, of n processes.
func answersIn[T any](out *fleet.Outcome) (n int, answers answersOf[T]) {
	return len(out.Results) + len(out.Lost), func(take func(p fleetProcess, answer *T)) error { return eachAnswer(out, take) }
}

// eachAnswer reads the answers of an outcome, and says of each process why there is none.
// The error is a [partly] of those that failed.
func eachAnswer[T any](out *fleet.Outcome, take func(p fleetProcess, answer *T)) error {
	failed, first := 0, ""
	one := func(t fleet.Target, j *fleet.JVM, why string, r *fleet.Result) {
		p := fleetProcess{Host: j.Name(t.Node), PID: t.PID, Main: j.Main, Error: why}
		var answer *T
		if r != nil && why == "" {
			answer = new(T)
			if err := r.Read(answer); err != nil {
				answer, p.Error = nil, err.Error()
			}
		}
		if p.Error != "" {
			failed++
			first = cmp.Or(first, p.name()+": "+p.Error)
		}
		take(p, answer)
	}
	for _, r := range out.Results {
		one(r.Target, &r.JVM, r.Error, r)
	}
	for i := range out.Lost {
		one(out.Lost[i].Target, &out.Lost[i].JVM, out.Lost[i].Why, nil)
	}
	if failed == 0 {
		return nil
	}
	return partly{fmt.Errorf("%d of %d JVMs failed; the first: %s", failed, len(out.Results)+len(out.Lost), first)}
}

// mergeHeaps adds histograms of n processes up.
func mergeHeaps(n int, answers answersOf[attach.Histogram]) (*fleetHeapJSON, error) {
	j := &fleetHeapJSON{Schema: export.Schema, Kind: "fleet heap", Classes: []fleetClass{}, Outliers: []fleetHeapOdds{}}
	at := map[string]*fleetClass{}
	var names []string
	err := answers(func(p fleetProcess, h *attach.Histogram) {
		row := heapProcess{fleetProcess: p}
		if h != nil {
			row.Objects, row.Bytes, row.took = h.Objects, h.Bytes, h.Took
			j.Objects, j.Bytes = j.Objects+h.Objects, j.Bytes+h.Bytes
			for _, c := range h.Classes {
				k := at[c.Class]
				if k == nil {
					k = &fleetClass{ClassCount: attach.ClassCount{Class: c.Class}}
					k.Processes.Objects, k.Processes.Bytes = make([]int64, n), make([]int64, n)
					at[c.Class] = k
					names = append(names, c.Class)
				}
				k.Objects, k.Bytes = k.Objects+c.Objects, k.Bytes+c.Bytes
				k.Processes.Objects[len(j.Processes)], k.Processes.Bytes[len(j.Processes)] = c.Objects, c.Bytes
			}
		}
		j.Processes = append(j.Processes, row)
	})
	for _, name := range names {
		j.Classes = append(j.Classes, *at[name])
	}
	slices.SortStableFunc(j.Classes, func(a, b fleetClass) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Class, b.Class))
	})
	for i := range j.Classes {
		j.Outliers = append(j.Outliers, j.oddOf(&j.Classes[i])...)
	}
	return j, err
}

// When a process is named that has more of a class than others: three times as much, and a
// hundredth of its heap.
const (
	oddHeap   = 3
	leastHeap = 0.01
)

func (j *fleetHeapJSON) oddOf(c *fleetClass) (out []fleetHeapOdds) {
	var values []int64
	for i, p := range j.Processes {
		if p.Error == "" {
			values = append(values, c.Processes.Bytes[i])
		}
	}
	if len(values) < 3 {
		return nil
	}
	slices.Sort(values)
	usual := values[(len(values)-1)/2]
	for i, p := range j.Processes {
		if v := c.Processes.Bytes[i]; p.Error == "" && v > 0 && v >= oddHeap*usual && float64(v) >= leastHeap*float64(p.Bytes) {
			out = append(out, fleetHeapOdds{p.Host, p.PID, c.Class, v, usual})
		}
	}
	return out
}

func writeFleetHeap(w io.Writer, j *fleetHeapJSON, top int) error {
	var b strings.Builder
	counted := int64(0)
	for _, p := range j.Processes {
		if p.Error == "" {
			counted++
		}
	}
	fmt.Fprintf(&b, "%s of %s in %s\n\n", export.Bytes(j.Bytes), export.Plural(j.Objects, "object", "objects"), export.Plural(counted, "JVM", "JVMs"))
	rows := [][]string{{"BYTES", "OBJECTS", "CLASS"}}
	shown := j.Classes
	if top > 0 && len(shown) > top {
		shown = shown[:top]
	}
	for _, c := range shown {
		rows = append(rows, []string{export.Bytes(c.Bytes), export.Count(c.Objects), c.Class})
	}
	b.WriteString(table(rows, tableWidth(w)))
	rows = [][]string{{"PROCESS", "BYTES", "OBJECTS", "MAIN", ""}}
	for _, p := range j.Processes {
		rows = append(rows, []string{p.name(), export.Bytes(p.Bytes), export.Count(p.Objects), p.Main, p.Error})
	}
	b.WriteString("\n" + table(rows, tableWidth(w)))
	if len(j.Outliers) > 0 {
		b.WriteString("\n")
	}
	for _, o := range j.Outliers[:min(len(j.Outliers), export.DefaultTop)] {
		p := fleetProcess{Host: o.Host, PID: o.PID}
		fmt.Fprintf(&b, "%s has %s of %s, the median process %s\n", export.Clean(p.name()), export.Bytes(o.Bytes), export.Clean(o.Class), export.Bytes(o.Median))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

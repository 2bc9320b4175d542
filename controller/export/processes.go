package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A Process is one of several JVMs whose reports were put together by [MergeProcesses].
type Process struct {
	Host    string  `json:"host,omitempty"` // where it runs; "" if all are of this machine
	PID     int     `json:"pid"`
	Java    string  `json:"java"`
	VM      string  `json:"vm"`
	Main    string  `json:"main"`
	Seconds float64 `json:"seconds"`
	Ended   string  `json:"ended,omitempty"`
	Error   string  `json:"error,omitempty"` // why there is nothing of it, or why something is missing
	Samples int64   `json:"samples"`         // 0 of a recording
	Calls   int64   `json:"calls"`           // of a report of samples: entries
	Self    int64   `json:"self_ns"`

	columns map[int32]Column // by methods' numbers in the report
}

// A Column has a method's figures in one process; times are in ns, recursion counts once.
type Column struct{ Samples, Calls, Self, Total int64 }

// Of is what the process has of a method of the report.
func (p *Process) Of(method int32) Column { return p.columns[method] }

// A ProcessReport is what one process has to be put together with others.
type ProcessReport struct {
	Host   string // "" of this machine
	Target Target
	Report *Report // nil if there is none
	Err    error   // why there is no report, or what it lacks; nil if nothing
}

// mostDivided bounds the nodes of the processes' trees that are kept apart in the nodes of the tree that they are put together to.
const mostDivided = 4 << 20

// MergeProcesses puts reports of several processes, made at the same time, together.
// Threads are put together by program and name, not by id; contexts keep what each process has of them ([cct.Part]),
// unless there are millions. Contexts of different
// programs stay apart, in threads named "PROGRAM: THREAD". Times are those of the
// longest report. Processes of the result says what each has part in it, or why it has
// none. It is nil if no part has a report. The parts' reports must be [Comparable], and
// stay as they are.
func MergeProcesses(parts []ProcessReport) *Report {
	var reports []*Report
	var numbered []int32
	var longest time.Duration
	nodes := 0
	programs := map[string]bool{}
	for _, p := range parts {
		if p.Report != nil {
			programs[p.Report.Target.Main] = true
			longest = max(longest, p.Report.Time)
		}
	}
	ids := map[string]int64{}
	for i, p := range parts {
		if p.Report == nil {
			continue
		}
		if p.Report.Tree != nil {
			nodes += int(cct.Sum(p.Report.Tree.Roots()).Nodes)
		}
		numbered = append(numbered, int32(i))
		r := *p.Report
		r.Tree = byName(r.Tree, r.Target.Main, len(programs) > 1, ids)
		reports = append(reports, &r)
	}
	if len(reports) == 0 {
		return nil
	}
	if len(reports) == 1 || nodes > mostDivided {
		numbered = nil
	}
	out, numbers := merge(reports, numbered)
	out.Time = longest
	if len(reports) > 1 {
		out.Target.PID = 0
	}
	if out.Sampling != nil {
		out.Sampling.Seconds = longest.Seconds()
	}
	if len(reports) > 1 {
		out.Notes[0] = fmt.Sprintf("These are %d processes put together: threads of one name of one program are one thread here.", len(reports))
	} else {
		out.Notes = out.Notes[1:]
	}
	if len(reports) > 1 && numbered == nil {
		out.Notes = append(out.Notes, fmt.Sprintf("The trees have %s in all: what each process has of a call path is not kept apart, only what it has of a method.", Plural(int64(nodes), "call path", "call paths")))
	}
	next := 0
	for _, p := range parts {
		row := Process{Host: p.Host, PID: p.Target.PID, Java: p.Target.Java, VM: p.Target.VM, Main: p.Target.Main}
		if p.Err != nil {
			row.Error = p.Err.Error()
			out.Notes = append(out.Notes, row.Name()+": "+strings.TrimPrefix(row.Error, row.Name()+": "))
		}
		if p.Report != nil {
			row.fill(p.Report, numbers[reports[next]])
			next++
		}
		out.Processes = append(out.Processes, row)
	}
	return out
}

// byName are the threads of a tree, put together by name. ids has their numbers.
func byName(tree *cct.Snapshot, main string, several bool, ids map[string]int64) *cct.Snapshot {
	if tree == nil {
		return nil
	}
	out := *tree
	out.Threads = nil
	for _, t := range tree.Threads {
		c := *t
		if several {
			c.Name = programName(main) + ": " + t.Name
		}
		if ids[c.Name] == 0 {
			ids[c.Name] = int64(len(ids) + 1)
		}
		c.ID = ids[c.Name]
		out.Threads = append(out.Threads, &c)
	}
	return &out
}

// programName is the last part of a main class's or jar's name.
func programName(main string) string {
	if strings.HasSuffix(main, ".jar") {
		return main[strings.LastIndexByte(main, '/')+1:]
	}
	return main[strings.LastIndexByte(main, '.')+1:]
}

// fill takes the figures of a report, whose methods have other numbers in the result.
func (p *Process) fill(r *Report, numbers map[int32]int32) {
	p.Java, p.VM, p.Main, p.Ended, p.Seconds = r.Target.Java, r.Target.VM, r.Target.Main, r.Ended, r.Time.Seconds()
	f := r.figures()
	p.Samples, p.Calls, p.Self = f.sums.Samples, f.sums.Calls, f.sums.Self
	p.columns = make(map[int32]Column, len(f.flat))
	var total map[int32]int64
	if r.Sampling != nil {
		total = totalSamples(f.snapshot.Roots())
	} else {
		p.Samples = 0
	}
	for _, e := range f.flat {
		k, ok := numbers[e.Method]
		if !ok {
			k = e.Method // calls without room
		}
		p.columns[k] = Column{total[e.Method], e.Calls, e.Self, e.Total}
	}
}

// Name names the process: "host1/4711", or "pid 4711"; "host1" where there was no process.
func (p *Process) Name() string {
	if p.Host != "" && p.PID == 0 {
		return p.Host
	}
	if p.Host != "" {
		return fmt.Sprintf("%s/%d", p.Host, p.PID)
	}
	return fmt.Sprintf("pid %d", p.PID)
}

// reporting is how many processes have a part in the report.
func (r *Report) reporting() int64 {
	n := int64(0)
	for _, p := range r.Processes {
		if p.Seconds > 0 {
			n++
		}
	}
	return n
}

// Named is an error's text with the process in front, where it isn't already.
func Named(pid int, text string) string {
	name := fmt.Sprintf("pid %d: ", pid)
	return name + strings.TrimPrefix(text, name)
}

// processes writes a method's columns, one entry a process in the order of "processes".
func (w *jsonWriter) processes(method int32) {
	all := w.report.Processes
	if len(all) == 0 {
		return
	}
	w.text(`,"processes":{`)
	list := func(name string, of func(Column) int64) {
		w.text(`"` + name + `":[`)
		for i := range all {
			if i > 0 {
				w.text(",")
			}
			w.number(of(all[i].Of(method)))
		}
		w.text("]")
	}
	if w.report.Sampling != nil {
		list("total_samples", func(c Column) int64 { return c.Samples })
		w.text(",")
	}
	list(map[bool]string{true: "entries", false: "calls"}[w.report.Sampling != nil], func(c Column) int64 { return c.Calls })
	w.text(",")
	list("self_ns", func(c Column) int64 { return c.Self })
	w.text(",")
	list("total_ns", func(c Column) int64 { return c.Total })
	w.text("}")
}

// jsonColumns is what processes writes.
type jsonColumns struct {
	Samples []int64 `json:"total_samples"`
	Calls   []int64 `json:"calls"`
	Entries []int64 `json:"entries"`
	Self    []int64 `json:"self_ns"`
	Total   []int64 `json:"total_ns"`
}

// read gives the columns to their processes.
func (c *jsonColumns) read(to []Process, method int32) {
	for i := range to {
		col := Column{nth(c.Samples, i), nth(c.Calls, i) + nth(c.Entries, i), nth(c.Self, i), nth(c.Total, i)}
		if col == (Column{}) {
			continue
		}
		if to[i].columns == nil {
			to[i].columns = map[int32]Column{}
		}
		to[i].columns[method] = col
	}
}

// Figures of methods by process in the text form.
const (
	mostProcesses = 12 // columns
	mostListed    = 40 // of the table of processes
)

// processTables list the processes, and where hot methods' time goes in each.
func (t *textWriter) processTables() {
	all := t.report.Processes
	if len(all) == 0 {
		return
	}
	t.section("Processes")
	rows := table{head: []string{"process", "java", "time", map[bool]string{true: "samples", false: "calls"}[t.report.Sampling != nil], "self", "program"}}
	shown := slices.Clone(all)
	if len(all) > mostListed { // what failed, and what has most
		slices.SortStableFunc(shown, func(a, b Process) int {
			return cmp.Or(cmp.Compare(map[bool]int{true: 1}[a.Error == ""], map[bool]int{true: 1}[b.Error == ""]), cmp.Compare(b.Self, a.Self))
		})
		shown = shown[:mostListed]
	}
	for i := range shown {
		p := &shown[i]
		n := p.Calls
		if t.report.Sampling != nil {
			n = p.Samples
		}
		label := Clean(p.Main)
		if p.Error != "" {
			label = strings.TrimSpace(label + "  failed: " + Clean(strings.TrimPrefix(p.Error, p.Name()+": ")))
		}
		rows.add(label, "", Clean(p.Name()), Clean(p.Java), Duration(int64(p.Seconds*1e9)), Count(n), Duration(p.Self))
	}
	rows.write(&t.sink, t.o.Color, t.o.Width)
	if more := len(all) - len(shown); more > 0 {
		t.text(fmt.Sprintf("%d more are in JSON: those that failed and those with most time are here\n", more))
	}
	ok := slices.DeleteFunc(slices.Clone(all), func(p Process) bool { return p.Self == 0 })
	flat := sorted(t.flat, t.o.Sort, t.labels)
	if t.o.Top > 0 && len(flat) > t.o.Top {
		flat = flat[:t.o.Top]
	}
	if len(ok) >= 2 && len(ok) <= mostProcesses {
		t.sharesOf(ok, flat)
	}
	var lines []string
	for _, e := range flat {
		for _, o := range t.report.outliersOf(e.Method) {
			lines = append(lines, o.text(t.labels[e.Method]))
		}
	}
	if len(lines) == 0 {
		return
	}
	t.section("Processes that are far off")
	for _, l := range lines[:min(len(lines), mostListed)] {
		t.text(l + "\n")
	}
	if more := len(lines) - mostListed; more > 0 {
		t.text(fmt.Sprintf("%d more are in JSON\n", more))
	}
}

// sharesOf is a table of where hot methods' time goes in each process.
func (t *textWriter) sharesOf(ok []Process, flat []cct.Flat) {
	t.section("Hot methods by process: share of the process's self time")
	shares := table{}
	for i := range ok {
		shares.head = append(shares.head, Clean(strings.TrimPrefix(ok[i].Name(), "pid ")))
	}
	shares.head = append(shares.head, "method")
	for _, e := range flat {
		var cells []string
		for i := range ok {
			cells = append(cells, share(ok[i].Of(e.Method).Self, ok[i].Self))
		}
		shares.add(t.labels[e.Method], "", cells...)
	}
	shares.write(&t.sink, t.o.Color, t.o.Width)
}

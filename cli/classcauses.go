package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/classload"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
)

// causesFlags say how causes of class loads are looked for.
type causesFlags struct {
	causes bool
	asJSON bool
	length time.Duration
	top    int
}

// classCauses says why classes were loaded: of a report, or of a JVM from now on.
func (a *app) classCauses(of, pattern string, f *causesFlags) error {
	pid := 0
	if n, err := strconv.Atoi(of); err == nil && n > 0 {
		if _, err := os.Lstat(of); err != nil {
			pid = n
		}
	}
	if f.length < 0 || f.length > 0 && pid == 0 {
		return usage("--for is how long a running JVM is looked at; give a process id, and a time such as 10s")
	}
	in := watchInterrupts()
	defer in.stop()
	var j *export.CausedLoads
	var err error
	if pid != 0 {
		j, err = a.causesOfProcess(in, pid, f)
	} else {
		j, err = a.causesOfReport(of)
	}
	if err != nil {
		return interrupted(in, err)
	}
	j.Loads = slices.DeleteFunc(j.Loads, func(l export.CausedLoad) bool { return !classMatches(l.Class, pattern) })
	if f.asJSON {
		return writeJSON(a.stdout, j)
	}
	return writeCauses(a.stdout, j, f.top)
}

// classMatches takes a pattern as rivulet classes does: a part of the name, or a whole name with * and ?.
func classMatches(class, pattern string) bool {
	if strings.ContainsAny(pattern, "*?") {
		ok, _ := path.Match(pattern, class)
		return ok
	}
	return strings.Contains(class, pattern)
}

func (a *app) causesOfReport(file string) (*export.CausedLoads, error) {
	r, err := a.loadReport(file)
	if err != nil {
		return nil, err
	}
	loads, err := r.CausedLoads()
	if err != nil {
		return nil, usage("%s: %w", file, err)
	}
	loads.File = file
	return loads, nil
}

// usualCauses is how long a JVM is looked at.
const usualCauses = 10 * time.Second

// causesOfProcess has Flight Recorder tell of each load.
func (a *app) causesOfProcess(in *interrupts, pid int, f *causesFlags) (*export.CausedLoads, error) {
	begun := time.Now()
	r, _, err := a.record(in, pid, []attach.EventSetting{
		{Event: classload.Event, Settings: map[string]string{"threshold": "0 ns", "stackTrace": "true"}},
	}, cmp.Or(f.length, usualCauses))
	defer func() {
		if err := r.Remove(context.WithoutCancel(in.first)); err != nil {
			a.say("the recording could not be removed: %v", err)
		}
	}()
	if err != nil {
		return nil, err
	}
	loads, lost, err := classload.Events(in.second, jfr.NewReader(r.File, r.Size, jfr.Options{}), begun.UnixNano(), time.Now().UnixNano())
	if err != nil {
		return nil, err
	}
	j := &export.CausedLoads{Schema: export.Schema, Kind: "class_loads", PID: pid, Seconds: time.Since(begun).Seconds(), Loads: []export.CausedLoad{}, Notes: []string{}}
	var own int64
	for _, l := range loads {
		if !l.Defined {
			continue
		}
		took, self := l.End-l.Start, l.Own
		own += self
		c := export.CausedLoad{Class: l.Class, Loader: l.Loader, At: l.Start - begun.UnixNano(), Took: &took, Own: &self, Thread: l.ThreadName, Cause: string(l.Cause()), Context: []string{}}
		for _, frame := range slices.Backward(l.Stack) {
			c.Context = append(c.Context, string(frame))
		}
		j.Loads = append(j.Loads, c)
	}
	j.Summary = fmt.Sprintf("%s loaded in %.1f s; loading took %s", export.Plural(int64(len(j.Loads)), "class was", "classes were"), j.Seconds, export.Duration(own))
	j.Notes = append(j.Notes, "by Flight Recorder: classes that a program has a loader define without asking the JVM for them are not told")
	if lost > 0 {
		j.Notes = append(j.Notes, fmt.Sprintf("%s more found no room", export.Plural(lost, "load", "loads")))
	}
	return j, nil
}

// writeCauses writes the methods that needed most, and the loads that took longest.
func writeCauses(w io.Writer, j *export.CausedLoads, top int) error {
	if len(j.Loads) == 0 {
		_, err := fmt.Fprintln(w, "no class was loaded")
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", j.Summary)
	shorten := func(rows [][]string) {
		more := 0
		if top > 0 && len(rows)-1 > top {
			more = len(rows) - 1 - top
			rows = rows[:top+1]
		}
		b.WriteString(table(rows, tableWidth(w)))
		if more > 0 {
			fmt.Fprintf(&b, "... %d more; --top 0 shows all\n", more)
		}
	}
	type cause struct {
		method string
		own    int64
		loads  int
		some   string
		timed  bool
	}
	at := map[string]int{}
	var causes []cause
	for _, l := range j.Loads {
		i, ok := at[l.Cause]
		if !ok {
			i = len(causes)
			at[l.Cause] = i
			causes = append(causes, cause{method: l.Cause, some: l.Class})
		}
		causes[i].loads++
		if l.Own != nil {
			causes[i].own += *l.Own
			causes[i].timed = true
		}
	}
	slices.SortStableFunc(causes, func(a, b cause) int {
		return cmp.Or(cmp.Compare(b.own, a.own), cmp.Compare(b.loads, a.loads))
	})
	rows := [][]string{{"LOADING", "SHARE", "LOADS", "THE FIRST", "NEEDED BY"}}
	for _, c := range causes {
		took, part := "?", ""
		if c.timed {
			took = export.Duration(c.own)
			if j.Total > 0 {
				part = fmt.Sprintf("%.1f %%", 100*float64(c.own)/float64(j.Total))
			}
		}
		rows = append(rows, []string{took, part, fmt.Sprint(c.loads), c.some, cmp.Or(c.method, "(the JVM)")})
	}
	shorten(rows)
	loads := slices.Clone(j.Loads)
	slices.SortStableFunc(loads, func(a, b export.CausedLoad) int {
		took := func(l export.CausedLoad) int64 {
			if l.Took == nil {
				return -1
			}
			return *l.Took
		}
		return cmp.Compare(took(b), took(a))
	})
	rows = [][]string{{"AT", "TOOK", "CLASS", "LOADER", "FROM", "NEEDED BY"}}
	for _, l := range loads {
		took := "?"
		if l.Took != nil {
			took = export.Duration(*l.Took)
		}
		rows = append(rows, []string{export.Duration(l.At), took, l.Class, l.Loader, l.From, cmp.Or(l.Cause, "(the JVM)")})
	}
	b.WriteString("\n")
	shorten(rows)
	for _, n := range j.Notes {
		fmt.Fprintf(&b, "\n%s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

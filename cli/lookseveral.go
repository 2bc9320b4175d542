package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// answersOf gives the answers of several JVMs, in order, to whoever puts them together; nil of one that has none. The error is a
// [partly] of those that failed.
type answersOf[T any] func(take func(p fleetProcess, answer *T)) error

// askSeveral asks several JVMs of this machine at the same time. What single ones say meanwhile is not shown.
func askSeveral[T any](a *app, in *interrupts, pids []int, ask func(quiet *app, pid int) (*T, error)) (n int, answers answersOf[T]) {
	m := a.startSteps()
	defer m.stop()
	m.set(fmt.Sprintf("looking at %d JVMs", len(pids)), 0, 0)
	parts := a.nameTargets(in.first, pids)
	found := make([]*T, len(pids))
	quiet := &app{backend: a.backend, stdout: io.Discard, stderr: io.Discard}
	each(parts, func(i int, p *export.ProcessReport) { found[i], p.Err = ask(quiet, p.Target.PID) })
	return len(pids), func(take func(p fleetProcess, answer *T)) error {
		failed := 0
		var first error
		for i, p := range parts {
			row := fleetProcess{PID: p.Target.PID, Main: p.Target.Main}
			if p.Err != nil {
				row.Error = oneLine(p.Err.Error())
				a.say("%s", export.Named(row.PID, row.Error))
				if failed++; first == nil {
					first = p.Err
				}
			}
			take(row, found[i])
		}
		switch {
		case failed == 0:
			return nil
		case failed == len(parts):
			return fmt.Errorf("none of %d processes could be looked at; the first: %w", failed, first)
		}
		return partly{fmt.Errorf("%d of %d processes failed; the first: %w", failed, len(parts), first)}
	}
}

// locksOfSeveral is rivulet locks of several JVMs.
func (a *app) locksOfSeveral(in *interrupts, out *output, pids []int, f *locksFlags) error {
	j, failed := mergeLocks(askSeveral(a, in, pids, func(quiet *app, pid int) (*locksJSON, error) { return quiet.findLocks(in, pid, f) }))
	return errors.Join(failed, out.write(func(w io.Writer) error {
		if f.format == "json" {
			return writeJSON(w, j)
		}
		return writeFleetLocks(w, j, f.top)
	}))
}

// histogramOfSeveral is rivulet heap --histogram of several JVMs.
func (a *app) histogramOfSeveral(in *interrupts, out *output, pids []int, f *heapFlags, all bool) error {
	longest := time.Duration(0)
	j, failed := mergeHeaps(askSeveral(a, in, pids, func(_ *app, pid int) (*attach.Histogram, error) { return a.backend.histogram(in.first, pid, all) }))
	if len(j.Classes) == 0 {
		return interrupted(in, failed)
	}
	for _, p := range j.Processes {
		longest = max(longest, p.took)
	}
	a.say("counted in %s; each JVM stood still meanwhile", export.Duration(int64(longest)))
	return errors.Join(failed, out.write(func(w io.Writer) error {
		if f.format == "json" {
			return writeJSON(w, j)
		}
		return writeFleetHeap(w, j, f.top)
	}))
}

// several are the JVMs that arguments and flags mean, where they mean JVMs by more than one argument; nil for one PID or
// FILE. args is one at least then.
func (d *dumpFlags) several(cmd *cobra.Command, b backend, t *targetFlags, args *[]string) ([]int, error) {
	if len(*args) <= 1 && len(t.pids) == 0 && len(t.match) == 0 {
		return nil, takes(1, "PID|FILE")(cmd, *args)
	}
	for _, arg := range *args {
		if _, err := parsePID(arg); err != nil { // files
			return nil, takes(1, "PID|FILE")(cmd, *args)
		}
	}
	pids, err := t.choose(cmd.Context(), b, *args)
	switch {
	case err != nil:
		return nil, err
	case len(pids) > 1 && !d.histogram:
		return nil, usage("%d JVMs are meant: a dump is of one; --histogram counts the objects of several", len(pids))
	case len(pids) > 1 && d.length > 0:
		return nil, usage("--for is of one JVM; %d are meant", len(pids))
	}
	*args = []string{strconv.Itoa(pids[0])}
	return pids, nil
}

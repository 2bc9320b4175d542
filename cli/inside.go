package cli

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/web"
)

// planJSON is what a heap dump needs.
type planJSON struct {
	Need  int64  `json:"need_bytes"` // at the most
	Dir   string `json:"dir"`        // as the target sees it
	Stops int64  `json:"stops_ns"`   // for which the JVM stands still while it writes, at the most
}

// dumpRate is how fast JVMs were seen to write a dump at the slowest disks that are usual, in bytes a microsecond.
const dumpRate = 300

// pageTop is how many rows of each list the page gets of a heap.
const pageTop = 200

// lookInside is what threads, locks, classes --causes and heap do, for the page: with the same answers.
func (a *app) lookInside(first, second context.Context, q web.InsideQuery, tell func(web.Step)) (any, error) {
	in := &interrupts{first: first, second: second}
	return ended(first)(a.telling(tell).answer(in, q))
}

// ended says of an answer that there is none since somebody has ended it.
func ended(first context.Context) func(out any, err error) (any, error) {
	return func(out any, err error) (any, error) {
		if first.Err() != nil && errors.Is(err, context.Canceled) {
			return nil, errEnded
		}
		return out, err
	}
}

var errEnded = errors.New("it was ended before there was anything to show")

// telling is the same app, which tells a page what it does instead of a terminal.
func (a *app) telling(tell func(web.Step)) *app {
	return &app{
		backend: a.backend, verbose: a.verbose, stderr: lineWriter(func(line string) { tell(web.Step{Text: line}) }),
		progress: func(phase string, done, total int64) { tell(web.Step{Phase: phase, Done: done, Total: total}) },
	}
}

// answer is what the command of that name has as JSON.
func (a *app) answer(in *interrupts, q web.InsideQuery) (any, error) {
	length := time.Duration(q.Seconds * float64(time.Second))
	switch q.What {
	case "threads":
		j, err := a.lookAtThreads(in, q.PID, length, lookHow{autoSource, true}, q.Timeline, &dumpPace{hz: usualLockDumps})
		if err != nil {
			return nil, err
		}
		return j, nil
	case "locks":
		j, err := a.findLocks(in, q.PID, &locksFlags{length: length, hz: usualLockDumps, exact: q.Exact, virtual: true})
		if err != nil {
			return nil, err
		}
		j.Notes = slices.DeleteFunc(j.Notes, func(n string) bool { return n == noContention }) // it names a flag
		return j, nil
	case "loads":
		j, err := a.causesOfProcess(in, q.PID, &causesFlags{length: length})
		if err != nil {
			return nil, err
		}
		return j, nil
	case "histogram":
		return a.countObjects(in, q.PID, &dumpFlags{all: q.All, length: length})
	case "plan":
		vm, err := attach.Open(in.first, q.PID)
		if err != nil {
			return nil, err
		}
		plan, err := vm.PlanDump("")
		if err != nil {
			return nil, err
		}
		return planJSON{plan.Need, plan.Dir, plan.Need * 1000 / dumpRate}, nil
	}
	return a.pageHeap(in.first, q)
}

// pageHeap is a heap's report, joined with a recording that has counted allocations.
func (a *app) pageHeap(ctx context.Context, q web.InsideQuery) (any, error) {
	if q.Recording != nil && (q.Recording.Tree == nil || q.Recording.Tree.Metrics.Index(metric.Objects.Name) < 0) {
		return nil, errors.New("the recording says nothing of allocations; record with allocations counted")
	}
	r, err := a.dumpAndAnalyse(ctx, q.PID, &heapFlags{top: pageTop, bytes: max(available()/4, 512<<20)}, &dumpFlags{all: q.All})
	if err != nil {
		return nil, err
	}
	if q.Recording != nil {
		r.report.Join("recording", sitesOf(q.Recording))
	}
	return r.report.Short(), nil
}

// A lineWriter gets each line that is written to it, without the program's name.
type lineWriter func(line string)

func (w lineWriter) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		if text := strings.TrimSpace(strings.TrimPrefix(string(line), "rivulet: ")); text != "" {
			w(export.Clean(text))
		}
	}
	return len(b), nil
}

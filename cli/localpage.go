package cli

import (
	"context"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/web"
)

// jvmsHere are those of this machine, as a page without a fleet shows several at once.
func (a *app) jvmsHere() web.Fleet {
	return web.Fleet{Local: true, Keys: fleet.Keys(), Do: func(first, second context.Context, q web.FleetQuery, tell func(web.Step)) (any, error) {
		return ended(first)(a.telling(tell).inJVMsHere(&interrupts{first: first, second: second}, &q))
	}}
}

// inJVMsHere is what commands do with several JVMs of this machine, for the page.
func (a *app) inJVMsHere(in *interrupts, q *web.FleetQuery) (any, error) {
	var rules []string
	if q.Select != "" {
		rules = []string{q.Select}
	}
	selection, err := fleet.ParseSelection(rules)
	if err != nil {
		return nil, usage("%w", err)
	}
	all, err := a.fleetJVMs(in.first, nil)
	if err != nil {
		return nil, err
	}
	found, pids := []fleet.Found{}, []int{}
	for _, j := range all {
		if !selection.Has("", &j) {
			continue
		}
		if found = append(found, fleet.Found{JVM: j}); j.Attachable {
			pids = append(pids, j.PID)
		}
	}
	length := time.Duration(q.Seconds * float64(time.Second))
	switch {
	case q.Do == "jvms":
		return fleetJSON(found, []fleet.Node{{}}, nil), nil
	case len(pids) == 0:
		return nil, usage("no JVM of this machine is meant that can be attached to")
	}
	switch q.Do {
	case "sample":
		r, err := a.sampleSeveral(in.first, pids, sampleOptions{sampler: sampler.Options{Wall: q.Wall}}, length, time.Now())
		return some(a, r, err)
	case "profile":
		rec, err := recordingOf(q)
		if err != nil {
			return nil, err
		}
		r, err := a.recordSeveral(in, pids, *rec, length)
		return some(a, r, err)
	case "heap":
		j, err := mergeHeaps(askSeveral(a, in, pids, func(_ *app, pid int) (*attach.Histogram, error) { return a.backend.histogram(in.first, pid, q.All) }))
		if len(j.Classes) == 0 {
			return nil, err
		}
		return some(a, a.firstClasses(j), err)
	case "locks":
		k := locksFlags{length: length, hz: usualLockDumps, exact: q.Exact, source: autoSource, virtual: true}
		j, err := mergeLocks(askSeveral(a, in, pids, func(quiet *app, pid int) (*locksJSON, error) { return quiet.findLocks(in, pid, &k) }))
		return some(a, firstLocks(j), err)
	}
	return nil, usage("%s is of a fleet: rivulet serve --fleet FILE", q.Do)
}

package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/web"
)

const mostOnPage = 1000 // rows

// fleetOfKey is the fleet that a key file is for, as a page shows it.
func (a *app) fleetOfKey(file string) (web.Fleet, error) {
	by := linkFlags{key: file, file: personKeyFile}
	k, err := by.read()
	if err != nil {
		return web.Fleet{}, err
	}
	return web.Fleet{Name: fmt.Sprintf("%s, role %s", k.User, k.Role), Keys: fleet.Keys(), Do: func(first, second context.Context, q web.FleetQuery, tell func(web.Step)) (any, error) {
		return ended(first)(a.telling(tell).inFleet(&interrupts{first: first, second: second}, by, &q))
	}}, nil
}

// inFleet is what the commands of rivulet fleet do, for the page.
func (a *app) inFleet(in *interrupts, by linkFlags, q *web.FleetQuery) (any, error) {
	f := runFlags{fleetFlags: fleetFlags{link: by, wait: usualAnswer}, atMost: cmp.Or(q.AtOnce, "100%"), late: time.Minute}
	if q.Select != "" {
		f.choose = []string{q.Select}
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	length := time.Duration(q.Seconds * float64(time.Second))
	c := fleet.Command{Do: fleet.DoSample, Seconds: q.Seconds}
	role := fleet.RoleSample
	switch q.Do {
	case "jvms":
		l, err := f.dial(fleet.RoleLook)
		if err != nil {
			return nil, err
		}
		defer l.Close()
		here, away, err := nodes(in.first, l, f.wait)
		if err != nil {
			return nil, err
		}
		return fleetJSON(found(here, f.selection), here, away), nil
	case "events":
		l, err := f.dial(fleet.RoleSample)
		if err != nil {
			return nil, err
		}
		defer l.Close()
		return f.events(in.first, l, time.Now().Add(-length))
	case "sample":
		c.Sample = &fleet.Sample{Wall: q.Wall}
	case "kept":
		c.Sample, c.Seconds = &fleet.Sample{Last: length}, keptWithin.Seconds()
	case "profile":
		rec, err := recordingOf(q)
		if err != nil {
			return nil, err
		}
		c.Do, c.Recording, c.FullHeap, role = fleet.DoProfile, rec, a.fullHeap, fleet.RoleRecord
	case "compare":
		rec, err := recordingOf(q)
		if err != nil {
			return nil, err
		}
		g, err := a.groupsOf(in, &f, rec, length, q)
		return some(a, g, err)
	case "heap":
		j, err := a.heapsOf(in, &f, q.All)
		return some(a, a.firstClasses(j), err)
	case "locks":
		j, err := a.locksOf(in, &f, &fleet.Locks{Length: length, Exact: q.Exact})
		return some(a, firstLocks(j), err)
	}
	r, err := a.runFleet(in, &f, role, c)
	return some(a, r, err)
}

// firstClasses leaves as many as a page shows; of nil nothing.
func (a *app) firstClasses(j *fleetHeapJSON) *fleetHeapJSON {
	if j != nil && len(j.Classes) > mostOnPage {
		a.say("of %s those with the most bytes are shown; the command has all", export.Plural(int64(len(j.Classes)), "class", "classes"))
		j.Classes = j.Classes[:mostOnPage]
	}
	return j
}

// firstLocks does the same with locks, which each process need not have once more.
func firstLocks(j *fleetLocksJSON) *fleetLocksJSON {
	if j == nil {
		return nil
	}
	j.Locks = j.Locks[:min(len(j.Locks), mostOnPage)]
	for _, p := range j.Processes {
		if p.Locks != nil {
			p.Locks.Locks = p.Locks.Locks[:0]
		}
	}
	return j
}

// some is an answer of which parts may be missing: the page is told why, as long as there is one.
func some[T any](a *app, answer *T, err error) (any, error) {
	if answer == nil { // no answer in an interface
		return nil, err
	}
	if err != nil {
		a.say("%s", oneLine(err.Error()))
	}
	return answer, nil
}

// recordingOf is what the page wants to have recorded.
func recordingOf(q *web.FleetQuery) (*spec.Recording, error) {
	rec := spec.Default()
	if err := rec.AddRoot(q.Root); err != nil {
		return nil, err
	}
	if q.Overhead != "" {
		if err := spec.Find("overhead").Set(&rec, q.Overhead); err != nil {
			return nil, err
		}
	}
	return &rec, rec.Validate()
}

// groupsOf compares groups as rivulet fleet compare does. What differs in them, the page shows of their recordings.
func (a *app) groupsOf(in *interrupts, f *runFlags, rec *spec.Recording, length time.Duration, q *web.FleetQuery) (*web.FleetGroups, error) {
	c, err := a.recordGroups(in, f, rec, length, q.By, q.Base)
	if c == nil {
		return nil, err
	}
	c.compare(live.DifferenceOptions{Each: true, Top: 1, Depth: 1})
	out := &web.FleetGroups{By: c.By, Base: c.Base}
	for _, g := range c.Groups {
		out.Groups = append(out.Groups, &web.FleetGroup{
			Value: g.Value, JVMs: g.JVMs, RootCalls: g.RootCalls, Mean: g.Mean, PerRoot: g.PerRoot, Why: g.Why, Verdict: g.Verdict, Report: g.report,
		})
	}
	return out, err
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/web"
)

// fleetOfKey is the fleet that a key file is for, as a page shows it.
func (a *app) fleetOfKey(file string) (web.Fleet, error) {
	by := linkFlags{key: file, file: personKeyFile}
	k, err := by.read()
	if err != nil {
		return web.Fleet{}, err
	}
	return web.Fleet{Name: fmt.Sprintf("%s, role %s", k.User, k.Role), Do: func(first, second context.Context, q web.FleetQuery, tell func(web.Step)) (any, error) {
		out, err := a.telling(tell).inFleet(&interrupts{first: first, second: second}, by, &q)
		if first.Err() != nil && errors.Is(err, context.Canceled) {
			return nil, errEnded
		}
		return out, err
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
		rec := spec.Default()
		if err := rec.AddRoot(q.Root); err != nil {
			return nil, err
		}
		if q.Overhead != "" {
			if err := spec.Find("overhead").Set(&rec, q.Overhead); err != nil {
				return nil, err
			}
		}
		if err := rec.Validate(); err != nil {
			return nil, err
		}
		c.Do, c.Recording, role = fleet.DoProfile, &rec, fleet.RoleRecord
	}
	r, err := a.runFleet(in, &f, role, c)
	var some partly
	if r != nil && errors.As(err, &some) {
		a.say("%s", oneLine(err.Error()))
		err = nil
	}
	if r == nil { // no report in an interface
		return nil, err
	}
	return r, err
}

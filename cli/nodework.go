package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/job"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
)

// workerName is the command by which a node starts its workers.
const workerName = "carry-out"

// keepEvery is how often a worker keeps what it has so far, in case that it is killed.
const keepEvery = 5 * time.Second

func (a *app) nodeWorker() *cobra.Command {
	return &cobra.Command{
		Use:    workerName + " FOLDER",
		Short:  "Carry out a command that a node has accepted",
		Hidden: true,
		Args:   takes(1, "FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			w, err := job.Take(job.Dir(args[0]))
			if errors.Is(err, job.ErrTaken) {
				return nil
			}
			if err != nil {
				return err
			}
			in := watchInterrupts()
			defer in.stop()
			return a.work(in, w, args[0])
		},
	}
}

// work carries a job out and leaves what came of it.
func (a *app) work(in *interrupts, w *job.Worker, dir string) error {
	j, err := w.Job()
	if err != nil {
		return w.Done(nil, err)
	}
	switch err := a.isTarget(in, w, &j.Command); {
	case err != nil:
		return w.Done(nil, err)
	case j.Command.Do == fleet.DoSample && j.Command.Sample.Last > 0:
		k := j.Command.Sample
		if err := w.Begin(); err != nil {
			return err
		}
		return w.Done(keptSamples(dir, j.Command.Target.PID, k.Last, pcct.Options{Lines: k.Lines, Depth: k.Frames}))
	case j.Command.Do == fleet.DoHeap:
		return w.DoneJSON(a.workHeap(in, w, &j.Command))
	case j.Command.Do == fleet.DoLocks:
		return w.DoneJSON(a.workLocks(in, w, &j.Command))
	}
	return w.Done(a.carryOut(in, w, &j.Command))
}

// isTarget says why a job is not to begin.
func (a *app) isTarget(in *interrupts, w *job.Worker, c *fleet.Command) error {
	if why := w.Stopped(); why != "" {
		return fmt.Errorf("not begun: %s", why)
	}
	p, err := a.backend.inspect(in.first, c.Target.PID)
	if err == nil && p.Start() != c.Target.Start {
		err = fmt.Errorf("process %d is another one now than the one that was asked for", c.Target.PID)
	}
	return err
}

// A keeper is told that a recording begins, and has what there is of its report.
type keeper interface {
	Begin() error
	Keep(r *export.Report) error
}

// carryOut does what a job says, as the command of the same name does.
func (a *app) carryOut(in *interrupts, w keeper, c *fleet.Command) (*export.Report, error) {
	switch c.Do {
	case fleet.DoProfile:
		return a.workProfile(in, w, c)
	case fleet.DoSample:
		return a.workSample(in, w, c)
	}
	return nil, fmt.Errorf("this node does not know %q", c.Do)
}

func (a *app) workSample(in *interrupts, w keeper, c *fleet.Command) (*export.Report, error) {
	k := c.Sample
	f := sampleFlags{hz: k.Hz, wall: k.Wall, threads: k.Threads, native: k.Native, inlined: k.Inlined, source: k.Source, frames: k.Frames, lines: k.Lines, roots: k.Roots}
	if err := checkSource(k.Source, k.Wall); err != nil {
		return nil, err
	}
	if err := w.Begin(); err != nil {
		return nil, err
	}
	return a.sampleQuietly(in.first, c.Target.PID, f.plain(), c.Length())
}

// workProfile records, and keeps what there is every few seconds.
func (a *app) workProfile(in *interrupts, w keeper, c *fleet.Command) (*export.Report, error) {
	rec := c.Recording.Clone()
	cfg := a.config(rec.Memory)
	cfg.Gently, cfg.FullHeap = true, cfg.FullHeap || c.FullHeap
	s, err := a.armOne(in, c.Target.PID, rec, cfg)
	if err != nil {
		return nil, err
	}
	if err := w.Begin(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	keeping, end := context.WithCancel(in.first)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		a.keepReports(keeping, w, s)
	}()
	a.awaitOne(in, s, rec, c.Length())
	end()
	<-kept
	notes := ""
	select {
	case <-s.Done():
	default:
		notes = s.Diagnose(in.second)
	}
	r, err := s.Finish(in.second)
	if r != nil && notes != "" {
		r.Notes = append(r.Notes, strings.Split(notes, "\n")...)
	}
	return r, err
}

// keepReports keeps the report so far again and again, until ctx is done.
func (a *app) keepReports(ctx context.Context, w keeper, s attached) {
	t := time.NewTicker(keepEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		r, err := s.Snapshot(ctx)
		if err == nil {
			err = w.Keep(r)
		}
		if err != nil && ctx.Err() == nil {
			a.say("the report so far could not be kept: %s", oneLine(err.Error()))
		}
	}
}

// mostClasses bounds what is sent of a histogram: those that take most.
const mostClasses = 5000

func (a *app) workHeap(in *interrupts, w keeper, c *fleet.Command) (any, error) {
	if err := w.Begin(); err != nil {
		return nil, err
	}
	h, err := a.backend.histogram(in.first, c.Target.PID, c.Heap.All)
	if err != nil {
		return nil, err
	}
	h.Classes = h.Classes[:min(len(h.Classes), mostClasses)]
	return h, nil
}

func (a *app) workLocks(in *interrupts, w keeper, c *fleet.Command) (any, error) {
	if err := w.Begin(); err != nil {
		return nil, err
	}
	k := c.Locks
	j, err := a.findLocks(in, c.Target.PID, &locksFlags{length: k.Length, hz: k.Hz, strict: k.Hz != 0, exact: k.Exact, threshold: k.Threshold, virtual: true})
	if err != nil { // not a nil *locksJSON in an any
		return nil, err
	}
	return j, nil
}

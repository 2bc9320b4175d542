package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/place"
	"github.com/rivulet-profiler/rivulet/controller/kube"
)

// silentPatience is how long a worker may go on to end what it does when nobody is there any more: then its process ends, and the JVM restores itself.
const silentPatience = 2 * time.Minute

// inPod is what rivulet kube starts in a container.
func (a *app) inPod() *cobra.Command {
	var hold, held string
	cmd := &cobra.Command{
		Use:    kube.WorkerName,
		Short:  "Look at the JVMs of this container for rivulet kube",
		Hidden: true,
		Args:   takes(0),
		RunE: func(*cobra.Command, []string) error {
			if hold != "" {
				return kube.Hold(hold, holdPatience)
			}
			if held != "" {
				release, err := kube.Held(held)
				if err != nil {
					return err
				}
				defer release()
			}
			in := watchInterrupts()
			defer in.stop()
			w, err := kube.Serve(in.first, a.stdin, a.stdout, kube.Lost)
			if err != nil {
				return usage("%w", err)
			}
			if self, err := os.Executable(); err == nil && w.Request.Unlink && kube.IsCopy(self) {
				_ = os.Remove(self) // rivulet kube tries, too
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				a.workInPod(w)
			}()
			select {
			case <-done:
				return nil
			case <-w.First.Done():
			}
			if !errors.Is(context.Cause(w.First), kube.ErrSilent) {
				<-done
				return nil
			}
			select {
			case <-done:
			case <-time.After(silentPatience):
			}
			return kube.ErrSilent
		},
	}
	cmd.Flags().StringVar(&hold, "hold", "", "keep an ephemeral container of this `NAME` running for a worker")
	cmd.Flags().StringVar(&held, "held", "", "work in the ephemeral container of this `NAME`, and end it")
	return cmd
}

// holdPatience is how long an ephemeral container waits for its worker.
const holdPatience = 5 * time.Minute

// workInPod does what a request says, for each JVM that it means.
func (a *app) workInPod(w *kube.Worker) {
	a.littleMemory = a.littleMemory || w.Request.LittleMemory
	found, err := a.meantInPod(w.First, &w.Request)
	if err != nil {
		w.Fail(err)
		return
	}
	list := make([]fleet.JVM, len(found))
	for i, p := range found {
		list[i] = fleetJVM(p, place.Of("/proc", p.PID, p.Options), nil)
	}
	w.JVMs(list)
	var wg sync.WaitGroup
	for _, j := range list {
		wg.Go(func() { a.serveJVM(w, j) })
	}
	wg.Wait()
}

// meantInPod are the JVMs that a request means: one, unless it says more.
func (a *app) meantInPod(ctx context.Context, r *kube.Request) ([]attach.Process, error) {
	all, err := a.backend.processes(ctx)
	if err != nil {
		return nil, err
	}
	is, err := parseMatch(r.Match)
	if err != nil {
		return nil, err
	}
	var found []attach.Process
	var names []string
	for _, p := range all {
		names = append(names, fmt.Sprintf("%d %s", p.PID, p.Main))
		if is(p) && (len(r.PIDs) == 0 || slices.Contains(r.PIDs, p.PID)) {
			found = append(found, p)
		}
	}
	few := func(cause, fix string) error { return &kube.Error{Check: kube.CheckJVM, Cause: cause, Fix: fix} }
	switch {
	case len(all) == 0:
		return nil, few("no JVM is to be seen in this container", "does it run as another user? then an ephemeral container of that user sees it (--image IMAGE --user UID)")
	case len(found) == 0:
		return nil, few("none of this container's JVMs is meant: "+strings.Join(names, ", "), "--pid and --match choose")
	case len(found) > 1 && !r.All && len(r.PIDs) == 0 && len(r.Match) == 0:
		return nil, few("there are several JVMs in this container: "+strings.Join(names, ", "), "choose with --pid or --match, or take --all")
	}
	return found, nil
}

// A podKeeper sends what a recording says of itself.
type podKeeper struct {
	w      *kube.Worker
	target fleet.Target
	head   fleet.Head
}

// Begin implements keeper.
func (k *podKeeper) Begin() error {
	k.w.State(fleet.Progress{Target: k.target, State: fleet.StateRecording})
	return nil
}

// Keep implements keeper.
func (k *podKeeper) Keep(r *export.Report) error {
	var b bytes.Buffer
	if err := r.Snapshot(&b); err != nil {
		return err
	}
	h := k.head
	h.Partial = true
	return k.w.Part(h, b.Bytes())
}

// serveJVM looks at one JVM, and sends what came of it.
func (a *app) serveJVM(w *kube.Worker, j fleet.JVM) {
	c := w.Request.Command
	c.Target = fleet.Target{PID: j.PID, Start: j.Start}
	head := fleet.Head{Do: c.Do, Target: c.Target, JVM: j}
	in := &interrupts{first: w.First, second: w.Second}
	k := &podKeeper{w, c.Target, head}
	begun := time.Now()
	b, err := a.answerInPod(in, k, &c, &w.Request)
	head.Seconds = time.Since(begun).Seconds()
	if err != nil {
		head.Error = interrupted(in, err).Error()
	}
	if err := w.Result(head, b); err != nil {
		a.say("%v", err)
	}
}

// answerInPod is the packed report or JSON of one JVM.
func (a *app) answerInPod(in *interrupts, k *podKeeper, c *fleet.Command, r *kube.Request) ([]byte, error) {
	var b bytes.Buffer
	switch c.Do {
	case fleet.DoProfile, fleet.DoSample:
		report, err := a.carryOut(in, k, c)
		if report == nil {
			return nil, err
		}
		err = errors.Join(report.Snapshot(&b), err)
		return b.Bytes(), err
	}
	v, err := a.valueInPod(in, k, c, r)
	if v == nil || err != nil {
		return nil, err
	}
	z := gzip.NewWriter(&b)
	err = errors.Join(json.NewEncoder(z).Encode(v), z.Close())
	return b.Bytes(), err
}

// valueInPod is what is no report.
func (a *app) valueInPod(in *interrupts, k *podKeeper, c *fleet.Command, r *kube.Request) (any, error) {
	switch c.Do {
	case fleet.DoHeap:
		return a.workHeap(in, k, c)
	case fleet.DoLocks:
		return a.workLocks(in, k, c)
	case kube.DoThreads:
		l, err := lookThreads(in.first, c.Target.PID, r.Threads.Length, lookHow{autoSource, r.Threads.Virtual})
		if err != nil {
			return nil, err
		}
		return newThreadsJSON(c.Target.PID, r.Threads.Length, l), nil
	case kube.DoDoctor:
		checks := a.backend.doctor(in.first, c.Target.PID, r.Doctor.Root, a.config(0))
		if in.first.Err() != nil {
			return nil, errInterrupted
		}
		ok := !slices.ContainsFunc(checks, func(c doctor.Check) bool { return c.Status == doctor.Failure })
		return doctorJSON{export.Schema, "doctor", c.Target.PID, r.Doctor.Root, ok, checks}, nil
	}
	return nil, fmt.Errorf("this version of Rivulet does not know %q", c.Do)
}

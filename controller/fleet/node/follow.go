package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/job"
)

// follow sees a job through to its end and sends its result. gone ends it early; then it
// is gone on with when the node begins again.
func (n *Node) follow(gone context.Context, d job.Dir) {
	n.mu.Lock()
	n.running[d.Name()] = d
	n.mu.Unlock()
	n.wg.Go(func() {
		if err := n.see(gone, d); err != nil {
			if gone.Err() == nil {
				n.Say(d.Name() + ": " + err.Error())
			}
			return
		}
		n.mu.Lock()
		delete(n.running, d.Name())
		n.mu.Unlock()
	})
}

// see carries a job out, waits for its end, sends its result and puts it away.
func (n *Node) see(gone context.Context, d job.Dir) error {
	j, err := d.Job()
	if err != nil {
		return err
	}
	run, target := j.Command.Run, j.Command.Target
	n.Broker.Say(run, n.Name, fleet.Progress{Target: target, State: fleet.StateAccepted})
	end, err := n.await(gone, d, j)
	if err != nil {
		return err
	}
	h := &fleet.Head{
		Schema: fleet.Schema, Run: run, Do: j.Command.Do, Target: target, JVM: j.JVM, Error: end.Error, Partial: end.Partial,
		Seconds: end.At.Sub(j.Accepted).Seconds(),
	}
	if err := n.Broker.SendResult(gone, h, d.Report(), n.Say); err != nil {
		return err
	}
	n.Broker.Say(run, n.Name, fleet.Progress{Target: target, State: fleet.StateEnded})
	n.audit(fleet.Audit{User: j.Sender.User, Role: j.Sender.Role, Run: run, Do: j.Command.Do, PID: target.PID, Main: j.JVM.Main, What: "ended", Detail: end.Error})
	return d.Archive(n.done())
}

// await sees to it that there is a worker, and waits for the end.
func (n *Node) await(gone context.Context, d job.Dir, j *job.Job) (job.End, error) {
	told, inRoom := false, false
	defer func() {
		if inRoom {
			<-n.room
		}
	}()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		if e, ok := d.End(); ok {
			return e, nil
		}
		alive, err := d.Locked()
		if err != nil {
			return job.End{}, err
		}
		_, begun := d.Begun()
		switch {
		case alive:
			if !inRoom { // of a node before this one
				select {
				case n.room <- struct{}{}:
					inRoom = true
				default:
				}
			}
			if !told && d.Recording() {
				told = true
				n.Broker.Say(j.Command.Run, n.Name, fleet.Progress{Target: j.Command.Target, State: fleet.StateRecording})
			}
		case begun:
			if err := n.bury(d); err != nil {
				return job.End{}, err
			}
			continue
		case d.Stopped() != "" || !j.Command.Before.IsZero() && time.Now().After(j.Command.Before):
			why := "not begun: " + d.Stopped()
			if d.Stopped() == "" {
				why = "not begun in time: the node was busy, or away"
			}
			if err := d.Finish(job.End{Error: why, At: time.Now()}); err != nil {
				return job.End{}, err
			}
			continue
		case !inRoom:
			select {
			case n.room <- struct{}{}:
				inRoom = true
				if err := n.launch(d); err != nil {
					return job.End{}, err
				}
				continue
			default: // others first
			}
		}
		select {
		case <-gone.Done():
			return job.End{}, gone.Err()
		case <-tick.C:
		}
	}
}

// launch starts a worker, and waits until it has begun or is gone.
func (n *Node) launch(d job.Dir) error {
	exited, err := n.Start(d)
	if err != nil {
		return d.Finish(job.End{Error: "the worker can't be started: " + err.Error(), At: time.Now()})
	}
	for {
		if _, begun := d.Begun(); begun {
			return nil
		}
		select {
		case <-exited:
			if _, begun := d.Begun(); begun {
				return nil
			}
			return d.Finish(job.End{Error: "the worker has not begun: " + d.LastLog(), At: time.Now()})
		case <-time.After(look / 5):
		}
	}
}

// bury ends a job whose worker has died, with what it has kept.
func (n *Node) bury(d job.Dir) error {
	if _, ok := d.End(); ok { // just now
		return nil
	}
	e := job.End{At: time.Now(), Error: "the process that recorded was killed, and the JVM restores itself"}
	if last := d.LastLog(); last != "" {
		e.Error += "; it said last: " + last
	}
	if e.Partial = d.HasPartial(); e.Partial {
		e.Error += "; the report ends before that"
	}
	return d.Finish(e)
}

// audit writes down who did what: to disk now, and to the broker when it can be reached.
func (n *Node) audit(a fleet.Audit) {
	a.Time, a.Node = time.Now().UTC(), n.Name
	if err := n.audits.keep(a.Time, a); err != nil {
		n.Say("a line of the audit log could not be kept: " + err.Error())
		return
	}
	n.Say(fmt.Sprintf("%s: %s %s of %s, pid %d %s", a.What, a.Do, a.Run, a.User, a.PID, a.Detail))
}

// keepEvents writes events down as audit does, until ctx is done.
func (n *Node) keepEvents(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-n.Events:
			e.Node = n.Name
			if err := n.events.keep(time.Now(), e); err != nil {
				n.Say("an event could not be kept for the hub: " + err.Error())
			}
		}
	}
}

// used is how many bytes a folder has.
func used(dir string) int64 {
	total := int64(0)
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error { // files come and go
		if path == filepath.Join(dir, WatchDir) && err == nil && e.IsDir() {
			return filepath.SkipDir
		}
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
	return total
}

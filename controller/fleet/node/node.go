// Package node is the daemon of one host of a fleet: it takes commands, has each carried
// out by a worker, and brings what came of it to the broker.
//
// Each command is a [job.Dir] from before it is acknowledged until its result is with the
// broker. A node that begins again goes on with all jobs that there are: it waits for workers
// that live, starts those that were never started, and sends what is left of those that
// died. So a command is carried out at most once, and has one result at least.
//
// Where a function names no kind, its errors are those of files.
package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/job"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

// A Broker is what a node uses of a [link.Link].
type Broker interface {
	Commands(ctx context.Context, node string, take func(link.Delivery), say func(string))
	Answer(ctx context.Context, what func() *fleet.Node) error
	Here(ctx context.Context, n *fleet.Node) error
	SendResult(ctx context.Context, h *fleet.Head, report []byte, say func(string)) error
	SendAudit(ctx context.Context, id string, a *fleet.Audit) error
	SendEvent(ctx context.Context, id string, e *fleet.Event) error
	Say(run, node string, p fleet.Progress)
}

// Config is what a node is given. All fields are needed, except Lacks and Events. Its functions are called by several
// goroutines at a time.
type Config struct {
	Name    string
	Version string
	Dir     string   // where jobs are kept
	Disk    int64    // bytes that Dir may have
	AtOnce  int      // workers at a time
	Lacks   []string // permissions that it has not

	Broker Broker
	// JVMs finds those of the host.
	JVMs func(ctx context.Context) ([]fleet.JVM, error)
	// Start starts a worker, which must take the job or leave it. It must not end with
	// this process. exited is closed when it is gone.
	Start func(d job.Dir) (exited <-chan struct{}, err error)
	// Interrupt asks a worker, by its pid, to end and report what it has.
	Interrupt func(pid int)
	// Say logs.
	Say func(text string)
	// Events are rules that come true. Each is kept until the broker has it. It is read until the node is told to end;
	// nil is none.
	Events <-chan fleet.Event
}

// A Node is one that runs; several goroutines may use it at a time.
type Node struct {
	Config
	instance string
	room     chan struct{} // workers
	audits   *outbox
	events   *outbox

	mu      sync.Mutex
	running map[string]job.Dir
	jvms    []fleet.JVM
	listed  time.Time
	wg      sync.WaitGroup
}

const (
	look      = 100 * time.Millisecond // between looks at a job
	keepDone  = 3 * 24 * time.Hour     // names of jobs that have ended, longer than the broker has commands
	leastRoom = 16 << 20               // bytes that a job is taken for
	fresh     = time.Second            // age of a list of JVMs that is still used
	mostEvent = 1000                   // events that wait for the broker
)

// WatchDir is the folder in a node's [Config].Dir where samples of JVMs that are watched all the time lie. It has
// a bound of its own.
const WatchDir = "watch"

func (n *Node) jobs() string    { return filepath.Join(n.Dir, "jobs") }
func (n *Node) done() string    { return filepath.Join(n.Dir, "done") }
func (n *Node) stopped() string { return filepath.Join(n.Dir, "stopped") }

// ErrRunning is a folder that another node uses.
var ErrRunning = errors.New("another node uses this folder")

// Run runs the node until ctx is done. Then it ends what is going on, as by a command to
// stop, and waits until the results are sent, or gone is done.
func Run(ctx, gone context.Context, c Config) error {
	n := &Node{
		Config: c, instance: fmt.Sprintf("%d", time.Now().UnixNano()), room: make(chan struct{}, c.AtOnce),
		running: map[string]job.Dir{},
	}
	for _, d := range []string{n.jobs(), n.done(), n.stopped()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	var err error
	if n.audits, err = newOutbox(filepath.Join(n.Dir, "audit"), 0); err != nil {
		return err
	}
	if n.events, err = newOutbox(filepath.Join(n.Dir, "events"), mostEvent); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(n.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("%s: %w: give each node of a host its own --dir and --name", n.Dir, ErrRunning)
	}
	n.prune()
	left, err := job.List(n.jobs())
	if err != nil {
		return err
	}
	for _, d := range left {
		n.Say("going on with " + d.Name())
		n.follow(gone, d)
	}
	var own sync.WaitGroup
	own.Go(func() { n.Broker.Commands(ctx, n.Name, func(d link.Delivery) { n.take(gone, d) }, n.Say) })
	own.Go(func() { _ = n.Broker.Answer(ctx, n.Describe) }) // ends with ctx
	own.Go(func() { n.announce(ctx) })
	own.Go(func() { n.keepEvents(ctx) })
	sending, endSending := context.WithCancel(gone)
	var sent sync.WaitGroup
	id := func(name string) string { return n.Name + "/" + name }
	sent.Go(func() {
		deliver(sending, n.audits, func(ctx context.Context, name string, a *fleet.Audit) error {
			return n.Broker.SendAudit(ctx, id(name), a)
		})
	})
	sent.Go(func() {
		deliver(sending, n.events, func(ctx context.Context, name string, e *fleet.Event) error {
			return n.Broker.SendEvent(ctx, id(name), e)
		})
	})
	own.Wait()
	n.mu.Lock()
	for _, d := range n.running {
		n.stop(d, "the node was stopped")
	}
	n.mu.Unlock()
	n.wg.Wait()
	endSending()
	sent.Wait()
	return nil
}

// prune forgets jobs that ended long ago.
func (n *Node) prune() {
	for _, parent := range []string{n.done(), n.stopped()} {
		entries, _ := os.ReadDir(parent) // made just now
		for _, e := range entries {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepDone {
				os.RemoveAll(filepath.Join(parent, e.Name()))
			}
		}
	}
	entries, _ := os.ReadDir(n.jobs())
	for _, e := range entries {
		if e.Name()[0] == '.' { // never became one
			os.RemoveAll(filepath.Join(n.jobs(), e.Name()))
		}
	}
}

// Describe is what the node is now.
func (n *Node) Describe() *fleet.Node {
	host, _ := os.Hostname()
	out := &fleet.Node{
		Schema: fleet.Schema, Name: n.Name, Instance: n.instance, Version: n.Version, Host: host,
		Kernel: kernel(), Cores: cores(), Lacks: n.Lacks, JVMs: n.list(context.Background()), Room: n.Disk - used(n.Dir),
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range n.running {
		if _, ended := d.End(); ended {
			out.Waiting++
		} else {
			out.Running++
		}
	}
	return out
}

// list are the JVMs, found a second ago at most.
func (n *Node) list(ctx context.Context) []fleet.JVM {
	n.mu.Lock()
	jvms, listed := n.jvms, n.listed
	n.mu.Unlock()
	if time.Since(listed) < fresh {
		return jvms
	}
	found, err := n.JVMs(ctx)
	if err != nil {
		n.Say("the JVMs can't be listed: " + err.Error())
	}
	n.mu.Lock()
	n.jvms, n.listed = found, time.Now()
	n.mu.Unlock()
	return found
}

// announce keeps with the broker what the node is, for when it does not answer.
func (n *Node) announce(ctx context.Context) {
	const often = 30 * time.Second
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := n.Broker.Here(one, n.Describe())
		cancel()
		wait := often
		if err != nil {
			wait = 2 * time.Second
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// take takes a command: it is acknowledged when it is on disk, or when there is nothing
// to keep of it.
func (n *Node) take(ctx context.Context, d link.Delivery) {
	c, sender, err := fleet.ReadCommand(d.Subject, d.Data)
	if c == nil {
		n.Say("refused: " + err.Error())
		n.audit(fleet.Audit{User: sender.User, Role: sender.Role, Run: sender.Run, What: "refused", Detail: err.Error()})
		d.Ack()
		return
	}
	if c.Do == fleet.DoStop && err == nil {
		n.takeStop(c, sender)
		d.Ack()
		return
	}
	if c.Target.Node != n.Name || c.Run != sender.Run || c.Target.PID <= 0 {
		n.audit(fleet.Audit{User: sender.User, Role: sender.Role, Run: sender.Run, Do: c.Do, What: "refused", Detail: errorText(err)})
		d.Ack()
		return
	}
	name := job.Name(c)
	if _, err := os.Stat(filepath.Join(n.done(), name)); err == nil {
		d.Ack() // it has ended long ago, and its result is with the broker
		return
	}
	j := &job.Job{Command: *c, Sender: sender, Accepted: time.Now()}
	j.JVM, _ = n.find(ctx, c.Target)
	if err == nil {
		err = n.check(ctx, j)
	}
	dir, failed := job.Create(n.jobs(), j)
	switch {
	case errors.Is(failed, fs.ErrExist):
		d.Ack()
		return
	case failed != nil:
		n.Say("a command could not be kept: " + failed.Error())
		return // it comes again
	}
	what := "accepted"
	if err != nil {
		what = "refused"
		_ = dir.Finish(job.End{Error: err.Error(), At: time.Now()}) // else it is carried out, and fails
	}
	a := fleet.Audit{User: sender.User, Role: sender.Role, Run: c.Run, Do: c.Do, PID: c.Target.PID, Main: j.JVM.Main, What: what, Detail: errorText(err)}
	if c.Recording != nil {
		a.Roots = c.Recording.Roots
	}
	n.audit(a)
	d.Ack()
	n.follow(ctx, dir)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// check says why a command can't be carried out.
func (n *Node) check(ctx context.Context, j *job.Job) error {
	c := &j.Command
	switch {
	case !c.Before.IsZero() && time.Now().After(c.Before):
		return fmt.Errorf("the command came %s too late", time.Since(c.Before).Round(time.Second))
	case n.Disk-used(n.Dir) < leastRoom:
		return fmt.Errorf("the node has no room for results: %s may have %d MB, and other results wait for the broker (--disk)", n.Dir, n.Disk>>20)
	}
	if b, err := os.ReadFile(filepath.Join(n.stopped(), fleet.Token(c.Run))); err == nil {
		return fmt.Errorf("not begun: %s", b)
	}
	_, err := n.find(ctx, c.Target)
	return err
}

// ErrGone is a process that there no longer is.
var ErrGone = errors.New("the process has exited")

// find finds a process that a command is about.
func (n *Node) find(ctx context.Context, t fleet.Target) (fleet.JVM, error) {
	is := func(j fleet.JVM) bool { return j.PID == t.PID && j.Start == t.Start }
	jvms := n.list(ctx)
	i := slices.IndexFunc(jvms, is)
	if i < 0 {
		return fleet.JVM{PID: t.PID, Start: t.Start}, ErrGone
	}
	return jvms[i], nil
}

// takeStop ends what is going on of a run, for whoever may have begun it.
func (n *Node) takeStop(c *fleet.Command, sender fleet.Sender) {
	why := "stopped by " + sender.User
	if c.Target.PID == 0 {
		_ = os.WriteFile(filepath.Join(n.stopped(), fleet.Token(c.Run)), []byte(why), 0o600) // what comes later is carried out then
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range n.running {
		j, err := d.Job()
		if err != nil || j.Command.Run != c.Run || c.Target.PID != 0 && j.Command.Target != c.Target {
			continue
		}
		a := fleet.Audit{User: sender.User, Role: sender.Role, Run: c.Run, Do: c.Do, PID: j.Command.Target.PID, Main: j.JVM.Main, What: "stopped"}
		if sender.User != j.Sender.User && !sender.Role.May(j.Sender.Role) {
			a.What, a.Detail = "refused", "another user began it, by a role that includes more"
		} else {
			n.stop(d, why)
		}
		n.audit(a)
	}
}

// stop asks a worker to end, which reports what it has.
func (n *Node) stop(d job.Dir, why string) {
	if d.Stopped() != "" {
		return
	}
	if err := d.Stop(why); err != nil {
		n.Say("a job can't be stopped: " + err.Error())
	}
	if pid, ok := d.Begun(); ok && pid > 0 {
		if alive, err := d.Locked(); err == nil && alive {
			n.Interrupt(pid)
		}
	}
}

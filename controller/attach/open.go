package attach

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Default limits, for callers whose context has no deadline.
const (
	openTimeout  = 15 * time.Second // the JDK's own tools wait 10 s for the socket
	replyTimeout = 60 * time.Second // a large thread dump, or agentmain
)

const (
	// settled is how old a JVM without hsperfdata must be, and loaded how old
	// any process, before its looks are believed.
	settled = time.Second
	loaded  = 300 * time.Millisecond
	// startLimit is how long the end of a JVM's start-up is awaited. A JVM
	// under "jdwp suspend=y" or with a long premain doesn't reach it, yet
	// answers.
	startLimit = 5 * time.Second
)

// A VM is a JVM whose attach listener runs. It holds no resources: nothing is
// to be closed, and what stays in the target is HotSpot's own listener.
type VM struct{ proc Process }

// Open starts the attach listener of a JVM, if it doesn't run yet. A JVM that
// is just starting is waited for. A JVM that merely can't load agents
// (ErrAgentsDisabled, ErrNoInstrument) is opened; LoadAgent will say so.
func Open(ctx context.Context, pid int) (*VM, error) {
	ctx, cancel := withTimeout(ctx, openTimeout)
	defer cancel()
	p, err := settle(ctx, pid)
	if err != nil {
		return nil, err
	}
	vm := &VM{proc: p}
	if err := vm.listen(ctx); err != nil {
		return nil, err
	}
	return vm, nil
}

// Process describes the JVM as it was when opened.
func (vm *VM) Process() Process { return vm.proc }

// Alive returns nil while the very process that was opened runs, and an error
// that matches ErrExited or ErrStopped otherwise.
func (vm *VM) Alive() error {
	_, err := vm.proc.look()
	return err
}

// look reads the status of the same process again.
func (p Process) look() (status, error) {
	st, err := readStatus(p.PID)
	if err == nil && st.start == p.start {
		return st, checkRuns(p.PID, st)
	}
	if err != nil && !errors.Is(err, ErrNoProcess) {
		return st, err
	}
	return st, exited(p.PID)
}

func exited(pid int) error {
	return &Error{PID: pid, Kind: ErrExited, Cause: "the JVM has exited meanwhile", Fix: "see rivulet ps for live ones"}
}

// settle waits until a JVM is past its start-up. Before that, SIGQUIT may kill
// it, and the JVM deletes whatever socket it finds under its name.
func settle(ctx context.Context, pid int) (Process, error) {
	for {
		p, err := Inspect(pid)
		young := age(p.start)
		switch {
		case errors.Is(err, ErrNotJVM) && young < loaded:
		case err != nil:
			return p, err
		case errors.Is(p.Err, ErrStarting):
			err = p.Err
		case p.Err != nil && !onlyAgents(p.Err):
			return p, p.Err
		default:
			if err = p.ready(young); err == nil {
				return p, nil
			}
		}
		if !sleep(ctx, 10*time.Millisecond) {
			return p, cancelled(ctx, pid, err)
		}
	}
}

// ready returns nil once p may be signalled or already has its socket.
func (p Process) ready(young time.Duration) error {
	if p.perf && p.initEnd == 0 && young < startLimit || !p.perf && young < settled {
		return &Error{PID: p.PID, Kind: ErrStarting, Cause: "the JVM is still starting", Fix: "try again in a moment"}
	}
	if p.caught && !p.noSignals {
		return nil
	}
	if _, err := p.socket(); err == nil || p.noSignals {
		return nil // listen finds the socket, or says that there is none
	}
	return p.unwilling()
}

func (p Process) unwilling() error {
	return &Error{
		PID: p.PID, Kind: ErrNoSocket, Cause: "the JVM doesn't catch SIGQUIT, so it can't be asked to listen",
		Fix: "if it isn't just starting, restart it with -XX:+StartAttachListener",
	}
}

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// sleep reports whether d passed before the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// cancelled is the error for a context that ended while err was the state of
// things: err itself if time ran out, and the cancellation if that was asked.
func cancelled(ctx context.Context, pid int, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) || err == nil {
		return fmt.Errorf("pid %d: attach: %w", pid, context.Cause(ctx))
	}
	return err
}

package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/job"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
	"github.com/rivulet-profiler/rivulet/controller/fleet/node"
)

// A broker delivers what a test gives it, and keeps what it gets.
type broker struct {
	deliveries chan link.Delivery

	mu      sync.Mutex
	down    bool // it takes nothing
	results []*fleet.Result
	audits  map[string]*fleet.Audit
	events  []*fleet.Event
	got     chan *fleet.Result
}

func newBroker() *broker {
	return &broker{deliveries: make(chan link.Delivery, 10), audits: map[string]*fleet.Audit{}, got: make(chan *fleet.Result, 100)}
}

func (b *broker) Commands(ctx context.Context, _ string, take func(link.Delivery), _ func(string)) {
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-b.deliveries:
			take(d)
		}
	}
}

func (b *broker) Answer(ctx context.Context, _ func() *fleet.Node) error { <-ctx.Done(); return nil }
func (b *broker) Here(context.Context, *fleet.Node) error                { return nil }
func (b *broker) Say(string, string, fleet.Progress)                     {}

func (b *broker) SendResult(ctx context.Context, h *fleet.Head, report []byte, _ func(string)) error {
	for {
		b.mu.Lock()
		down := b.down
		b.mu.Unlock()
		if !down {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	h.Seal(report)
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &fleet.Result{Head: *h, Report: report}
	b.results = append(b.results, r)
	b.got <- r
	return nil
}

func (b *broker) SendAudit(_ context.Context, id string, a *fleet.Audit) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.audits[id] = a
	return nil
}

func (b *broker) SendEvent(_ context.Context, _ string, e *fleet.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return errors.New("the broker is away")
	}
	b.events = append(b.events, e)
	return nil
}

// A host has JVMs 1 to 9, and workers that are goroutines: each does what a test says.
type host struct {
	t    *testing.T
	dir  string
	b    *broker
	work func(w *job.Worker) // the worker's lock is let go when it returns

	events chan fleet.Event

	mu     sync.Mutex
	begun  map[string]int
	cancel context.CancelFunc
	kill   context.CancelFunc
	over   chan error
}

func newHost(t *testing.T, work func(w *job.Worker)) *host {
	return &host{t: t, dir: t.TempDir(), b: newBroker(), work: work, events: make(chan fleet.Event), begun: map[string]int{}}
}

func (h *host) start() {
	ctx, cancel := context.WithCancel(h.t.Context())
	gone, kill := context.WithCancel(h.t.Context())
	h.cancel, h.kill, h.over = cancel, kill, make(chan error, 1)
	c := node.Config{
		Name: "n1", Version: "1", Dir: h.dir, Disk: 1 << 30, AtOnce: 2, Broker: h.b,
		JVMs: func(context.Context) ([]fleet.JVM, error) {
			var out []fleet.JVM
			for pid := range 9 {
				out = append(out, fleet.JVM{PID: pid + 1, Start: 7, Main: "shop.Main"})
			}
			return out, nil
		},
		Start: func(d job.Dir) (<-chan struct{}, error) {
			exited := make(chan struct{})
			go func() {
				defer close(exited)
				w, err := job.Take(d)
				if err != nil {
					return
				}
				h.mu.Lock()
				h.begun[d.Name()]++
				h.mu.Unlock()
				h.work(w)
				w.Release()
			}()
			return exited, nil
		},
		Interrupt: func(int) {}, Say: func(string) {}, Events: h.events,
	}
	go func() { h.over <- node.Run(ctx, gone, c) }()
}

// stop ends the node as kill -9 does, as far as its own process goes: nothing is waited for.
func (h *host) stop() {
	h.kill()
	h.cancel()
	if err := <-h.over; err != nil {
		h.t.Error(err)
	}
}

func (h *host) deliver(c *fleet.Command, role fleet.Role) chan struct{} {
	data, err := json.Marshal(c)
	if err != nil {
		h.t.Fatal(err)
	}
	acked := make(chan struct{}, 1)
	h.b.deliveries <- link.Delivery{Subject: fleet.DoSubject("anna", role, "n1", c.Run), Data: data, Ack: func() { acked <- struct{}{} }}
	return acked
}

func command(pid int) *fleet.Command {
	return &fleet.Command{
		Schema: fleet.Schema, Do: fleet.DoSample, Run: "r1", Target: fleet.Target{Node: "n1", PID: pid, Start: 7},
		Seconds: 1, Before: time.Now().Add(5 * time.Minute),
	}
}

func (h *host) result() *fleet.Result {
	h.t.Helper()
	select {
	case r := <-h.b.got:
		return r
	case <-time.After(5 * time.Minute):
		h.t.Fatal("no result in a minute")
		return nil
	}
}

func report() *export.Report {
	return &export.Report{
		Target: export.Target{PID: 1, Main: "shop.Main"}, Scheme: "A", Clock: "tick", Roots: []string{"shop.Main.loop"}, Time: time.Second, Ended: "stopped",
		Tree:   &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 1, RootReturns: 1, Roots: []*cct.Node{{Calls: 1, Self: 5, Total: 5}}}}},
		Lookup: func(int32) (cct.Method, bool) { return cct.Method{Name: "shop.Main.loop()V", Loader: "app"}, true },
	}
}

// TestRestart: a node ends while a worker works; the next one sends the result, and has
// nobody begin again. Commands that come twice are carried out once.
func TestRestart(t *testing.T) {
	t.Parallel()
	working, goOn := make(chan struct{}, 2), make(chan struct{})
	h := newHost(t, func(w *job.Worker) {
		working <- struct{}{}
		<-goOn
		if err := w.Done(report(), nil); err != nil {
			t.Error(err)
		}
	})
	h.start()
	<-h.deliver(command(1), fleet.RoleSample)
	<-h.deliver(command(1), fleet.RoleSample)
	<-working
	h.stop()
	h.start()
	<-h.deliver(command(1), fleet.RoleSample)
	close(goOn)
	r := h.result()
	if r.Error != "" || r.Report == nil || r.Target.PID != 1 {
		t.Fatalf("%+v", r.Head)
	}
	h.stop()
	h.start()
	<-h.deliver(command(1), fleet.RoleSample) // late
	<-h.deliver(command(2), fleet.RoleSample)
	if r := h.result(); r.Target.PID != 2 {
		t.Errorf("another result of %d", r.Target.PID)
	}
	h.stop()
	for name, n := range h.begun {
		if n != 1 {
			t.Errorf("%s was begun %d times", name, n)
		}
	}
}

// TestBrokerAway: results stay until the broker is back, over a restart, too.
func TestBrokerAway(t *testing.T) {
	t.Parallel()
	done := make(chan struct{}, 5)
	h := newHost(t, func(w *job.Worker) { _ = w.Done(report(), nil); done <- struct{}{} })
	h.b.down = true
	h.start()
	for pid := 1; pid <= 5; pid++ {
		<-h.deliver(command(pid), fleet.RoleSample)
	}
	for range 5 {
		<-done
	}
	h.stop()
	h.start()
	h.b.mu.Lock()
	h.b.down = false
	h.b.mu.Unlock()
	got := map[int]bool{}
	for range 5 {
		r := h.result()
		if got[r.Target.PID] || r.Report == nil {
			t.Errorf("%+v", r.Head)
		}
		got[r.Target.PID] = true
	}
	h.stop()
}

// TestWorkerDies: what it has kept is sent, with the reason.
func TestWorkerDies(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(w *job.Worker) {
		j, _ := w.Job()
		if j.Command.Target.PID == 1 {
			_ = w.Keep(report())
		}
	})
	h.start()
	<-h.deliver(command(1), fleet.RoleSample)
	if r := h.result(); !r.Partial || r.Report == nil || !strings.Contains(r.Error, "was killed") {
		t.Errorf("%+v", r.Head)
	}
	<-h.deliver(command(2), fleet.RoleSample)
	if r := h.result(); r.Partial || r.Report != nil || !strings.Contains(r.Error, "was killed") {
		t.Errorf("%+v", r.Head)
	}
	h.stop()
}

// TestRefused: what may not be done is not done, is answered, and is written down.
func TestRefused(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(w *job.Worker) { _ = w.Done(nil, nil) })
	h.start()
	late, gone, forbidden := command(1), command(77), command(3)
	late.Before = time.Now().Add(-time.Second)
	for i, of := range []struct {
		c    *fleet.Command
		role fleet.Role
		want string
	}{{late, fleet.RoleSample, "too late"}, {gone, fleet.RoleSample, "has exited"}, {forbidden, fleet.RoleLook, "not allowed"}} {
		<-h.deliver(of.c, of.role)
		if r := h.result(); !strings.Contains(r.Error, of.want) {
			t.Errorf("%d: %q", i, r.Error)
		}
	}
	deadline := time.Now().Add(5 * time.Minute)
	for n := 0; n < 6 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		h.b.mu.Lock()
		n = len(h.b.audits)
		h.b.mu.Unlock()
	}
	h.stop()
	var whats []string
	for _, a := range h.b.audits {
		whats = append(whats, a.What)
	}
	slices.Sort(whats)
	if got := strings.Join(whats, " "); got != "ended ended ended refused refused refused" {
		t.Error(got)
	}
	if len(h.begun) != 0 {
		t.Errorf("workers have begun: %v", h.begun)
	}
}

// TestStop ends what has not begun; a command of the run that comes later is not begun, either.
func TestStop(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	h := newHost(t, func(w *job.Worker) {
		<-end
		_ = w.Done(nil, errors.New(w.Stopped()))
	})
	h.start()
	for pid := 1; pid <= 4; pid++ { // two of them have room
		<-h.deliver(command(pid), fleet.RoleSample)
	}
	<-h.deliver(&fleet.Command{Schema: fleet.Schema, Do: fleet.DoStop, Run: "r1", Target: fleet.Target{Node: "n1"}}, fleet.RoleSample)
	<-h.deliver(command(5), fleet.RoleSample)
	for range 3 {
		if r := h.result(); !strings.Contains(r.Error, "not begun: stopped by anna") {
			t.Errorf("%d: %q", r.Target.PID, r.Error)
		}
	}
	close(end)
	for range 2 {
		if r := h.result(); r.Error != "stopped by anna" {
			t.Errorf("%d: %q", r.Target.PID, r.Error)
		}
	}
	h.stop()
	left, err := os.ReadDir(filepath.Join(h.dir, "jobs"))
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestOneNode: a folder is of one node at a time.
func TestOneNode(t *testing.T) {
	t.Parallel()
	h := newHost(t, nil)
	h.start()
	late := command(1)
	late.Before = time.Now().Add(-time.Second)
	<-h.deliver(late, fleet.RoleSample)
	h.result() // so it runs
	err := node.Run(t.Context(), t.Context(), node.Config{Name: "n1", Dir: h.dir, AtOnce: 1, Broker: h.b, Say: func(string) {}})
	if !errors.Is(err, node.ErrRunning) {
		t.Error(err)
	}
	h.stop()
}

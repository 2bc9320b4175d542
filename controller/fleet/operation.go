package fleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Carrier brings commands to nodes, and what they say back. What is sent arrives once or
// more often; Send returns when the broker has it, or an error that says why it has not.
type Carrier interface {
	// Send brings a command to a node, unless it can't be delivered within begin. Several
	// goroutines may send at a time.
	Send(ctx context.Context, c *Command, node string, begin time.Duration) error
	// Results are all results of the run, from the first, until ctx is done.
	Results(ctx context.Context, run string) (<-chan *Result, error)
	// Progress is what nodes say meanwhile; nothing of it need arrive.
	Progress(ctx context.Context, run string) (<-chan Progress, error)
}

// A Found is a JVM of a node.
type Found struct {
	Node string `json:"node"`
	JVM  JVM    `json:"jvm"`
}

// Target names the process.
func (f *Found) Target() Target { return Target{Node: f.Node, PID: f.JVM.PID, Start: f.JVM.Start} }

// An Operation is one run over several JVMs, a bounded number of them at a time.
type Operation struct {
	Run      string
	Command  Command // Target is filled in for each
	Targets  []Found
	AtMost   int           // how many at the same time
	Begin    time.Duration // how long a command waits for its node
	Patience time.Duration // how long a result may take beyond the command's length

	// Stop, where it isn't nil, delivers why the run is to end before its time.
	Stop <-chan string
	// Tell, where it isn't nil, is called from Do at each change.
	Tell func(State)
	// Result, where it isn't nil, is called from Do for each result, once.
	Result func(*Result)
}

// ByHand is why an operation ends early when its context does.
const ByHand = "stopped by hand"

// A State is how far an operation is, in JVMs.
type State struct {
	Targets, Sent, Recording, Ended, Failed int
	Stopped                                 string // why it ends early; "" if it does not
}

// An Outcome is what came of an operation.
type Outcome struct {
	Results []*Result
	Lost    []Lost // targets without a result
	Stopped string // why it ended early; "" if it did not
	Repeats int    // results that came more than once
}

// sending is a target that a command was sent to.
type sending struct {
	found    Found
	deadline time.Time
}

// Do carries the operation out and returns when each target has a result or is given up.
// When ctx ends, what is going on is stopped, and its results are waited for, for as long
// as Patience. The error is that of the carrier; nothing is running then, or is about to
// end by itself.
func (o *Operation) Do(ctx context.Context, by Carrier) (*Outcome, error) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	results, err := by.Results(inner, o.Run)
	if err != nil {
		return nil, err
	}
	progress, err := by.Progress(inner, o.Run)
	if err != nil {
		return nil, err
	}
	w := work{o: o, by: by, gather: NewGather(o.Run), running: map[string]*sending{}, recording: map[string]bool{}}
	w.state.Targets = len(o.Targets)
	for i := range o.Targets {
		w.gather.Want(o.Targets[i].Target())
	}
	w.waiting = slices.Clone(o.Targets)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	stop, end := o.Stop, ctx.Done()
	for {
		if err := w.sendMore(inner); err != nil {
			w.stop(inner, "the broker refused a command")
			return nil, err
		}
		if len(w.running) == 0 && len(w.waiting) == 0 {
			return &Outcome{Results: w.gather.Results(), Lost: w.lost, Stopped: w.state.Stopped, Repeats: w.gather.Repeats()}, nil
		}
		w.tell()
		select {
		case r, ok := <-results:
			if !ok {
				return nil, errors.New("the broker's results have ended")
			}
			w.take(r)
		case p := <-progress:
			if p.State == StateRecording && w.running[p.Target.Key()] != nil {
				w.recording[p.Target.Key()] = true
			}
		case why := <-stop:
			stop = nil
			w.stop(inner, why)
		case <-end:
			end = nil
			w.stop(inner, ByHand)
		case now := <-tick.C:
			w.giveUp(inner, now)
		}
	}
}

// work is the state of an operation while it is carried out.
type work struct {
	o         *Operation
	by        Carrier
	gather    *Gather
	waiting   []Found
	running   map[string]*sending
	recording map[string]bool
	lost      []Lost
	state     State
	told      State
}

func (w *work) tell() {
	w.state.Recording = len(w.recording)
	if w.o.Tell != nil && w.state != w.told {
		w.told = w.state
		w.o.Tell(w.state)
	}
}

// sendAtOnce is how many commands wait for the broker at a time, which syncs each to disk.
const sendAtOnce = 64

// sendMore sends commands to as many targets as have room.
func (w *work) sendMore(ctx context.Context) error {
	n := min(len(w.waiting), max(w.o.AtMost, 1)-len(w.running))
	if n <= 0 {
		return nil
	}
	next := w.waiting[:n]
	w.waiting = w.waiting[n:]
	room := make(chan struct{}, sendAtOnce)
	failed := make([]error, n)
	var wg sync.WaitGroup
	for i := range next {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			c := w.o.Command
			c.Schema, c.Run, c.Target, c.Before = Schema, w.o.Run, next[i].Target(), time.Now().Add(w.o.Begin)
			if err := w.by.Send(ctx, &c, next[i].Node, w.o.Begin); err != nil {
				failed[i] = fmt.Errorf("%s: %w", next[i].Node, err)
			}
		})
	}
	wg.Wait()
	latest := time.Now().Add(w.o.Begin + w.o.Command.Length() + w.o.Patience)
	for i, f := range next {
		if failed[i] == nil {
			w.running[f.Target().Key()] = &sending{f, latest}
			w.state.Sent++
		}
	}
	return errors.Join(failed...)
}

func (w *work) take(r *Result) {
	if !w.gather.Add(r) {
		return
	}
	key := r.Target.Key()
	delete(w.running, key)
	delete(w.recording, key)
	w.lost = slices.DeleteFunc(w.lost, func(l Lost) bool { return l.Target == r.Target })
	w.state.Ended++
	if r.Error != "" {
		w.state.Failed++
	}
	if w.o.Result != nil {
		w.o.Result(r)
	}
}

// stop begins nothing more and has nodes end what is going on. A node that can't be
// reached now gets the command when it is back.
func (w *work) stop(ctx context.Context, why string) {
	if w.state.Stopped != "" {
		return
	}
	w.state.Stopped = why
	for _, f := range w.waiting {
		w.lose(f, "not begun: "+why)
	}
	w.waiting = nil
	nodes := map[string]bool{}
	for _, s := range w.running {
		if !nodes[s.found.Node] {
			nodes[s.found.Node] = true
			w.sendStop(ctx, Target{Node: s.found.Node})
		}
	}
	latest := time.Now().Add(w.o.Patience)
	for _, s := range w.running {
		if s.deadline.After(latest) {
			s.deadline = latest
		}
	}
}

// sendStop has a node end one target of the run, or all that it has of it if the target
// is no process.
func (w *work) sendStop(ctx context.Context, t Target) {
	c := Command{Schema: Schema, Do: DoStop, Run: w.o.Run, Target: t}
	_ = w.by.Send(ctx, &c, t.Node, keepStops) // what is going on ends by itself
}

// keepStops is how long a command to stop waits for its node.
const keepStops = longest

func (w *work) lose(f Found, why string) {
	w.lost = append(w.lost, Lost{f.Target(), f.JVM, why})
}

// giveUp no longer waits for targets whose time is over.
func (w *work) giveUp(ctx context.Context, now time.Time) {
	for key, s := range w.running {
		if now.After(s.deadline) {
			w.sendStop(ctx, s.found.Target())
			delete(w.running, key)
			delete(w.recording, key)
			w.lose(s.found, fmt.Sprintf("no result in time; if its node comes back, rivulet fleet collect %s fetches it", w.o.Run))
			w.state.Failed++
		}
	}
}

// Spread orders JVMs so that those of one node are far from each other: a bounded number at
// a time are of as many nodes as possible.
func Spread(found []Found) []Found {
	byNode := map[string][]Found{}
	var nodes []string
	for _, f := range found {
		if byNode[f.Node] == nil {
			nodes = append(nodes, f.Node)
		}
		byNode[f.Node] = append(byNode[f.Node], f)
	}
	slices.Sort(nodes)
	out := make([]Found, 0, len(found))
	for round := 0; len(out) < len(found); round++ {
		for _, n := range nodes {
			if round < len(byNode[n]) {
				out = append(out, byNode[n][round])
			}
		}
	}
	return out
}

// NewRun makes the name of a run: when it began, and a few random letters.
func NewRun(now time.Time) string {
	b := make([]byte, 3)
	_, _ = rand.Read(b) // never fails
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(b)
}

// ParseAtMost reads how many of a number may be worked on at the same time: "3", or "5%",
// which is rounded up. The error says what makes no sense.
func ParseAtMost(text string, of int) (int, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsNaN(v) || v <= 0 || percent && v > 100 || !percent && (v != math.Trunc(v) || v > 1e6):
		return 0, fmt.Errorf("%q: give a number of JVMs, such as 3, or a share of them, such as 5%%", text)
	case percent:
		return max(1, int(math.Ceil(float64(of)*v/100-1e-9))), nil
	}
	return int(v), nil
}

// Collect fetches the results of a run that was begun before, and waits for missing ones
// until none has come for a while.
func Collect(ctx context.Context, by Carrier, r *Run, wait time.Duration) (*Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results, err := by.Results(ctx, r.Run)
	if err != nil {
		return nil, err
	}
	g := NewGather(r.Run)
	jvms := map[string]JVM{}
	for i := range r.Targets {
		g.Want(r.Targets[i].Target())
		jvms[r.Targets[i].Target().Key()] = r.Targets[i].JVM
	}
	idle := time.NewTimer(wait)
	defer idle.Stop()
	for over := false; !over && len(g.Missing()) > 0; {
		select {
		case one, ok := <-results:
			if !ok {
				return nil, errors.New("the broker's results have ended")
			}
			g.Add(one)
			idle.Reset(wait)
		case <-idle.C:
			over = true
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	out := &Outcome{Results: g.Results(), Repeats: g.Repeats()}
	for _, t := range g.Missing() {
		out.Lost = append(out.Lost, Lost{t, jvms[t.Key()], "no result has come yet"})
	}
	return out, nil
}

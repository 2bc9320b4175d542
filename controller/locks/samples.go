package locks

import (
	"fmt"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// Samples makes a table of the samples of all threads, taken from outside with locks.
type Samples struct {
	Table
	last   map[int]string // the lock that each thread waited for, with its place
	recent map[int]recent // where each thread was
	names  map[*stack.Frame][]string
}

// A recent is where a thread was seen at last.
type recent struct {
	thread string
	frames []stack.Frame
	time   int64
}

const (
	ownerFor  = int64(100e6) // ns for which a thread counts as being where it was seen
	mostNames = 1 << 10      // stacks whose methods' names are kept
)

// Add takes samples, in the order of time. Those of one moment come together.
func (d *Samples) Add(batch []stack.Stack) {
	if d.recent == nil {
		d.last, d.recent, d.names = map[int]string{}, map[int]recent{}, map[*stack.Frame][]string{}
	}
	for i := range batch {
		if s := &batch[i]; s.Java && len(s.Frames) > 0 {
			d.recent[s.TID] = recent{s.Thread, s.Frames, s.Time}
		}
	}
	for i := range batch {
		s := &batch[i]
		if s.State == stack.Running { // the other part of a moment's sample says what it waits for
			continue
		}
		at := d.wait(s)
		if at == "" {
			delete(d.last, s.TID)
			continue
		}
		d.last[s.TID] = at
	}
}

// wait adds a sample of a thread that waits for a lock, and returns the lock with its place; "" for other samples.
func (d *Samples) wait(s *stack.Stack) string {
	if s.Lock == nil || s.Lock.Class == "" || len(s.Frames) == 0 {
		return ""
	}
	waiter := d.methods(s.Frames)
	switch s.State {
	case stack.Parked:
		if waiter = parked(waiter); waiter == nil {
			return ""
		}
	case stack.Blocked:
	default:
		return ""
	}
	r := Row{Class: strings.ReplaceAll(s.Lock.Class, "/", "."), WaiterStack: waiter}
	if s.Lock.Address != 0 {
		r.Instance = fmt.Sprintf("0x%016x", s.Lock.Address)
	}
	if o, ok := d.recent[s.Lock.Owner]; ok && s.Lock.Owner != 0 && s.Time-o.time <= ownerFor {
		r.OwnerThread, r.OwnerStack = o.thread, outside(d.methods(o.frames))
	}
	at := r.Class + r.Instance + "\n" + strings.Join(waiter, "\n")
	d.observe(r, s.Weight, d.last[s.TID] != at)
	return at
}

// methods are the names of frames' methods as those of thread dumps, without native code.
func (d *Samples) methods(frames []stack.Frame) []string {
	if names, ok := d.names[&frames[0]]; ok {
		return names
	}
	if len(d.names) >= mostNames {
		clear(d.names)
	}
	names := make([]string, 0, len(frames))
	for _, f := range frames {
		if f.Method == nil || f.Method.Class == "" {
			continue
		}
		names = append(names, strings.ReplaceAll(f.Method.Class, "/", ".")+"."+f.Method.Name)
	}
	d.names[&frames[0]] = names
	return names
}

package locks

import (
	"fmt"
	"maps"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// Samples makes a table of the samples of all threads, taken from outside with locks.
type Samples struct {
	Table
	last   map[int]string // what each thread waited for, and where
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
	mostSeen  = 1 << 12      // threads of which is kept where they were seen
)

// Add takes samples, in the order of time. Those of one moment come together. A thread that is seen waiting for a lock of
// the same class at the same place as before counts as one wait, whatever the lock's address: collections move locks.
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
		switch {
		case s.State == stack.Running: // the other part of a moment's sample says what it waits for
		case waits(s.State) && (len(s.Frames) == 0 || s.Lock != nil && s.Lock.Class == ""):
			// It could not be read what it waits for: perhaps for the same as before.
		default:
			if at := d.wait(s); at != "" {
				d.last[s.TID] = at
			} else {
				delete(d.last, s.TID)
			}
		}
	}
	if n := len(batch); n > 0 && len(d.recent) > mostSeen {
		now := batch[n-1].Time
		maps.DeleteFunc(d.recent, func(tid int, r recent) bool {
			gone := now-r.time > ownerFor
			if gone {
				delete(d.last, tid)
			}
			return gone
		})
	}
}

// waits tells in which states a thread may wait for a lock.
func waits(s stack.State) bool { return s == stack.Parked || s == stack.Blocked }

// wait adds a sample of a thread that waits for a lock, and returns what it waits for, and where; "" for other samples.
func (d *Samples) wait(s *stack.Stack) string {
	if s.Lock == nil || !waits(s.State) {
		return ""
	}
	waiter := d.methods(s.Frames)
	if s.State == stack.Parked {
		if waiter = parked(waiter); waiter == nil {
			return ""
		}
	}
	r := Row{Class: strings.ReplaceAll(s.Lock.Class, "/", "."), WaiterStack: waiter}
	if s.Lock.Address != 0 {
		r.Instance = fmt.Sprintf("0x%016x", s.Lock.Address)
	}
	if o, ok := d.recent[s.Lock.Owner]; ok && s.Lock.Owner != 0 && s.Time-o.time <= ownerFor {
		r.OwnerThread, r.OwnerStack = o.thread, outside(d.methods(o.frames))
	}
	at := r.Class + "\n" + strings.Join(waiter, "\n")
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

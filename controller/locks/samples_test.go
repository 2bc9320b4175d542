package locks_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/locks"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// TestSamples: waits of one thread at one place count once as long as it is seen there each time; of the owner that counts
// which was seen shortly before.
func TestSamples(t *testing.T) {
	frames := func(names ...string) (out []stack.Frame) {
		for _, n := range names {
			out = append(out, stack.Frame{Method: &stack.Method{Class: "p/Main", Name: n}})
		}
		return out
	}
	wants := frames("want", "run")
	pool := append([]stack.Frame{
		{Method: &stack.Method{Class: "jdk/internal/misc/Unsafe", Name: "park"}},
		{Method: &stack.Method{Class: "java/util/concurrent/locks/LockSupport", Name: "park"}},
		{Method: &stack.Method{Class: "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", Name: "await"}},
	}, frames("take")...)
	owner := frames("hold", "run")
	lock := &stack.Lock{Address: 0x10, Class: "p/Gate", Owner: 2}
	waiter := func(at int64) stack.Stack {
		return stack.Stack{Time: at, Weight: 10e6, TID: 1, Thread: "one", Java: true, State: stack.Blocked, Lock: lock, Frames: wants}
	}
	var d locks.Samples
	d.Add([]stack.Stack{{Time: 1e6, Weight: 10e6, TID: 2, Thread: "two", Java: true, State: stack.Running, Frames: owner}, waiter(2e6)})
	d.Add([]stack.Stack{waiter(12e6), {Time: 12e6, Weight: 1e6, TID: 1, Thread: "one", Java: true, State: stack.Running, Frames: wants, Lock: lock}})
	d.Add([]stack.Stack{{Time: 22e6, Weight: 10e6, TID: 1, Thread: "one", Java: true, State: stack.InVM, Frames: wants}})
	d.Add([]stack.Stack{waiter(32e6)})
	lock = &stack.Lock{Address: 0x20, Class: "p/Gate", Owner: 2} // a collection has moved it
	d.Add([]stack.Stack{waiter(36e6)})
	lock = &stack.Lock{} // while a collection was on nothing could be read
	d.Add([]stack.Stack{waiter(40e6)})
	lock = &stack.Lock{Address: 0x10, Class: "p/Gate", Owner: 2}
	d.Add([]stack.Stack{waiter(300e6)}) // nobody knows where the owner is now
	d.Add([]stack.Stack{{Time: 310e6, Weight: 10e6, TID: 3, Java: true, State: stack.Parked, Lock: &stack.Lock{Address: 0x30, Class: "p/Condition"}, Frames: pool}})
	rows := d.Rows()
	if len(rows) != 3 {
		t.Fatalf("%+v", rows)
	}
	if r := rows[2]; r.Instance != "0x0000000000000020" || r.Count != 0 || r.Blocked != 10e6 {
		t.Errorf("%+v", r)
	}
	r := rows[0]
	if r.Class != "p.Gate" || r.Instance != "0x0000000000000010" || r.Waiter != "p.Main.want" || r.Owner != "p.Main.hold" || r.OwnerThread != "two" || r.Count != 2 || r.Blocked != 30e6 {
		t.Errorf("%+v", r)
	}
	if r = rows[1]; r.Owner != "" || r.OwnerThread != "" || r.Count != 0 || r.Blocked != 10e6 {
		t.Errorf("%+v", r)
	}
}

// TestSamplesForget: of threads that have ended nothing is kept for long.
func TestSamplesForget(t *testing.T) {
	var d locks.Samples
	frames := []stack.Frame{{Method: &stack.Method{Class: "p/Main", Name: "run"}}}
	const threads = 20_000
	for tid := range threads {
		d.Add([]stack.Stack{{Time: int64(tid) * 1e6, Weight: 1e6, TID: tid, Java: true, State: stack.Blocked, Lock: &stack.Lock{Class: "p/Gate"}, Frames: frames}})
	}
	if rows := d.Rows(); len(rows) != 1 || rows[0].Count != threads {
		t.Errorf("%+v", rows)
	}
	if n := locks.Known(&d); n > 5000 {
		t.Errorf("%d threads are known", n)
	}
}

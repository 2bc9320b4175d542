package threads_test

import (
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// TestOutside: states, frames and owners of threads as samples have them; without numbers of Java's, too.
func TestOutside(t *testing.T) {
	frame := func(class, name string, kind stack.Kind, line int) stack.Frame {
		return stack.Frame{Method: &stack.Method{Class: class, Name: name}, Kind: kind, Line: line}
	}
	a, b := &stack.Lock{Address: 0x10, Class: "p/A", Owner: 12}, &stack.Lock{Address: 0x20, Class: "p/B", Owner: 11}
	for _, numbers := range []int64{1, 0} {
		all := threads.Outside([]threads.Seen{
			{Stack: stack.Stack{TID: 11, Thread: "one", State: stack.Blocked, Lock: a, Frames: []stack.Frame{frame("p/Main", "run", stack.C2, 7), frame("", "start_thread", stack.Native, 0)}}, ID: 1 * numbers, NID: 1},
			{Stack: stack.Stack{TID: 12, Thread: "two", State: stack.Parked, Status: 0x291, Lock: b, Frames: []stack.Frame{frame("jdk/internal/misc/Unsafe", "park", stack.JavaNative, 0), frame("q/Other", "go", stack.Interpreted, 0)}}, ID: 2 * numbers, NID: 2, Daemon: true},
			{Stack: stack.Stack{TID: 13, Thread: "late", State: stack.Parked, Status: 0x2a1, Lock: &stack.Lock{Address: 0x10, Class: "p/A", Owner: 12}}, ID: 3 * numbers, NID: 3},
			{Stack: stack.Stack{TID: 14, Thread: "busy", State: stack.Running, Broken: "?"}, ID: 4 * numbers, NID: 4},
			{Stack: stack.Stack{TID: 15, Thread: "far", State: stack.Waiting, Status: 0x191, Lock: &stack.Lock{Class: "p/C", Owner: 99}}, ID: 5 * numbers, NID: 5},
			{Stack: stack.Stack{TID: 16, Thread: "native", State: stack.Waiting, Status: 0x5}, ID: 6 * numbers, NID: 6},
		}, func(m *stack.Method) string {
			return map[string]string{"run": "Main.java"}[m.Name]
		})
		want := []struct{ state, lock, holds string }{
			{"BLOCKED", "p.A <0x0000000000000010>", "p.B <0x0000000000000020>"},
			{"WAITING", "p.B <0x0000000000000020>", "p.A <0x0000000000000010>"},
			{"TIMED_WAITING", "p.A <0x0000000000000010>", ""},
			{"RUNNABLE", "", ""},
			{"WAITING", "p.C <>", ""},
			{"RUNNABLE", "", ""},
		}
		for i, w := range want {
			got, lock, holds := all[i], "", ""
			if got.WaitFor != nil {
				lock = got.WaitFor.String()
			}
			for _, l := range got.Holds {
				holds += l.String()
			}
			if got.State != w.state || lock != w.lock || holds != w.holds || got.Daemon != (i == 1) {
				t.Errorf("%+v: lock %q, holds %q", got, lock, holds)
			}
		}
		if got := all[0].Stack; !slices.Equal(got, []string{"p.Main.run(Main.java:7)"}) {
			t.Error(got)
		}
		if got := all[1].Stack; !slices.Equal(got, []string{"jdk.internal.misc.Unsafe.park(Native Method)", "q.Other.go(Unknown Source)"}) {
			t.Error(got)
		}
		found := threads.Deadlocks(all)
		if len(found) != 1 || len(found[0].Threads) != 2 || found[0].Threads[0].Holds != "p.B <0x0000000000000020>" {
			t.Errorf("numbers %d: %+v", numbers, found)
		}
	}
}

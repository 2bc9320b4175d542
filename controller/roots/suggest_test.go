package roots

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// TestIdle has threads that wait, and wake now and then without much to do: what they are in
// is no suggestion. A thread that works beside them is found.
func TestIdle(t *testing.T) {
	at := time.Now()
	ours := func(frame string) bool { return frame[0] == 'a' }
	for _, works := range []bool{false, true} {
		s := NewSight()
		ran := map[int64]int64{}
		for i := range 21 {
			poll := attach.Stack{ID: 1, Name: "poller", Frames: []string{"java.lang.Object.wait", "app.Poller.run"}}
			if i%10 == 5 { // busy at that look and the next one
				poll.Frames[0] = "java.util.ArrayDeque.poll"
			}
			stacks := []attach.Stack{poll}
			if works {
				ran[2] += int64(50 * time.Millisecond)
				stacks = append(stacks, attach.Stack{ID: 2, Name: "worker", Frames: []string{"app.Orders.price", "app.Orders.order", "java.lang.Thread.run"}})
			}
			s.Look(at.Add(time.Duration(i)*100*time.Millisecond), stacks, ran, ours)
		}
		found := s.Best(8)
		for _, r := range found.Roots {
			if r.Method == "app.Poller.run" && !works {
				t.Errorf("on %d of %d stacks", r.Stacks, found.Stacks)
			}
		}
		if works != (len(found.Roots) > 0 && found.Roots[0].Method[:10] == "app.Orders") {
			t.Errorf("works %v: %+v", works, found.Roots)
		}
	}
}

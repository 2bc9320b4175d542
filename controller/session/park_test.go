package session_test

import (
	"fmt"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestPermits records threads that stand still for good if a permit is lost,
// with calls in LockSupport's methods: while they come in, while they are gone
// again, and while threads wait for a reader of their events, where they park
// themselves.
func TestPermits(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Park")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		pairs, kind, full := "3", "platform", 8000
		if j.Version >= 21 { // whose scheduler lets more pairs than carriers starve
			pairs, kind, full = "1", "virtual", 30_000
		}
		p := program(t, j, dir, "Park", nil, pairs, kind)
		rounds := func(n int) {
			t.Helper()
			p.Send(fmt.Sprint("rounds ", n))
			p.WaitLine("OK")
		}
		rounds(100)
		s := attachedBy(t, p, session.Config{Memory: 3 << 20}) // for small rings
		start(t, s, session.Recording{Roots: []string{"t.Park.root"}, Follow: true, Slowest: 3})
		rounds(300)
		release := s.HoldEvents()
		rounds(full) // more than rings have room for
		release()
		rounds(300)
		r := stopped(t, s)
		if k, e := r.Tree, r.Events; k.Bad+k.Detached+e.Bad != 0 || e.Waits == 0 {
			t.Errorf("damaged %d, detached %d, words %d; %d waits", k.Bad, k.Detached, e.Bad, e.Waits)
		}
		for _, i := range r.Slowest.Invocations {
			if q := i.Path; q != nil && q.Run+q.Queue+q.Wait+q.Profiler != i.Took+i.Suspended {
				t.Errorf("path %+v of %d and %d", q, i.Took, i.Suspended)
			}
		}
		rounds(300)
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}, 17, 21)
}

package session_test

import (
	"fmt"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestSlots records threads that share a place in the table by which probes find a thread's
// record: none of their calls is lost, and none of a thread that is outside is counted.
func TestSlots(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Slots")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for i, rec := range []session.Recording{
			{Scheme: "A"},
			{Scheme: "A", Probes: session.ProbesCalled},
			{Scheme: "B", Probes: session.ProbesCalled, Leaves: session.LeavesTimed},
		} {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				p := program(t, j, dir, "Slots", nil)
				ask(t, p, "run 300", "RAN ")
				s := attached(t, p)
				rec.Roots = []string{"t.Slots.root", "t.Slots.member"}
				start(t, s, rec)
				ask(t, p, "run 1500", "RAN ")
				ask(t, p, "crowd", "RAN ")
				r := closed(t, s)
				wantCalls(t, r, map[string]int64{"Slots.root": 2000, "Slots.work": 2000, "Slots.value": 6000, "Slots.member": 65})
				if !r.Exact() {
					t.Error("calls are missing")
				}
			})
		}
	}, 8, 17, 25)
}

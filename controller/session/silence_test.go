package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestStoppedUnseen stops a controller whose process the agent may not look at: it leaves as it
// does where it sees that the controller is stopped.
func TestStoppedUnseen(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Load", "Managed")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Managed", nil)
		c := profile(t, p)
		mem := peek(t, c)
		c.WaitError("rivulet: recording")
		c.Signal(unix.SIGSTOP)
		until(t, "restored", patient, func() bool { return state(mem, wire.HState) == wire.StateStopped })
		c.Signal(unix.SIGCONT)
		if code := c.Wait(); code != 0 {
			t.Errorf("exit code %d: %s", code, c.Stderr())
		}
		gone(t, p.PID(), patient)
	}, 8, 17)
}

// TestFrozen stops the target and its controller together, as a machine does that
// sleeps, and lets the target go on first: the recording goes on, too.
func TestFrozen(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Load")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for !frozen(t, program(t, j, dir, "Load", nil, "classes")) {
			t.Log("the controller went on too late to tell; again")
		}
	}, 8, 17, 25)
}

// frozen is one round of TestFrozen. It is false when the test itself got no turn for so long that
// the agent may have looked at the stopped controller fifteen times, and left it.
func frozen(t *testing.T, p *jvmtest.Proc) bool {
	c := profile(t, p)
	mem := peek(t, c)
	c.WaitError("rivulet: recording")
	unix.Kill(p.PID(), unix.SIGSTOP)
	c.Signal(unix.SIGSTOP)
	time.Sleep(11 * time.Second)
	woke := time.Now()
	unix.Kill(p.PID(), unix.SIGCONT)
	time.Sleep(700 * time.Millisecond)
	c.Signal(unix.SIGCONT)
	intime := time.Since(woke) < 1200*time.Millisecond // of 1.5 s
	was := returns(mem)
	until(t, "the root returns", patient, func() bool {
		return returns(mem) > was+3 || state(mem, wire.HState) == wire.StateStopped
	})
	c.Signal(unix.SIGINT)
	if code := c.Wait(); code != 0 {
		t.Errorf("exit code %d: %s", code, c.Stderr())
	}
	why, calls := ended(t, c)
	left := strings.Contains(why, "heard nothing")
	if left && !intime {
		return false
	}
	if left || calls == 0 {
		t.Errorf("%d calls, ended: %s", calls, why)
	}
	return true
}

// TestStarved has a controller that lives and gets no processor time for five seconds: the
// agent stays, and all calls are counted.
func TestStarved(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Rings")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Rings", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Rings.root"}})
		release := s.HoldBeat()
		time.Sleep(5 * time.Second)
		release()
		p.Send("1 10")
		p.WaitLine("DONE 1 10")
		r := stopped(t, s)
		exact(t, r)
		wantCalls(t, r, map[string]int64{"Rings.root": 1, "Rings.leaf": 10})
	}, 8, 17, 25)
}

// TestStalled stops a controller while the target needs more room for its
// tree: the target waits, and no call is without its context.
func TestStalled(t *testing.T) {
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil)
		c := rivulet(t, "profile", fmt.Sprint(p.PID()), "--root", "t.Parts.wide", "--format", "json", "--depth", "1")
		mem := peek(t, c)
		c.WaitError("rivulet: recording")
		p.Send("wide 8") // reveals all
		p.WaitLine("WIDE")
		c.Signal(unix.SIGSTOP)
		p.Send("wide 12") // 2 million contexts
		room := func(off int64) uint32 { return state(mem, off) }
		until(t, "the room is used up", patient, func() bool { return room(wire.HNextNode)+wire.NodeChunk > room(wire.HNodeLimit) })
		time.Sleep(300 * time.Millisecond)
		c.Signal(unix.SIGCONT)
		p.WaitLine("WIDE")
		c.Signal(unix.SIGINT)
		if code := c.Wait(); code != 0 {
			t.Errorf("exit code %d: %s", code, c.Stderr())
		}
		var r struct{ Calls, Overflow, Lost int64 }
		if err := json.Unmarshal([]byte(strings.Join(c.Stdout(), "\n")), &r); err != nil {
			t.Fatalf("report: %v\n%s", err, c.Stdout())
		}
		want := int64(0)
		for _, depth := range []int{8, 12} {
			for _, n := range wideCalls(depth) {
				want += n
			}
		}
		if r.Calls != want || r.Overflow != 0 || r.Lost != 0 {
			t.Errorf("%d calls, want %d; overflow %d, lost %d", r.Calls, want, r.Overflow, r.Lost)
		}
	}, 8, 17, 25)
}

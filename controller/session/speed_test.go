//go:build load

package session_test

import (
	"context"
	"encoding/binary"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestSpeedBack records three programs and looks whether they run as fast
// afterwards as before. The JVM has to compile again what it had compiled, so
// they are given some time. The ratio is printed; what fails is a program that
// stays slow.
func TestSpeedBack(t *testing.T) {
	j := jvmtest.Any(t)
	dir := sources(t, "Speed")
	for _, c := range []struct{ kind, root string }{
		{"fib", "t.Speed.fib"},
		{"words", "t.Speed.words"},
		{"javac", "com.sun.tools.javac.jvm.Gen.genClass"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			p := program(t, j, dir, "Speed", nil, c.kind)
			bare := ask(t, p, "speed", "SPEED ")
			for range 2 {
				bare = min(bare, ask(t, p, "speed", "SPEED "))
			}
			s := attached(t, p)
			start(t, s, session.Recording{Roots: []string{c.root}, Scheme: "B"})
			during := ask(t, p, "speed", "SPEED ")
			ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
			defer cancel()
			r, err := s.Finish(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Tree.Roots()) == 0 {
				t.Error("nothing was recorded")
			}
			after, tries := ask(t, p, "speed", "SPEED "), 1
			for ; tries < 10 && float64(after) > 1.1*float64(bare); tries++ {
				after = min(after, ask(t, p, "speed", "SPEED "))
			}
			ratio := func(ns int64) float64 { return float64(ns) / float64(bare) }
			t.Logf("bare %v, recorded x%.1f, afterwards x%.2f (best of %d rounds)", time.Duration(bare), ratio(during), ratio(after), tries)
			if ratio(after) > 1.5 {
				t.Errorf("it stays at x%.2f", ratio(after))
			}
		})
	}
}

// TestGate pauses a recording again and again while a root is called without end, and
// prints for how long after the gate was shut root invocations still came to be counted.
func TestGate(t *testing.T) {
	j := jvmtest.Any(t)
	p := program(t, j, sources(t, "Speed"), "Speed", nil, "words")
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Speed.count"}})
	mem := dataOf(t, os.Getpid())
	stop, over := make(chan bool), make(chan bool)
	go func() {
		defer close(over)
		for {
			select {
			case <-stop:
				return
			default:
				p.Send("speed")
				p.WaitLine("SPEED ")
			}
		}
	}()
	var late []time.Duration
	records := make([]byte, 16<<wire.RecordShift)
	returned := func() (n uint64) {
		if _, err := mem.ReadAt(records, wire.OffRecords); err != nil {
			t.Fatal(err)
		}
		for r := records; len(r) > 0; r = r[1<<wire.RecordShift:] {
			n += binary.NativeEndian.Uint64(r[wire.RReturns:])
		}
		return n
	}
	for range 50 {
		before := returned()
		until(t, "the root is called", jvmtest.Patience, func() bool { return returned() > before+1000 })
		paused := make(chan error, 1)
		go func() { paused <- s.Pause(t.Context()) }()
		for state(mem, wire.HTag) != 0 || state(mem, wire.HTag+4) != 0 {
			before = returned()
		}
		shut := time.Now()
		last := shut
		for time.Since(shut) < 30*time.Millisecond {
			if n := returned(); n != before {
				before, last = n, time.Now()
			}
		}
		if err := <-paused; err != nil {
			t.Fatal(err)
		}
		late = append(late, last.Sub(shut))
		must(t, "resume", s.Resume)
	}
	close(stop)
	<-over
	slices.Sort(late)
	t.Logf("the last call was counted after the gate was shut by: median %v, nine of ten %v, longest %v", late[len(late)/2], late[len(late)*9/10], late[len(late)-1])
	if late[len(late)/2] > 5*time.Millisecond {
		t.Error("the gate does not shut")
	}
	closed(t, s)
}

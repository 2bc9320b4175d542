package sampler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/perf"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestManyThreads samples a JVM with a thousand threads, and in the long tests five thousand: the one
// that runs, and all that wait; with perf events and, by stopping it, without.
func TestManyThreads(t *testing.T) {
	many := 1000
	if os.Getenv("RIVULET_JDKS") == "all" {
		many = 5000
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/many.txtar")
		p := jvmtest.Start(t, j, nil, "Many", []string{fmt.Sprint(many)}, a.Compile(t, j, 8))
		p.WaitLine("READY")
		for _, noPerf := range []bool{false, true} {
			waiters, spins := map[string]bool{}, 0
			sample(t, p.PID(), Options{Hz: 20, Wall: true, noPerf: noPerf}, func(s *stack.Stack) bool {
				switch {
				case strings.HasPrefix(s.Thread, "waiter "):
					if s.State == stack.Parked && s.Complete {
						waiters[s.Thread] = true
					}
				case s.Thread == "spins" && s.State == stack.Running && s.Complete:
					if m := s.Frames[0].Method; m.Name != "spinning" {
						t.Errorf("%+v", m)
					}
					spins++
				}
				return spins >= 3 && len(waiters) == many
			})
		}
	})
}

// TestExec goes on when the target has become another program: its samples are lost or broken, and
// no stack has names of the program before.
func TestExec(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/execs.txtar")
		p := jvmtest.Start(t, j, []string{"--enable-native-access=ALL-UNNAMED"}, "Execs", nil, a.Compile(t, j, 25))
		p.WaitLine("READY")
		s, err := Open(p.PID(), Options{Hz: 200})
		if errors.Is(err, perf.ErrDenied) || errors.Is(err, perf.ErrUnsupported) {
			t.Skip("perf events are not to be had")
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ctx, cancel := context.WithTimeout(context.Background(), waitsFor)
		defer cancel()
		// The kernel's name of the process is that of the program which it runs.
		program := func() string {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.PID()))
			return strings.TrimSpace(string(b))
		}
		before, told := 0, false
		var became time.Time
		err = s.Run(ctx, func(batch []stack.Stack) {
			// Samples of this batch may have been taken before.
			after := !became.IsZero() && batch[0].Time > became.UnixNano()
			for i := range batch {
				for _, f := range batch[i].Frames {
					if f.Method.Class == "Execs" {
						if before++; after {
							t.Errorf("%s.%s after the program was replaced", f.Method.Class, f.Method.Name)
						}
					}
				}
			}
			switch {
			case before > 20 && !told:
				told = true
				p.Send("\n")
			case told && became.IsZero() && program() == "sh":
				became = time.Unix(0, monotonic())
			case after && batch[0].Time-became.UnixNano() > int64(500*time.Millisecond):
				cancel()
			}
		})
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		if before <= 20 || !told || program() != "sh" {
			t.Errorf("%d samples before, told %v, the program is %q", before, told, program())
		}
	}, 25)
}

// TestDiesStopped ends with a target that is killed while its threads are stopped again and again.
func TestDiesStopped(t *testing.T) {
	j := jvmtest.Any(t)
	a := jvmtest.Open(t, "testdata/waits.txtar")
	p := jvmtest.Start(t, j, nil, "Waits", nil, a.Compile(t, j, 8))
	p.WaitLine("READY")
	s, err := Open(p.PID(), Options{Hz: 5000, noPerf: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	err = s.Run(context.Background(), func(batch []stack.Stack) {
		if n += len(batch); n > 50 {
			p.Kill()
		}
	})
	if !errors.Is(err, os.ErrProcessDone) {
		t.Error("killed:", err)
	}
	if st := s.Stats(); st.Stops == 0 {
		t.Errorf("%+v", st)
	}
}

// TestRest asks a thread that stays where it is, and uses nothing, ever more rarely, but twice a second.
func TestRest(t *testing.T) {
	const period = 10e6
	waits := unwinder.Anchor{SP: 0x1000, PC: 1, State: unwinder.BlockedInVM, OK: true}
	r, asked := rest{}, []int64(nil)
	ask := func(a unwinder.Anchor, spent, now int64) {
		if !r.on(a, now) {
			r.look(a, spent, now, period)
			asked = append(asked, now/period)
		}
	}
	for now := int64(0); now <= 2000e6; now += period {
		ask(waits, 0, now)
	}
	if want := []int64{0, 1, 3, 7, 15, 31, 63, 113, 163}; !slices.Equal(asked, want) {
		t.Errorf("asked at %d, want %d", asked, want)
	}
	asked = nil
	ask(waits, 7, 2140e6)
	ask(waits, 0, 2150e6)
	moved := waits
	moved.PC = 2
	ask(moved, 0, 2155e6)
	ask(unwinder.Anchor{State: unwinder.InJava, OK: true}, 0, 2156e6)
	ask(unwinder.Anchor{State: unwinder.InJava, OK: true}, 0, 2157e6)
	if len(asked) != 5 {
		t.Errorf("asked %d times, want 5: it used time, was elsewhere, or runs", len(asked))
	}
}

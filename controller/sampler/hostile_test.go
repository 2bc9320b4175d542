package sampler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/perf"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestManyThreads samples a JVM with a thousand threads, and in the long tests five thousand: the one
// that runs, and all that wait.
func TestManyThreads(t *testing.T) {
	many := 1000
	if os.Getenv("RIVULET_JDKS") == "all" {
		many = 5000
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/many.txtar")
		p := jvmtest.Start(t, j, nil, "Many", []string{fmt.Sprint(many)}, a.Compile(t, j, 8))
		p.WaitLine("READY")
		waiters, spins := map[string]bool{}, 0
		sample(t, p.PID(), Options{Hz: 20, Wall: true}, func(s *stack.Stack) bool {
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

package sampler

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestInside samples the threads that are said to be inside, by Java's numbers, and no others; while there
// are none it samples nothing.
func TestInside(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/inside.txtar")
		p := jvmtest.Start(t, j, nil, "Insiders", nil, a.Compile(t, j, 8))
		number := func(of string) int64 {
			n, err := strconv.ParseInt(strings.TrimPrefix(p.WaitLine(of), of), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		spins, sleeps := number("spins "), number("sleeps ")
		var on atomic.Bool
		var asked atomic.Int64
		s, err := Open(p.PID(), Options{Hz: 200, Wall: true, Inside: func(f func(int64)) {
			if asked.Add(1); on.Load() {
				f(spins)
				f(sleeps)
				f(1 << 40) // nobody's
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if st := s.Stats(); st.Source != "ptrace" {
			t.Skip("ptrace is not to be had")
		}
		run := func(content func() bool, f func(*stack.Stack)) {
			t.Helper()
			ctx, cancel := context.WithTimeout(context.Background(), waitsFor)
			defer cancel()
			go func() {
				for ctx.Err() == nil && !content() {
					time.Sleep(5 * time.Millisecond)
				}
				cancel()
			}()
			if err := s.Run(ctx, func(batch []stack.Stack) {
				for i := range batch {
					f(&batch[i])
				}
			}); err != nil {
				t.Fatal(err)
			}
			if !content() {
				t.Fatalf("what must come did not: %+v", s.Stats())
			}
		}
		run(func() bool { return asked.Load() > 20 }, func(s *stack.Stack) { t.Errorf("a sample of %s while nobody is inside", s.Thread) })
		on.Store(true)
		var running, sleeping atomic.Int64
		run(func() bool { return running.Load() >= 20 && sleeping.Load() >= 20 }, func(s *stack.Stack) {
			switch {
			case s.Thread == "spins":
				if s.Complete && s.Frames[0].Method.Name == "spinning" && s.State == stack.Running {
					running.Add(1)
				}
			case s.Thread == "sleeps":
				if s.State != stack.Sleeping {
					t.Errorf("it sleeps, and its state is %d", s.State)
				}
				sleeping.Add(1)
			default:
				t.Errorf("a sample of %s", s.Thread)
			}
		})
	})
}

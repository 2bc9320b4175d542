package sampler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/perf"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// waitsFor is for how long a test waits for what must come.
const waitsFor = jvmtest.Patience

// sample samples a process until f is content.
func sample(t *testing.T, pid int, o Options, f func(*stack.Stack) (content bool)) Stats {
	t.Helper()
	s, err := Open(pid, o)
	if errors.Is(err, perf.ErrDenied) || errors.Is(err, perf.ErrUnsupported) {
		t.Skip("perf events are not to be had")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), waitsFor)
	defer cancel()
	content := false
	err = s.Run(ctx, func(batch []stack.Stack) {
		last := int64(0)
		for i := range batch {
			if batch[i].Time < last {
				t.Errorf("a sample of %d after one of %d", batch[i].Time, last)
			}
			last = batch[i].Time
			content = f(&batch[i]) || content
		}
		if content {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	st := s.Stats()
	if !content {
		t.Fatalf("what must come did not: %+v", st)
	}
	broken := int64(0)
	for _, n := range st.Broken {
		broken += n
	}
	if st.Java != st.Complete+broken || st.Samples < st.Java || st.First <= 0 || st.Events == 0 != o.noPerf {
		t.Errorf("the figures don't agree: %+v", st)
	}
	return st
}

// lineOf finds the line of a source that ends with a comment.
func lineOf(t *testing.T, source, comment string) int {
	t.Helper()
	for i, l := range strings.Split(source, "\n") {
		if strings.HasSuffix(l, "// "+comment) {
			return i + 1
		}
	}
	t.Fatalf("no line ends with %q", comment)
	return 0
}

// TestStates finds threads that wait in each way, with their state, the whole of their stack, the
// line, and times that add up.
func TestStates(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/waits.txtar")
		p := jvmtest.Start(t, j, nil, "Waits", nil, a.Compile(t, j, 8))
		p.WaitLine("READY")
		type want struct {
			state  stack.State
			method string
			line   string
		}
		wanted := map[string]want{"main": {stack.InIO, "main", "reading"}}
		for name, w := range map[string]want{
			"sleeping": {stack.Sleeping, "holds", "sleeping"}, "blocked": {stack.Blocked, "blocked", "blocked"}, "waiting": {stack.Waiting, "waiting", "waiting"},
			"parked": {stack.Parked, "parked", "parked"}, "accepting": {stack.InIO, "accepting", "accepting"},
		} {
			wanted["a thread with a long name that is "+name] = w
		}
		source := a.Text(t, "Waits.java")
		found := map[string]int{}
		type span struct{ first, last, sum int64 }
		times := map[string]span{}
		sample(t, p.PID(), Options{Hz: 50, Wall: true}, func(s *stack.Stack) bool {
			w, ok := wanted[s.Thread]
			if !ok {
				if strings.HasPrefix(s.Thread, "C1 ") || strings.HasPrefix(s.Thread, "GC ") {
					if s.Java {
						t.Errorf("%s is Java's", s.Thread)
					}
				}
				return false
			}
			x := times[s.Thread]
			if x.sum == 0 {
				x.first = s.Time - s.Weight
			}
			x.last, x.sum = s.Time, x.sum+s.Weight
			times[s.Thread] = x
			if s.Thread == "main" && s.State != w.state {
				return false // it does not read yet
			}
			if s.State != w.state || !s.Complete || !s.Java {
				t.Errorf("%s: state %d, want %d; complete %v %s", s.Thread, s.State, w.state, s.Complete, s.Broken)
			}
			for _, f := range s.Frames {
				if f.Method.Class == "Waits" {
					if want := lineOf(t, source, w.line); f.Method.Name != w.method || f.Line != want {
						t.Errorf("%s: %s line %d, want %s line %d", s.Thread, f.Method.Name, f.Line, w.method, want)
					}
					found[s.Thread]++
					break
				}
			}
			least := found["main"]
			for name := range wanted {
				least = min(least, found[name])
			}
			return least >= 10
		})
		for name, x := range times {
			if x.last-x.first != x.sum {
				t.Errorf("%s: samples of %d ns in %d", name, x.sum, x.last-x.first)
			}
		}
	})
}

// TestRunning finds a thread that computes, in the interpreter and compiled, by the full name that it
// has in Java, and at its line.
func TestRunning(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/waits.txtar")
		dir := a.Compile(t, j, 8)
		source := a.Text(t, "Waits.java")
		for _, c := range []struct {
			options []string
			kinds   []stack.Kind
			all     bool // debug info
		}{
			{nil, []stack.Kind{stack.Interpreted, stack.C1, stack.C2}, false}, // when it is compiled is the JVM's affair
			{[]string{"-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Waits.spinning"}, []stack.Kind{stack.C1, stack.C2}, false},
			{[]string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints", "-Xint", "-XX:-UseCompressedOops"}, []stack.Kind{stack.Interpreted}, true},
		} {
			t.Run(fmt.Sprint(c.options), func(t *testing.T) {
				p := jvmtest.Start(t, j, c.options, "Waits", nil, dir)
				p.WaitLine("READY")
				n := 0
				spins := func(name string) bool { return strings.HasSuffix(name, "is spinning ü世") }
				st := sample(t, p.PID(), Options{Hz: 500, Threads: spins}, func(s *stack.Stack) bool {
					if !spins(s.Thread) {
						t.Errorf("a sample of %q", s.Thread)
					}
					if !s.Complete {
						return false
					}
					f, line := s.Frames[0], lineOf(t, source, "spinning")
					if f.Method.Class != "Waits" || f.Method.Name != "spinning" || f.Method.Desc != "()V" || f.BCI >= 0 && f.Line != line && f.Line != line-1 {
						t.Errorf("%+v of %+v, want line %d", f, *f.Method, line)
					}
					last := s.Frames[len(s.Frames)-1]
					if last.Method.Class != "java/lang/Thread" || last.Method.Name != "run" {
						t.Errorf("begins with %+v", *last.Method)
					}
					if s.State != stack.Running || !s.Java || s.Weight != int64(time.Second)/500 {
						t.Errorf("state %d, Java %v, weight %d", s.State, s.Java, s.Weight)
					}
					for _, k := range c.kinds {
						if f.Kind == k {
							n++
						}
					}
					return n >= 20
				})
				if st.NonSafepoints != c.all {
					t.Errorf("debug info everywhere: %v", st.NonSafepoints)
				}
			})
		}
	})
}

// TestStops finds threads that run and that wait where there are no perf events, and lets the
// target be.
func TestStops(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/waits.txtar")
		p := jvmtest.Start(t, j, nil, "Waits", nil, a.Compile(t, j, 8))
		p.WaitLine("READY")
		for _, wall := range []bool{false, true} {
			spins, parks := 0, 0
			var first, last, sum int64 // of a thread that waits
			st := sample(t, p.PID(), Options{Hz: 100, Wall: wall, noPerf: true}, func(s *stack.Stack) bool {
				if strings.HasSuffix(s.Thread, "is parked") {
					if first == 0 {
						first = s.Time
					} else {
						sum += s.Weight
					}
					last = s.Time
				}
				switch {
				case strings.HasSuffix(s.Thread, "is spinning ü世") && s.Complete:
					if f := s.Frames[0]; f.Method.Name != "spinning" || s.State != stack.Running && s.State != stack.Runnable && s.State != stack.InVM {
						t.Errorf("%+v of %+v, state %d", f, f.Method, s.State)
					}
					spins++
				case strings.HasSuffix(s.Thread, "is parked"):
					if s.State != stack.Parked {
						t.Errorf("state %d", s.State)
					}
					parks++
				}
				return spins >= 20 && (parks >= 20 || !wall)
			})
			if st.Source != "ptrace" || st.NoPerf == "" || st.Stop <= 0 || st.Stops == 0 || st.LongStops > st.Stops || !wall && parks > 0 {
				t.Errorf("%+v, %d that wait", st, parks)
			}
			if wall && sum != last-first {
				t.Errorf("samples of %d ns in %d of a thread that waits", sum, last-first)
			}
		}
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID())); err != nil || !strings.Contains(string(b), "TracerPid:\t0\n") {
			t.Error("it is traced still:", err)
		}
	})
}

// TestChurn samples a program whose classes and code come and go: none has the name of another.
func TestChurn(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/churn.txtar")
		p := jvmtest.Start(t, j, []string{"-Xmx64m", "-XX:ReservedCodeCacheSize=4m", "-XX:CompileThresholdScaling=0.05"}, "Churn", nil, a.Compile(t, j, 8))
		p.WaitLine("READY")
		begun, n := time.Now(), 0
		sample(t, p.PID(), Options{Hz: 1000}, func(s *stack.Stack) bool {
			for _, f := range s.Frames {
				if c := f.Method.Class; len(c) == 2 && c[0] == 'C' {
					n++
					if name := f.Method.Name; name != c[1:] && name != "hashCode" && name != "<init>" {
						t.Errorf("%s has no method %s", c, name)
					}
				}
			}
			return n > 1000 && time.Since(begun) > 2*time.Second
		})
	}, 11, 17, 21, 25)
}

// TestOpenRefuses says what it is that can't be sampled.
func TestOpenRefuses(t *testing.T) {
	if _, err := Open(os.Getpid(), Options{}); !errors.Is(err, vmstructs.ErrUnknown) {
		t.Error("no JVM:", err)
	}
	if _, err := Open(1<<22+1, Options{}); !errors.Is(err, os.ErrProcessDone) {
		t.Error("no process:", err)
	}
	if _, err := Open(os.Getpid(), Options{Hz: 20000}); err == nil {
		t.Error("too often")
	}
	err := refused(7, fmt.Errorf("read: %w", syscall.EPERM))
	if !errors.Is(err, ErrMemory) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// TestEnds ends with its target, and without an error with its context.
func TestEnds(t *testing.T) {
	j := jvmtest.Any(t)
	a := jvmtest.Open(t, "testdata/waits.txtar")
	p := jvmtest.Start(t, j, nil, "Waits", nil, a.Compile(t, j, 8))
	p.WaitLine("READY")
	s, err := Open(p.PID(), Options{Hz: 100, Wall: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	if err := s.Run(ctx, func([]stack.Stack) { cancel() }); err != nil {
		t.Error("cancelled:", err)
	}
	err = s.Run(context.Background(), func([]stack.Stack) { p.Kill() })
	if !errors.Is(err, os.ErrProcessDone) {
		t.Error("killed:", err)
	}
}

package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// timedRoots are the methods that Timed.java counts.
var timedRoots = []string{
	"t.Timed.work", "t.Timed.mixed", "t.Timed.fact", "t.Timed.spin", "t.Timed.rest", "t.Timed$Item.<init>", "t.Timed$Shape.area", "t.Timed$Late.call",
}

// A timing is what the JSON form says of one.
type timing struct {
	Ended   string
	Refused int64
	Timer   *struct {
		Inner float64 `json:"inner_ns"`
		Call  float64 `json:"call_ns"`
	}
	Methods []struct {
		Method        string
		Count, Thrown int64
		Total         int64 `json:"total_ns"`
		Measured      int64 `json:"measured_ns"`
		Min           int64 `json:"min_ns"`
		P50           int64 `json:"p50_ns"`
		P90           int64 `json:"p90_ns"`
		P99           int64 `json:"p99_ns"`
		P999          int64 `json:"p999_ns"`
		Max           int64 `json:"max_ns"`
	}
	Skipped []struct{ Method, Reason string }
	Notes   []string
}

// counts are the figures by method, without descriptors.
func (r *timing) counts() map[string]count {
	out := map[string]count{}
	for _, m := range r.Methods {
		name, _, _ := strings.Cut(m.Method, "(")
		out[name] = count{m.Count, m.Thrown}
	}
	return out
}

func startTiming(t *testing.T, s *session.Session, rec session.Timing) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	if err := s.StartTiming(ctx, rec); err != nil {
		t.Fatalf("start: %v", err)
	}
}

func timedBy(t *testing.T, s *session.Session) *timing {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	r, err := s.FinishTiming(ctx)
	if err != nil {
		t.Fatalf("finish: %v", err)
	}
	var b bytes.Buffer
	var out timing
	if err := r.JSON(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if err := r.Text(&b, false); err != nil {
		t.Fatal(err)
	}
	for _, n := range out.Notes {
		t.Errorf("note: %s", n)
	}
	for _, k := range out.Skipped {
		t.Errorf("skipped: %v", k)
	}
	return &out
}

// round has the program make one round and returns what all rounds counted.
func round(t *testing.T, p *jvmtest.Proc) (counts map[string]count, spin [3]int64) {
	t.Helper()
	p.Send("go")
	p.WaitLine("DONE")
	counts = map[string]count{}
	for _, line := range p.Stdout() {
		var name string
		var c count
		if n, _ := fmt.Sscanf(line, "N %s %d %d", &name, &c.calls, &c.thrown); n == 3 {
			counts[name] = c
		}
		fmt.Sscanf(line, "SPIN %d %d %d", &spin[0], &spin[1], &spin[2]) //nolint:errcheck // most lines are others
	}
	return counts, spin
}

// TestTiming times methods of a program that counts its own invocations: every
// count must be the program's, and times must lie between what the methods
// took at least and what the program measured around them.
func TestTiming(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Timed")
	for _, c := range []struct {
		name string
		args []string
		jdks []int
	}{
		{"one", []string{"1"}, []int{8, 17, 25}},
		{"many", []string{"40"}, []int{8, 17, 25}}, // more than have cells of their own
		{"virtual", []string{"300", "virtual"}, []int{21, 25}},
	} {
		t.Run(c.name, func(t *testing.T) {
			jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
				t.Parallel()
				p := program(t, j, dir, "Timed", nil, c.args...)
				s := attached(t, p)
				startTiming(t, s, session.Timing{Roots: timedRoots})
				want, spin := round(t, p)
				if progress := s.Progress(); progress.Calls == 0 || progress.Times == "" {
					t.Errorf("progress: %+v", progress)
				}
				r := timedBy(t, s)
				compare(t, r.counts(), want, 1, never)
				sane(t, r, spin)
				gone(t, p.PID(), patient)
				round(t, p) // without probes
				p.Send("end")
				if code := p.Wait(); code != 0 {
					t.Errorf("exit code %d", code)
				}
			}, c.jdks...)
		})
	}
}

// sane checks the times of a timing, those of spin against the program's.
func sane(t *testing.T, r *timing, spin [3]int64) {
	t.Helper()
	const ms = int64(time.Millisecond)
	if r.Timer == nil {
		t.Log("the timer's own cost could not be measured")
	}
	for _, m := range r.Methods {
		if !(0 <= m.Min && m.Min <= m.P50 && m.P50 <= m.P90 && m.P90 <= m.P99 && m.P99 <= m.P999 && m.P999 <= m.Max) ||
			m.Total < m.Min*m.Count || m.Total > m.Max*m.Count || m.Total > m.Measured {
			t.Errorf("out of order: %+v", m)
		}
		switch {
		case strings.HasPrefix(m.Method, "t.Timed.rest"):
			if m.P50 < ms*9/10 { // the JVM rounds
				t.Errorf("slept for less: %+v", m)
			}
		case strings.HasPrefix(m.Method, "t.Timed.spin"):
			// A spin of n ms takes n ms at least; the program's readings are
			// around ours. The correction takes off less than a microsecond.
			least := func(n int64) int64 { return n*ms*99/100 - 1000 }
			if m.Measured < 55*ms || m.Measured > spin[0] || m.Min < ms-1000 || m.Min > spin[1] || m.Max < 10*ms-1000 || m.Max > spin[2] ||
				m.P50 < least(5) || m.P90 < least(9) || m.P99 < least(10) {
				t.Errorf("spin: %+v, the program measured %d", m, spin)
			}
		}
	}
}

// TestTimingCalls admits an exact number of invocations.
func TestTimingCalls(t *testing.T) {
	dir := sources(t, "Timed")
	p := program(t, jvmtest.Any(t), dir, "Timed", nil, "8")
	s := attached(t, p)
	startTiming(t, s, session.Timing{Roots: []string{"t.Timed.work", "t.Timed.fact"}, UntilCalls: 777})
	round(t, p)
	select {
	case <-s.Done():
	case <-time.After(patient):
		t.Errorf("does not end: %+v", s.Progress())
	}
	r := timedBy(t, s)
	var n int64
	for _, m := range r.Methods {
		n += m.Count
	}
	if want := int64(8*(200+11) - 777); n != 777 || r.Refused > want || !strings.Contains(r.Ended, "have returned") {
		t.Errorf("%d invocations, %d refused, ended %q", n, r.Refused, r.Ended)
	}
	// The next session records a tree, and another times again.
	s = attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Timed.body"}, UntilCalls: 8})
	round(t, p)
	wantCalls(t, finish(t, s), map[string]int64{"Timed.work": 1600, "Timed.fact": 88, "Timed.body": 8})
	s = attached(t, p)
	startTiming(t, s, session.Timing{Roots: []string{"t.Timed.fact"}})
	round(t, p)
	compare(t, timedBy(t, s).counts(), map[string]count{"t.Timed.fact": {88, 0}}, 1, never)
}

// TestTimingRoots asks for what can't be timed.
func TestTimingRoots(t *testing.T) {
	p := program(t, jvmtest.Any(t), sources(t, "Timed"), "Timed", nil, "1")
	for root, want := range map[string]string{
		"t.Timed.works":       "did you mean work?",
		"t.Tined.work":        "no class t.Tined is loaded",
		"java.lang.Math.max":  "belongs to the JDK",
		"t.Timed$Nobody.work": "no class t.Timed$Nobody is loaded",
	} {
		s := attached(t, p)
		ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
		if err := s.StartTiming(ctx, session.Timing{Roots: []string{root}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", root, err, want)
		}
		cancel()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTimingKilled kills a controller that times under load: the target is
// silent at once, gets the very bytes back that it had, and can be timed again.
func TestTimingKilled(t *testing.T) {
	t.Parallel()
	dir, jar := sources(t, "Load"), captureJar(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Load", nil)
		digest := func() string {
			loadAgent(t, p, jar, "digest")
			return p.WaitLine("DIGEST")
		}
		before := digest()
		for i := range 2 {
			c := rivulet(t, "time", fmt.Sprint(p.PID()), "--root", "t.Load.root", "--root", "t.Load.fib", "--json")
			mem := peek(t, c)
			c.WaitError("rivulet: recording")
			c.Signal([]syscall.Signal{syscall.SIGKILL, syscall.SIGINT}[i])
			until(t, "gate", patient, func() bool { return state(mem, wire.HTag+4) == 0 })
			until(t, "restored", patient, func() bool { return state(mem, wire.HState) == wire.StateStopped })
			code := c.Wait()
			if i > 0 {
				var r timing
				if err := json.Unmarshal([]byte(strings.Join(c.Stdout(), "\n")), &r); err != nil || code != 0 || len(r.Methods) != 2 || r.Ended == "" {
					t.Errorf("exit code %d, %v, %+v: %s", code, err, r, c.Stderr())
				}
			}
			gone(t, p.PID(), patient)
			switch after := digest(); {
			case after == before:
			case i == 0 && (j.Version == 17 || j.Version == 21): // see TestBytesRestored
				before = after
			default:
				t.Errorf("%d: before\n%s\nafter\n%s", i, before, after)
			}
		}
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("the target ended with %d", code)
		}
	}, 8, 17, 25)
}

// TestTimingTraps times roots of the traps of testdata that matter
// without a tree: overflows of the stack in the timers themselves, class
// initializers, constructors, classes of many loaders that get unloaded.
func TestTimingTraps(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Traps")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for _, tr := range traps {
			var more []string
			switch {
			case tr.name == "overflow" && len(tr.jvm) < 2:
				more = []string{"t.Traps.deep", "t.Traps.deeper", "t.Traps.after", "t.Traps.last"}
			case tr.name != "roots" && tr.name != "unload":
				continue
			}
			t.Run(fmt.Sprint(tr.name, tr.jvm), func(t *testing.T) {
				p := program(t, j, dir, "Traps", tr.jvm, tr.name)
				s := attached(t, p)
				startTiming(t, s, session.Timing{Roots: append(more, tr.roots...), Wait: true})
				p.Send("go")
				p.WaitLine("OK")
				r := timedBy(t, s)
				got := map[string]int64{} // of all loaders
				for _, m := range r.Methods {
					name, _, _ := strings.Cut(m.Method, "(")
					got[strings.TrimPrefix(name, "t.")] += m.Count
				}
				want := counted(p)
				for k, v := range tr.want {
					want[k] = v
				}
				compared := 0
				for name, n := range want {
					if g, ok := got[name]; ok {
						compared++
						if g != n {
							t.Errorf("%s: %d invocations, want %d", name, g, n)
						}
					}
				}
				if compared == 0 || more != nil && got["Traps.deep"] == 0 {
					t.Errorf("got %v, want %v", got, want)
				}
				p.Send("end")
				if code := p.Wait(); code != 0 {
					t.Errorf("exit code %d", code)
				}
			})
		}
	}, 8, 25)
}

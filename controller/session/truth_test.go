package session_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// A count is what a program says of one of its methods, or a report does.
type count struct{ calls, thrown int64 }

// expectations reads the lines that begin with tag, up to the tag's end line.
func expectations(t *testing.T, p *jvmtest.Proc, tag string) map[string]count {
	t.Helper()
	p.WaitLine(tag + "S")
	out := map[string]count{}
	for _, line := range p.Stdout() {
		f := strings.Fields(line)
		if len(f) != 4 || f[0] != tag {
			continue
		}
		calls, err1 := strconv.ParseInt(f[2], 10, 64)
		thrown, err2 := strconv.ParseInt(f[3], 10, 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("line %q", line)
		}
		out[f[1]] = count{calls, thrown}
	}
	if len(out) == 0 {
		t.Fatalf("no %s lines", tag)
	}
	return out
}

// recorded sums a report's methods under the names that Truth.java gives
// them: without package, outer class and descriptor, lambda bodies together.
// The counters' own class is left out.
func recorded(r *export.Report) map[string]count {
	out := map[string]count{}
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		m, _ := r.Lookup(f.Method)
		name, _, _ := strings.Cut(strings.TrimPrefix(m.Name, "t.Truth"), "(")
		name = strings.TrimLeft(name, ".$")
		if strings.HasPrefix(name, "C.") {
			continue
		}
		if strings.HasPrefix(name, "lambda$") {
			name = "lambda$"
		}
		c := out[name]
		c.calls += f.Calls
		c.thrown += f.Thrown
		out[name] = c
	}
	return out
}

// compare wants got to be want times n; what is only in got must be in extra.
func compare(t *testing.T, got, want map[string]count, n int64, extra func(name string) (count, bool)) {
	t.Helper()
	for name, w := range want {
		if g := got[name]; g.calls != w.calls*n || g.thrown != w.thrown*n {
			t.Errorf("%s: %d calls, %d thrown, want %d, %d", name, g.calls, g.thrown, w.calls*n, w.thrown*n)
		}
	}
	for name, g := range got {
		if _, ok := want[name]; ok {
			continue
		}
		if e, ok := extra(name); !ok || e != g {
			t.Errorf("%s: %d calls, %d thrown, not expected", name, g.calls, g.thrown)
		}
	}
}

// once are the calls that only the first invocation of the root makes.
func once(name string) (count, bool) {
	switch {
	case strings.HasSuffix(name, "<clinit>"), name == "Op$1.<init>", name == "Op$2.<init>", name == "Op.$values":
		return count{1, 0}, true
	case name == "Op.<init>": // and the synthetic one through which the constants' bodies reach it
		return count{4, 0}, true
	}
	return count{}, false
}

func never(string) (count, bool) { return count{}, false }

func attached(t *testing.T, p *jvmtest.Proc) *session.Session {
	t.Helper()
	return attachedBy(t, p, session.Config{})
}

func attachedBy(t *testing.T, p *jvmtest.Proc, cfg session.Config) *session.Session {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	s, err := session.Attach(ctx, p.PID(), cfg)
	if err != nil {
		t.Fatalf("attach: %v\nstderr: %v", err, p.Stderr())
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // after Finish it does nothing
	return s
}

func start(t *testing.T, s *session.Session, rec session.Recording) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	if err := s.Start(ctx, rec); err != nil {
		t.Fatalf("start: %v", err)
	}
}

// finish waits for the recording's own end and checks that the report makes
// no reservation.
func finish(t *testing.T, s *session.Session) *export.Report {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(jvmtest.Patience):
		t.Errorf("the recording does not end: %+v", s.Progress())
	}
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	r, err := s.Finish(ctx)
	if err != nil {
		t.Fatalf("finish: %v", err)
	}
	if r.Tree.Incomplete+r.Tree.Overflow+r.Tree.Lost != 0 {
		t.Errorf("incomplete %d, overflow %d, lost %d", r.Tree.Incomplete, r.Tree.Overflow, r.Tree.Lost)
	}
	for _, n := range r.Notes {
		t.Errorf("note: %s", n)
	}
	return r
}

func truthProgram(t *testing.T, j jvmtest.JDK, args ...string) *jvmtest.Proc {
	t.Helper()
	src, err := os.ReadFile("testdata/Truth.java")
	if err != nil {
		t.Fatal(err)
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"t/Truth.java": string(src)})
	p := jvmtest.Start(t, j, nil, "t.Truth", args, dir)
	p.WaitLine("READY")
	return p
}

// TestTruth profiles a program that counts its own calls: every count must be
// the program's, in both schemes, from before the root's first call and in
// the middle, with one thread and many.
func TestTruth(t *testing.T) {
	const root = "t.Truth.root"
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, scheme := range []string{"A", "B", "C"} {
			for _, threads := range []int64{1, 2, 8} {
				if !jvmtest.Whole() && threads != map[string]int64{"A": 8, "B": 2, "C": 1}[scheme] {
					continue
				}
				t.Run(fmt.Sprintf("before-%s-%d", scheme, threads), func(t *testing.T) {
					const times = 5
					p := truthProgram(t, j, "before", fmt.Sprint(threads), fmt.Sprint(times))
					s := attached(t, p)
					start(t, s, session.Recording{Roots: []string{root}, Scheme: scheme, UntilCalls: threads * times})
					p.Send("go")
					r := finish(t, s)
					compare(t, recorded(r), expectations(t, p, "TOTAL"), 1, once)
					p.Send("end")
				})
			}
			t.Run("middle-"+scheme, func(t *testing.T) {
				p := truthProgram(t, j, "middle", "4")
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{root}, Scheme: scheme, UntilCalls: 200})
				r := finish(t, s)
				p.Send("stop")
				var n int64
				for _, th := range r.Tree.Threads {
					n += th.RootEntries
				}
				if n < 200 {
					t.Errorf("%d root calls; ended: %s, refused %d", n, r.Ended, r.Tree.Refused)
				}
				compare(t, recorded(r), expectations(t, p, "EXPECT"), n, never)
				p.Send("end")
			})
		}
	}, 8, 17, 25)
}

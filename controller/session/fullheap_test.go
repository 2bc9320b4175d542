package session_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestFullHeap ends a session while the program has no memory left: the agent restores the classes as soon as there is
// some, the controller does not wait for ever, and the next session counts right.
func TestFullHeap(t *testing.T) {
	t.Parallel()
	dir := sources(t, "FullHeap")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "FullHeap", []string{"-Xmx32m"})
		rec := session.Recording{Roots: []string{"t.FullHeap.root"}, Scheme: "A"}
		s := attached(t, p)
		start(t, s, rec)
		ask(t, p, "run 10", "RAN")
		p.Send("fill")
		p.WaitLine("FULL")
		ctx, cancel := context.WithTimeout(t.Context(), jvmtest.Patience)
		defer cancel()
		r, err := s.Finish(ctx)
		if ctx.Err() != nil {
			t.Fatalf("the session does not end: %v", err)
		}
		if err == nil {
			wantCalls(t, r, map[string]int64{"FullHeap.root": 10, "FullHeap.leaf": 20})
		}
		gone(t, p.PID(), patient)
		p.WaitLine("ROOM")
		p.Send("free") // the last collection may have been one that left it full
		p.WaitLine("FREE")

		s = attached(t, p)
		start(t, s, rec)
		ask(t, p, "run 20", "RAN")
		if r, err = s.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		wantCalls(t, r, map[string]int64{"FullHeap.root": 20, "FullHeap.leaf": 40})
		if !r.Exact() {
			t.Errorf("not exact: %v", r.Gaps)
		}
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d: %s", code, p.Stderr())
		}
	}, 8, 17, 25)
}

// TestFullHeapRefused: into a JVM that a full collection has left full nothing is loaded, unless the user wants it.
func TestFullHeapRefused(t *testing.T) {
	t.Parallel()
	dir := sources(t, "FullHeap")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "FullHeap", []string{"-Xmx32m", "-XX:+UseSerialGC"})
		p.Send("hold")
		p.WaitLine("HELD")
		if s, err := session.Attach(t.Context(), p.PID(), session.Config{}); !errors.Is(err, session.ErrFullHeap) {
			if err == nil {
				s.Close()
			}
			t.Fatalf("a full heap is not refused: %v", err)
		}
		gone(t, p.PID(), patient)
		if err := session.MindHeap(session.Config{FullHeap: true}, p.PID()); err != nil {
			t.Errorf("refused although it is wanted: %v", err)
		}
		p.Send("free")
		p.WaitLine("FREE")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.FullHeap.root"}, Scheme: "A"})
		ask(t, p, "run 20", "RAN")
		r, err := s.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantCalls(t, r, map[string]int64{"FullHeap.root": 20, "FullHeap.leaf": 40})
	})
}

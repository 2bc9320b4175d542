package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestSnapshot reads a recording while it goes on: counts never fall, and the
// last snapshot has the counts of the report.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		const times = 40
		p := truthProgram(t, j, "before", "2", "20")
		s := attached(t, p)
		ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
		defer cancel()
		if _, err := s.Snapshot(ctx); !errors.Is(err, session.ErrNotRecording) {
			t.Errorf("before the start: %v", err)
		}
		methods, err := s.AllMethods(ctx)
		if err != nil {
			t.Fatal(err)
		}
		roots := 0
		for _, m := range methods {
			if strings.HasPrefix(m.Name, "t.Truth.root(") && m.Probeable {
				roots++
			}
			if strings.HasPrefix(m.Name, "java.") {
				t.Fatalf("%s is the JDK's", m.Name)
			}
		}
		if roots != 1 {
			t.Errorf("t.Truth.root is listed %d times among %d", roots, len(methods))
		}
		start(t, s, session.Recording{Roots: []string{"t.Truth.root"}, Scheme: "B", UntilCalls: times})
		p.Send("go")
		var last int64
		for over := false; !over; {
			select {
			case <-s.Done():
				over = true
			default:
			}
			r, err := s.Snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			calls := cct.Sum(r.Tree.Roots()).Calls
			if calls < last {
				t.Errorf("%d calls after %d", calls, last)
			}
			last = calls
		}
		if used, most := s.Room(); used <= 0 || used >= most {
			t.Errorf("room: %d of %d bytes", used, most)
		}
		live, err := s.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		end := finish(t, s)
		wantHistory(t, end)
		if diff := cmp.Diff(calls(end), calls(live)); diff != "" {
			t.Error("-report +snapshot:\n", diff)
		}
		if live.Instrumented != end.Instrumented || live.Scheme != end.Scheme || live.Calibration != nil && end.Calibration == nil { // the other way round it was measured again
			t.Errorf("snapshot %+v, report %+v", live, end)
		}
		if _, err := s.Snapshot(ctx); err == nil {
			t.Error("a snapshot after the end")
		}
		p.Send("end")
	}, 8, 17)
}

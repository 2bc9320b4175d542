package session_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestProbes sees which form probes have: by what the roots reach, as asked
// for, and called where a root's class isn't loaded yet.
func TestProbes(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Traps")
	file, err := os.ReadFile(filepath.Join(dir, "t", "Traps.class"))
	if err != nil {
		t.Fatal(err)
	}
	calm, late := "t.Traps.calm", "t.Traps$Island.enter"
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, c := range []struct {
			name, root, probes string
			called, reach      bool
		}{
			{"few", calm, "", false, true},
			{"asked for", calm, session.ProbesCalled, true, true},
			{"not loaded", late, session.ProbesAuto, true, false},
			{"not loaded, asked for", late, session.ProbesInlined, false, false},
		} {
			t.Run(c.name, func(t *testing.T) {
				p := program(t, j, dir, "Traps", nil, "liars")
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{c.root}, Wait: true, Probes: c.probes})
				b, err := s.Instrumented(t.Context(), "t/Traps", file)
				if err != nil || bytes.Contains(b, []byte("enterCall")) != (c.called && c.reach) || c.reach && !bytes.Contains(b, []byte("enter")) {
					t.Errorf("the class with the root is instrumented otherwise (%d bytes): %v", len(b), err)
				}
				r := stopped(t, s)
				if r.Called != c.called || r.Reach > 0 != c.reach {
					t.Errorf("called %v, %d methods within reach", r.Called, r.Reach)
				}
			})
		}
		t.Run("calls what is not loaded", func(t *testing.T) {
			for root, called := range map[string]bool{"t.Late.cold": true, "t.Late.root": false} {
				s := attached(t, program(t, j, sources(t, "Late"), "Late", nil))
				start(t, s, session.Recording{Roots: []string{root}})
				if r := stopped(t, s); r.Called != called || (r.Reach > 0) != !called {
					t.Errorf("%s: called %v, %d methods within reach", root, r.Called, r.Reach)
				}
			}
		})
		t.Run("neither", func(t *testing.T) {
			s := attached(t, program(t, j, dir, "Traps", nil, "liars"))
			ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
			defer cancel()
			if err := s.Start(ctx, session.Recording{Roots: []string{calm}, Probes: "copied"}); err == nil {
				t.Error("no error")
			}
		})
	}, 8, 17, 25)
}

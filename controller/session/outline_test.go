package session_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestOutline reads classes and methods from outside, finds there what an agent lists, and
// leaves no word in the target's log. Where objects can't be read it says so.
func TestOutline(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Traps")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Traps", nil, "late")
		o, err := roots.ReadOutline(p.PID())
		if j.Version == 8 {
			if !errors.Is(err, vmstructs.ErrUnknown) {
				t.Errorf("JDK 8: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if on := p.Stderr(); len(on) > 0 {
			t.Errorf("the JVM says %q", on)
		}
		got, err := o.Classes(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		methods, err := o.Methods(t.Context(), "t.Traps")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Methods(t.Context(), "t.Trap"); !errors.Is(err, roots.ErrNoRoot) || !strings.Contains(err.Error(), "t.Traps") {
			t.Errorf("of an unknown class: %v", err)
		}
		s := attached(t, p)
		want, err := s.Classes(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range want {
			if !slices.Contains(got, c) {
				t.Errorf("an agent lists %+v", c)
			}
		}
		for _, c := range got {
			if !slices.Contains(want, c) && !strings.HasPrefix(c.Name, "rivulet.") {
				t.Errorf("an agent does not list %+v", c)
			}
		}
		all, err := s.Methods(t.Context(), "t.Traps")
		if err != nil || len(all) != len(methods) {
			t.Errorf("%d methods, an agent lists %d, %v", len(methods), len(all), err)
		}
		for _, m := range all {
			if !slices.Contains(methods, m) {
				t.Errorf("an agent lists %+v", m)
			}
		}
	}, 8, 11, 17, 21, 25)
	t.Run("zgc", func(t *testing.T) {
		p := program(t, jvmtest.Need(t, 21), dir, "Traps", []string{"-XX:+UseZGC"}, "late")
		if _, err := roots.ReadOutline(p.PID()); !errors.Is(err, vmstructs.ErrUnknown) {
			t.Errorf("with ZGC: %v", err)
		}
	})
}

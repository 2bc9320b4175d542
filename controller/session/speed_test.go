package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestSpeedBack records three programs and looks whether they run as fast
// afterwards as before. The JVM has to compile again what it had compiled, so
// they are given some time. The ratio is printed; what fails is a program that
// stays slow.
func TestSpeedBack(t *testing.T) {
	j := jvmtest.Any(t)
	dir := sources(t, "Speed")
	for _, c := range []struct{ kind, root string }{
		{"fib", "t.Speed.fib"},
		{"words", "t.Speed.words"},
		{"javac", "com.sun.tools.javac.jvm.Gen.genClass"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			p := program(t, j, dir, "Speed", nil, c.kind)
			bare := ask(t, p, "speed", "SPEED ")
			for range 2 {
				bare = min(bare, ask(t, p, "speed", "SPEED "))
			}
			s := attached(t, p)
			start(t, s, session.Recording{Roots: []string{c.root}, Scheme: "B"})
			during := ask(t, p, "speed", "SPEED ")
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			r, err := s.Finish(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Tree.Roots()) == 0 {
				t.Error("nothing was recorded")
			}
			after, tries := ask(t, p, "speed", "SPEED "), 1
			for ; tries < 10 && float64(after) > 1.1*float64(bare); tries++ {
				after = min(after, ask(t, p, "speed", "SPEED "))
			}
			ratio := func(ns int64) float64 { return float64(ns) / float64(bare) }
			t.Logf("bare %v, recorded x%.1f, afterwards x%.2f (best of %d rounds)", time.Duration(bare), ratio(during), ratio(after), tries)
			if ratio(after) > 1.5 {
				t.Errorf("it stays at x%.2f", ratio(after))
			}
		})
	}
}

package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestPreciseAmongTicks: in a recording with the tick clock, methods that a rule makes
// precise have the time that they took, however they end and however recursion is
// recorded, and it is nobody else's.
func TestPreciseAmongTicks(t *testing.T) {
	dir := sources(t, "Exact")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		for name, rec := range map[string]session.Recording{
			"expand": {}, "fold": {Fold: true}, "events": {Slowest: 1},
		} {
			t.Run(name, func(t *testing.T) {
				p := program(t, j, dir, "Exact", nil)
				s := attached(t, p)
				rec.Roots, rec.Clock = []string{"t.Exact.root"}, "tick"
				for _, text := range []string{
					"t.Exact.spin=off", "t.Exact$Base.*=off",
					"t.Exact.failing=precise", "t.Exact.returning=precise", "t.Exact$Made.*=precise",
				} {
					rec.Modes = append(rec.Modes, rule(t, text))
				}
				start(t, s, rec)
				p.Send("go 300") // until all is revealed and compiled
				p.WaitLine("GONE")
				must(t, "reset", s.Reset)
				p.Send("go 40") // few ticks: who has his time by them has it nowhere near
				p.WaitLine("GONE")
				r := stopped(t, s)
				p.Send("times")
				var whole, inside int64
				want := map[string]*int64{"root": new(int64), "failing": new(int64), "returning": new(int64), "Made": new(int64)}
				line := p.WaitLine("TIMES ")
				if _, err := fmt.Sscanf(line, "TIMES %d %d %d %d %d %d", &whole, &inside, want["root"], want["failing"], want["returning"], want["Made"]); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				got := map[string]int64{}
				for _, f := range cct.FlatOf(r.Tree.Roots()) {
					m, _ := r.Lookup(f.Method)
					name, _, _ := strings.Cut(m.Name, "(")
					name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "t.Exact"), "$"), ".<init>")
					got[strings.TrimPrefix(name, ".")] += f.Self
				}
				t.Logf("self times %v; %s", got, line)
				sum := int64(0)
				for name, least := range want {
					sum += got[name]
					if part := float64(got[name]) / float64(*least); part < 0.95 {
						t.Errorf("%s has %d ns, and took %d", name, got[name], *least)
					}
				}
				for _, thread := range r.Tree.Threads {
					sum += thread.Suspended
				}
				if float64(sum) < 0.9*float64(inside) || float64(sum) > 1.01*float64(whole) {
					t.Errorf("%d ns in all, of %d inside and %d", sum, inside, whole)
				}
				if rec.Slowest > 0 {
					agree(t, r)
				}
			})
		}
	}, 8, 17, 25)
}

package session_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// A trap is a program of Traps.java with its roots. Methods that count
// themselves are compared; others that must show are in want.
type trap struct {
	name  string
	roots []string
	jvm   []string
	want  map[string]int64
	from  int // lowest JDK
}

var traps = []trap{
	{name: "lock", roots: []string{"t.Traps$LockA.enter"}, want: map[string]int64{"Traps$LockA.middle": 1, "Traps$LockB.work": 1}},
	{name: "init", roots: []string{"t.Traps.init"}, want: map[string]int64{"Traps$InitA.<clinit>": 1, "Traps.init": 6}},
	{name: "interrupts", roots: []string{"t.Traps.calm"}},
	{name: "island", roots: []string{"t.Traps$Island.enter"}, want: map[string]int64{"Traps$Island.work": 4}},
	{name: "liars", roots: []string{"t.Traps.calm"}},
	{name: "overflow", roots: []string{"t.Traps.overflow"}},
	{name: "overflow", roots: []string{"t.Traps.overflow"}, jvm: []string{"-Xint"}},
	{name: "overflow", roots: []string{"t.Traps.overflow"}, jvm: []string{"-XX:TieredStopAtLevel=1"}},
	{name: "overflow", roots: []string{"t.Traps.overflow"}, jvm: []string{"-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,t.Traps::*"}},
	{name: "late", roots: []string{"t.Traps.late"}},
	{name: "crowd", roots: []string{"t.Traps.crowd"}},
	{name: "mirrors", roots: []string{"t.Traps.mirror"}},
	{name: "heirs", roots: []string{"t.Traps.found"}},
	{name: "roots", roots: []string{"t.Traps$Roots.<init>", "t.Traps$Roots.<clinit>", "t.Traps$Roots.sync", "t.Traps$Roots.step"}},
	{name: "unload", roots: []string{"t.Traps$Island.enter"}, want: map[string]int64{"Traps$Island.enter": 20, "Traps$Island.work": 80}},
	{name: "virtual", roots: []string{"t.Traps.virtual"}, from: 21},
	{name: "virtual", roots: []string{"t.Traps.virtual"}, from: 21, jvm: []string{"-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1"}},
	{name: "parked", roots: []string{"t.Traps.parked"}, from: 21},
}

// stopped ends a recording and returns its report.
func stopped(t *testing.T, s *session.Session) *export.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	r, err := s.Finish(ctx)
	if err != nil {
		t.Fatalf("finish: %v", err)
	}
	return r
}

// exact wants a report without reservations.
func exact(t *testing.T, r *export.Report) {
	t.Helper()
	if r.Tree.Incomplete+r.Tree.Overflow+r.Tree.Lost != 0 {
		t.Errorf("incomplete %d, overflow %d, lost %d", r.Tree.Incomplete, r.Tree.Overflow, r.Tree.Lost)
	}
	for _, n := range r.Notes {
		t.Errorf("note: %s", n)
	}
}

// counted are a trap's own counts.
func counted(p *jvmtest.Proc) map[string]int64 {
	out := map[string]int64{}
	for _, line := range p.Stdout() {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "N" {
			n, _ := strconv.ParseInt(f[2], 10, 64)
			if !strings.Contains(f[1], ".") {
				f[1] = "Traps." + f[1]
			} else {
				f[1] = "Traps$" + f[1]
			}
			out[f[1]] = n
		}
	}
	return out
}

// TestTraps runs each trap in both schemes.
func TestTraps(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Traps")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for _, tr := range traps {
			if j.Version < tr.from || j.Version == 21 && tr.from == 0 { // 21 is like 25 except for virtual threads
				continue
			}
			for _, scheme := range []string{"A", "B", "C"} {
				// B everywhere; A and C on 17, the one on 8 and the other on 25, too.
				other := map[string]int{"A": 8, "C": 25}[scheme]
				if tr.name == "overflow" && tr.jvm != nil && j.Version != 17 && (scheme != "B" || j.Version != 25) { // each compiler on two
					continue
				}
				if scheme == "A" && tr.jvm != nil || scheme != "B" && j.Version != 17 && j.Version != other && (tr.from == 0 || j.Version != 21) {
					continue
				}
				t.Run(fmt.Sprint(tr.name, "-", scheme, tr.jvm), func(t *testing.T) {
					p := program(t, j, dir, "Traps", tr.jvm, tr.name)
					s := attached(t, p)
					start(t, s, session.Recording{Roots: tr.roots, Scheme: scheme, Wait: true, Probes: map[string]string{"B": session.ProbesInlined, "C": session.ProbesCalled}[scheme]})
					p.Send("go")
					p.WaitLine("OK") // gives up on what is stuck
					r := stopped(t, s)
					if tr.name != "overflow" {
						exact(t, r)
					} else if r.Tree.Overflow+r.Tree.Lost != 0 {
						t.Errorf("overflow %d, lost %d", r.Tree.Overflow, r.Tree.Lost)
					}
					want := counted(p)
					for k, v := range tr.want {
						want[k] = v
					}
					wantCalls(t, r, want)
					p.Send("end")
					if code := p.Wait(); code != 0 {
						t.Errorf("exit code %d", code)
					}
				})
			}
		}
	}, 8, 17, 21, 25)
}

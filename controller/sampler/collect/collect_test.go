package collect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

var (
	mainMethod = &stack.Method{Class: "a/Main", Name: "main", Desc: "()V"}
	workMethod = &stack.Method{Class: "a/Main", Name: "work", Desc: "()V"}
)

// batch has n samples of main calling work, on a core or waiting.
func batch(n int, state stack.State) []stack.Stack {
	var out []stack.Stack
	for i := range n {
		out = append(out, stack.Stack{
			Time: int64(i + 1), Weight: 100, TID: 1, Thread: "main", Java: true, State: state, Complete: true,
			Frames: []stack.Frame{{Method: workMethod, BCI: -1, Slot: 8, Return: 1, Words: 1}, {Method: mainMethod, BCI: -1, Slot: 16, Return: 1, Words: 1}},
		})
	}
	return out
}

func TestReport(t *testing.T) {
	c := New(export.Target{PID: 7, Main: "a.Main"}, pcct.Options{})
	c.Add(batch(6, stack.Running))
	c.Add(batch(3, stack.Waiting))
	broken := batch(1, stack.Running)
	broken[0].Complete, broken[0].Broken, broken[0].Heuristic = false, "no return address", true
	c.Add(broken)
	r := c.Report(Source{
		Name: "perf", Mode: export.WallMode, Hz: 20, Lost: 2, First: 1500 * time.Microsecond, Skewed: true, Physical: true, NoKernel: true,
	}, "stopped")
	s := r.Sampling
	if s.Samples != 10 || s.Complete != 9 || s.Heuristic != 1 || s.Lost != 2 || s.First != 1.5 || s.Broken["no return address"] != 1 ||
		s.States["running"] != 7 || s.States["waiting"] != 3 || !s.Skewed || !s.Physical {
		t.Errorf("%+v", s)
	}
	if r.Target.PID != 7 || r.Ended != "stopped" || r.CPU == nil {
		t.Errorf("%+v", r)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{"--inlined", "perf_event_paranoid", "16.7 % of the samples were lost"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in the notes:\n%s", want, notes)
		}
	}
	work := r.Tree.Threads[0].Roots[0].Children[0]
	if work.Self != 1000 || work.Sample().Ran != 700 || work.Sample().Count != 10 {
		t.Errorf("%+v %+v", work, work.Sample())
	}
	c.Add(batch(5, stack.Running))
	if work.Self != 1000 || s.Samples != 10 {
		t.Error("a report changes with later samples")
	}
	if r := c.Report(Source{Mode: export.CPUMode, Skewed: true}, ""); r.CPU != nil || r.Sampling.States != nil || !strings.Contains(r.Notes[0], "not to be trusted") {
		t.Errorf("%+v", r.Notes)
	}
}

// TestLook shows what came since the last look alone.
func TestLook(t *testing.T) {
	c := New(export.Target{}, pcct.Options{})
	var w Window
	c.Add(batch(4, stack.Running))
	v := c.Look(&w)
	if v.Samples != 4 || v.Time != 400 || v.Ran != 400 || len(v.Methods) != 2 || v.Methods[0].Self != 4 || v.Methods[0].Entries != 0 || v.Methods[1].Total != 4 {
		t.Errorf("%+v", v)
	}
	c.Add(batch(3, stack.Waiting))
	v = c.Look(&w)
	if v.Samples != 3 || v.Ran != 0 || v.All != 7 || v.Methods[0].Self != 3 || v.Methods[0].AllSelf != 7 || len(v.Threads) != 1 || v.Threads[0].Time != 300 || v.Threads[0].Ran != 0 {
		t.Errorf("%+v", v)
	}
	if v = c.Look(&w); v.Samples != 0 || len(v.Methods) != 0 || len(v.Threads) != 0 {
		t.Errorf("%+v", v)
	}
}

func TestStateName(t *testing.T) {
	if len(export.StateNames) != int(stack.InVM)+1 || StateName(stack.Waiting) != "waiting" || StateName(stack.InVM) != "in the JVM" {
		t.Errorf("states are called %q", export.StateNames)
	}
	if StateName(200) != "unknown" {
		t.Error("a state that there isn't has a name")
	}
}

// TestWithin: a range of the past has the samples of its steps, those of recursion once, and stays when others come.
func TestWithin(t *testing.T) {
	c := New(export.Target{}, pcct.Options{})
	a, b := &stack.Method{Class: "A", Name: "a", Desc: "()V"}, &stack.Method{Class: "B", Name: "b", Desc: "()V"}
	add := func(at int64, methods ...*stack.Method) {
		s := stack.Stack{Time: at, Weight: 10e6, TID: 1, Java: true, State: stack.Running, Complete: true}
		for i, m := range methods {
			s.Frames = append(s.Frames, stack.Frame{Method: m, Slot: uint64(64 + 8*i), Return: 1, Words: 1})
		}
		c.Add([]stack.Stack{s})
	}
	add(1e9, a)
	add(1e9+20e6, b, a, a)
	add(1e9+40e6, b, a)
	p := c.Past()
	add(1e9+60e6, b)
	v := p.Within(20e6, 30e6)
	if v.Samples != 1 || v.Time != 10e6 || v.From != 20e6 || v.To != 30e6 || len(v.Methods) != 2 {
		t.Fatalf("%+v", v)
	}
	for i, want := range []Line{
		{Method: v.Methods[0].Method, Self: 1, Total: 1, SelfTime: 10e6, TotalTime: 10e6, Entries: -1},
		{Method: v.Methods[1].Method, Self: 0, Total: 1, SelfTime: 0, TotalTime: 10e6, Entries: -1},
	} {
		if v.Methods[i] != want {
			t.Errorf("%+v, want %+v", v.Methods[i], want)
		}
	}
	if all := p.Within(0, 0); all.Samples != 3 || all.Methods[0].Self != 2 {
		t.Errorf("all: %+v", all)
	}
	if counts, piece := c.Counts(10); piece != 10e6 || fmt.Sprint(counts) != "[1 0 1 0 1 0 1]" {
		t.Errorf("%v of %d", counts, piece)
	}
}

package top

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

func view() collect.View {
	return collect.View{
		Took: 2 * time.Second, Samples: 300, Time: 3e9, Ran: 3e9,
		Methods: []collect.Line{
			{Method: cct.Method{Name: "a.B.c(I)V"}, Self: 150, SelfTime: 1.5e9, Total: 200, TotalTime: 2e9, Entries: 3},
			{Method: cct.Method{Name: "a.B.\x1b[31md(I)V"}, Self: 90, SelfTime: 0.9e9, Total: 290, TotalTime: 2.9e9, Entries: 4000},
			{Method: cct.Method{Name: "(JIT compiler C2)"}, Self: 40, SelfTime: 0.4e9, Total: 40, TotalTime: 0.4e9},
			{Method: cct.Method{Name: "(JIT compiler C1)"}, Self: 20, SelfTime: 0.2e9, Total: 20, TotalTime: 0.2e9},
		},
		Threads: []collect.ThreadLine{{ID: 1, Name: "main", Samples: 240, Time: 2.4e9, Ran: 2e9}},
	}
}

func TestTable(t *testing.T) {
	v := view()
	got := strings.Join(Table(&v, Options{Title: "shop", Sort: "entries", Rows: 3}), "\n")
	want := `shop
300 samples in 2.0 s, 1.50 cores, JIT compiler 20 %

  self %   total %  entries/s  method
    45.0     145.0      2,000  a.B.` + "\uFFFD" + `[31md
    75.0     100.0        1.5  a.B.c
    20.0      20.0        0.0  (JIT compiler C2)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	v.Ran = 1e9
	got = strings.Join(Table(&v, Options{Title: "shop", Threads: true, Rows: 5, Width: 40}), "\n")
	want = `shop
300 samples in 2.0 s, 1.5 threads, 0.50…

  time %  on core %  samples  thread
   120.0      100.0      240  main`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Table(&collect.View{}, Options{}); len(got) != 4 {
		t.Errorf("nothing gives %q", got)
	}
}

// A source has looks that are all the same, and what a collector was given.
type source struct{ *collect.Collector }

func (source) Look(*collect.Window) collect.View { return view() }

// sampled are samples of a.B.c for 1 s, in which nothing else runs, and of a.B.d below it for another.
func sampled() source {
	c := collect.New(export.Target{}, pcct.Options{})
	outer, inner := &stack.Method{Class: "a/B", Name: "c", Desc: "(I)V"}, &stack.Method{Class: "a/B", Name: "d", Desc: "()V"}
	for i := range int64(20) {
		s := stack.Stack{Time: i * 1e8, Weight: 1e8, TID: 1, Thread: "main", Java: true, State: stack.Running, Complete: true, Frames: []stack.Frame{{Method: outer, Slot: 64, Return: 1, Words: 1}}}
		if i >= 10 {
			s.Frames = append([]stack.Frame{{Method: inner, Slot: 32, Return: 2, Words: uint64(i)}}, s.Frames...)
		}
		c.Add([]stack.Stack{s})
	}
	return source{c}
}

func TestKeys(t *testing.T) {
	ended := make(chan struct{})
	m := &model{title: "shop", every: time.Second, of: sampled(), ended: ended, width: 60, height: 14}
	press := func(key string) tea.Cmd {
		_, cmd := m.Update(tea.KeyPressMsg{Code: rune(key[0]), Text: key})
		return cmd
	}
	shows := func(want string) {
		t.Helper()
		text := m.View().Content
		if lines := strings.Split(text, "\n"); len(lines) != m.height || !strings.Contains(text, want) {
			t.Errorf("%d lines without %q:\n%s", len(lines), want, text)
		}
	}
	shows("sampling ...")
	m.Update(lookMsg{})
	shows("s sort by total")
	press("s")
	shows("s sort by entries")
	press("t")
	shows("  main")
	press("t")
	shows("   105.3      52.6  a.B.c\n    52.6      52.6   a.B.d")
	shows("█") // the map
	shows("the samples of 1.9")
	press("t")
	shows("|a.B.c" + strings.Repeat(" ", 54) + "\n|a.B.d" + strings.Repeat(" ", 24) + "\n")
	press("t")
	shows("a.B.c")
	// Who calls the method that is marked; of one that nothing calls, only itself.
	arrow := func(k rune) { m.Update(tea.KeyPressMsg{Code: k}) }
	arrow(tea.KeyDown)
	shows("2,000 >a.B.")
	arrow(tea.KeyUp)
	arrow(tea.KeyDown)
	arrow(tea.KeyDown)
	shows("1.5 >a.B.c")
	arrow(tea.KeyEnter)
	shows("call path of a.B.c, its callers below it")
	shows("\n   105.3  a.B.c\n\n")
	m.callers = "a.B.d()V"
	shows("    52.6  a.B.d\n    52.6   a.B.c\n")
	m.callers = "a.B.e()V"
	shows("not met here")
	arrow(tea.KeyEscape)
	shows("s sort by")
	arrow(tea.KeyEscape) // no line is marked any more
	// A range: its last tenth first, then to the left and wider.
	key := func(k rune) { m.Update(tea.KeyPressMsg{Code: k}) }
	key(tea.KeyLeft)
	shows("   133.3     133.3          -  a.B.d\n     0.0     133.3          -  a.B.c")
	shows("^^^^")
	for range 60 {
		key(tea.KeyLeft)
	}
	shows("125.0     125.0          -  a.B.c")
	shows("0 ns to 160 ms")
	if text := m.View().Content; strings.Contains(text, "a.B.d") {
		t.Errorf("the first tenth has a.B.d:\n%s", text)
	}
	for range 80 {
		press("+")
	}
	shows("a.B.d")
	press("t")
	press("t")
	shows("105.3      52.6  a.B.c")
	press("t")
	press("t")
	key(tea.KeyEscape)
	shows("the samples of 1.9")
	press(" ")
	shows("frozen")
	press(" ")
	close(ended)
	m.Update(lookMsg{})
	shows("the target has exited")
	m.Update(tea.WindowSizeMsg{Width: 5, Height: 1})
	m.View()
	if _, cmd := m.Update(tea.KeyPressMsg{Code: tea.KeyEscape}); cmd == nil {
		t.Error("Esc does not quit")
	}
	if press("q") == nil {
		t.Error("q does not quit")
	}
}

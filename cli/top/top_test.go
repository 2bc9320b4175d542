package top

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
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

func TestKeys(t *testing.T) {
	ended := make(chan struct{})
	m := &model{title: "shop", every: time.Second, look: view, ended: ended, width: 60, height: 12}
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
	shows("a.B.c")
	press(" ")
	shows("frozen")
	press(" ")
	close(ended)
	m.Update(lookMsg{})
	shows("the target has exited")
	m.Update(tea.WindowSizeMsg{Width: 5, Height: 1})
	m.View()
	if press("q") == nil {
		t.Error("q does not quit")
	}
}

package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// TestNarrow wants names to keep the method, whatever else has to go.
func TestNarrow(t *testing.T) {
	const name = "com.example.shop.orders.OrderService.process(Ljava/lang/String;)V"
	for _, c := range []struct {
		width int
		want  string
	}{
		{120, "* " + name + "  price low"},
		{75, "* " + name},
		{40, "* …example.shop.orders.OrderService.process"},
		{20, "* …rService.process"},
	} {
		m := &model{width: c.width}
		got := m.named("* ", name, "price low")
		if c.width == 40 {
			if !strings.HasSuffix(got, "OrderService.process") || export.Width(got) > 38 {
				t.Errorf("at 40: %q", got)
			}
			continue
		}
		if !strings.HasPrefix(got, "* ") || !strings.Contains(got, "process") || export.Width(got) > c.width-2 || c.width >= 75 && got != c.want {
			t.Errorf("at %d: %q", c.width, got)
		}
	}
	// Of a row's figures thrown goes first, then the share, then self, then calls.
	widths := []int{100, 79, 69, 59, 39}
	for k, want := range []string{"total share bar self calls thrown", "total share self calls", "total self calls", "total calls", "total"} {
		m := &model{width: widths[k]}
		cells := m.cells(cell{"total", 9, 0}, cell{"share", 8, 70}, cell{"bar", 6, 100}, cell{"self", 9, 60}, cell{"calls", 13, 40}, cell{"thrown", 8, 80})
		if got := strings.Join(strings.Fields(cells), " "); got != want {
			t.Errorf("at %d: %q, want %q", widths[k], got, want)
		}
		if label := m.label(cells, "  ", "com.example.Front.serve"); !strings.HasSuffix(label, "serve") || export.Width(label) > widths[k]-2 {
			t.Errorf("at %d: %q", widths[k], label)
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        string
	}{{0, 10, ""}, {10, 0, ""}, {10, 10, "██████"}, {5, 10, "███"}, {1, 48, "▏"}, {20, 10, "██████"}, {11, 48, "█▍"}} {
		if got := bar(c.part, c.whole); got != c.want || export.Width(padded(got)) != barWidth {
			t.Errorf("%d of %d: %q", c.part, c.whole, got)
		}
	}
}

// TestNothing wants a reason for each empty view, in full.
func TestNothing(t *testing.T) {
	for _, c := range []struct {
		state  live.State
		thread int
		want   string
	}{
		{live.State{Phase: live.Idle}, 0, "choose a root"},
		{live.State{Phase: live.Starting}, 0, "instrumenting"},
		{live.State{Phase: live.InRecording, Diagnosis: "No thread has called it in the last five seconds; the program waits for connections."}, 0, "waits for connections."},
		{live.State{Phase: live.InRecording, Paused: true}, 0, "p goes on"},
		{live.State{Phase: live.Stopped}, 0, "no root call began"},
		{live.State{Phase: live.InRecording}, 2, "t shows all"},
	} {
		m := &model{width: 40, height: 24, state: c.state, thread: c.thread, whose: "main"}
		var text []string
		for _, l := range m.nothing() {
			if export.Width(l) > 40 {
				t.Errorf("%q is too wide", l)
			}
			text = append(text, strings.TrimSpace(l))
		}
		if got := strings.Join(text, " "); !strings.Contains(got, c.want) {
			t.Errorf("%v: %q", c.state.Phase, got)
		}
	}
}

// TestTrend draws calls a second over time, root calls where calls are not known.
func TestTrend(t *testing.T) {
	m := &model{}
	if m.trend(9) != "" {
		t.Error("a line of nothing")
	}
	m.shown.History = &live.HistoryView{Steps: []live.HistoryStep{{0, 1e9, 10}, {1e9, 5e8, 10}, {2e9, 1e9, -1, 20}, {3e9, 1e9, 0}}}
	if got := m.trend(9); got != "▅██ " {
		t.Errorf("%q", got)
	}
}

// TestSuggested has what was suggested in the place of what a search finds.
func TestSuggested(t *testing.T) {
	m := &model{width: 100, height: 24, busy: "looking"}
	m.suggested(suggestedMsg{found: &live.Suggestions{Samples: 100, Roots: []live.Suggestion{{Root: "a.B.c", Share: 0.5, Rate: 3, Price: "low"}, {Root: "a.B.d"}}}})
	if body := strings.Join(m.rootsBody(), "\n"); m.busy != "" || !strings.Contains(body, "2 methods suggested") || !strings.Contains(body, "a.B.c  50.0 % of the samples, entered 3 times a second or more, price low") {
		t.Error(body)
	}
	m.suggested(suggestedMsg{err: errors.New("not now")})
	if !m.failed || !strings.Contains(m.message, "not now") || len(m.hits) != 2 {
		t.Errorf("%q, %d hits", m.message, len(m.hits))
	}
	if methodSorts[0] != "self" || !slices.Contains(methodSorts, "total") {
		t.Error("methods are not by self first: ", methodSorts)
	}
}

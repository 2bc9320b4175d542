package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/rivulet-profiler/rivulet/cli/console"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// suggest looks for roots, beside, and shows them in the place of what a search finds.
func (m *model) suggest() tea.Cmd {
	if m.busy != "" {
		m.tell(true, m.busy+" is under way; wait until it is done")
		return nil
	}
	m.busy = "looking for roots, by samples"
	m.tell(false, "")
	m.turn(rootsView)
	return func() tea.Msg {
		found, err := m.live.Suggest(m.ctx, true)
		return suggestedMsg{found, err}
	}
}

// suggested shows what was found.
func (m *model) suggested(msg suggestedMsg) {
	m.busy = ""
	switch {
	case msg.err != nil:
		m.tell(true, msg.err.Error())
		return
	case len(msg.found.Roots) == 0:
		m.tell(true, console.ErrNoneSuggested.Error())
		return
	}
	m.hits, m.count, m.why = nil, len(msg.found.Roots), map[string]string{}
	m.places[rootsView] = place{}
	for i := range msg.found.Roots {
		r := &msg.found.Roots[i]
		m.hits = append(m.hits, live.Method{Name: r.Root, Root: true})
		m.why[r.Root] = console.WhySuggested(msg.found, r)
	}
	m.tell(false, "the best one comes first; Enter takes it, s starts")
}

// trend is how many calls there were over the recording, as a line; "" where that is not known.
func (m *model) trend(width int) string {
	h := m.shown.History
	if h == nil || len(h.Steps) < 2 {
		return ""
	}
	var rates []int64
	for _, s := range h.Steps {
		calls := s[2]
		if calls < 0 {
			calls = s[3] // root calls
		}
		rates = append(rates, int64(float64(max(calls, 0))/float64(max(s[1], 1))*1e9))
	}
	line, _ := export.Spark(rates, width)
	return line
}

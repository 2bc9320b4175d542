package tui

import (
	"fmt"
	"image/color"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

const (
	headLines = 6 // with the tabs and the line below them
	footLines = 2

	leastTrend, mostTrend = 8, 40 // columns of calls over time
)

type styles struct {
	title, faint, tab, at, hot, good, warn, bad, head lipgloss.Style
}

// newStyles are for a dark background or a light one.
func newStyles(dark bool) styles {
	s, pick := lipgloss.NewStyle, lipgloss.LightDark(dark)
	color := func(light, dark string) color.Color { return pick(lipgloss.Color(light), lipgloss.Color(dark)) }
	return styles{
		title: s().Bold(true), faint: s().Faint(true), tab: s().Reverse(true).Bold(true), at: s().Reverse(true), head: s().Underline(true),
		hot: s().Bold(true).Foreground(color("130", "215")), good: s().Foreground(color("28", "114")),
		warn: s().Foreground(color("130", "221")), bad: s().Bold(true).Foreground(color("124", "210")),
	}
}

// View implements tea.Model.
func (m *model) View() tea.View {
	head := m.head()
	if m.view == helpView { // needs the room
		head = []string{m.fit(m.style.title, "Keys (Esc goes back)")}
	}
	lines := append(head, m.body()...)
	for len(lines) < m.height-footLines {
		lines = append(lines, "")
	}
	v := tea.NewView(strings.Join(append(lines[:m.height-footLines], m.foot()...), "\n"))
	v.AltScreen = true
	return v
}

// fit cleans and cuts a line, and styles it.
func (m *model) fit(style lipgloss.Style, text string) string {
	return style.Render(export.Fit(export.Clean(text), m.width))
}

func (m *model) head() []string {
	st := &m.state
	phase := st.Phase
	style := m.style.faint
	switch {
	case st.Paused:
		phase, style = "paused", m.style.warn
	case phase == live.InRecording:
		style = m.style.good
	}
	target := "no JVM: start attaches again"
	if t := st.Target; t != nil {
		target = fmt.Sprintf("%s  pid %d, Java %s", t.Main, t.PID, t.Java)
	}
	f := st.Figures
	if f == nil {
		f = &live.Figures{}
	}
	if st.Phase == live.InRecording {
		phase += " " + export.Duration(int64(f.Seconds*1e9))
	}
	room := max(m.width-export.Width(phase)-2, 1)
	first := m.style.title.Render(export.Pad(export.Clean(target), room)) + "  " + style.Render(export.Fit(phase, m.width))
	scheme := export.SchemeName(m.set.Scheme)
	if scheme == spec.SchemeAuto && st.Phase == live.InRecording && f.Scheme != "" {
		scheme += ": " + export.SchemeName(f.Scheme)
	}
	how := fmt.Sprintf("%s, %s, ", scheme, export.ClockName(m.set.Clock))
	switch n := len(m.set.Roots); n {
	case 0:
		how += "no root yet"
	case 1:
		how += "root " + m.set.Roots[0]
	default:
		how += fmt.Sprintf("%d roots: %s", n, strings.Join(m.set.Roots, " "))
	}
	if rules := m.set.Filter.Strings(); len(rules) > 0 {
		how += ", " + strings.Join(rules, " ")
	}
	for _, name := range []string{"mode", "leaves", "cpu", "count"} {
		usual := spec.Default()
		if o := spec.Find(name); o.Get(&m.set) != o.Get(&usual) {
			how += ", " + name + " " + o.Get(&m.set)
		}
	}
	if m.thread > 0 {
		how = fmt.Sprintf("thread %s alone (t: all), ", m.whose) + how
	}
	figures := fmt.Sprintf("%s (%s/s), %s, %s", export.Plural(f.Calls, "call", "calls"), export.Count(int64(f.Rate)),
		export.Plural(f.Invocations, "root call", "root calls"), export.Plural(f.Nodes, "call path", "call paths"))
	if st.Figures != nil && !f.Exact {
		figures += ", NOT EXACT (:report says why)"
	}
	if room := m.width - export.Width(figures) - 2; room >= leastTrend {
		if line := m.trend(min(room, mostTrend)); line != "" {
			figures += "  " + line
		}
	}
	cost := fmt.Sprintf("%s of %s called, %s", export.Count(int64(f.Called)), export.Plural(int64(f.Instrumented), "method", "methods"), export.Plural(int64(f.Batches), "step", "steps"))
	if f.Pause != nil {
		cost += ", longest pause " + export.Duration(*f.Pause)
	}
	if f.Suspended > 0 {
		cost += ", paused by Rivulet " + export.Duration(f.Suspended)
	}
	if f.Most > 0 {
		cost += fmt.Sprintf(", memory %s of %s", export.Bytes(f.Used), export.Bytes(f.Most))
	}
	var tabs strings.Builder
	for i, name := range viewNames {
		label := fmt.Sprintf("%d %s", i+1, name)
		if view(i) == m.view {
			label = m.style.tab.Render("[" + label + "]")
		} else {
			label = " " + label + " "
		}
		tabs.WriteString(label)
	}
	return []string{first, m.fit(m.style.faint, how), m.fit(lipgloss.NewStyle(), figures), m.fit(m.style.faint, cost), tabs.String(), m.style.faint.Render(strings.Repeat("─", m.width))}
}

func (m *model) foot() []string {
	line := m.fit(m.style.faint, m.message)
	if m.failed {
		line = m.fit(m.style.bad, "! "+m.message)
	}
	if m.busy != "" {
		line = m.fit(m.style.warn, m.busy+" ...")
	} else if m.message == "" && m.state.Diagnosis != "" {
		line = m.fit(m.style.warn, m.state.Diagnosis)
	} else if m.message == "" {
		line = m.fit(m.style.faint, m.pointed())
	}
	hint := "? help  s start/stop  p pause  / search  : command  w save  q quit"
	if prompt := map[ask]string{askSearch: "search: ", askFilter: "filter: ", askCommand: ":", askSave: "save to: "}[m.asking]; prompt != "" {
		m.input.SetWidth(max(m.width-len(prompt)-2, 1))
		return []string{line, prompt + m.input.View()}
	}
	return []string{line, m.fit(m.style.faint, hint)}
}

// item is a row of a list, marked where it is pointed at: by colour, and for
// those without by a mark.
func (m *model) item(at bool, style lipgloss.Style, text string) string {
	mark := "  "
	if at {
		mark, style = "> ", m.style.at
	}
	return style.Render(export.Pad(mark+text, m.width))
}

// label fits a name behind the columns of a row; its end says most.
func (m *model) label(columns, indent, name string) string {
	room := m.width - 2 - export.Width(columns) - export.Width(indent)
	return columns + indent + export.FitTail(export.Clean(name), max(room, 8))
}

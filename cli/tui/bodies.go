package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// shownRoots is how many of the chosen roots the search lists above the hits.
const shownRoots = 4

func (m *model) body() []string {
	switch m.view {
	case rootsView:
		return m.rootsBody()
	case treeView:
		return m.treeBody()
	case methodsView:
		return m.methodsBody()
	case aroundView:
		return m.aroundBody()
	case threadsView:
		return m.threadsBody()
	case compareView:
		return m.compareBody()
	case logView:
		var lines []string
		for _, e := range m.log {
			lines = append(lines, e.Time.Format("15:04:05  ")+e.Text)
		}
		return m.list(lines)
	case outputView:
		return m.list(m.output)
	case helpView:
		var lines []string
		for _, k := range keys {
			lines = append(lines, fmt.Sprintf("%-20s%s", k[0], k[1]))
		}
		return m.list(lines)
	}
	return nil
}

// list shows plain lines.
func (m *model) list(lines []string) []string {
	p, rows := m.places[m.view], m.rows()
	var out []string
	for i := p.top; i < min(p.top+rows, len(lines)); i++ {
		out = append(out, m.item(i == p.at, lipgloss.NewStyle(), export.Clean(lines[i])))
	}
	return out
}

func (m *model) rootsBody() []string {
	var out []string
	for _, r := range m.set.Roots[:min(len(m.set.Roots), shownRoots)] {
		out = append(out, m.fit(m.style.good, "  root "+r))
	}
	p, rows := m.places[rootsView], m.listRows()
	head := fmt.Sprintf("%s match %q; / types, Tab suggests, Enter takes or drops a root", export.Plural(int64(m.count), "method", "methods"), m.query)
	if m.why != nil {
		head = export.Plural(int64(m.count), "method", "methods") + " suggested, the best first; Enter takes or drops a root, / searches"
	}
	out = append(out, m.fit(m.style.faint, "  "+head))
	for i := p.top; i < min(p.top+rows, len(m.hits)); i++ {
		h := &m.hits[i]
		mark, style := "  ", lipgloss.NewStyle()
		switch {
		case slices.Contains(m.set.Roots, h.Name):
			mark, style = "* ", m.style.good
		case !h.Root:
			style = m.style.faint
		}
		note := m.why[h.Name]
		if h.Reason != "" {
			note = "(" + h.Reason + ")"
		}
		out = append(out, m.item(i == p.at, style, m.named(mark, h.Name, note)))
	}
	return out
}

// nothing says why a view of a recording is empty.
func (m *model) nothing() []string {
	text := "Nothing is recorded yet: choose a root (1, then / or g), and s starts."
	switch {
	case m.state.Phase == live.InRecording:
		text = "Nothing is recorded so far: no root call has begun since the start."
		if why := m.state.Diagnosis; why != "" {
			text += " " + export.Clean(strings.Join(strings.Fields(why), " "))
		}
	case m.state.Phase == live.Starting:
		text = "Measuring what probes cost here, and instrumenting ..."
	case m.state.Phase == live.Stopped && m.source == 0:
		text = "Nothing was recorded: no root call began. Was the program at work meanwhile? Choose a root that it calls (1, then g), or record for longer; :report says more."
	}
	if m.state.Paused {
		text = "The recording is paused; p goes on. " + text
	}
	if m.thread > 0 {
		text = fmt.Sprintf("Nothing of thread %s; t shows all. ", m.whose) + text
	}
	var out []string
	for _, l := range wrapped(text, max(m.width-4, 10)) {
		out = append(out, m.fit(m.style.faint, "  "+l))
	}
	return out[:min(len(out), m.rows())]
}

// wrapped breaks a text into lines at its blanks.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && export.Width(line)+1+export.Width(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// named fits a method's name and a note behind it into a row. Where there is no room, first the
// note goes, then the descriptor, then the beginning of the name.
func (m *model) named(mark, name, note string) string {
	room := max(m.width-2-export.Width(mark), 8)
	name, note = export.Clean(name), export.Clean(note)
	switch w := export.Width(name); {
	case w > room:
		return mark + export.FitTail(short(name), room)
	case note != "" && w+10 < room:
		return mark + name + "  " + export.Fit(note, room-w-2)
	}
	return mark + name
}

// barWidth is how long the bar of a share is.
const barWidth = 6

// bar draws a part of a whole, to an eighth of a character.
func bar(part, whole int64) string {
	if whole <= 0 || part <= 0 {
		return ""
	}
	n := int(float64(min(part, whole))/float64(whole)*8*barWidth + 0.5)
	line := strings.Repeat("█", n/8)
	if n%8 > 0 {
		line += string([]rune("▏▎▍▌▋▊▉")[n%8-1])
	}
	return line
}

// padded is a bar as a column of its own.
func padded(text string) string {
	return text + strings.Repeat(" ", max(barWidth-export.Width(text), 0))
}

func share(part, whole int64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func (m *model) treeBody() []string {
	t := m.shown.Tree
	if t == nil || t.Count == 0 {
		return m.nothing()
	}
	columns := func(total, part, bar, self, calls, thrown string, more []string) string {
		cells := []cell{{total, 9, 0}, {part, 8, 70}, {padded(bar), barWidth, 100}, {self, 9, 60}, {calls, 13, 40}, {thrown, 8, 80}}
		return m.cells(append(cells, countCells(more)...)...)
	}
	out := []string{m.fit(m.style.faint, "  "+columns("total", "share", "", "self", "calls", "thrown", export.CountHeads(t.Metrics))+"call path (* hot path)")}
	for i, r := range t.Rows {
		at := t.From+i == m.places[treeView].at
		twist, style := "  ", lipgloss.NewStyle()
		switch {
		case m.open[int32(r[0])] && r[10] > 0:
			twist = "- "
		case r[10] > 0:
			twist = "+ "
		}
		mark := ""
		if slices.Contains(t.Hot, int32(r[0])) {
			mark, style = "* ", m.style.hot
		}
		name := mark + short(m.live.Method(int32(r[2])).Name)
		if r[3]&live.RowFold != 0 {
			name = mark + "… " + m.live.Method(int32(r[2])).Name + " (f)"
		}
		if r[11] > 1 {
			name += fmt.Sprintf(" (recursive, %d levels)", r[11])
		}
		cells := columns(export.Duration(r[9]), share(r[9], t.Total), bar(r[9], t.Total), export.Duration(r[6]), export.Count(r[4]), export.Count(r[5]), counted(t.Metrics, t.Counts, i, ownTime(r[3], r[6]), r[8]))
		// Deep paths may not push the names off the screen.
		indent := strings.Repeat(" ", min(int(r[1]), max(m.width-len(cells)-24, 0))) + twist
		out = append(out, m.item(at, style, m.label(cells, indent, name)))
	}
	return out
}

// A cell is a column of a row, aligned to the right, on screens that are at
// least so wide.
type cell struct {
	text         string
	width, least int
}

func (m *model) cells(list ...cell) string {
	var b strings.Builder
	for _, c := range list {
		if m.width >= c.least {
			fmt.Fprintf(&b, "%*s ", c.width, c.text)
		}
	}
	return b.String() + " "
}

// countCells are the columns of a recording's further metrics.
func countCells(texts []string) (cells []cell) {
	for _, t := range texts {
		cells = append(cells, cell{t, max(len(t), 15), 100})
	}
	return cells
}

// counted are the texts of a row's further metrics.
func counted(rows []metric.Metric, counts [][]int64, i int, self, off int64) []string {
	if i >= len(counts) {
		return nil
	}
	return export.CountCells(rows, counts[i], self, off)
}

// ownTime is a row's self time; 0 where its method is only counted.
func ownTime(flags, self int64) int64 {
	if flags&live.RowCounted != 0 {
		return 0
	}
	return self
}

// short is a method's name without its descriptor.
func short(name string) string {
	if bare, _, _ := strings.Cut(name, "("); bare != "" {
		return bare
	}
	return name
}

func (m *model) methodsBody() []string {
	t := m.shown.Methods
	if t == nil || m.shown.Frame == 0 {
		return m.nothing()
	}
	columns := func(self, off, part, bar, total, calls, thrown string, more []string) string {
		cells := []cell{{self, 9, 0}, {off, 7, 80}, {part, 8, 70}, {padded(bar), barWidth, 100}, {total, 9, 60}, {calls, 13, 40}, {thrown, 8, 90}}
		return m.cells(append(cells, countCells(more)...)...)
	}
	title := "method, by " + methodSorts[m.sort] + " (o)"
	if m.filter != "" {
		title += fmt.Sprintf(", with %q: %d of %d", m.filter, t.Count, t.All)
	}
	out := []string{m.fit(m.style.faint, "  "+columns("self", "±", "share", "", "total", "calls", "thrown", export.CountHeads(t.Metrics))+title)}
	for i, l := range t.Lines {
		f := l.Figures
		off := "-"
		if f[5] > 0 && f[4] > 0 {
			off = fmt.Sprintf("%.0f %%", min(100*float64(f[6])/float64(f[4]), 100))
		}
		cells := columns(export.Duration(f[4]), off, share(f[4], t.Total), bar(f[4], t.Total), export.Duration(f[7]), export.Count(f[2]), export.Count(f[3]), export.CountCells(t.Metrics, l.Counts, ownTime(f[11], f[4]), f[6]))
		out = append(out, m.item(t.From+i == m.places[methodsView].at, lipgloss.NewStyle(), m.label(cells, "", short(m.live.Method(int32(f[0])).Name))))
	}
	return out
}

// An aroundLine is a row of callers and callees.
type aroundLine struct {
	method int32
	text   string
	style  lipgloss.Style
}

func (m *model) aroundLines() []aroundLine {
	a := m.shown.Around
	if a == nil || m.around == 0 {
		return nil
	}
	var out []aroundLine
	columns := func(total, part, calls string) string {
		return m.cells(cell{total, 9, 0}, cell{part, 8, 70}, cell{calls, 13, 50})
	}
	row := func(l live.Line, style lipgloss.Style) {
		f := l.Figures
		name := m.live.Method(int32(f[0])).Name
		if name == "" {
			name = "(outside)"
		}
		out = append(out, aroundLine{int32(f[0]), m.label(columns(export.Duration(f[7]), share(f[7], a.Self.Figures[7]), export.Count(f[2])), "", short(name)), style})
	}
	title := func(text string) { out = append(out, aroundLine{0, text, m.style.faint}) }
	title(columns("total", "share", "calls") + "called by")
	for _, l := range a.Callers {
		row(l, lipgloss.NewStyle())
	}
	title("the method")
	row(a.Self, m.style.hot)
	title("calls")
	for _, l := range a.Callees {
		row(l, lipgloss.NewStyle())
	}
	return out
}

func (m *model) aroundBody() []string {
	lines := m.aroundLines()
	if len(lines) == 0 {
		return []string{m.fit(m.style.faint, "  Choose a method in the tree (a) or in the methods (Enter).")}
	}
	p := m.places[aroundView]
	var out []string
	for i := p.top; i < min(p.top+m.rows(), len(lines)); i++ {
		out = append(out, m.item(i == p.at, lines[i].style, lines[i].text))
	}
	return out
}

func (m *model) threadsBody() []string {
	t := m.shown.Threads
	if t == nil || len(t.Threads) == 0 {
		return m.nothing()
	}
	out := []string{m.fit(m.style.faint, fmt.Sprintf("  %9s %13s %9s  thread", "total", "root calls", "paused"))}
	p := m.places[threadsView]
	for i := p.top; i < min(p.top+m.rows()-1, len(t.Threads)); i++ {
		l := t.Threads[i]
		cells := fmt.Sprintf("%9s %13s %9s  ", export.Duration(l.Total), export.Count(l.Entries), export.Duration(l.Suspended))
		name := l.Name
		if l.Inside {
			name += " (inside)"
		}
		out = append(out, m.item(i == p.at, lipgloss.NewStyle(), m.label(cells, "", name)))
	}
	return out
}

func (m *model) compareBody() []string {
	list := m.state.Snapshots
	if len(list) == 0 {
		return []string{m.fit(m.style.faint, "  Nothing is kept yet: k keeps the recording as of now, and a recording that ends is kept.")}
	}
	var out []string
	p, rows := m.places[compareView], max(min(len(list), m.rows()/2), 1)
	for i := max(p.at-rows+1, 0); i < len(list) && len(out) < rows; i++ {
		s := list[i]
		mark := "      "
		switch s.ID {
		case m.against:
			mark = "before"
		case m.source:
			mark = "after "
		}
		line := fmt.Sprintf("%s %3d  %8s, %s calls  %s: %s, %s", mark, s.ID, export.Duration(int64(s.Seconds*1e9)), export.Count(s.Calls), s.Name, export.SchemeName(s.Scheme), export.ClockName(s.Clock))
		out = append(out, m.item(i == p.at, lipgloss.NewStyle(), export.Fit(export.Clean(line), max(m.width-2, 8))))
	}
	c := m.shown.Compare
	if m.against == 0 || c == nil {
		return append(out, m.fit(m.style.faint, "  b marks the one before, Enter the one after (the recording as of now without one)"))
	}
	for _, u := range c.Unlike {
		out = append(out, m.fit(lipgloss.NewStyle(), "  ! "+export.Clean(u.Text)))
	}
	out = append(out, m.fit(lipgloss.NewStyle(), "  "+c.Verdict))
	columns := func(change, before, after, calls, callsAfter string) string {
		return m.cells(cell{change, 9, 0}, cell{before, 9, 60}, cell{after, 9, 60}, cell{calls, 12, 80}, cell{callsAfter, 12, 80})
	}
	out = append(out, m.fit(m.style.faint, "  "+columns("change", "before", "after", "calls", "calls after")+"method, self time for as many roots"))
	for _, r := range c.Changes[:min(len(c.Changes), max(m.rows()-len(out), 0))] {
		change := export.Duration(r[4] - r[3])
		if r[4] > r[3] {
			change = "+" + change
		}
		cells := columns(change, export.Duration(r[3]), export.Duration(r[4]), export.Count(r[1]), export.Count(r[2]))
		out = append(out, m.item(false, lipgloss.NewStyle(), m.label(cells, "", short(m.live.Method(int32(r[0])).Name))))
	}
	return out
}

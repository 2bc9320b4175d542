package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
)

// A Source is what is looked at.
type Source interface {
	Look(w *collect.Window) collect.View
	Counts(most int) (counts []int64, piece int64)
	Past() *collect.Past
}

// mostPieces bounds the pieces of a heat map.
const mostPieces = 1024

// Run shows looks on a terminal, one each interval, until it is quit, ended is closed
// or ctx is done. It does not handle signals. The error says that the terminal failed.
func Run(ctx context.Context, title string, every time.Duration, of Source, ended <-chan struct{}, in io.Reader, out io.Writer) error {
	m := &model{title: title, every: every, of: of, ended: ended, width: 80, height: 24}
	m.bold, m.faint, m.head = lipgloss.NewStyle().Bold(true), lipgloss.NewStyle().Faint(true), lipgloss.NewStyle().Underline(true)
	p := tea.NewProgram(m, tea.WithoutSignalHandler(), tea.WithInput(in), tea.WithOutput(out))
	defer context.AfterFunc(ctx, p.Quit)()
	_, err := p.Run()
	if err != nil && ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil // the terminal went away with the signal
	}
	if err != nil {
		return fmt.Errorf("the screen has failed: %w; rivulet top PID | cat needs none", err)
	}
	return nil
}

type model struct {
	title string
	every time.Duration
	of    Source
	w     collect.Window
	ended <-chan struct{}

	bold, faint, head lipgloss.Style
	width, height     int
	view              collect.View
	part              collect.View // of the range
	heat              heat
	shown             bool
	frozen            bool
	sort              int
	list              int    // of lists
	at                int    // the marked line of methods, from 1 on; 0 is none
	callers           string // the method whose callers are shown; "" is none
	over              bool   // the target has ended
}

// lists are what fills the screen.
var lists = []string{"methods", "threads", "calls", "flame graph"}

const (
	methodsList = iota
	threadsList
	callsList
	flameList
)

type lookMsg struct{}

// Init implements tea.Model. The first look comes soon, so that the screen isn't empty.
func (m *model) Init() tea.Cmd { return after(min(m.every, 500*time.Millisecond)) }

func after(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return lookMsg{} })
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case lookMsg:
		if !m.over {
			if v := m.of.Look(&m.w); !m.frozen {
				m.view, m.shown = v, true
				m.heat.counts, m.heat.piece = m.of.Counts(mostPieces)
				if m.past() && m.heat.to == 0 {
					m.part = m.of.Past().Within(0, 0)
				}
			}
		}
		select {
		case <-m.ended:
			m.over = true
		default:
		}
		return m, after(m.every)
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q", "ctrl+c":
			return m, tea.Quit
		case "esc":
			switch {
			case m.callers != "":
				m.callers = ""
			case m.heat.to > 0:
				m.span(0, 0)
			case m.at > 0:
				m.at = 0
			default:
				return m, tea.Quit
			}
		case "up":
			m.at = max(m.at-1, 0)
		case "down":
			m.at = min(m.at+1, max(m.rows(), 0))
		case "enter":
			m.choose()
		case "left":
			m.span(-1, 0)
		case "right":
			m.span(1, 0)
		case "+":
			m.span(0, 1)
		case "-":
			m.span(0, -1)
		case "s":
			m.sort = (m.sort + 1) % len(Sorts)
		case "t":
			m.list, m.callers = (m.list+1)%len(lists), ""
			m.again()
		case "space":
			m.frozen = !m.frozen
		}
	}
	return m, nil
}

// span moves the range that is looked at, makes it wider, or ends that with 0, 0.
func (m *model) span(by, wider int) {
	if by == 0 && wider == 0 {
		m.heat.from, m.heat.to = 0, 0
	} else {
		m.heat.move(by, wider, m.width)
	}
	m.again()
}

// again looks at what was sampled until now once more.
func (m *model) again() {
	if m.heat.to > 0 || m.past() {
		m.part = m.of.Past().Within(m.heat.from, m.heat.to)
	}
}

// past reports whether what is shown is of all that was sampled, not only of the last moments.
func (m *model) past() bool { return m.list >= callsList || m.callers != "" }

// rows is how many lines a list has.
func (m *model) rows() int { return m.height - 7 }

// shows is the look that is shown.
func (m *model) shows() *collect.View {
	if m.heat.to > 0 || m.past() {
		return &m.part
	}
	return &m.view
}

// choose shows the callers of the marked method.
func (m *model) choose() {
	list := sorted(m.shows().Methods, Sorts[m.sort])
	if m.list == methodsList && m.callers == "" && m.at > 0 && m.at <= len(list) {
		m.callers = list[m.at-1].Method.Name
		m.again()
	}
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

func (m *model) screen() string {
	foot := "q quit  s sort by " + Sorts[(m.sort+1)%len(Sorts)] + "  t " + lists[(m.list+1)%len(lists)] + "  up down Enter callers  space freeze  left right range"
	switch {
	case m.over:
		foot = "the target has exited: q quits"
	case m.callers != "":
		foot = "Esc back to methods  left right range  space freeze  q quit"
	case m.heat.to > 0:
		foot = "left right move the range  + - its length  t " + lists[(m.list+1)%len(lists)] + "  Esc back to now  q quit"
	case m.frozen:
		foot = "frozen: space goes on"
	}
	lines := []string{m.title, "sampling ..."}
	if m.shown {
		lines = Table(m.shows(), Options{
			Title: m.title, Sort: Sorts[m.sort], Rows: m.rows(), Width: m.width, Threads: m.list == threadsList, Tree: m.list == callsList, Flame: m.list == flameList,
			Callers: m.callers, At: m.at,
		})
		over := m.heat.lines(m.width)
		lines = slices.Concat(lines[:2], over[:], lines[2:])
	}
	lines = fit(lines, m.width)
	for i := range lines {
		switch i {
		case 0:
			lines[i] = m.bold.Render(lines[i])
		case 3:
			lines[i] = m.faint.Render(lines[i])
		case headAt:
			lines[i] = m.head.Render(export.Pad(lines[i], m.width))
		}
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines[:max(m.height-1, 0)], m.faint.Render(export.Fit(foot, m.width))), "\n")
}

// headAt is the line of the list's head.
const headAt = 5

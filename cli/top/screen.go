package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
)

// Run shows looks on a terminal, one each interval, until it is quit, ended is closed
// or ctx is done. It does not handle signals. The error says that the terminal failed.
func Run(ctx context.Context, title string, every time.Duration, look func() collect.View, ended <-chan struct{}, in io.Reader, out io.Writer) error {
	m := &model{title: title, every: every, look: look, ended: ended, width: 80, height: 24}
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
	look  func() collect.View
	ended <-chan struct{}

	bold, faint, head lipgloss.Style
	width, height     int
	view              collect.View
	shown             bool
	frozen            bool
	sort              int
	threads           bool
	over              bool // the target has ended
}

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
			if v := m.look(); !m.frozen {
				m.view, m.shown = v, true
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
		case "q", "esc", "ctrl+c":
			return m, tea.Quit
		case "s":
			m.sort = (m.sort + 1) % len(Sorts)
		case "t":
			m.threads = !m.threads
		case "space":
			m.frozen = !m.frozen
		}
	}
	return m, nil
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

func (m *model) screen() string {
	foot := "q quit  s sort by " + Sorts[(m.sort+1)%len(Sorts)] + "  t " + map[bool]string{false: "threads", true: "methods"}[m.threads] + "  space freeze"
	switch {
	case m.over:
		foot = "the target has exited: q quits"
	case m.frozen:
		foot = "frozen: space goes on"
	}
	lines := []string{m.title, "sampling ..."}
	if m.shown {
		lines = Table(&m.view, Options{Title: m.title, Sort: Sorts[m.sort], Rows: m.height - 5, Width: m.width, Threads: m.threads})
	}
	lines = fit(lines, m.width)
	for i := range lines {
		switch i {
		case 0:
			lines[i] = m.bold.Render(lines[i])
		case 3:
			lines[i] = m.head.Render(export.Pad(lines[i], m.width))
		}
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines[:max(m.height-1, 0)], m.faint.Render(export.Fit(foot, m.width))), "\n")
}

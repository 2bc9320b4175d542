package tui

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/rivulet-profiler/rivulet/cli/console"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// A view is what fills the screen between head and foot.
type view int

const (
	rootsView view = iota
	treeView
	methodsView
	aroundView
	threadsView
	compareView
	logView
	outputView // of a command
	helpView
)

var viewNames = []string{"Roots", "Tree", "Methods", "Callers", "Threads", "Compare", "Log"}

// An ask is what the line at the foot is being typed for.
type ask int

const (
	askNothing ask = iota
	askSearch
	askFilter
	askCommand
	askSave
)

// A place is where one is in a list.
type place struct{ at, top int }

// move goes to a row of count, and has the window of rows follow.
func (p *place) move(to, count, rows int) {
	p.at = max(min(to, count-1), 0)
	p.top = max(min(p.top, p.at), p.at-rows+1, 0)
}

type model struct {
	ctx   context.Context
	con   *console.Console
	live  *live.Live
	style styles

	width, height int
	view, back    view // back: from help or a command's output
	places        [helpView + 1]place
	asking        ask
	input         textinput.Model
	message       string
	failed        bool
	busy          string // the command under way
	output        []string

	state     live.State
	set       spec.Recording
	log       []live.Entry
	shown     live.View
	drawing   bool // a view is being computed
	drawAgain bool // and another one is wanted

	query string
	hits  []live.Method
	count int
	why   map[string]string // of hits that were suggested

	open    map[int32]bool
	unfold  map[int32]bool // folds of frameworks' levels that are open
	auto    bool           // the hot path is open, and nothing else
	sort    int
	filter  string
	around  int32
	thread  int // place of the one that the tree and the methods are of, 0 for all
	whose   string
	against int64 // the snapshot that the other one is compared with
	source  int64
}

func newModel(ctx context.Context, c *console.Console) *model {
	input := textinput.New()
	input.Prompt = ""
	m := &model{ctx: ctx, con: c, live: c.Live(), style: newStyles(true), input: input, width: 80, height: 24, open: map[int32]bool{}, unfold: map[int32]bool{}, auto: true}
	m.setStatus(m.status())
	m.search()
	if len(m.set.Roots) == 0 {
		m.ask(askSearch, "")
	}
	return m
}

type (
	tickMsg struct{}
	viewMsg struct {
		shown live.View
		status
	}
	doneMsg struct {
		line string
		out  string
		err  error
		status
	}
	suggestedMsg struct {
		found *live.Suggestions
		err   error
	}
	// status is how things stand. A large tree takes a while to count.
	status struct {
		state live.State
		set   spec.Recording
		log   []live.Entry
	}
)

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tea.Batch(tick(), textinput.Blink, tea.RequestBackgroundColor) }

func tick() tea.Cmd { return tea.Tick(refreshEvery, func(time.Time) tea.Msg { return tickMsg{} }) }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 20), max(msg.Height, 10)
		return m, m.redraw()
	case tickMsg:
		return m, tea.Batch(tick(), m.redraw())
	case viewMsg:
		m.drawing = false
		m.setStatus(msg.status)
		m.take(msg.shown)
		if m.drawAgain {
			m.drawAgain = false
			return m, m.redraw()
		}
		return m, nil
	case doneMsg:
		return m, m.done(msg)
	case suggestedMsg:
		m.suggested(msg)
		return m, nil
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		if m.asking == askNothing {
			return m, nil
		}
		return m, m.edited(msg)
	case tea.BackgroundColorMsg:
		m.style = newStyles(msg.IsDark())
		return m, nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return m, cmd
}

// status asks how things stand.
func (m *model) status() status { return status{m.live.State(), m.con.Settings(), m.live.Entries(0)} }

// setStatus takes over how things stand. It says so if a recording has ended by
// itself.
func (m *model) setStatus(n status) {
	ended := m.state.Phase == live.InRecording && n.state.Phase == live.Stopped && m.busy == ""
	if m.state.Phase != live.InRecording && n.state.Phase == live.InRecording {
		m.thread = 0 // another recording has others
	}
	m.state, m.set, m.log = n.state, n.set, n.log
	if !ended {
		return
	}
	for _, e := range slices.Backward(m.log) {
		if strings.Contains(e.Text, " after ") {
			m.tell(false, e.Text)
			return
		}
	}
}

// rows is how many lines a view has.
func (m *model) rows() int {
	head := headLines
	if m.view == helpView {
		head = 1
	}
	return max(m.height-head-footLines, 1)
}

// viewQuery is what the view needs.
func (m *model) viewQuery() *live.Query {
	l := &live.Query{Source: m.source, History: true}
	p := m.places[m.view]
	switch m.view {
	case treeView:
		t := &live.TreeQuery{Sort: "total", From: p.top, Rows: m.rows() - 1}
		for path := range m.open {
			t.Open = append(t.Open, path)
		}
		l.Tree, l.Fold, l.Thread, l.Frameworks = t, true, m.thread, !m.con.Unfolded()
		for path := range m.unfold {
			l.Unfold = append(l.Unfold, path)
		}
	case methodsView:
		l.Methods = &live.MethodsQuery{Sort: methodSorts[m.sort], Filter: m.filter, From: p.top, Rows: m.rows() - 1}
		l.Thread = m.thread
	case aroundView:
		l.Around = &live.AroundQuery{Method: m.around}
	case threadsView:
		l.Threads = true
	case compareView:
		l.Against = m.against
		l.Compare = &live.CompareQuery{Rows: 1, Each: true}
	}
	return l
}

// redraw computes what the view shows, beside.
func (m *model) redraw() tea.Cmd {
	if m.drawing {
		m.drawAgain = true
		return nil
	}
	m.drawing = true
	q := m.viewQuery()
	return func() tea.Msg { return viewMsg{m.live.View(q), m.status()} }
}

// take shows a view.
func (m *model) take(s live.View) {
	m.shown = s
	if t := s.Tree; t != nil {
		p := &m.places[treeView]
		p.move(p.at, t.Count, m.rows()-1)
		if m.auto && !same(m.open, t.Hot) {
			clear(m.open)
			for _, path := range t.Hot {
				m.open[path] = true
			}
			m.drawAgain = true
		}
	}
	if t := s.Methods; t != nil {
		p := &m.places[methodsView]
		p.move(p.at, t.Count, m.rows()-1)
	}
}

func same(set map[int32]bool, list []int32) bool {
	for _, k := range list {
		if !set[k] {
			return false
		}
	}
	return len(set) == len(list)
}

// do carries out a command, beside.
func (m *model) do(line string) tea.Cmd {
	if m.busy != "" {
		m.tell(true, m.busy+" is under way; wait until it is done")
		return nil
	}
	m.busy = line
	m.tell(false, "")
	return func() tea.Msg {
		var out bytes.Buffer
		err := m.con.Exec(m.ctx, line, &out)
		return doneMsg{line, out.String(), err, m.status()}
	}
}

// done shows what came of a command.
func (m *model) done(msg doneMsg) tea.Cmd {
	m.setStatus(msg.status)
	m.busy = ""
	if errors.Is(msg.err, console.ErrQuit) {
		return tea.Quit
	}
	if msg.err != nil {
		m.tell(true, msg.err.Error())
		return nil
	}
	word, _, _ := strings.Cut(strings.TrimSpace(msg.line), " ")
	text := strings.TrimRight(msg.out, "\n")
	switch {
	case strings.Contains(text, "\n"):
		m.output = strings.Split(text, "\n")
		m.turn(outputView)
	case text != "":
		m.tell(false, text)
	default:
		m.tell(false, msg.line+": done")
	}
	switch word {
	case "start":
		m.places[treeView], m.auto, m.source = place{}, true, 0
		m.turn(treeView)
	case "stop":
		m.source = 0
	}
	return m.redraw()
}

func (m *model) tell(failed bool, text string) {
	m.message, m.failed = export.Clean(strings.Join(strings.Fields(text), " ")), failed
}

// show goes to a view, and has what it shows computed.
func (m *model) show(v view) tea.Cmd {
	m.turn(v)
	return m.redraw()
}

// turn goes to a view.
func (m *model) turn(v view) {
	if v >= outputView && m.view < outputView {
		m.back = m.view
	}
	m.view = v
	if v >= outputView {
		m.places[v] = place{}
	}
}

func (m *model) ask(what ask, text string) {
	m.asking = what
	m.input.SetValue(text)
	m.input.CursorEnd()
	m.input.Focus()
}

// maxHits is how many methods the search shows.
const maxHits = 200

// search finds what is typed among the loaded methods.
func (m *model) search() {
	m.why = nil
	m.hits, m.count = m.live.Search(m.ctx, m.query, maxHits)
	m.places[rootsView] = place{}
}

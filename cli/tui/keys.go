package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/rivulet-profiler/rivulet/controller/live"
)

// methodSorts are the orders of the methods.
var methodSorts = []string{"self", "total", "calls", "thrown", "error", "name"}

// keys are the help sheet.
var keys = [][2]string{
	{"1 .. 7, Tab", "views: roots, tree, methods, around, threads, compare, log"},
	{"/", "search methods for roots; in the methods, filter"},
	{"g, Tab while typing", "suggest roots, by five seconds of samples, before a recording is on"},
	{"Enter, Space", "take or drop a root, open or close a branch, look around a method"},
	{"Enter, t", "in threads: the tree and the methods of this one alone; t: of all again"},
	{"Right, Left", "open and close a branch; Left again goes to its caller"},
	{"Up, PgUp, Home, ...", "move"},
	{"h; f, F", "open the hot path; show a line's levels of frameworks, all"},
	{"s", "start, and stop"},
	{"p", "pause, and go on"},
	{"r", "reset: forget what was recorded"},
	{"S", "next scheme; a recording that is on is kept and begins anew"},
	{"c", "other timing (low overhead, exact), at once"},
	{"o", "order of the methods: self, total, calls, thrown, uncertainty, name"},
	{"a", "callers and callees of the method"},
	{"R", "take the method as a root"},
	{"k", "keep the recording as of now, to compare with"},
	{"b, Enter", "in compare: the snapshot before, the one after"},
	{"w", "save: to .txt, .json, .html, .pb.gz, .collapsed, .speedscope.json"},
	{":, ?", "a command, as in scripts, which :help lists; this sheet"},
	{"q, Ctrl-C", "end the recording, restore the classes, detach"},
}

func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	if k.Mod.Contains(tea.ModAlt) { // terminals write so what was Esc and another key at once
		k.Mod &^= tea.ModAlt
		if k.Text == "" && k.Code >= ' ' && k.Mod&^tea.ModShift == 0 {
			k.Text = string(k.Code)
		}
		return tea.Batch(m.key(tea.KeyPressMsg{Code: tea.KeyEscape}), m.key(k))
	}
	if k.String() == "ctrl+c" {
		return tea.Quit
	}
	if m.asking != askNothing {
		return m.typed(k)
	}
	switch s := k.String(); s {
	case "q":
		return tea.Quit
	case "?":
		return m.show(helpView)
	case "esc":
		if m.view >= outputView {
			return m.show(m.back)
		}
		m.tell(false, "")
		return nil
	case "1", "2", "3", "4", "5", "6", "7":
		return m.show(view(s[0] - '1'))
	case "tab":
		return m.show((min(m.view, logView) + 1) % outputView)
	case "shift+tab":
		return m.show((min(m.view, logView) + outputView - 1) % outputView)
	case "/":
		if m.view == methodsView {
			m.ask(askFilter, m.filter)
			return nil
		}
		m.ask(askSearch, m.query)
		return m.show(rootsView)
	case ":":
		m.ask(askCommand, "")
		return nil
	case "w":
		m.ask(askSave, "")
		return nil
	case "up", "down", "pgup", "pgdown", "home", "end":
		return m.moved(s)
	}
	if cmd, ok := m.action(k.String()); ok {
		return cmd
	}
	return m.inView(k.String())
}

// action are the keys that are commands.
func (m *model) action(k string) (tea.Cmd, bool) {
	on := m.state.Phase == live.InRecording
	switch k {
	case "s":
		if on {
			return m.do("stop"), true
		}
		return m.do("start"), true
	case "p":
		if m.state.Paused {
			return m.do("resume"), true
		}
		return m.do("pause"), true
	case "r":
		return m.do("reset"), true
	case "S":
		return m.do("scheme " + next([]string{"auto", "A", "B", "C", "D"}, m.set.Scheme)), true
	case "c":
		return m.do("clock " + next([]string{"tick", "precise"}, m.set.Clock)), true
	case "k":
		return m.do("keep"), true
	case "t":
		return m.onlyThread(0, ""), true
	case "g":
		return m.suggest(), true
	}
	return nil, false
}

func next(list []string, of string) string { return list[(slices.Index(list, of)+1)%len(list)] }

// inView are the keys that mean something in a view.
func (m *model) inView(k string) tea.Cmd {
	enter := k == "enter" || k == "space"
	switch m.view {
	case rootsView:
		if enter {
			m.toggleRoot()
		}
	case treeView:
		return m.inTree(k)
	case methodsView:
		switch {
		case k == "o":
			m.sort = (m.sort + 1) % len(methodSorts)
			return m.redraw()
		case enter || k == "a":
			return m.lookAround(m.method())
		case k == "R":
			return m.addRoot(m.method())
		}
	case aroundView:
		if enter {
			return m.lookAround(m.method())
		}
	case threadsView:
		if t, at := m.shown.Threads, m.places[threadsView].at; enter && t != nil && at < len(t.Threads) {
			cmd := m.onlyThread(t.Threads[at].Place, t.Threads[at].Name)
			return tea.Batch(cmd, m.show(treeView))
		}
	case compareView:
		id := m.snapshot()
		switch {
		case id == 0:
		case k == "b":
			m.against = id
			return m.redraw()
		case enter:
			if m.source == id { // back to the recording as of now
				id = 0
			}
			m.source, m.thread = id, 0
			return m.redraw()
		}
	case outputView, helpView:
		if enter {
			return m.show(m.back)
		}
	}
	return nil
}

func (m *model) inTree(k string) tea.Cmd {
	row, ok := m.treeRow(m.places[treeView].at)
	switch {
	case k == "F":
		clear(m.unfold)
		m.con.Unfold(!m.con.Unfolded())
		return m.redraw()
	case k == "h":
		m.auto = true
		return m.redraw()
	case !ok:
		return nil
	case k == "f" && row[3]&live.RowFold != 0:
		m.unfold[int32(row[0])] = true
		return m.redraw()
	case row[3]&live.RowFold != 0 && (k == "a" || k == "R"):
		m.tell(true, "this line stands for several methods; f shows them")
		return nil
	case k == "a":
		return m.lookAround(int32(row[2]))
	case k == "R":
		return m.addRoot(int32(row[2]))
	}
	path := int32(row[0])
	open := m.open[path]
	switch {
	case k == "left" && !open:
		for at := m.places[treeView].at - 1; at >= 0; at-- { // its caller
			above, seen := m.treeRow(at)
			if !seen || above[1] < row[1] {
				return m.goTo(at)
			}
		}
		return nil
	case k == "left", (k == "enter" || k == "space") && open:
		m.auto = false
		delete(m.open, path)
	case k == "right", k == "enter", k == "space":
		m.auto = false
		m.open[path] = true
	default:
		return nil
	}
	return m.redraw()
}

// onlyThread has the tree and the methods show one thread, 0 all.
func (m *model) onlyThread(at int, name string) tea.Cmd {
	m.thread, m.whose = at, name
	m.places[treeView], m.places[methodsView] = place{}, place{}
	return m.redraw()
}

// goTo moves in the list of the view.
func (m *model) goTo(row int) tea.Cmd {
	m.places[m.view].move(row, m.length(), m.listRows())
	return m.redraw()
}

func (m *model) moved(k string) tea.Cmd {
	if !m.failed {
		m.message = "" // the line says where the method is
	}
	at, page := m.places[m.view].at, m.listRows()
	switch k {
	case "up":
		at--
	case "down":
		at++
	case "pgup":
		at -= page
	case "pgdown":
		at += page
	case "home":
		at = 0
	case "end":
		at = m.length() - 1
	}
	return m.goTo(at)
}

// typed is a key while something is asked for.
func (m *model) typed(k tea.KeyPressMsg) tea.Cmd {
	switch k.Code {
	case tea.KeyEscape:
		m.asking = askNothing
		m.input.Blur()
		return nil
	case tea.KeyTab:
		if m.asking == askSearch {
			m.asking = askNothing
			m.input.Blur()
			return m.suggest()
		}
	case tea.KeyUp, tea.KeyDown, tea.KeyPgUp, tea.KeyPgDown:
		return m.moved(k.String())
	case tea.KeyEnter:
		return m.entered()
	}
	return m.edited(k)
}

// edited changes the line that is typed: by a key, or by what is pasted.
func (m *model) edited(by tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(by)
	switch text := m.input.Value(); m.asking {
	case askSearch:
		if text != m.query {
			m.query = text
			m.search()
		}
	case askFilter:
		m.filter = text
		m.places[methodsView] = place{}
		return tea.Batch(cmd, m.redraw())
	}
	return cmd
}

func (m *model) entered() tea.Cmd {
	text := strings.TrimSpace(m.input.Value())
	what := m.asking
	if what == askSearch {
		m.toggleRoot()
		return nil // further roots may follow
	}
	m.asking = askNothing
	m.input.Blur()
	switch {
	case what == askCommand && text != "":
		return m.do(text)
	case what == askSave && text != "":
		return m.do("save " + quoted(text))
	}
	return nil
}

// quoted is a word of a command line.
func quoted(s string) string {
	if strings.Contains(s, "'") {
		return `"` + s + `"`
	}
	return "'" + s + "'"
}

// toggleRoot takes the method that is pointed at as a root, or drops it.
func (m *model) toggleRoot() {
	at := m.places[rootsView].at
	if at >= len(m.hits) {
		return
	}
	hit := m.hits[at]
	switch {
	case m.con.DropRoot(hit.Name):
		m.tell(false, "no root any more: "+hit.Name)
	case !hit.Root:
		m.tell(true, fmt.Sprintf("%s can't be a root: %s", hit.Name, hit.Reason))
	default:
		if err := m.con.AddRoot(hit.Name); err != nil {
			m.tell(true, err.Error())
			return
		}
		m.tell(false, "root: "+hit.Name+" (s starts; Esc ends the search)")
	}
	m.set = m.con.Settings()
}

func (m *model) addRoot(method int32) tea.Cmd {
	if name := m.live.Method(method).Name; name != "" {
		return m.do("root " + quoted(name))
	}
	return nil
}

func (m *model) lookAround(method int32) tea.Cmd {
	if method == 0 {
		return nil
	}
	m.around = method
	m.places[aroundView] = place{}
	return m.show(aroundView)
}

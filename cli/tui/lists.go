package tui

import (
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/live"
)

// listRows is how many rows of its list a view shows.
func (m *model) listRows() int {
	switch m.view {
	case treeView, methodsView, threadsView:
		return max(m.rows()-1, 1) // below a head
	case rootsView:
		return max(m.rows()-2-min(len(m.set.Roots), shownRoots), 1)
	case compareView:
		return max(len(m.state.Snapshots), 1)
	}
	return m.rows()
}

// length is how many rows the list of the view has.
func (m *model) length() int {
	switch m.view {
	case rootsView:
		return len(m.hits)
	case treeView:
		if t := m.shown.Tree; t != nil {
			return t.Count
		}
	case methodsView:
		if t := m.shown.Methods; t != nil {
			return t.Count
		}
	case aroundView:
		return len(m.aroundLines())
	case threadsView:
		if t := m.shown.Threads; t != nil {
			return len(t.Threads)
		}
	case compareView:
		return len(m.state.Snapshots)
	case logView:
		return len(m.log)
	case outputView:
		return len(m.output)
	case helpView:
		return len(keys)
	}
	return 0
}

// treeRow is a row of the tree that is in sight.
func (m *model) treeRow(at int) (live.Row, bool) {
	t := m.shown.Tree
	if t == nil || at < t.From || at-t.From >= len(t.Rows) {
		return live.Row{}, false
	}
	return t.Rows[at-t.From], true
}

// pointed is the method that is pointed at, with its descriptor and where its source
// is; "" if there is none.
func (m *model) pointed() string {
	method := m.method()
	if r, ok := m.treeRow(m.places[treeView].at); ok && m.view == treeView {
		method = int32(r[2])
	}
	if method == 0 {
		return ""
	}
	switch n := m.live.Method(method); {
	case n.Source == "":
		return n.Name
	case n.Line == 0:
		return n.Source + "  " + n.Name
	default:
		return fmt.Sprintf("%s:%d  %s", n.Source, n.Line, n.Name)
	}
}

// method is the one that is pointed at in the methods or around one; 0 if none.
func (m *model) method() int32 {
	at := m.places[m.view].at
	switch m.view {
	case methodsView:
		if t := m.shown.Methods; t != nil && at >= t.From && at-t.From < len(t.Lines) {
			return int32(t.Lines[at-t.From].Figures[0])
		}
	case aroundView:
		if l := m.aroundLines(); at < len(l) {
			return l[at].method
		}
	}
	return 0
}

// snapshot is the one that is pointed at; 0 if there is none.
func (m *model) snapshot() int64 {
	at := m.places[compareView].at
	if at >= len(m.state.Snapshots) {
		return 0
	}
	return m.state.Snapshots[at].ID
}

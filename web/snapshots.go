package web

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// ErrNoSnapshot reports a number that no snapshot has.
var ErrNoSnapshot = errors.New("no such snapshot")

// Bounds of what a server keeps in memory.
const (
	mostSnapshots = 32
	mostNodes     = 6 << 20
	mostName      = 80 // letters
)

// A Snapshot is a recording, or the state of one, that was kept.
type Snapshot struct {
	ID    int64
	Name  string
	When  time.Time
	Frame *Frame
}

// A SnapshotInfo is what lists show of a snapshot.
type SnapshotInfo struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name"`
	When    time.Time `json:"when"`
	Target  string    `json:"target"`
	Scheme  string    `json:"scheme"`
	Clock   string    `json:"clock"`
	Seconds float64   `json:"seconds"`
	Calls   int64     `json:"calls"`
	Total   int64     `json:"total"` // ns
	Nodes   int64     `json:"nodes"`

	Timeline bool `json:"timeline,omitempty"` // it has one
}

func (s *Snapshot) info() SnapshotInfo {
	f := s.Frame
	return SnapshotInfo{
		ID: s.ID, Name: s.Name, When: s.When, Target: export.Clean(f.Report.Target.Main), Scheme: f.Report.Scheme, Clock: f.Report.Clock,
		Seconds: f.seconds(), Calls: f.sums.Calls, Total: f.sums.Self, Nodes: f.sums.Nodes, Timeline: f.Report.Timeline != nil,
	}
}

// keep adds a frame to the snapshots. Without a name it gets that of its
// roots and its scheme.
func (l *Live) keep(f *Frame, name string) (SnapshotInfo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	nodes := f.sums.Nodes
	for _, s := range l.snapshots {
		nodes += s.Frame.sums.Nodes
	}
	if len(l.snapshots) >= mostSnapshots || nodes > mostNodes && len(l.snapshots) > 0 {
		return SnapshotInfo{}, fmt.Errorf("there are %d snapshots with %d nodes in all: export and delete one first", len(l.snapshots), nodes-f.sums.Nodes)
	}
	l.saved++
	if name = cleanName(name); name == "" {
		root := "recording"
		if len(f.Report.Roots) > 0 {
			root, _, _ = strings.Cut(f.Report.Roots[0], "(")
			if parts := strings.Split(root, "."); len(parts) > 2 {
				root = strings.Join(parts[len(parts)-2:], ".")
			}
		}
		name = cleanName(fmt.Sprintf("%d %s, %s", l.saved, root, f.Report.Scheme))
	}
	s := &Snapshot{ID: l.saved, Name: name, When: time.Now(), Frame: f}
	l.snapshots = append(l.snapshots, s)
	l.boundTimelines()
	return s.info(), nil
}

func cleanName(name string) string {
	name = strings.TrimSpace(export.Clean(strings.ToValidUTF8(name, "?")))
	if r := []rune(name); len(r) > mostName {
		name = string(r[:mostName])
	}
	return name
}

// source is the frame of a snapshot, for 0 the live one; nil if there is none.
func (l *Live) source(id int64) *Frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id == 0 {
		return l.frame
	}
	for _, s := range l.snapshots {
		if s.ID == id {
			return s.Frame
		}
	}
	return nil
}

// Rename gives a snapshot another name.
func (l *Live) Rename(id int64, name string) error {
	name = cleanName(name)
	if name == "" {
		return errors.New("a snapshot needs a name")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.changed()
	for _, s := range l.snapshots {
		if s.ID == id {
			s.Name = name
			return nil
		}
	}
	return ErrNoSnapshot
}

// Delete forgets a snapshot.
func (l *Live) Delete(id int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.changed()
	n := len(l.snapshots)
	l.snapshots = slices.DeleteFunc(l.snapshots, func(s *Snapshot) bool { return s.ID == id })
	if len(l.snapshots) == n {
		return ErrNoSnapshot
	}
	return nil
}

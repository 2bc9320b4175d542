package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// ErrNoSnapshot reports that no snapshot has this number.
var ErrNoSnapshot = errors.New("no such snapshot")

// ErrNotRecording is wrapped by errors about a snapshot that is a comparison of
// schemes where a recording is needed.
var ErrNotRecording = errors.New("it is a comparison of schemes, no recording")

// Bounds of what a server keeps.
const (
	maxSnapshots = 200       // in memory alone
	maxKept      = maxListed // in all: beyond, the list drops the oldest that is in a file
	maxNodes     = 12 << 20  // in memory
	maxName      = 80        // letters
)

// A Snapshot is a recording that was kept, the state of one at some moment, or a comparison of
// schemes. The lock of its Live guards the fields that change; other goroutines get copies.
type Snapshot struct {
	ID    int64
	Name  string
	When  time.Time
	Frame *Frame // nil while it is in its file only, and of a comparison

	compared *export.Comparison // nil while it is in its file only, and of a recording

	file    string       // "" while it is in memory only
	known   SnapshotInfo // as of the file
	loading sync.Mutex   // held by who reads the file
	used    int64        // rises with each use
	broken  string       // why the file can't be read
}

// A SnapshotInfo is a line of the list of snapshots.
type SnapshotInfo struct {
	ID      int64     `json:"id,omitempty"`
	Name    string    `json:"name"`
	Kind    string    `json:"kind,omitempty"` // "comparison"; "" is a recording
	When    time.Time `json:"when"`
	Target  string    `json:"target"`
	Scheme  string    `json:"scheme"`
	Clock   string    `json:"clock"`
	Seconds float64   `json:"seconds"`
	Calls   int64     `json:"calls"`
	Total   int64     `json:"total"` // ns
	Nodes   int64     `json:"nodes"`
	File    string    `json:"file,omitempty"`   // its name in the folder; "" of one that ends with Rivulet
	Broken  string    `json:"broken,omitempty"` // why it can't be read

	Timeline bool `json:"timeline,omitempty"` // it has one
}

func (s *Snapshot) info() SnapshotInfo {
	i := s.known
	if f := s.Frame; f != nil {
		i = SnapshotInfo{
			Target: export.Clean(f.Report.Target.Main), Scheme: f.Report.Scheme, Clock: f.Report.Clock,
			Seconds: f.seconds(), Calls: f.sums.Calls, Total: f.sums.Self, Nodes: f.sums.Nodes, Timeline: f.Report.Timeline != nil,
		}
		if s := f.Report.Sampling; s != nil {
			i.Scheme, i.Clock = "samples", s.Mode
		}
	}
	if c := s.compared; c != nil {
		i = comparisonInfo(c)
	}
	i.ID, i.Name, i.When, i.File, i.Broken = s.ID, s.Name, s.When, "", s.broken
	if s.file != "" {
		i.File = filepath.Base(s.file)
	}
	return i
}

// listStored lists what is in the folder already.
func (l *Live) listStored() {
	found, err := l.store.list()
	if err != nil {
		l.Logf("warn", "%v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range found {
		l.saved++
		l.snapshots = append(l.snapshots, &Snapshot{ID: l.saved, Name: k.info.Name, When: k.info.When, file: k.file, known: k.info})
	}
}

// keep adds a frame to the snapshots, and to the folder where there is one.
// Without a name it gets that of its roots and its scheme.
func (l *Live) keep(f *Frame, name string) (SnapshotInfo, error) {
	return l.keepAs(&Snapshot{Frame: f}, name, f.Report.Snapshot)
}

// keepAs adds a snapshot whose file has a content. It fails only if it had to stay
// in memory and there is no room for it there.
func (l *Live) keepAs(s *Snapshot, name string, content func(io.Writer) error) (SnapshotInfo, error) {
	filed := l.store.dir != ""
	if err := l.add(s, name, "", filed); err != nil {
		return SnapshotInfo{}, err
	}
	if filed {
		l.mu.Lock()
		info := s.info()
		l.mu.Unlock()
		file, err := l.store.write(info, content)
		if err == nil {
			l.mu.Lock()
			s.file = file
			gone := !slices.Contains(l.snapshots, s)
			l.mu.Unlock()
			if gone { // deleted meanwhile
				os.Remove(file)
			}
		} else if err := l.keepInMemory(s, err); err != nil {
			return SnapshotInfo{}, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return s.info(), nil
}

// nodes are those that are in memory.
func (s *Snapshot) nodes() int64 {
	if s.Frame == nil {
		return 0
	}
	nodes := s.Frame.sums.Nodes
	for _, m := range s.Frame.moments {
		nodes += int64(len(m.nodes)) / 3 // they take a third of the room
	}
	return nodes
}

// subject is what it is of, for its name.
func (s *Snapshot) subject() (roots []string, schemes string) {
	if s.compared != nil {
		return s.compared.Roots, schemesOf(s.compared)
	}
	return s.Frame.Report.Roots, s.Frame.Report.Scheme
}

// add adds a snapshot to the list, which gives it its number and name; filed, if it
// gets a file at once, and else needs room in memory.
func (l *Live) add(s *Snapshot, name, opened string, filed bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !filed {
		if err := l.checkMemory(s.nodes()); err != nil {
			return err
		}
	}
	l.dropOldest()
	l.saved++
	if name = cleanName(name); name == "" {
		root := "recording"
		roots, schemes := s.subject()
		if len(roots) > 0 {
			root = shortRoot(roots[0])
		}
		name = cleanName(fmt.Sprintf("%d %s, %s%s", l.saved, root, schemes, opened))
	}
	s.ID, s.Name, s.When = l.saved, name, at(time.Now())
	l.snapshots = append(l.snapshots, s)
	l.use(s)
	return nil
}

// use marks a snapshot as used, and has those leave the memory that are in
// files and were used least of late, until the rest is not too large. l.mu is
// held.
func (l *Live) use(s *Snapshot) {
	l.uses++
	s.used = l.uses
	for {
		var nodes int64
		var oldest *Snapshot
		for _, o := range l.snapshots {
			if o.Frame == nil {
				continue
			}
			nodes += o.Frame.sums.Nodes
			if o != s && o.file != "" && (oldest == nil || o.used < oldest.used) {
				oldest = o
			}
		}
		if nodes <= maxNodes || oldest == nil {
			break
		}
		oldest.unload()
	}
	l.boundTimelines()
}

// unload leaves a snapshot in its file only. The Live's lock is held.
func (s *Snapshot) unload() { s.known, s.Frame = s.info(), nil }

func cleanName(name string) string {
	name = strings.TrimSpace(export.Clean(strings.ToValidUTF8(name, "?")))
	if r := []rune(name); len(r) > maxName {
		name = string(r[:maxName])
	}
	return name
}

// source is the frame of a snapshot, for 0 the live one; nil if there is none,
// or it can't be read. It may have to read a file.
func (l *Live) source(id int64) *Frame {
	l.mu.Lock()
	if id == 0 {
		defer l.mu.Unlock()
		return l.frame
	}
	s := l.snapshot(id)
	l.mu.Unlock()
	if s == nil || s.isComparison() {
		return nil
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	l.mu.Lock()
	f, file, broken := s.Frame, s.file, s.broken
	if f != nil {
		l.use(s)
	}
	l.mu.Unlock()
	if f != nil || broken != "" {
		return f
	}
	r, err := l.store.read(file)
	if err == nil {
		f = l.newFrame(r)
	} else {
		l.Logf("error", "snapshot %q: %v", s.Name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		s.broken = export.Clean(err.Error())
		return nil
	}
	s.Frame = f
	l.use(s)
	return f
}

// missing says why [Live.source] has nothing.
func (l *Live) missing(id int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.snapshot(id)
	switch {
	case id == 0:
		return errNothing
	case s != nil && s.broken != "":
		return fmt.Errorf("snapshot %q: %s", s.Name, s.broken)
	case s != nil && s.isComparison():
		return fmt.Errorf("snapshot %q: %w", s.Name, ErrNotRecording)
	}
	return ErrNoSnapshot
}

// snapshot finds one by its number; nil if there is none. l.mu is held.
func (l *Live) snapshot(id int64) *Snapshot {
	for _, s := range l.snapshots {
		if s.ID == id {
			return s
		}
	}
	if s := l.sampled; s != nil && s.ID == id {
		return s
	}
	return nil
}

// Rename gives a snapshot another name, in its file, too. Errors are [ErrNoSnapshot], or say
// that the name is empty or can't be written.
func (l *Live) Rename(id int64, name string) error {
	name = cleanName(name)
	if name == "" {
		return errors.New("a snapshot needs a name")
	}
	l.mu.Lock()
	s := l.snapshot(id)
	if s == nil {
		l.mu.Unlock()
		return ErrNoSnapshot
	}
	s.Name = name
	file, info := s.file, s.info()
	l.mu.Unlock()
	l.changed()
	if file == "" {
		return nil
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	if err := l.store.rename(file, info); err != nil {
		return fmt.Errorf("the name could not be written: %w; it holds until Rivulet ends", err)
	}
	return nil
}

// Delete removes a snapshot and its file. Errors are [ErrNoSnapshot], or wrap what the file
// system says.
func (l *Live) Delete(id int64) error {
	l.mu.Lock()
	s := l.snapshot(id)
	if s == nil {
		l.mu.Unlock()
		return ErrNoSnapshot
	}
	l.snapshots = slices.DeleteFunc(l.snapshots, func(o *Snapshot) bool { return o == s })
	file := s.file
	l.mu.Unlock()
	defer l.changed()
	if file == "" {
		return nil
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("it is gone from the list, its file is not: %w", err)
	}
	return nil
}

// Open adds a saved report or comparison to the snapshots, in memory only. An empty name is
// as for [Live.Keep]. The error says why there is no room for it.
func (l *Live) Open(saved export.Saved, name string) (SnapshotInfo, error) {
	if saved.Comparison != nil {
		return l.open(&Snapshot{compared: saved.Comparison}, name)
	}
	f := l.newFrame(saved.Report)
	if f.sums.Nodes > maxNodes {
		return SnapshotInfo{}, fmt.Errorf("it has %d call paths, more than the page shows (%d); rivulet view shows it in the terminal", f.sums.Nodes, int64(maxNodes))
	}
	return l.open(&Snapshot{Frame: f}, name)
}

func (l *Live) open(s *Snapshot, name string) (SnapshotInfo, error) {
	if err := l.add(s, name, ", opened", false); err != nil {
		return SnapshotInfo{}, err
	}
	l.mu.Lock()
	info := s.info()
	l.mu.Unlock()
	l.Logf("info", "opened %q", info.Name)
	return info, nil
}

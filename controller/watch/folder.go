package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/sampler/ring"
)

// Errors that a caller can tell apart.
var (
	// ErrWatched reports a folder into which somebody else writes.
	ErrWatched = errors.New("it is being watched already")
	// ErrNothing reports that nothing was kept.
	ErrNothing = errors.New("nothing was kept")
)

// A Folder is where one watched process's samples and captures lie.
type Folder struct {
	Path string
	lock *os.File // nil of a folder that is only read
}

const (
	ringDir     = "samples"
	captureDir  = "captures"
	lockFile    = "lock"
	eventFile   = "event.json"
	samplesFile = "samples"
	// ExactFile is what a capture's exact recording is called.
	ExactFile = "exact.rivulet"
	// ThreadsFile has a deadlock's thread dump.
	ThreadsFile = "threads.txt"
)

// Root is the folder below which processes have theirs, unless somebody says another.
func Root() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("where to keep samples is not known: %w; give --dir", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "rivulet", "watch"), nil
}

// NameOf is the name of a process's folder: its number, and when it was started, in clock
// ticks since the machine was, so that another process of the number has another one.
func NameOf(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
	}
	const start = 19 // after the name, which may hold anything
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) <= start {
		return "", fmt.Errorf("process %d: /proc/%d/stat makes no sense", pid, pid)
	}
	return fmt.Sprintf("%d-%s", pid, f[start]), nil
}

var nameForm = regexp.MustCompile(`^(\d+)-\d+$`)

// Take opens a folder for writing, and makes it where it is missing. Nobody else can until Close.
func Take(path string) (*Folder, error) {
	for _, d := range []string{path, filepath.Join(path, ringDir), filepath.Join(path, captureDir)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("samples can't be kept: %w", err)
		}
	}
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("samples can't be kept: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", path, ErrWatched)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Folder{Path: path, lock: f}, nil
}

// Close lets others write.
func (f *Folder) Close() error {
	if f.lock == nil {
		return nil
	}
	return f.lock.Close()
}

// Ring is the folder of the samples.
func (f *Folder) Ring() string { return filepath.Join(f.Path, ringDir) }

// Active tells whether somebody writes into the folder.
func (f *Folder) Active() bool {
	l, err := os.Open(filepath.Join(f.Path, lockFile))
	if err != nil {
		return false
	}
	defer l.Close()
	return errors.Is(unix.Flock(int(l.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// Folders are those below a root, those of one process if pid is above zero; the one with the
// newest samples first.
func Folders(root string, pid int) ([]*Folder, error) {
	found, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var out []*Folder
	changed := map[*Folder]time.Time{}
	for _, d := range found {
		m := nameForm.FindStringSubmatch(d.Name())
		if m == nil || pid > 0 && m[1] != strconv.Itoa(pid) {
			continue
		}
		f := &Folder{Path: filepath.Join(root, d.Name())}
		if info, err := os.Stat(f.Ring()); err == nil {
			changed[f] = info.ModTime()
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *Folder) int { return changed[b].Compare(changed[a]) })
	return out, nil
}

// Read opens a folder for reading.
func Read(path string) (*Folder, error) {
	f := &Folder{Path: path}
	if _, err := os.Stat(f.Ring()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, ErrNothing)
	}
	return f, nil
}

// forgetAfter is how long what was kept of a process that has ended stays.
const forgetAfter = 7 * 24 * time.Hour

// Forget removes the folders below a root into which nobody has written for a week.
func Forget(root string, now time.Time) error {
	all, err := Folders(root, 0)
	for _, f := range all {
		if f.Active() {
			continue
		}
		newest := time.Time{}
		for _, d := range []string{f.Path, f.Ring(), filepath.Join(f.Path, captureDir)} {
			if info, err := os.Stat(d); err == nil && info.ModTime().After(newest) {
				newest = info.ModTime()
			}
		}
		if now.Sub(newest) > forgetAfter {
			err = errors.Join(err, os.RemoveAll(f.Path))
		}
	}
	return err
}

// A Capture is what was kept of an event.
type Capture struct {
	ID      string `json:"id"`
	Event   Event  `json:"event"`
	Wall    int64  `json:"wall_ns"` // the event's time of day, ns since 1970
	From    int64  `json:"from_ns"` // CLOCK_MONOTONIC, of the samples
	Until   int64  `json:"until_ns"`
	Samples int64  `json:"samples"`
	Root    string `json:"root,omitempty"`  // that was recorded exactly
	Exact   string `json:"exact,omitempty"` // the recording's file
	Note    string `json:"note,omitempty"`  // what went wrong

	dir string
}

// Dir is the capture's folder.
func (c *Capture) Dir() string { return c.dir }

// File is a file of the capture's.
func (c *Capture) File(name string) string { return filepath.Join(c.dir, name) }

// Keep copies the samples of a piece of time out of the ring.
func (f *Folder) Keep(e Event, h *ring.Header, from, until int64) (*Capture, error) {
	wall := h.Clock(e.At)
	id := time.Unix(0, wall).UTC().Format("20060102T150405Z")
	c := &Capture{Event: e, Wall: wall, From: from, Until: until}
	for n := 1; ; n++ {
		c.ID = id
		if n > 1 {
			c.ID += "-" + strconv.Itoa(n)
		}
		c.dir = filepath.Join(f.Path, captureDir, c.ID)
		err := os.Mkdir(c.dir, 0o700)
		if errors.Is(err, os.ErrExist) && n < 1000 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("capture: %w", err)
		}
		break
	}
	var err error
	if c.Samples, err = ring.File(f.Ring(), c.File(samplesFile), from, until); err != nil {
		c.Note = err.Error()
	}
	return c, errors.Join(err, c.Save())
}

// Save writes what is known of the capture.
func (c *Capture) Save() error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	temp := c.File(eventFile + ".tmp")
	if err := os.WriteFile(temp, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return os.Rename(temp, c.File(eventFile))
}

// Captures are all of a folder, the oldest first.
func (f *Folder) Captures() ([]*Capture, error) {
	found, err := os.ReadDir(filepath.Join(f.Path, captureDir))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var out []*Capture
	for _, d := range found {
		c := &Capture{dir: filepath.Join(f.Path, captureDir, d.Name())}
		b, err := os.ReadFile(c.File(eventFile))
		if err != nil || json.Unmarshal(b, c) != nil {
			continue // it was not finished
		}
		c.ID = d.Name()
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b *Capture) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// Bound removes the oldest captures, until there are no more than so many, of so many bytes. The
// newest stays.
func (f *Folder) Bound(most int, bytes int64) error {
	root := filepath.Join(f.Path, captureDir)
	found, err := os.ReadDir(root) // sorted by name, which is by time
	if err != nil {
		return err
	}
	all := int64(0)
	for i := len(found) - 1; i >= 0; i-- {
		dir := filepath.Join(root, found[i].Name())
		files, _ := os.ReadDir(dir)
		for _, x := range files {
			if info, err := x.Info(); err == nil {
				all += info.Size()
			}
		}
		if kept := len(found) - i; kept > 1 && (kept > most || all > bytes) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// Ring is where the samples are, for [Report].
func (c *Capture) Ring() string { return c.File(samplesFile) }

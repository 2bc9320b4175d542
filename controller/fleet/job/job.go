// Package job keeps one command of a node on disk, from its acceptance until its result is
// with the broker.
//
// A job is a folder. The node makes it before it acknowledges the command. A process of its
// own, the worker, carries the command out, so that a node that dies, or is replaced by a
// newer one, takes nothing with it. The worker holds a lock while it lives, and marks that it
// has begun: at most one worker ever carries a job out. What it leaves last, in one rename,
// is the end. Whoever looks at the folder knows from these three how far it is.
//
// Files are written beside their place, synced and renamed: there are no halves. Errors are those of files, except where a
// function names its kind. A [Dir] may
// be used by several processes and goroutines.
package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
)

// A Job is what a node has accepted.
type Job struct {
	Command  fleet.Command `json:"command"`
	Sender   fleet.Sender  `json:"sender"`
	JVM      fleet.JVM     `json:"jvm"`
	Accepted time.Time     `json:"accepted"`
}

// An End is how a job has ended.
type End struct {
	Error   string    `json:"error,omitempty"`   // why there is no report, or what it lacks
	Partial bool      `json:"partial,omitempty"` // the report is from before the end
	At      time.Time `json:"at"`
}

// A Dir is the folder of a job.
type Dir string

// names of files in it.
const (
	jobFile     = "job.json"
	lockFile    = "lock"
	begunFile   = "begun"     // the worker's pid
	markFile    = "recording" // it is recording
	stopFile    = "stop"      // it is to end; why
	partialFile = "partial.json.gz"
	reportFile  = "report.json.gz"
	endFile     = "end.json"
	logFile     = "log"
)

// Name is the name of the folder of a command.
func Name(c *fleet.Command) string {
	return fmt.Sprintf("%s.%d-%d", fleet.Token(c.Run), c.Target.PID, c.Target.Start)
}

// Create makes the folder of a job below parent; fs.ErrExist if there is one.
func Create(parent string, j *Job) (Dir, error) {
	path := filepath.Join(parent, Name(&j.Command))
	if _, err := os.Stat(path); err == nil {
		return "", fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	temp, err := os.MkdirTemp(parent, ".new")
	if err != nil {
		return "", err
	}
	if err := writeJSON(filepath.Join(temp, jobFile), j); err != nil {
		os.RemoveAll(temp)
		return "", err
	}
	if err := os.Rename(temp, path); err != nil {
		os.RemoveAll(temp)
		return "", err
	}
	return Dir(path), syncDir(parent)
}

// List is all jobs below a folder, complete ones only.
func List(parent string) ([]Dir, error) {
	entries, err := os.ReadDir(parent)
	var out []Dir
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, Dir(filepath.Join(parent, e.Name())))
		}
	}
	return out, err
}

// Name is the name of the folder.
func (d Dir) Name() string { return filepath.Base(string(d)) }

func (d Dir) file(name string) string { return filepath.Join(string(d), name) }

func (d Dir) has(name string) bool {
	_, err := os.Stat(d.file(name))
	return err == nil
}

// Job is what was accepted.
func (d Dir) Job() (*Job, error) {
	j := &Job{}
	return j, readJSON(d.file(jobFile), j)
}

// Log is where the worker's own output goes.
func (d Dir) Log() (*os.File, error) {
	return os.OpenFile(d.file(logFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// LastLog is the last line that the worker has written, for errors.
func (d Dir) LastLog() string {
	b, _ := os.ReadFile(d.file(logFile)) // none is ""
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}

// Locked tells whether a worker lives, which holds the lock.
func (d Dir) Locked() (bool, error) {
	f, err := os.OpenFile(d.file(lockFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	// F_GETLK and flock don't know each other: a shared lock is tried for, and let go.
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// Begun tells whether there was, or is, a worker, and its pid.
func (d Dir) Begun() (pid int, ok bool) {
	b, err := os.ReadFile(d.file(begunFile))
	if err != nil {
		return 0, false
	}
	pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
	return pid, true
}

// Recording tells whether the worker has begun to record.
func (d Dir) Recording() bool { return d.has(markFile) }

// Stop asks for an early end, and says why. It is seen by a worker that has not begun; one
// that has gets a signal, too.
func (d Dir) Stop(why string) error {
	if d.has(stopFile) {
		return nil
	}
	return writeFile(d.file(stopFile), []byte(why))
}

// Stopped is why it was asked to end; "" if it was not.
func (d Dir) Stopped() string {
	b, _ := os.ReadFile(d.file(stopFile)) // none is ""
	return string(b)
}

// End is how it has ended; ok is false if it has not.
func (d Dir) End() (e End, ok bool) {
	return e, readJSON(d.file(endFile), &e) == nil
}

// Report is the compressed report that the end is of; nil if there is none.
func (d Dir) Report() []byte {
	name := reportFile
	if e, ok := d.End(); ok && e.Partial {
		name = partialFile
	}
	b, _ := os.ReadFile(d.file(name)) // none is nil
	return b
}

// HasPartial tells whether a worker that has gone has left a report from before.
func (d Dir) HasPartial() bool { return d.has(partialFile) }

// Finish ends the job. The first end holds.
func (d Dir) Finish(e End) error {
	if _, ok := d.End(); ok {
		return nil
	}
	return writeJSON(d.file(endFile), e)
}

// Archive moves the job to another folder and keeps of it only what it was.
func (d Dir) Archive(parent string) error {
	to := filepath.Join(parent, d.Name())
	if err := os.Rename(string(d), to); err != nil {
		return err
	}
	for _, name := range []string{reportFile, partialFile, logFile, lockFile} {
		os.Remove(filepath.Join(to, name))
	}
	return syncDir(parent)
}

// writeFile writes a file whole or not at all.
func writeFile(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return syncDir(filepath.Dir(path))
}

func writeJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFile(path, b)
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

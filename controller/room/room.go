// Package room keeps a session's files in its target, and reserves the target for it.
package room

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/jvmside"
)

// A Room is the session's private folder under the target's /tmp, with two
// FIFOs, the agent and, on a tmpfs of the target's, the data file. Names are
// removed as soon as both sides have opened them.
//
// This process may be root, and the target's user owns the room. So everything
// goes by folders that are held open ([attach.Folder]), never by a path that the
// target's user could lead elsewhere. One goroutine at a time uses it.
type Room struct {
	pid      int
	uid, gid uint32
	tmp      *attach.Folder // the target's /tmp
	self     *attach.Folder // of the room, locked
	bootDir  *attach.Folder // its folder, locked, where sessions share it
	shm      *attach.Folder // where the data file is
	lock     *os.File       // of the target; nil unless it was given to Hold

	Dir      string   // as the target sees it
	Boot     string   // the boot jar, as the target sees it
	DataPath string   // the data file, as the target sees it
	Commands *os.File // the FIFO to the agent
	Bell     *os.File // the FIFO from the target
	Data     *os.File // the data file; nil once somebody else closes it

	// The JVM may be about to open the boot jar. If it finds none, no jar of this path can be loaded any more. So
	// the jar stays, and goes with the next session.
	Unanswered bool
}

// New makes the room for a user and group of the target. With pid 0 it lies in this process's own file
// system, for a target that is yet to be started. Errors say which file could not be made.
func New(pid int, uid, gid uint32, bundle *jvmside.Bundle) (r *Room, err error) {
	r = &Room{pid: pid, uid: uid, gid: gid}
	made := r // which a return of nil forgets
	defer func() {
		if err != nil {
			made.Close(false)
		}
	}()
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	name := ".rivulet-" + hex.EncodeToString(id)
	if pid == 0 {
		name = ".rivulet-run-" + hex.EncodeToString(id) // may stay as long as the program: see unlink
	}
	if r.tmp, err = attach.OpenFolder(pid, "/tmp"); err == nil {
		r.self, err = r.tmp.Make(name)
	}
	if err != nil {
		return nil, fmt.Errorf("can't make a folder in the target's /tmp: %w; Rivulet needs a writable /tmp there, as the JVM's own attach does", err)
	}
	r.Dir = r.self.Path
	if err := r.self.Lock(unix.LOCK_EX | unix.LOCK_NB); err != nil {
		return nil, err
	}
	r.sweep()
	if err := r.self.Write("agent.bin", bundle.Agent, uid, gid); err != nil {
		return nil, err
	}
	if err := r.writeBoot(bundle.Boot); err != nil {
		return nil, err
	}
	if r.Commands, err = r.fifo("commands"); err != nil {
		return nil, err
	}
	if r.Bell, err = r.fifo("bell"); err != nil {
		return nil, err
	}
	if err := r.openData(".rivulet-" + hex.EncodeToString(id)); err != nil {
		return nil, err
	}
	return r, r.self.Give(uid, gid) // last: until then nobody can put anything there
}

// writeBoot puts the boot jar where every session of every version has it:
// the JVM keeps one descriptor for each path of an agent jar, for ever. The
// folder is only used if it is the target's user's alone; else the jar goes
// into the room, at the price of a descriptor. So it does for a program that
// is yet to be started, which may start JVMs that look for it at any time.
func (r *Room) writeBoot(b []byte) error {
	if r.pid == 0 || !r.shareBoot() {
		return r.OwnBoot(b)
	}
	// Another session may be reading the jar: replace it in one step.
	name := path.Base(r.Dir)
	if err := r.bootDir.Write(name, b, r.uid, r.gid); err != nil {
		return err
	}
	return r.bootDir.Rename(name, bootName)
}

const bootName = "boot1.jar"

// OwnBoot puts the boot jar into the room instead. It is for a JVM whose class path has had the shared jar without its class:
// a JVM reads each path once. Errors are of writing it.
func (r *Room) OwnBoot(b []byte) error {
	r.Boot = path.Join(r.Dir, bootName)
	return r.self.Write(bootName, b, r.uid, r.gid)
}

// shareBoot opens the folder that sessions share and locks it against being
// removed; false if it can't be used.
func (r *Room) shareBoot() bool {
	name := fmt.Sprintf(".rivulet-boot-%d", r.uid)
	for range 100 {
		d, err := r.tmp.Make(name)
		switch {
		case err == nil:
			err = d.Give(r.uid, r.gid)
		case errors.Is(err, fs.ErrExist):
			if d, err = r.tmp.Open(name); errors.Is(err, fs.ErrNotExist) {
				continue // its last user has just removed it
			}
		}
		if err != nil {
			if d != nil {
				d.Close()
			}
			return false
		}
		if d.Lock(unix.LOCK_SH|unix.LOCK_NB) == nil && d.Is(r.tmp) {
			if !d.Private(r.uid) {
				d.Close()
				return false
			}
			r.bootDir, r.Boot = d, path.Join(d.Path, bootName)
			return true
		}
		d.Close()
		time.Sleep(5 * time.Millisecond) // who has it for itself is removing it
	}
	return false
}

// sweepMost is how many rooms and data files are removed at once: other users could make any number of them.
const sweepMost = 100

// sweep removes what controllers left in the target that were killed before
// they could: rooms and data files that nobody holds locked.
func (r *Room) sweep() {
	most := sweepMost
	for _, dir := range append(r.tmpfs(), "/tmp") {
		folder, err := attach.OpenFolder(r.pid, dir)
		if err != nil {
			continue
		}
		for _, name := range folder.Names(0) {
			id, ours := strings.CutPrefix(name, ".rivulet-")
			if !ours || len(id) != 16 || strings.Trim(id, "0123456789abcdef") != "" || most == 0 {
				continue
			}
			st, err := folder.Stat(name)
			if err != nil || time.Since(time.Unix(st.Mtim.Unix())) < 2*time.Second { // its owner may be about to lock it
				continue
			}
			most--
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				sweepRoom(folder, name)
			} else if f, err := folder.OpenFile(name); err == nil {
				if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
					_ = folder.Remove(name) // another session will try again
				}
				f.Close()
			}
		}
		folder.Close()
	}
}

func sweepRoom(folder *attach.Folder, name string) {
	d, err := folder.Open(name)
	if err != nil {
		return
	}
	defer d.Close()
	if d.Lock(unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = d.RemoveAll(folder) // another session will try again
	}
}

func (r *Room) fifo(name string) (*os.File, error) {
	f, err := r.self.Fifo(name, r.uid, r.gid)
	if err != nil {
		return nil, fmt.Errorf("can't make a FIFO in the target's /tmp: %w", err)
	}
	return f, nil
}

// openData makes the data file on a tmpfs that the target can write to.
func (r *Room) openData(name string) error {
	var problems []string
	for _, dir := range r.tmpfs() {
		folder, err := attach.OpenFolder(r.pid, dir)
		if err == nil {
			err = r.dataIn(folder, name)
			if err == nil {
				return r.self.Write("data.at", []byte(r.DataPath), r.uid, r.gid)
			}
			folder.Close()
		}
		problems = append(problems, fmt.Sprintf("%s: %v", dir, err))
	}
	return fmt.Errorf("no tmpfs in the target that Rivulet could write to (%s); mount one on /dev/shm", strings.Join(problems, "; "))
}

func (r *Room) dataIn(folder *attach.Folder, name string) error {
	f, err := folder.Create(name)
	if err != nil {
		return err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		err = attach.Give(f, r.uid, r.gid)
	}
	if err != nil {
		return errors.Join(err, f.Close(), folder.Remove(name))
	}
	r.shm, r.Data, r.DataPath = folder, f, path.Join(folder.Path, name)
	return nil
}

// tmpfs lists where a data file may lie: /dev/shm first, then every other
// tmpfs that the target has mounted. A disk's file system is no place: its
// writeback stalls stores.
func (r *Room) tmpfs() []string {
	dirs := []string{"/dev/shm"}
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%s/mountinfo", pidName(r.pid)))
	if err != nil {
		return dirs
	}
	for _, line := range strings.Split(string(mounts), "\n") {
		left, right, ok := strings.Cut(line, " - ")
		f := strings.Fields(left)
		if !ok || len(f) < 6 || !strings.HasPrefix(right, "tmpfs ") || f[4] == "/dev/shm" || strings.HasPrefix(f[5], "ro") {
			continue
		}
		dirs = append(dirs, f[4])
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		d, err := attach.OpenFolder(r.pid, dir)
		if err != nil {
			return true
		}
		defer d.Close()
		return !d.TMPFS()
	})
}

func pidName(pid int) string {
	if pid == 0 {
		return "self"
	}
	return fmt.Sprint(pid)
}

// AgentError is what the boot class wrote when the agent could not start, "" if it wrote nothing.
func (r *Room) AgentError() string {
	b, err := r.self.ReadFile(errorFile, 64<<10)
	if err != nil {
		return ""
	}
	return string(b)
}

const errorFile = "error" // in a room

// ForgetError lets the agent be started once more.
func (r *Room) ForgetError() {
	_ = r.self.Remove(errorFile) // mostly there is none
}

// Unlink removes every name that the room has, except for the boot jar of a
// program that still runs.
func (r *Room) Unlink(running bool) {
	if r.shm != nil {
		_ = r.shm.Remove(path.Base(r.DataPath)) // it was done before, or the target's user has done it
		r.shm.Close()
		r.shm = nil
	}
	if r.bootDir != nil {
		// Whoever gets it for itself is the last who needs the jar.
		if !r.Unanswered && r.bootDir.Lock(unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = r.bootDir.RemoveAll(r.tmp) // what the target's user has put there stays
		}
		r.bootDir.Close()
		r.bootDir = nil
	}
	switch {
	case r.self == nil:
	case !running:
		_ = r.self.RemoveAll(r.tmp) // as above
	default:
		for _, name := range r.self.Names(0) {
			if name != path.Base(r.Boot) {
				_ = r.self.Remove(name) // as above
			}
		}
	}
}

// Close unlinks and closes everything.
func (r *Room) Close(running bool) {
	r.Unlink(running)
	Release(r.lock)
	for _, d := range []*attach.Folder{r.self, r.tmp} {
		if d != nil {
			d.Close()
		}
	}
	for _, f := range []*os.File{r.Commands, r.Bell, r.Data} {
		if f != nil {
			f.Close()
		}
	}
}

// SharesBoot tells whether the boot jar lies where sessions share it.
func (r *Room) SharesBoot() bool { return r.bootDir != nil }

// Hold has the room release what [Reserve] returned when it is closed.
func (r *Room) Hold(lock *os.File) { r.lock = lock }

// ErrBusy reports that another controller works on the target.
var ErrBusy = errors.New("another Rivulet session is active in this JVM; end it first (Ctrl-C there), it is gone at the latest two seconds after its controller")

// Reserve takes the target for this controller: a lock on its /proc folder,
// which leaves no file and goes with this process, so that two that start at
// once don't both attach. Errors are [ErrBusy], or that of opening the folder. It is safe for concurrent use.
func Reserve(pid int) (lock *os.File, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, ErrBusy
	}
	return f, nil
}

// Release ends a reservation; of nil it does nothing. To close the file is not enough: another program that
// this process is just starting has it, too, until it is one.
func Release(lock *os.File) {
	if lock != nil {
		unix.Flock(int(lock.Fd()), unix.LOCK_UN) //nolint:errcheck // closing it is all that is left
		lock.Close()
	}
}

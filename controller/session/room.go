package session

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/jvmside"
)

// A room is the session's private folder under the target's /tmp, with two
// FIFOs, the agent and, on a tmpfs of the target's, the data file. Names are
// removed as soon as both sides have opened them.
type room struct {
	pid      int
	uid, gid int
	dir      string   // as the target sees it
	boot     string   // the boot jar, as the target sees it
	bootDir  *os.File // its folder, locked, where sessions share it
	bootPath string   // the folder, as the target sees it
	dataPath string   // the data file, as the target sees it
	commands *os.File
	bell     *os.File
	data     *os.File
	lock     *os.File // of the target
	// The JVM may be about to open the boot jar. If it finds none, no jar of this path can be loaded any more. So
	// the jar stays, and goes with the next session.
	unanswered bool
	self       *os.File // of the room
	held       []held
}

// A held folder is one of the target's that stays within reach when the target has ended.
type held struct {
	dir string // as the target sees it
	f   *os.File
}

// hold keeps a folder of a running target within reach. Where that fails, what is done in the folder says why.
func (r *room) hold(dir string) {
	if r.pid == 0 {
		return
	}
	if f, err := os.OpenFile(r.view(dir), unix.O_PATH|unix.O_DIRECTORY, 0); err == nil {
		r.held = append(r.held, held{dir, f})
	}
}

// view is a path of the target's as we see it.
func (r *room) view(p string) string {
	for _, h := range r.held {
		if below, ok := strings.CutPrefix(p, h.dir+"/"); ok {
			return fmt.Sprintf("/proc/self/fd/%d/%s", h.f.Fd(), below)
		}
	}
	if r.pid == 0 {
		return p
	}
	return attach.Path(r.pid, p)
}

// newRoom makes the room. With pid 0 it lies in this process's own file
// system, for a target that is yet to be started.
func newRoom(pid int, uid, gid uint32, bundle *jvmside.Bundle) (r *room, err error) {
	r = &room{pid: pid, uid: int(uid), gid: int(gid)}
	made := r // which a return of nil forgets
	defer func() {
		if err != nil {
			made.close(false)
		}
	}()
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	r.dir = "/tmp/.rivulet-" + hex.EncodeToString(id)
	if pid == 0 {
		r.dir = "/tmp/.rivulet-run-" + hex.EncodeToString(id) // may stay as long as the program: see unlink
	}
	r.hold("/tmp")
	if err := os.Mkdir(r.view(r.dir), 0o700); err != nil {
		return nil, fmt.Errorf("can't make a folder in the target's /tmp: %w; Rivulet needs a writable /tmp there, as the JVM's own attach does", err)
	}
	if r.self, err = lockNamed(r.view(r.dir), unix.O_DIRECTORY); err != nil {
		return nil, err
	}
	r.sweep()
	if err := r.own(r.dir); err != nil {
		return nil, err
	}
	if err := r.write(path.Join(r.dir, "agent.bin"), bundle.Agent); err != nil {
		return nil, err
	}
	if err := r.writeBoot(bundle.Boot); err != nil {
		return nil, err
	}
	if r.commands, err = r.fifo("commands"); err != nil {
		return nil, err
	}
	if r.bell, err = r.fifo("bell"); err != nil {
		return nil, err
	}
	return r, r.openData(hex.EncodeToString(id))
}

func (r *room) own(p string) error {
	if os.Getuid() != 0 {
		return nil
	}
	return os.Lchown(r.view(p), r.uid, r.gid)
}

func (r *room) write(p string, b []byte) error {
	f, err := os.OpenFile(r.view(p), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	return r.own(p)
}

// writeBoot puts the boot jar where every session of every version has it:
// the JVM keeps one descriptor for each path of an agent jar, for ever. The
// folder is only used if it is the target's user's alone; else the jar goes
// into the room, at the price of a descriptor. So it does for a program that
// is yet to be started, which may start JVMs that look for it at any time.
func (r *room) writeBoot(b []byte) error {
	if r.pid == 0 || !r.shareBoot() {
		return r.ownBoot(b)
	}
	// Another session may be reading the jar: replace it in one step.
	tmp := path.Join(path.Dir(r.boot), path.Base(r.dir))
	if err := r.write(tmp, b); err != nil {
		return err
	}
	return os.Rename(r.view(tmp), r.view(r.boot))
}

// ownBoot puts the boot jar into the room instead. It is for a JVM whose class path has had the shared jar without its class:
// a JVM reads each path once.
func (r *room) ownBoot(b []byte) error {
	r.boot = path.Join(r.dir, "boot1.jar")
	return r.write(r.boot, b)
}

// shareBoot opens the folder that sessions share and locks it against being
// removed; false if it can't be used.
func (r *room) shareBoot() bool {
	dir := fmt.Sprintf("/tmp/.rivulet-boot-%d", r.uid)
	for range 10 {
		if err := os.Mkdir(r.view(dir), 0o700); err == nil {
			if r.own(dir) != nil {
				return false
			}
		} else if !errors.Is(err, fs.ErrExist) {
			return false
		}
		f, err := os.OpenFile(r.view(dir), os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // its last user has just removed it
			}
			return false
		}
		var is, was unix.Stat_t
		if unix.Flock(int(f.Fd()), unix.LOCK_SH) == nil && unix.Fstat(int(f.Fd()), &is) == nil && unix.Lstat(r.view(dir), &was) == nil && is.Ino == was.Ino {
			if is.Mode&0o077 != 0 || int(is.Uid) != r.uid {
				f.Close()
				return false
			}
			r.bootDir, r.bootPath, r.boot = f, dir, path.Join(dir, "boot1.jar")
			return true
		}
		f.Close()
	}
	return false
}

// lockNamed opens a file or folder and locks it for as long as this process
// has it open, as a sign that it is not left over.
func lockNamed(p string, flags int) (*os.File, error) {
	f, err := os.OpenFile(p, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes what controllers left in the target that were killed before
// they could: rooms and data files that nobody holds locked.
func (r *room) sweep() {
	for _, dir := range append(r.tmpfs(), "/tmp") {
		names, _ := filepath.Glob(filepath.Join(r.view(dir), ".rivulet-*"))
		for _, name := range names {
			fi, err := os.Lstat(name)
			if id := strings.TrimPrefix(filepath.Base(name), ".rivulet-"); err != nil || len(id) != 16 || strings.Trim(id, "0123456789abcdef") != "" ||
				time.Since(fi.ModTime()) < 2*time.Second { // its owner may be about to lock it
				continue
			}
			f, err := lockNamed(name, 0)
			if err != nil {
				continue
			}
			os.RemoveAll(name) //nolint:errcheck // another session will try again
			f.Close()
		}
	}
}

func (r *room) fifo(name string) (*os.File, error) {
	p := path.Join(r.dir, name)
	if err := unix.Mkfifo(r.view(p), 0o600); err != nil {
		return nil, fmt.Errorf("can't make a FIFO in the target's /tmp: %w", err)
	}
	if err := r.own(p); err != nil {
		return nil, err
	}
	// Both directions: the opening never blocks, and writing never fails
	// because the target hasn't opened its end yet.
	return os.OpenFile(r.view(p), os.O_RDWR|unix.O_NONBLOCK, 0)
}

// openData makes the data file on a tmpfs that the target can write to.
func (r *room) openData(id string) error {
	var problems []string
	for _, dir := range r.tmpfs() {
		r.hold(dir)
		r.dataPath = path.Join(dir, ".rivulet-"+id)
		f, err := os.OpenFile(r.view(r.dataPath), os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if err == nil {
			if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
				err = r.own(r.dataPath)
			}
			if err == nil {
				r.data = f
				return r.write(path.Join(r.dir, "data.at"), []byte(r.dataPath))
			}
			f.Close()
			os.Remove(r.view(r.dataPath))
		}
		problems = append(problems, fmt.Sprintf("%s: %v", dir, err))
	}
	return fmt.Errorf("no tmpfs in the target that Rivulet could write to (%s); mount one on /dev/shm", strings.Join(problems, "; "))
}

// tmpfs lists where a data file may lie: /dev/shm first, then every other
// tmpfs that the target has mounted. A disk's file system is no place: its
// writeback stalls stores.
func (r *room) tmpfs() []string {
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
	return slicesFilter(dirs, func(d string) bool {
		var fs unix.Statfs_t
		return unix.Statfs(r.view(d), &fs) == nil && int64(fs.Type) == unix.TMPFS_MAGIC
	})
}

func slicesFilter(s []string, keep func(string) bool) []string {
	var out []string
	for _, v := range s {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

func pidName(pid int) string {
	if pid == 0 {
		return "self"
	}
	return fmt.Sprint(pid)
}

// agentError is what the boot class wrote when the agent could not start.
func (r *room) agentError() string {
	b, err := os.ReadFile(r.view(path.Join(r.dir, "error")))
	if err != nil {
		return ""
	}
	return string(b)
}

// forgetError lets the agent be started once more.
func (r *room) forgetError() { os.Remove(r.view(path.Join(r.dir, "error"))) }

// unlink removes every name that the room has, but for the boot jar of a
// program that still runs.
func (r *room) unlink(running bool) {
	if r.dataPath != "" {
		os.Remove(r.view(r.dataPath))
	}
	if r.bootDir != nil {
		// Whoever gets it for itself is the last who needs the jar.
		if !r.unanswered && unix.Flock(int(r.bootDir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			os.RemoveAll(r.view(r.bootPath))
		}
		r.bootDir.Close()
		r.bootDir = nil
	}
	if !running {
		os.RemoveAll(r.view(r.dir))
		return
	}
	files, _ := os.ReadDir(r.view(r.dir))
	for _, f := range files {
		if f.Name() != path.Base(r.boot) {
			os.Remove(r.view(path.Join(r.dir, f.Name())))
		}
	}
}

// close unlinks and closes everything.
func (r *room) close(running bool) {
	if r.dir != "" {
		r.unlink(running)
	}
	unreserve(r.lock)
	for _, f := range []*os.File{r.commands, r.bell, r.data, r.self} {
		if f != nil {
			f.Close()
		}
	}
	for _, h := range r.held {
		h.f.Close()
	}
	r.held = nil
}

// reserve takes the target for this controller: a lock on its /proc folder,
// which leaves no file and goes with this process, so that two that start at
// once don't both attach.
func (r *room) reserve() error {
	f, err := os.Open(fmt.Sprintf("/proc/%d", r.pid))
	if err != nil {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return ErrBusy
	}
	r.lock = f
	return nil
}

// unreserve ends a reservation. To close the file is not enough: another program that
// this process is just starting has it, too, until it is one.
func unreserve(lock *os.File) {
	if lock != nil {
		unix.Flock(int(lock.Fd()), unix.LOCK_UN) //nolint:errcheck // closing it is all that is left
		lock.Close()
	}
}

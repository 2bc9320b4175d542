package attach

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A dumpFolder is a folder of mode 0700 that the target's user owns, for what a JVM writes at
// our request. The target may put anything there. It is locked as long as it is in use, so that one whose
// Rivulet was killed is found by the next one, and removed.
type dumpFolder struct {
	parent, made *Folder // nil before make and after remove
}

// make makes a folder in one that the target calls dir.
func (d *dumpFolder) make(p Process, dir, prefix string) error {
	parent, err := OpenFolder(p.PID, dir)
	if err != nil {
		return &Error{PID: p.PID, Kind: ErrReadOnly, Err: err, Cause: "no folder for the dump", Fix: "choose another one with --dump-dir"}
	}
	sweepDumps(parent, p.UID)
	made, err := parent.Make(prefix + rand.Text()[:randomName])
	if err != nil {
		parent.Close()
		return &Error{PID: p.PID, Kind: ErrReadOnly, Err: err, Cause: "can't make a folder for the dump in " + dir, Fix: "choose another one with --dump-dir"}
	}
	d.parent, d.made = parent, made
	return errors.Join(made.Lock(unix.LOCK_SH|unix.LOCK_NB), made.Give(p.UID, p.GID))
}

// dumpPrefixes are the beginnings of such folders' names.
var dumpPrefixes = []string{recordingPrefix, heapPrefix, threadsPrefix}

const (
	recordingPrefix = "rivulet-jfr-"
	heapPrefix      = "rivulet-heap-"
	threadsPrefix   = "rivulet-threads-"

	randomName = 12              // characters of such a name behind the prefix
	sweptAfter = 2 * time.Minute // the JVM may still write, at the request of a Rivulet that was killed
	mostSwept  = 100             // at once: other users could make any number of them
)

// sweepDumps removes folders that nobody uses any more. What can't be removed stays for the next time.
func sweepDumps(parent *Folder, uid uint32) {
	most := mostSwept
	for _, name := range parent.Names(0) {
		i := slices.IndexFunc(dumpPrefixes, func(p string) bool { return strings.HasPrefix(name, p) && len(name) == len(p)+randomName })
		if i < 0 || most == 0 {
			continue
		}
		if st, err := parent.Stat(name); err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || time.Since(time.Unix(st.Mtim.Unix())) < sweptAfter {
			continue
		}
		most--
		old, err := parent.Open(name)
		if err != nil {
			continue
		}
		if (old.Private(uid) || old.Private(uint32(os.Geteuid()))) && old.quiet() && old.Lock(unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = old.RemoveAll(parent)
		}
		old.Close()
	}
}

// quiet reports whether none of the folder's files was written to for a while.
func (d *Folder) quiet() bool {
	for _, name := range d.Names(0) {
		if st, err := d.Stat(name); err == nil && time.Since(time.Unix(st.Mtim.Unix())) < sweptAfter {
			return false
		}
	}
	return true
}

// target is the folder's path, as the target sees it.
func (d *dumpFolder) target() string { return d.made.Path }

// path is a file's path for this process, as long as nobody moves the folder.
func (d *dumpFolder) path(name string) string { return filepath.Join(d.made.f.Name(), name) }

// size is how many bytes the folder's files have.
func (d *dumpFolder) size() (total int64) {
	for _, name := range d.made.Names(0) {
		if st, err := d.made.Stat(name); err == nil {
			total += st.Size
		}
	}
	return total
}

// open opens a regular file of the folder for reading.
func (d *dumpFolder) open(name string) (f *os.File, size int64, err error) {
	if f, err = d.made.OpenFile(name); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// write writes a file of the folder that the target can read.
func (d *dumpFolder) write(p Process, name string, text []byte) error {
	if err := d.made.Write(name, text, p.UID, p.GID); err != nil {
		return &Error{PID: p.PID, Kind: ErrReadOnly, Err: err, Cause: "can't write " + name + " into " + d.target()}
	}
	return nil
}

// remove removes the folder and its files, if there is one.
func (d *dumpFolder) remove() error {
	if d.parent == nil {
		return nil
	}
	err := d.made.RemoveAll(d.parent)
	d.made.Close()
	d.parent.Close()
	d.parent = nil
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

package attach

import (
	"crypto/rand"
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// A folder is a folder of mode 0700 that the target's user owns, for what a JVM writes at
// our request. The target may put anything there.
type folder struct {
	parent *os.File
	name   string
	target string // its path, as the target sees it
}

// make makes a folder in one that the target calls dir.
func (d *folder) make(p Process, dir, prefix string) error {
	parent, err := openTarget(p.PID, dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return &Error{PID: p.PID, Kind: ErrReadOnly, Err: err, Cause: "no folder for the dump", Fix: "choose another one with --dump-dir"}
	}
	name := prefix + rand.Text()[:12]
	fd := int(parent.Fd())
	if err := unix.Mkdirat(fd, name, 0o700); err != nil {
		parent.Close()
		return &Error{PID: p.PID, Kind: ErrReadOnly, Err: err, Cause: "can't make a folder for the dump in " + dir, Fix: "choose another one with --dump-dir"}
	}
	d.parent, d.name, d.target = parent, name, path.Join(dir, name)
	if unix.Geteuid() == 0 {
		return unix.Fchownat(fd, name, int(p.UID), int(p.GID), unix.AT_SYMLINK_NOFOLLOW)
	}
	return nil
}

func (d *folder) files() []os.DirEntry {
	list, _ := os.ReadDir(path.Join(fdPath(int(d.parent.Fd())), d.name))
	return list
}

// open opens a regular file of the folder for reading.
func (d *folder) open(name string) (f *os.File, size int64, err error) {
	fd, err := unix.Openat(int(d.parent.Fd()), d.name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, &os.PathError{Op: "open", Path: d.name, Err: err}
	}
	defer unix.Close(fd)
	file, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, &os.PathError{Op: "open", Path: name, Err: err}
	}
	f = os.NewFile(uintptr(file), path.Join(d.parent.Name(), d.name, name))
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: f.Name(), Err: errors.New("not a regular file")}
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// remove removes the folder and its files, if there is one.
func (d *folder) remove() error {
	if d.parent == nil {
		return nil
	}
	defer d.parent.Close()
	fd, err := unix.Openat(int(d.parent.Fd()), d.name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == nil {
		for _, e := range d.files() {
			_ = unix.Unlinkat(fd, e.Name(), 0)
		}
		unix.Close(fd)
	}
	err = unix.Unlinkat(int(d.parent.Fd()), d.name, unix.AT_REMOVEDIR)
	d.parent = nil
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "remove", Path: d.name, Err: err}
	}
	return nil
}

package attach

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A Folder is a folder that is held open, mostly one of a target's. All that is done in it
// goes by the open folder and by names without a slash, and follows no link. So it stays in the
// folder, whatever the target's user or others put in the place of the folder or of its files
// meanwhile, and it still works when the target has ended.
//
// A Folder is safe for concurrent use, except for Close.
type Folder struct {
	// Path is the folder's name for the target.
	Path string
	f    *os.File
}

// ErrReplaced is wrapped where something else lies in the place of what was made a moment ago.
var ErrReplaced = errors.New("somebody has replaced it meanwhile")

// OpenFolder opens a folder by the name that the target has for it, and resolves links as the
// target would. With pid 0 it is one of this process's.
func OpenFolder(pid int, dir string) (*Folder, error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY
	if pid != 0 {
		f, err := openTarget(pid, dir, flags)
		if err != nil {
			return nil, err
		}
		return &Folder{dir, f}, nil
	}
	f, err := os.OpenFile(dir, flags, 0)
	if err != nil {
		return nil, err
	}
	return &Folder{dir, f}, nil
}

func (d *Folder) fd() int { return int(d.f.Fd()) }

func (d *Folder) error(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: filepath.Join(d.f.Name(), name), Err: err}
}

// Make makes a folder of mode 0700 in this one. It belongs to this process's user until it is
// given away, so until then nobody else can have anything in it.
func (d *Folder) Make(name string) (*Folder, error) {
	if err := unix.Mkdirat(d.fd(), name, 0o700); err != nil {
		return nil, d.error("mkdir", name, err)
	}
	made, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	// In a folder without the sticky bit, its owner may move another one here.
	if !made.Private(uint32(os.Geteuid())) || len(made.Names(1)) != 0 {
		made.Close()
		return nil, d.error("mkdir", name, ErrReplaced)
	}
	return made, nil
}

// Open opens a folder in this one.
func (d *Folder) Open(name string) (*Folder, error) {
	fd, err := unix.Openat(d.fd(), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, d.error("open", name, err)
	}
	return &Folder{path.Join(d.Path, name), os.NewFile(uintptr(fd), filepath.Join(d.f.Name(), name))}, nil
}

// Create makes a file of mode 0600 for reading and writing. It must not be there yet.
func (d *Folder) Create(name string) (*os.File, error) {
	fd, err := unix.Openat(d.fd(), name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, d.error("create", name, err)
	}
	return os.NewFile(uintptr(fd), filepath.Join(d.f.Name(), name)), nil
}

// Write makes a file of mode 0600 with this content, for a user and group. It must not be there yet.
func (d *Folder) Write(name string, b []byte, uid, gid uint32) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, Give(f, uid, gid), f.Close())
}

// Fifo makes a FIFO of mode 0600, for a user and group, and opens it for both directions: so
// neither opening nor writing waits for the other side.
func (d *Folder) Fifo(name string, uid, gid uint32) (*os.File, error) {
	if err := unix.Mkfifoat(d.fd(), name, 0o600); err != nil {
		return nil, d.error("mkfifo", name, err)
	}
	fd, err := unix.Openat(d.fd(), name, unix.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, d.error("open", name, err)
	}
	f := os.NewFile(uintptr(fd), filepath.Join(d.f.Name(), name))
	info, err := f.Stat()
	if err == nil && info.Mode().Type() != os.ModeNamedPipe {
		err = ErrReplaced
	}
	if err == nil {
		err = Give(f, uid, gid)
	}
	if err != nil {
		f.Close()
		return nil, d.error("mkfifo", name, err)
	}
	return f, nil
}

// OpenFile opens a regular file for reading. Anything else is an error.
func (d *Folder) OpenFile(name string) (*os.File, error) {
	fd, err := unix.Openat(d.fd(), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, d.error("open", name, err)
	}
	f := os.NewFile(uintptr(fd), filepath.Join(d.f.Name(), name))
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("no regular file (%s)", info.Mode().Type())
	}
	if err != nil {
		f.Close()
		return nil, d.error("open", name, err)
	}
	return f, nil
}

// ReadFile reads the first bytes of a regular file, no more than limit.
func (d *Folder) ReadFile(name string, limit int64) ([]byte, error) {
	f, err := d.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// Names lists what is in the folder, no more than limit names in no order; limit 0 is no limit.
// A folder that can't be read has none.
func (d *Folder) Names(limit int) []string {
	fd, err := unix.Openat(d.fd(), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), d.f.Name())
	defer f.Close()
	names, _ := f.Readdirnames(limit)
	return names
}

// Stat describes a file of the folder, or a link itself.
func (d *Folder) Stat(name string) (st unix.Stat_t, err error) {
	err = unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return st, d.error("stat", name, err)
}

// Lock locks the folder, as flock does, for as long as it is open. It must be one that Open or
// Make returned.
func (d *Folder) Lock(how int) error { return unix.Flock(d.fd(), how) }

// Is reports whether the folder's name in parent still stands for this folder.
func (d *Folder) Is(parent *Folder) bool {
	is, err := parent.Stat(path.Base(d.Path))
	var st unix.Stat_t
	return err == nil && unix.Fstat(d.fd(), &st) == nil && is.Ino == st.Ino && is.Dev == st.Dev
}

// Private reports whether the folder belongs to a user, and nobody else may use it.
func (d *Folder) Private(uid uint32) bool {
	var st unix.Stat_t
	return unix.Fstat(d.fd(), &st) == nil && st.Uid == uid && st.Mode&0o077 == 0
}

// Loose reports whether other users may move or remove what lies in the folder: they may write to it, and it
// lacks the sticky bit.
func (d *Folder) Loose() bool {
	var st unix.Stat_t
	return unix.Fstat(d.fd(), &st) == nil && st.Mode&0o022 != 0 && st.Mode&unix.S_ISVTX == 0
}

// Rename gives a file of the folder another name in it.
func (d *Folder) Rename(from, to string) error {
	return d.error("rename", from, unix.Renameat(d.fd(), from, d.fd(), to))
}

// Remove removes a file, a link, or an empty folder.
func (d *Folder) Remove(name string) error {
	err := unix.Unlinkat(d.fd(), name, 0)
	if errors.Is(err, unix.EISDIR) {
		err = unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR)
	}
	return d.error("remove", name, err)
}

// RemoveAll removes the folder itself with its files, by its name in parent. Folders in it
// that are not empty stay, and so does it then.
func (d *Folder) RemoveAll(parent *Folder) error {
	for _, name := range d.Names(0) {
		_ = d.Remove(name) // what stays, keeps the folder: that is the error
	}
	if !d.Is(parent) {
		return nil // not there any more under its name
	}
	return parent.Remove(path.Base(d.Path))
}

// Give gives the folder to a user and group, if this process is root.
func (d *Folder) Give(uid, gid uint32) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return d.error("chown", "", unix.Fchownat(d.fd(), "", int(uid), int(gid), unix.AT_EMPTY_PATH))
}

// Give gives an open file to a user and group, if this process is root.
func Give(f *os.File, uid, gid uint32) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return f.Chown(int(uid), int(gid))
}

// FileSystem says of what kind the folder's file system is, and what is left of it.
func (d *Folder) FileSystem() string {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(d.fd(), &fs); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("type %#x, flags %#x, %d of %d MB free, %d of %d files free", fs.Type, fs.Flags, int64(fs.Bavail)*fs.Bsize>>20, int64(fs.Blocks)*fs.Bsize>>20, fs.Ffree, fs.Files)
}

// TMPFS reports whether the folder lies on a tmpfs.
func (d *Folder) TMPFS() bool {
	var fs unix.Statfs_t
	return unix.Fstatfs(d.fd(), &fs) == nil && int64(fs.Type) == unix.TMPFS_MAGIC
}

// Close closes the folder.
func (d *Folder) Close() error { return d.f.Close() }

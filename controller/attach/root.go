package attach

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Path names, for this process, the file that the target calls p. It is only a
// name: where the target's user could have put a symbolic link, open the
// directory with os.OpenRoot(Path(pid, "/tmp")) and work inside it, since the
// kernel resolves absolute links against our root, not the target's.
func Path(pid int, p string) string {
	return procFile(pid, "root") + path.Join("/", filepath.ToSlash(p))
}

// openDir opens a directory of the target's mount namespace for use with the
// *at system calls, resolving links as the target would.
func openDir(pid int, dir string) (*os.File, error) {
	return openTarget(pid, dir, unix.O_PATH|unix.O_DIRECTORY)
}

// openInRoot opens a file of the target's mount namespace for reading.
func openInRoot(pid int, p string) (*os.File, error) {
	return openTarget(pid, p, unix.O_RDONLY|unix.O_NONBLOCK)
}

func openTarget(pid int, p string, flags int) (*os.File, error) {
	root, err := unix.Open(procFile(pid, "root"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: procFile(pid, "root"), Err: err}
	}
	defer unix.Close(root)
	name := Path(pid, p)
	within := path.Join(".", path.Join("/", p)[1:])
	fd, err := openKernel(root, within, flags)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EAGAIN) {
		// Linux before 5.6, a seccomp filter that does not know the call, or renames all the time.
		fd, err = openWalking(root, within, flags)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openKernel has the kernel resolve a path. Where the path has a "..", and anything on the machine is renamed or mounted
// meanwhile, the kernel can't be sure and says EAGAIN (openat2(2)): it is asked again.
func openKernel(root int, within string, flags int) (fd int, err error) {
	const tries = 100
	for range tries {
		fd, err = unix.Openat2(root, within, &unix.OpenHow{
			Flags:   uint64(flags | unix.O_CLOEXEC),
			Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
		})
		if !errors.Is(err, unix.EAGAIN) {
			break
		}
	}
	return fd, err
}

// checkRoom returns an error if the target, which has the given tmp directory,
// can't create its socket there.
func checkRoom(pid int, tmp *os.File) error {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(tmp.Fd()), &fs); err != nil {
		return nil // the attempt itself will tell
	}
	switch {
	case fs.Flags&unix.ST_RDONLY != 0:
		return &Error{
			PID: pid, Kind: ErrReadOnly, Err: unix.EROFS, Cause: "the JVM can't put its attach socket into /tmp",
			Fix: "give it a writable /tmp, such as a small tmpfs",
		}
	case fs.Blocks > 0 && fs.Bavail == 0, fs.Files > 0 && fs.Ffree == 0:
		return &Error{
			PID: pid, Kind: ErrReadOnly, Err: unix.ENOSPC, Cause: "the JVM can't put its attach socket into /tmp",
			Fix: "free some space on its /tmp",
		}
	}
	return nil
}

// fdPath names an open file, whatever it is called by now. It also keeps socket
// addresses within their 108 bytes.
func fdPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

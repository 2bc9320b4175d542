package attach

import (
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// OpenFile opens a regular file for reading, by the name that the target has for
// it, resolving links as the target would. A file of another kind, which might
// block or answer differently each time, is an error.
func OpenFile(pid int, name string) (*os.File, error) {
	f, err := openTarget(pid, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: name, Err: fmt.Errorf("no regular file (%s)", info.Mode().Type())}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadDir lists a directory, by the name that the target has for it.
func ReadDir(pid int, name string) ([]os.DirEntry, error) {
	f, err := openTarget(pid, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// RuntimeLib returns the folder that has the libraries and the runtime image of a
// target's JDK, 9 or later, by the name that the target has for it.
func RuntimeLib(pid int) (string, error) {
	l, err := readLayout(pid)
	switch {
	case err != nil:
		return "", err
	case l.libjvm.path == "":
		return "", &os.PathError{Op: "find", Path: "libjvm.so", Err: os.ErrNotExist}
	case l.libjvm.deleted:
		return "", &os.PathError{Op: "find", Path: l.libjvm.path, Err: fmt.Errorf("the JDK was replaced: %w", os.ErrNotExist)}
	}
	return path.Dir(path.Dir(l.libjvm.path)), nil
}

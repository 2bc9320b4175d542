package attach

import (
	"fmt"
	"os"

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

package cli

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// An output is where a report goes. A file is written beside its place and
// moved there when it is complete, so nobody ever sees half a report, and an
// old one stays if a new one can't be had.
type output struct {
	w    io.Writer
	temp *os.File // nil for what can't be replaced: streams and devices
	path string   // of the file, links followed
	name string   // as it was given
	file *os.File // a device, pipe or the like, to be closed
}

// openOutput makes sure that a report can be written to path, before anything
// is done to the target. An empty path and "-" mean w.
func openOutput(path string, w io.Writer) (*output, error) { return openFlag("-o", path, w) }

// openFlag is openOutput for the path that a flag gave.
func openFlag(flag, path string, w io.Writer) (*output, error) {
	if path == "" || path == "-" {
		return &output{w: w}, nil
	}
	fail := func(err error) error {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err // the path is named already
		}
		return usage("%s %s: can't write there: %w; nothing was done", flag, path, err)
	}
	name := path
	if err := planted(path); err != nil {
		return nil, fail(err)
	}
	if full, err := filepath.EvalSymlinks(path); err == nil {
		path = full
	}
	mode := fs.FileMode(0)
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fail(err)
	case info.IsDir():
		return nil, fail(errors.New("it is a folder"))
	case !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fail(err)
		}
		return &output{w: f, file: f, name: path}, nil
	default:
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // replacing it would ignore its mode
		if err != nil {
			return nil, fail(err)
		}
		f.Close()
		mode = info.Mode().Perm()
	}
	temp, err := os.OpenFile(filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%s.tmp", filepath.Base(path), rand.Text()[:8])),
		os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fail(err)
	}
	o := &output{w: temp, temp: temp, path: path, name: name}
	if mode != 0 {
		if err := temp.Chmod(mode); err != nil {
			o.discard()
			return nil, fail(err)
		}
	}
	return o, nil
}

// planted returns an error for a link of another user's in a folder like /tmp, where anybody may put links: what
// is written would go where that user wants, as the kernel's fs.protected_symlinks prevents for files that are opened.
func planted(path string) error {
	var link, dir unix.Stat_t
	if unix.Lstat(path, &link) != nil || link.Mode&unix.S_IFMT != unix.S_IFLNK || unix.Stat(filepath.Dir(path), &dir) != nil {
		return nil
	}
	if dir.Mode&unix.S_ISVTX == 0 || dir.Mode&0o022 == 0 || int(link.Uid) == os.Geteuid() || link.Uid == dir.Uid {
		return nil
	}
	return fmt.Errorf("it is a link that another user (uid %d) has put there", link.Uid)
}

// write writes the whole output. It can be called once.
func (o *output) write(content func(io.Writer) error) error {
	defer o.discard()
	b := bufio.NewWriterSize(o.w, 1<<16)
	if err := content(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("the report could not be written: %w", err)
	}
	if o.temp == nil {
		return nil
	}
	if err := o.temp.Close(); err != nil {
		return fmt.Errorf("the report could not be written: %w", err)
	}
	if err := os.Rename(o.temp.Name(), o.path); err != nil {
		return fmt.Errorf("the report could not be put in its place: %w", err)
	}
	o.temp = nil
	return nil
}

// discard cleans up; after write it does nothing.
func (o *output) discard() {
	if o.temp != nil {
		o.temp.Close()
		os.Remove(o.temp.Name())
		o.temp = nil
	}
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
}

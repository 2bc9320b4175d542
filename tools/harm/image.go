package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// writeImage writes a folder as an archive that Linux takes for its first file system: cpio's "new ASCII" format, of which
// the kernel's documentation says all (initramfs buffer format).
func writeImage(file, root string) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := &cpio{w: bufio.NewWriterSize(f, 1<<20)}
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return w.add(name, path)
	})
	if err != nil {
		return err
	}
	w.entry("TRAILER!!!", 0, 0)
	return errors.Join(w.err, w.w.Flush())
}

// A cpio writes an archive.
type cpio struct {
	w    *bufio.Writer
	n    int64 // bytes written
	node int64
	err  error
}

// add adds a file, folder or symbolic link; all belong to root.
func (c *cpio) add(name, path string) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		to, err := os.Readlink(path)
		if err != nil {
			return err
		}
		c.entry(name, st.Mode, int64(len(to)))
		c.write([]byte(to))
	case unix.S_IFREG:
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		c.entry(name, st.Mode, st.Size)
		n, err := io.CopyN(c.w, f, st.Size)
		c.n += n
		c.err = errors.Join(c.err, err)
	default:
		c.entry(name, st.Mode, 0)
	}
	c.align()
	return c.err
}

// entry writes the header of what has so many bytes.
func (c *cpio) entry(name string, mode uint32, size int64) {
	c.node++
	const links, major, minor = 1, 0, 0
	c.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		c.node, mode, 0, 0, links, 0, size, major, minor, major, minor, len(name)+1, 0, name))
	c.align()
}

func (c *cpio) write(p []byte) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	c.err = errors.Join(c.err, err)
}

// align fills up to a multiple of four bytes.
func (c *cpio) align() { c.write(make([]byte, -c.n&3)) }

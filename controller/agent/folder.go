package agent

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// A folder is where a script writes. It is made when something is written, and nothing that a
// script names lies outside of it, by links neither.
type folder struct {
	dir   string
	most  int64 // bytes
	taken int64
	root  *os.Root // nil until something is written
	files []string // written, in order
}

// write puts text into a file, behind what is there if asked so.
func (f *folder) write(name, text string, behind bool) error {
	if f.taken += int64(len(text)); f.taken > f.most {
		return fmt.Errorf("more than %d MB in files", f.most>>20)
	}
	clean := path.Clean(name)
	if name == "" || strings.HasSuffix(name, "/") || clean == "." {
		return fmt.Errorf("%q is no file's name", name)
	}
	if f.root == nil {
		if err := os.MkdirAll(f.dir, 0o777); err != nil {
			return err
		}
		root, err := os.OpenRoot(f.dir)
		if err != nil {
			return err
		}
		f.root = root
	}
	if dir := path.Dir(clean); dir != "." {
		if err := f.root.MkdirAll(dir, 0o777); err != nil {
			return outside(name, err)
		}
	}
	// A pipe that somebody has put there would have Rivulet wait for a reader.
	if info, err := f.root.Stat(clean); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%q is there and no regular file", name)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if behind && slices.Contains(f.files, clean) { // else it is an earlier recording's
		flags = os.O_WRONLY | os.O_APPEND
	}
	file, err := f.root.OpenFile(clean, flags, 0o666)
	if err != nil {
		return outside(name, err)
	}
	if !slices.Contains(f.files, clean) {
		f.files = append(f.files, clean)
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func outside(name string, err error) error {
	if strings.Contains(err.Error(), "escapes") {
		return fmt.Errorf("%q lies outside of the script's folder", name)
	}
	return err
}

func (f *folder) close() {
	if f.root != nil {
		f.root.Close()
		f.root = nil
	}
}

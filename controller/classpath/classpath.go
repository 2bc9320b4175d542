// Package classpath reads class files of a process where their code sources say that they lie.
package classpath

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// largestFile bounds a class file, in bytes: its archive may say anything.
const largestFile = 16 << 20

// ErrElsewhere reports a class whose file only its loader can tell.
var ErrElsewhere = errors.New("not where its code source says")

// Files reads class files where their code sources say they come from:
// archives and folders in the target's file system. That is many times faster
// than to have the target read them, in code that is not compiled yet. What has changed
// since the target began is left to it: it may have the old file open. It is safe for
// concurrent use.
type Files struct {
	pid      int
	before   time.Time // the target has started then
	mu       sync.Mutex
	archives map[string]func() (*archive, error)
}

// An archive is a jar that is open.
type archive struct {
	f       *os.File
	entries map[string]*zip.File // by name
}

// New reads files of a process that has started before a moment.
func New(pid int, before time.Time) *Files {
	return &Files{pid: pid, before: before, archives: map[string]func() (*archive, error){}}
}

// Open opens a file that is as it was when the target began. Errors are [ErrElsewhere] of one that has changed, or
// those of opening it.
func (c *Files) Open(name string) (*os.File, error) {
	f, err := attach.OpenFile(c.pid, name)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(f.Fd()), &st); err == nil && !time.Unix(st.Ctim.Unix()).Before(c.before) {
		err = fmt.Errorf("%s has changed: %w", name, ErrElsewhere)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read returns the file of a class, given the path of its code source's URL. Errors are [ErrElsewhere], or those of
// reading it.
func (c *Files) Read(place, class string) ([]byte, error) {
	place, err := url.PathUnescape(place)
	if err != nil || !strings.HasPrefix(place, "/") {
		return nil, ErrElsewhere
	}
	if strings.HasSuffix(place, "/") {
		f, err := c.Open(path.Join(place, class+".class"))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readClass(f)
	}
	c.mu.Lock()
	open := c.archives[place]
	if open == nil {
		open = sync.OnceValues(func() (*archive, error) { return c.openArchive(place) })
		c.archives[place] = open
	}
	c.mu.Unlock()
	a, err := open()
	if err != nil {
		return nil, err
	}
	e := a.entries[class+".class"]
	if e == nil {
		return nil, fs.ErrNotExist
	}
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readClass(r)
}

func readClass(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, largestFile+1))
	if err == nil && len(b) > largestFile {
		err = ErrElsewhere
	}
	return b, err
}

// openArchive opens a jar. Where there are several versions of a class, which one
// counts is for the loader to tell: the entry is nil.
func (c *Files) openArchive(name string) (a *archive, err error) {
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, err
	}
	a = &archive{f: f, entries: make(map[string]*zip.File, len(z.File))}
	for _, e := range z.File {
		a.entries[e.Name] = e
	}
	for name := range a.entries {
		if rest, ok := strings.CutPrefix(name, "META-INF/versions/"); ok {
			_, class, _ := strings.Cut(rest, "/")
			a.entries[class] = nil
		}
	}
	return a, nil
}

// Close closes the archives. Nobody reads meanwhile, or later.
func (c *Files) Close() {
	for _, open := range c.archives {
		if a, err := open(); err == nil {
			a.f.Close()
		}
	}
}

package session

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// largestFile bounds a class file, in bytes: its archive may say anything.
const largestFile = 16 << 20

// errElsewhere reports a class whose file only its loader can tell.
var errElsewhere = errors.New("not where its code source says")

// A classPath reads class files where their code sources say they come from:
// archives and folders in the target's file system. That is many times faster
// than to have the target read them, in code that is not compiled yet. What has changed
// since the target began is left to it: it may have the old file open. It is safe for
// concurrent use.
type classPath struct {
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

func newClassPath(pid int, before time.Time) *classPath {
	return &classPath{pid: pid, before: before, archives: map[string]func() (*archive, error){}}
}

// open opens a file that is as it was when the target began.
func (c *classPath) open(name string) (*os.File, error) {
	f, err := attach.OpenFile(c.pid, name)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(f.Fd()), &st); err == nil && !time.Unix(st.Ctim.Unix()).Before(c.before) {
		err = fmt.Errorf("%s has changed: %w", name, errElsewhere)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// read returns the file of a class, given the path of its code source's URL.
func (c *classPath) read(place, class string) ([]byte, error) {
	place, err := url.PathUnescape(place)
	if err != nil || !strings.HasPrefix(place, "/") {
		return nil, errElsewhere
	}
	if strings.HasSuffix(place, "/") {
		f, err := c.open(path.Join(place, class+".class"))
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
		err = errElsewhere
	}
	return b, err
}

// openArchive opens a jar. Where there are several versions of a class, which one
// counts is for the loader to tell: the entry is nil.
func (c *classPath) openArchive(name string) (a *archive, err error) {
	f, err := c.open(name)
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

func (c *classPath) close() {
	for _, open := range c.archives {
		if a, err := open(); err == nil {
			a.f.Close()
		}
	}
}

// A placed class is one of which the agent has told where its file lies.
type placed struct {
	id    cha.ClassID
	place string
}

// readPlaced reads the files of classes while the agent reads those of others,
// and returns the classes of which it found none.
func (s *Session) readPlaced(classes []placed) (rest []cha.ClassID) {
	path := newClassPath(s.proc.PID, s.proc.Started)
	defer path.close()
	read := make([]parsed, len(classes))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.NumCPU(), 4) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				s.stage.step(1)
				b, err := path.read(classes[i].place, classes[i].id.Name)
				if err == nil {
					read[i], err = parse(classes[i].id, b)
				}
				if err != nil {
					read[i].mirror = nil
					s.log.Debug("class file", "class", classes[i].id, "place", classes[i].place, "error", err)
				}
			}
		}()
	}
	for i := range classes {
		next <- i
	}
	close(next)
	wg.Wait()
	if s.do(s.ctx, func() {
		defer s.loop.analyse()()
		for i := range read {
			if read[i].mirror == nil {
				rest = append(rest, classes[i].id)
			} else {
				s.loop.filed[read[i].id] = time.Now()
				s.loop.take(&read[i])
			}
		}
	}) != nil {
		return nil // the session has ended
	}
	return rest
}

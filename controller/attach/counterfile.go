package attach

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A CounterFile reads a JVM's counters again and again without looking for
// them each time. It is not safe for concurrent use.
type CounterFile struct{ f *os.File }

// OpenCounters opens the counters of a process. It wraps os.ErrNotExist where
// there are none, or none in a file.
func OpenCounters(pid int) (*CounterFile, error) {
	l, err := readLayout(pid)
	if err != nil {
		return nil, err
	}
	if l.perf.path == "" || l.perf.deleted {
		return nil, fmt.Errorf("pid %d: counters: %w", pid, os.ErrNotExist)
	}
	f, err := openInRoot(pid, l.perf.path)
	if err != nil {
		return nil, fmt.Errorf("pid %d: counters: %w", pid, err)
	}
	return &CounterFile{f}, nil
}

// Read returns what [Counters] would.
func (c *CounterFile) Read() (map[string]any, error) {
	b, err := io.ReadAll(io.NewSectionReader(c.f, 0, perfMax))
	if err != nil {
		return nil, err
	}
	return parsePerf(b)
}

// Close closes the file.
func (c *CounterFile) Close() error { return c.f.Close() }

// A CounterWatch reads some of a JVM's counters many times a second: 10 µs a
// reading. It is not safe for concurrent use.
type CounterWatch struct {
	f     *os.File
	buf   []byte
	order binary.ByteOrder
	at    map[string]int // where the values of numbers lie
	texts map[string]int // where texts lie
}

// Watch finds the counters; those that the JVM makes later are not among them.
// The watch has a descriptor of its own.
func (c *CounterFile) Watch() (*CounterWatch, error) {
	b, err := io.ReadAll(io.NewSectionReader(c.f, 0, perfMax))
	if err != nil {
		return nil, err
	}
	w := &CounterWatch{order: binary.LittleEndian, at: map[string]int{}, texts: map[string]int{}}
	end := 0
	if err := eachCounter(b, func(name string, kind byte, vector, at int, data []byte, order binary.ByteOrder) {
		if kind == 'J' && vector == 0 && len(data) >= 8 {
			w.order, w.at[name] = order, at
			end = max(end, at+8)
		}
		if kind == 'B' && vector > 0 && vector <= len(data) {
			w.texts[name] = at
			end = max(end, at+vector)
		}
	}); err != nil {
		return nil, err
	}
	fd, err := unix.FcntlInt(c.f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("counters: %w", err)
	}
	w.f, w.buf = os.NewFile(uintptr(fd), c.f.Name()), b[:end]
	return w, nil
}

// Has reports whether there is a counter of that name.
func (w *CounterWatch) Has(name string) bool { _, ok := w.at[name]; return ok }

// Read takes all values anew. An error is one of the file.
func (w *CounterWatch) Read() error {
	_, err := w.f.ReadAt(w.buf, 0)
	return err
}

// Value is what a counter was at the last Read, 0 where there is none of that
// name.
func (w *CounterWatch) Value(name string) int64 {
	at, ok := w.at[name]
	if !ok {
		return 0
	}
	return int64(w.order.Uint64(w.buf[at:]))
}

// Text is what a text was at the last Read, "" where there is none of that name.
// A reading may lie between the JVM's two halves of a change.
func (w *CounterWatch) Text(name string) string {
	at, ok := w.texts[name]
	if !ok {
		return ""
	}
	return cString(w.buf[at:])
}

// Close closes the file.
func (w *CounterWatch) Close() error { return w.f.Close() }

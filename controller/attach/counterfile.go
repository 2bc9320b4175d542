package attach

import (
	"fmt"
	"io"
	"os"
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

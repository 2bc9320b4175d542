package live

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// compressed writes a comparison as its file has it.
func compressed(c *export.Comparison) func(io.Writer) error {
	return func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(c.JSON(z), z.Close())
	}
}

func (s *Snapshot) isComparison() bool { return s.compared != nil || s.known.Kind == comparisonKind }

// IsComparison tells whether a snapshot is a comparison of schemes. There may be
// no such snapshot: then it is none.
func (l *Live) IsComparison(id int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.snapshot(id)
	return s != nil && s.isComparison()
}

// comparisonInfo is what lists show of a comparison.
func comparisonInfo(c *export.Comparison) SnapshotInfo {
	i := SnapshotInfo{Kind: comparisonKind, Target: export.Clean(c.Target.Main), Scheme: schemesOf(c), Clock: c.Clock}
	for k := range c.Runs {
		i.Seconds += c.Runs[k].Time.Seconds()
		i.Calls += c.Runs[k].Calls
	}
	return i
}

func schemesOf(c *export.Comparison) string {
	var names []string
	for i := range c.Runs {
		names = append(names, export.Clean(c.Runs[i].Scheme))
	}
	return strings.Join(names, " ")
}

// Comparison is the comparison that a snapshot holds, read from its file where it is
// not in memory. It is nil if the snapshot is a recording, or there is no such
// snapshot. An error says that its file can't be read, and wraps what the file
// system says, or [export.ErrNotReport].
func (l *Live) Comparison(id int64) (*export.Comparison, error) {
	l.mu.Lock()
	s := l.snapshot(id)
	l.mu.Unlock()
	if s == nil || !s.isComparison() {
		return nil, nil
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	l.mu.Lock()
	c, file := s.compared, s.file
	l.mu.Unlock()
	if c != nil {
		return c, nil
	}
	k, err := l.store.readAny(file)
	if err == nil && k.Comparison == nil {
		err = fmt.Errorf("%w: it is no comparison", export.ErrNotReport)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		s.broken = export.Clean(err.Error())
		return nil, fmt.Errorf("snapshot %q: %w", s.Name, err)
	}
	s.compared = k.Comparison
	return k.Comparison, nil
}

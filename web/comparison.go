package web

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// comparesSchemes tells whether a snapshot is a comparison.
func (l *Live) comparesSchemes(id int64) bool {
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

// comparison is a snapshot's; nil if it is a recording, or there is none.
func (l *Live) comparison(id int64) (*export.Comparison, error) {
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

// sendComparison sends one as JSON or as text.
func (s *Server) sendComparison(w http.ResponseWriter, id int64, c *export.Comparison, form form) {
	kind, write := "application/json", c.JSON
	switch form.Name {
	case "json":
	case "text":
		kind, write = "text/plain; charset=utf-8", func(w io.Writer) error { return c.Text(w, export.TextOptions{}) }
	default:
		refuse(w, http.StatusBadRequest, "a comparison of schemes is written as json and text")
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s%s"`, s.live.fileName(id), form.Ending))
	if err := write(w); err != nil {
		s.log.Debug("comparison", "error", err)
	}
}

package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// postCompare compares schemes, and answers when that is done.
func (s *Server) postCompare(r *http.Request) (any, error) {
	defaults := s.live.Defaults()
	t := live.Trial{Recording: defaults.ForComparison()}
	if err := body(r, &t); err != nil {
		return nil, err
	}
	if err := t.Complete(); err != nil {
		return nil, badRequest(err)
	}
	info, err := s.live.CompareSchemes(whole(r), t)
	if err != nil {
		return nil, err
	}
	c, err := s.live.Comparison(info.ID)
	if err != nil || c == nil { // ended before there was anything, or deleted meanwhile
		return map[string]any{"snapshot": 0, "comparison": nil}, err
	}
	var text bytes.Buffer
	if err := c.JSON(&text); err != nil {
		return nil, err
	}
	return map[string]any{"snapshot": info.ID, "comparison": json.RawMessage(text.Bytes())}, nil
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
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s%s"`, s.live.FileName(id), form.Ending))
	if err := write(w); err != nil {
		s.log.Debug("comparison", "error", err)
	}
}

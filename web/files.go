package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// maxFile bounds a file that is opened, as it is sent.
const maxFile = 1 << 30

// A form is a format as the page offers it.
type form struct {
	Name     string `json:"name"`
	Ending   string `json:"ending"`
	Timeline bool   `json:"timeline,omitempty"` // only recordings with a timeline have it
	write    func(r *export.Report, w io.Writer) error
}

// formats are those of package export, and the timeline by itself.
func formats() []form {
	out := []form{}
	for _, name := range export.FormatNames() {
		f, _ := export.FormatNamed(name)
		out = append(out, form{Name: name, Ending: f.Ends[0], write: func(r *export.Report, w io.Writer) error {
			return f.Write(r, w, export.FormatOptions{Text: export.TextOptions{Top: export.DefaultTop, Depth: export.DefaultDepth}})
		}})
	}
	return append(out, form{Name: "trace", Ending: ".trace.json", Timeline: true, write: (*export.Report).Trace})
}

// getReport sends a recording, by default as JSON of schema 1.
func (s *Server) getReport(w http.ResponseWriter, r *http.Request) {
	id, err := number(r, "source", 0)
	all := formats()
	known := slices.IndexFunc(all, func(f form) bool { return f.Name == cmp.Or(r.URL.Query().Get("format"), "json") })
	if err == nil && known < 0 {
		var names []string
		for _, f := range all {
			names = append(names, f.Name)
		}
		err = badRequestf("there is no such format; there are %s", strings.Join(names, ", "))
	}
	if err != nil {
		refuse(w, code(err), err.Error())
		return
	}
	form := all[known]
	if c, err := s.live.Comparison(id); err == nil && c != nil {
		s.sendComparison(w, id, c, form)
		return
	}
	report, err := s.live.SourceReport(r.Context(), id, form.Timeline || form.Name == "snapshot")
	if err == nil && form.Timeline && report.Timeline == nil {
		err = live.ErrNoTimeline
	}
	if err != nil {
		refuse(w, code(err), err.Error())
		return
	}
	kind := "application/octet-stream"
	if form.Name == "json" || form.Timeline {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s%s"`, s.live.FileName(id), form.Ending))
	if err := form.write(report, w); err != nil {
		s.log.Debug("report", "error", err)
	}
}

// postOpen takes a saved report, JSON or a snapshot, or a comparison, into the list.
func (s *Server) postOpen(w http.ResponseWriter, r *http.Request) {
	fail := func(err error) { refuse(w, code(err), export.Clean(err.Error())) }
	body := http.MaxBytesReader(w, r.Body, maxFile)
	k, err := export.ReadSaved(body)
	if err != nil {
		fail(fmt.Errorf("%w; rivulet profile --format json or snapshot writes what can be opened, and so do the exports of this page", err))
		return
	}
	info, err := s.live.Open(k, r.URL.Query().Get("name"))
	if err != nil {
		fail(err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(info) //nolint:errcheck // the client has gone
}

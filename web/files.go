package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// mostFile bounds a file that is opened, as it is sent.
const mostFile = 1 << 30

// A form is a format as the page offers it.
type form struct {
	Name   string `json:"name"`
	Ending string `json:"ending"`
}

func formats() []form {
	out := []form{}
	for _, name := range export.FormatNames() {
		f, _ := export.FormatNamed(name)
		out = append(out, form{name, f.Ends[0]})
	}
	return out
}

// getReport sends a recording, by default as JSON of schema 1.
func (s *Server) getReport(w http.ResponseWriter, r *http.Request) {
	id, err := number(r, "source", 0)
	form, known := export.FormatNamed(cmp.Or(r.URL.Query().Get("format"), "json"))
	if err == nil && !known {
		err = bad("there is no such format; there are %s", strings.Join(export.FormatNames(), ", "))
	}
	if c, cerr := s.live.comparison(id); err == nil && cerr == nil && c != nil {
		s.sendComparison(w, id, c, form)
		return
	}
	if err == nil && id == 0 {
		_, err = s.live.recent(whole(r))
	}
	if err == nil {
		if f := s.live.source(id); f != nil {
			kind := "application/octet-stream"
			if form.Name == "json" {
				kind = "application/json"
			}
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s%s"`, s.live.fileName(id), form.Ends[0]))
			options := export.FormatOptions{Text: export.TextOptions{Top: export.DefaultTop, Depth: export.DefaultDepth}}
			if err := form.Write(f.Report, w, options); err != nil {
				s.log.Debug("report", "error", err)
			}
			return
		}
		err = s.live.missing(id)
	}
	refuse(w, code(err), err.Error())
}

// fileName is what a recording's file is called: the snapshot's name, in letters
// that every file system has.
func (l *Live) fileName(id int64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := "rivulet"
	if s := l.snapshot(id); s != nil {
		name = s.Name
	}
	name = strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, name), ".-")
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return cmp.Or(name, "rivulet")
}

// postOpen takes a saved report, JSON or a snapshot, or a comparison, into the list.
func (s *Server) postOpen(w http.ResponseWriter, r *http.Request) {
	fail := func(err error) { refuse(w, code(err), export.Clean(err.Error())) }
	body := http.MaxBytesReader(w, r.Body, mostFile)
	k, err := export.ReadSaved(body)
	if err != nil {
		fail(fmt.Errorf("%w; rivulet profile --format json or snapshot writes what can be opened, and so do the exports of this page", err))
		return
	}
	name := r.URL.Query().Get("name")
	var info SnapshotInfo
	if k.Comparison != nil {
		info, err = s.live.open(&Snapshot{compared: k.Comparison}, name)
	} else {
		info, err = s.live.Open(k.Report, name)
	}
	if err != nil {
		fail(err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(info) //nolint:errcheck // the client has gone
}

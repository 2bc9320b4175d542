package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// refuse answers with an error that people can read.
func refuse(w http.ResponseWriter, code int, text string) {
	refuseWith(w, code, refusal{Error: text})
}

// A refusal is the answer to what can't be done.
type refusal struct {
	Error  string `json:"error"`
	Option string `json:"option,omitempty"` // a member of the request's that would do it all the same
}

func refuseWith(w http.ResponseWriter, code int, r refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(r) //nolint:errcheck // the client has gone
}

// An apiError is a request that is at fault.
type apiError struct {
	code int
	error
}

func (e apiError) Unwrap() error { return e.error }

func badRequestf(format string, args ...any) error { return badRequest(fmt.Errorf(format, args...)) }

// badRequest marks an error as one that whoever made the request can do something about;
// nil stays nil.
func badRequest(err error) error {
	if err == nil {
		return nil
	}
	return apiError{http.StatusBadRequest, err}
}

// routes are the REST interface; docs/formats-web.md lists them.
func (s *Server) routes(mux *http.ServeMux) {
	get := func(path string, f func(*http.Request) (any, error)) { mux.Handle("GET /api/"+path, answer(f)) }
	post := func(path string, f func(*http.Request) (any, error)) { mux.Handle("POST /api/"+path, answer(f)) }
	get("state", func(r *http.Request) (any, error) {
		_, err := s.live.RecentReport(whole(r))
		return s.live.State(), err
	})
	get("log", func(r *http.Request) (any, error) {
		after, err := number(r, "after", 0)
		return s.live.Entries(after), err
	})
	get("targets", func(r *http.Request) (any, error) {
		t, err := s.live.Targets(r.Context())
		if t == nil {
			t = []live.Target{}
		}
		return t, err
	})
	get("methods", s.getMethods)
	get("packages", func(r *http.Request) (any, error) {
		return s.live.Packages(r.Context(), r.URL.Query().Get("in")), nil
	})
	get("compare", s.getCompare)
	get("timeline", s.getTimeline)
	get("loads", s.getLoads)
	get("inside", s.getInside)
	mux.HandleFunc("POST /api/inside", s.postInside)
	post("inside/end", s.inside.finish)
	get("fleet", s.getFleet)
	mux.HandleFunc("POST /api/fleet", s.postFleet)
	post("fleet/end", s.fleet.finish)
	mux.HandleFunc("GET /api/report", s.getReport)
	mux.HandleFunc("POST /api/open", s.postOpen)
	get("formats", func(*http.Request) (any, error) { return formats(), nil })
	post("attach", s.postAttach)
	post("demo", s.postDemo)
	post("suggest", s.postSuggest)
	post("preview", s.postPreview)
	post("start", s.postStart)
	post("compare", s.postCompare)
	post("stop", func(r *http.Request) (any, error) { return s.done(s.live.Stop(whole(r))) })
	post("detach", func(r *http.Request) (any, error) { return s.done(s.live.Detach(whole(r))) })
	post("action", s.postAction)
	post("save", s.postSave)
	post("rename", s.postRename)
	post("delete", s.postDelete)
	mux.HandleFunc("GET "+metricsPath, s.getMetrics)
	mux.HandleFunc("GET "+pprofPath, s.getPprof)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "there is no "+r.Method+" "+clip(r.URL.Path)+"; docs/formats-web.md lists what there is")
	})
}

// whole is the context of an action: it is carried out whole even if the
// client goes away.
func whole(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }

func (s *Server) done(err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return s.live.State(), nil
}

// answer makes a handler out of a function that returns what is to be sent.
func answer(f func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		out, err := f(r)
		if err != nil {
			refuseWith(w, code(err), refusal{export.Clean(err.Error()), option(err)})
			return
		}
		b, err := json.Marshal(out)
		if err != nil {
			refuse(w, http.StatusInternalServerError, err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(b) //nolint:errcheck // the client has gone
	})
}

// option is what a request lacks that was refused for the target's sake; "" for other errors.
func option(err error) string {
	if errors.Is(err, live.ErrFullHeap) {
		return "full_heap"
	}
	return ""
}

func code(err error) int {
	var e apiError
	switch {
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, live.ErrBusy), errors.Is(err, live.ErrPhase):
		return http.StatusConflict
	case errors.Is(err, live.ErrNoSnapshot), errors.Is(err, live.ErrNoTimeline):
		return http.StatusNotFound
	case errors.Is(err, live.ErrNotRecording):
		return http.StatusBadRequest
	}
	return http.StatusUnprocessableEntity
}

// body reads a request's JSON.
func body(r *http.Request, to any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return apiError{http.StatusUnsupportedMediaType, errors.New("send application/json")}
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return badRequestf("the request's body: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return badRequestf("the request's body: something follows the object")
	}
	return nil
}

// recording reads what is to be recorded, and refuses what makes no sense.
func recording(r *http.Request, to interface{ Validate() error }) error {
	if err := body(r, to); err != nil {
		return err
	}
	return badRequest(to.Validate())
}

func number(r *http.Request, name string, other int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return other, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, badRequestf("%s=%s is not a number", name, clip(text))
	}
	return n, nil
}

func (s *Server) getMethods(r *http.Request) (any, error) {
	most, err := number(r, "limit", 50)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query().Get("q")
	if len(q) > 200 {
		return nil, badRequestf("a query of more than 200 letters")
	}
	best, count := s.live.Search(r.Context(), q, int(min(most, 500)))
	return map[string]any{"methods": best, "count": count}, nil
}

func (s *Server) postAttach(r *http.Request) (any, error) {
	var b struct {
		PID      int   `json:"pid"`
		Memory   int64 `json:"memory"`
		FullHeap bool  `json:"full_heap"`
	}
	if err := body(r, &b); err != nil {
		return nil, err
	}
	if b.PID <= 0 || b.Memory < 0 {
		return nil, badRequestf("give a pid, and memory in bytes or 0")
	}
	return s.done(s.live.Attach(whole(r), b.PID, live.AttachOptions{Memory: b.Memory, FullHeap: b.FullHeap}))
}

func (s *Server) postDemo(r *http.Request) (any, error) {
	d, err := s.live.Demo(whole(r))
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (s *Server) postPreview(r *http.Request) (any, error) {
	rec := s.live.Defaults()
	if err := recording(r, &rec); err != nil {
		return nil, err
	}
	p, err := s.live.Preview(r.Context(), rec)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := p.JSON(&b); err != nil {
		return nil, err
	}
	return json.RawMessage(b.Bytes()), nil
}

func (s *Server) postSuggest(r *http.Request) (any, error) {
	var b struct {
		SamplesOnly bool `json:"samples_only"`
	}
	if err := body(r, &b); err != nil {
		return nil, err
	}
	return s.live.Suggest(r.Context(), !b.SamplesOnly)
}

func (s *Server) postStart(r *http.Request) (any, error) {
	rec := s.live.Defaults()
	if err := recording(r, &rec); err != nil {
		return nil, err
	}
	return s.done(s.live.Start(whole(r), rec))
}

func (s *Server) postAction(r *http.Request) (any, error) {
	var b struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if err := body(r, &b); err != nil {
		return nil, err
	}
	return s.done(s.live.Do(whole(r), b.Name, b.Value))
}

func (s *Server) postSave(r *http.Request) (any, error) {
	var b struct {
		Name string `json:"name"`
	}
	if err := body(r, &b); err != nil {
		return nil, err
	}
	info, err := s.live.Keep(whole(r), b.Name)
	if err != nil {
		return nil, err
	}
	return info, nil
}

func (s *Server) postRename(r *http.Request) (any, error) {
	var b struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	if err := body(r, &b); err != nil {
		return nil, err
	}
	return s.done(s.live.Rename(b.ID, b.Name))
}

func (s *Server) postDelete(r *http.Request) (any, error) {
	var b struct {
		ID int64 `json:"id"`
	}
	if err := body(r, &b); err != nil {
		return nil, err
	}
	return s.done(s.live.Delete(b.ID))
}

// getTimeline answers with a part of a timeline: of a snapshot, or live.
func (s *Server) getTimeline(r *http.Request) (any, error) {
	var q live.TimelineQuery
	var source, most int64
	for _, f := range []struct {
		name string
		to   *int64
	}{{"source", &source}, {"from", &q.From}, {"to", &q.To}, {"thread", &q.Thread}, {"limit", &most}} {
		var err error
		if *f.to, err = number(r, f.name, 0); err != nil {
			return nil, err
		}
	}
	q.Most = int(min(most, live.MostItems))
	if q.To != 0 && q.To < q.From {
		return nil, badRequestf("to=%d lies before from=%d", q.To, q.From)
	}
	return s.live.Timeline(r.Context(), source, q)
}

// getCompare is the comparison of two snapshots for scripts: the method
// numbers are replaced by names.
func (s *Server) getCompare(r *http.Request) (any, error) {
	a, err := number(r, "before", 0)
	if err != nil {
		return nil, err
	}
	b, err := number(r, "after", 0)
	if err != nil {
		return nil, err
	}
	page, err := s.live.Compare(a, b, &live.CompareQuery{Rows: 1, Each: r.URL.Query().Get("each") == "1"})
	if err != nil {
		return nil, err
	}
	type change struct {
		Method      string `json:"method"`
		CallsBefore int64  `json:"calls_before"`
		CallsAfter  int64  `json:"calls_after"`
		SelfBefore  int64  `json:"self_before_ns"`
		SelfAfter   int64  `json:"self_after_ns"`
		TotalBefore int64  `json:"total_before_ns"`
		TotalAfter  int64  `json:"total_after_ns"`
		SelfNoise   int64  `json:"self_noise_ns"`
	}
	changes := []change{}
	for _, c := range page.Changes {
		changes = append(changes, change{s.live.Method(int32(c[0])).Name, c[1], c[2], c[3], c[4], c[5], c[6], c[7]})
	}
	return map[string]any{"before_ns": page.Before, "after_ns": page.After, "root_invocations": page.Roots, "unlike": page.Unlike, "verdict": page.Verdict, "scaled": page.Scaled, "changes": changes, "more": page.More}, nil
}

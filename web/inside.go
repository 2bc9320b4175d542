package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// What of a JVM can be looked into, see [InsideQuery].
const (
	insideThreads   = "threads"
	insideLocks     = "locks"
	insideLoads     = "loads"
	insideHistogram = "histogram"
	insidePlan      = "plan"
	insideHeap      = "heap"
)

// An InsideQuery says what of a JVM is looked into.
type InsideQuery struct {
	PID int `json:"pid"`

	// What is "threads", "locks", "loads" (of classes), "histogram", "plan" (what a heap dump needs) or "heap" (a
	// dump, and its analysis).
	What string `json:"what"`

	// Seconds is for how long: threads' use of the processors, who waits at locks, which classes are loaded, what
	// grows in the histogram. 0 to 300; 0 looks once.
	Seconds float64 `json:"seconds"`

	Exact bool `json:"exact"` // of locks: each wait, by Flight Recorder
	All   bool `json:"all"`   // of the heap: dead objects, too, without a collection before

	Timeline bool `json:"timeline"` // of threads: their states meanwhile

	// Source is the recording whose contexts allocated what is in the heap, as of GET /api/report; -1 is none.
	Source int64 `json:"source"`

	Recording *export.Report `json:"-"` // Source's; nil is none
}

// An InsideFunc looks into a JVM. When first is done, it ends early and returns what it has, if that is of
// use; second must end it at once. tell may be called concurrently. The answer is sent as JSON.
type InsideFunc func(first, second context.Context, q InsideQuery, tell func(Step)) (any, error)

const (
	insideMost = 300 // seconds
	insideKept = 12  // answers
)

// An insideKey says what an answer is of.
type insideKey struct {
	pid  int
	what string
}

// A keptAnswer is one that a page can have again.
type keptAnswer struct {
	insideKey
	answered
}

// An insides is what the server knows of looks into JVMs.
type insides struct {
	turns

	look InsideFunc
	kept []keptAnswer // the newest last; guarded as turns are
}

func (q *InsideQuery) check() error {
	switch {
	case q.PID <= 0:
		return badRequestf("pid: give the number of a process; GET /api/targets lists the JVMs")
	case !slices.Contains([]string{insideThreads, insideLocks, insideLoads, insideHistogram, insidePlan, insideHeap}, q.What):
		return badRequestf("what=%s: there is only threads, locks, loads, histogram, plan and heap", clip(q.What))
	case !(q.Seconds >= 0 && q.Seconds <= insideMost):
		return badRequestf("seconds: give 0 to %d", insideMost)
	case q.Seconds == 0 && (q.What == insideLoads || q.Exact || q.Timeline):
		return badRequestf("seconds: give a time for which is looked, up to %d", insideMost)
	}
	return nil
}

// keep keeps an answer.
func (i *insides) keep(q *InsideQuery, a answered) {
	if a.Error != "" || q.What == insidePlan {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	key := insideKey{q.PID, q.What}
	i.kept = slices.DeleteFunc(i.kept, func(k keptAnswer) bool { return k.insideKey == key })
	i.kept = append(i.kept, keptAnswer{key, a})
	i.kept = i.kept[max(0, len(i.kept)-insideKept):]
}

// getInside answers with the last look of a kind into a JVM; null if there was none.
func (s *Server) getInside(r *http.Request) (any, error) {
	pid, err := number(r, "pid", 0)
	if err != nil {
		return nil, err
	}
	s.inside.mu.Lock()
	defer s.inside.mu.Unlock()
	for _, k := range s.inside.kept {
		if k.insideKey == (insideKey{int(pid), r.URL.Query().Get("what")}) {
			return k.answered, nil
		}
	}
	return nil, nil //nolint:nilnil // null: nobody has looked yet
}

// postInside looks into a JVM: lines of JSON say what is being done, the last one is the answer. A client that
// goes away ends it.
func (s *Server) postInside(w http.ResponseWriter, r *http.Request) {
	var q InsideQuery
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	q.Source = -1
	err := body(r, &q)
	if err == nil {
		err = q.check()
	}
	if err == nil && s.inside.look == nil {
		err = badRequestf("this server looks into no JVM")
	}
	if err == nil && q.Source >= 0 {
		q.Recording, err = s.live.SourceReport(r.Context(), q.Source, false)
	}
	if err != nil {
		refuse(w, code(err), export.Clean(err.Error()))
		return
	}
	s.stream(w, r, &s.inside.turns, fmt.Sprintf("a look at %s of process %d", q.What, q.PID), func(first, second context.Context, tell func(Step)) (any, error) {
		return s.inside.look(first, second, q, tell)
	}, func(a answered) { s.inside.keep(&q, a) })
}

// getLoads answers with the class loads of a recording, and why.
func (s *Server) getLoads(r *http.Request) (any, error) {
	source, err := number(r, "source", 0)
	if err != nil {
		return nil, err
	}
	report, err := s.live.SourceReport(r.Context(), source, false)
	if err != nil {
		return nil, err
	}
	loads, err := report.CausedLoads()
	return loads, badRequest(err)
}

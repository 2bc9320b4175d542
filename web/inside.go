package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

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

// An InsideStep says what is being done, or with Text what a person should know.
type InsideStep struct {
	Phase string `json:"phase,omitempty"`
	Done  int64  `json:"done,omitempty"`  // bytes
	Total int64  `json:"total,omitempty"` // 0 is unknown
	Text  string `json:"text,omitempty"`
}

// An InsideFunc looks into a JVM. When first is done, it ends early and returns what it has, if that is of
// use; second must end it at once. tell may be called concurrently. The answer is sent as JSON.
type InsideFunc func(first, second context.Context, q InsideQuery, tell func(InsideStep)) (any, error)

const (
	insideMost  = 300 // seconds
	insideKept  = 12  // answers
	insideEvery = 200 * time.Millisecond
	insideWait  = 8 // looks that wait for their turn
)

// An insideAnswer is the last line of an answer, and what is kept of it.
type insideAnswer struct {
	Taken  time.Time       `json:"taken"`
	Said   []string        `json:"said"` // meanwhile
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// An insideKey says what an answer is of.
type insideKey struct {
	pid  int
	what string
}

// A keptAnswer is one that a page can have again.
type keptAnswer struct {
	insideKey
	insideAnswer
}

// An insides is what the server knows of looks into JVMs.
type insides struct {
	look InsideFunc
	jobs sync.WaitGroup

	mu      sync.Mutex
	busy    string // what is being done; "" is nothing
	end     context.CancelFunc
	free    chan struct{} // closed when that is done
	waiting int           // looks that wait for that
	kept    []keptAnswer  // the newest last
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

// begin claims the place of the one look that may go on, and waits until it is free: the client is told for what. An
// error about too many that wait comes before anything is told; others are ctx's.
func (i *insides) begin(ctx context.Context, q *InsideQuery, end context.CancelFunc, tell func(InsideStep)) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.busy != "" && i.waiting >= insideWait {
		return apiError{http.StatusConflict, fmt.Errorf("%s is being looked at, and %d looks wait; try again later", i.busy, i.waiting)}
	}
	for i.busy != "" {
		free, what := i.free, i.busy
		i.waiting++
		i.mu.Unlock()
		tell(InsideStep{Phase: "waiting for a look at " + what})
		select {
		case <-free:
		case <-ctx.Done():
		}
		i.mu.Lock()
		i.waiting--
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	i.busy, i.end, i.free = fmt.Sprintf("%s of process %d", q.What, q.PID), end, make(chan struct{})
	i.jobs.Add(1)
	return nil
}

// done keeps an answer.
func (i *insides) done(q *InsideQuery, a insideAnswer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy, i.end = "", nil
	close(i.free)
	i.jobs.Done()
	if a.Error != "" || q.What == insidePlan {
		return
	}
	key := insideKey{q.PID, q.What}
	i.kept = slices.DeleteFunc(i.kept, func(k keptAnswer) bool { return k.insideKey == key })
	i.kept = append(i.kept, keptAnswer{key, a})
	i.kept = i.kept[max(0, len(i.kept)-insideKept):]
}

// over is closed when no look goes on any more; no other one may begin.
func (i *insides) over() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		i.jobs.Wait()
		close(done)
	}()
	return done
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
			return k.insideAnswer, nil
		}
	}
	return nil, nil //nolint:nilnil // null: nobody has looked yet
}

// endInside ends the look that goes on, which answers with what it has.
func (s *Server) endInside(*http.Request) (any, error) {
	s.inside.mu.Lock()
	defer s.inside.mu.Unlock()
	if s.inside.end == nil {
		return nil, apiError{http.StatusConflict, errors.New("nothing is being looked at")}
	}
	s.inside.end()
	return struct{}{}, nil
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
	second, drop := context.WithCancel(r.Context())
	defer drop()
	first, end := context.WithCancel(second)
	defer end()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-s.over:
			drop()
		case <-stop:
		}
	}()
	lines := &insideLines{w: w}
	if err == nil {
		err = s.inside.begin(second, &q, end, lines.tell)
	}
	if err != nil {
		if second.Err() == nil { // else nobody listens
			refuse(w, code(err), export.Clean(err.Error()))
		}
		return
	}
	a := insideAnswer{Said: []string{}}
	defer func() { s.inside.done(&q, a) }() // also after a fault of its own
	a.Error = "a fault of Rivulet's own; its log on the terminal has more"
	out, err := s.inside.look(first, second, q, lines.tell)
	if err == nil {
		var b []byte
		if b, err = json.Marshal(out); err == nil {
			a.Result = export.CleanJSON(b)
		}
	}
	a.Error, a.Taken = "", time.Now()
	if err != nil {
		a.Error = export.Clean(err.Error())
	}
	a.Said = append(a.Said, lines.said...)
	lines.send(a)
}

// An insideLines sends lines of JSON as they come.
type insideLines struct {
	mu   sync.Mutex
	w    http.ResponseWriter
	last time.Time
	said []string
}

// tell sends what is being done, not too often, and what a person should know.
func (l *insideLines) tell(s InsideStep) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Text == "" && time.Since(l.last) < insideEvery {
		return
	}
	l.last = time.Now()
	if s.Text != "" {
		s.Text = export.Clean(strings.TrimSpace(s.Text))
		l.said = append(l.said, s.Text)
	}
	l.write(s)
}

func (l *insideLines) send(v any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(v)
}

const ndjson = "application/x-ndjson"

func (l *insideLines) write(v any) {
	l.w.Header().Set("Content-Type", ndjson)
	json.NewEncoder(l.w).Encode(v)          //nolint:errcheck // the client has gone
	http.NewResponseController(l.w).Flush() //nolint:errcheck // as above
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

package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

const (
	tellEvery = 200 * time.Millisecond
	mostWait  = 8 // that wait for their turn
)

// A Step says what is being done, or with Text what a person should know.
type Step struct {
	Phase string `json:"phase,omitempty"`
	Done  int64  `json:"done,omitempty"`  // bytes
	Total int64  `json:"total,omitempty"` // 0 is unknown
	Text  string `json:"text,omitempty"`
}

// An answered is the last line of an answer, and what is kept of it.
type answered struct {
	Taken  time.Time       `json:"taken"`
	Said   []string        `json:"said"` // meanwhile
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// turns are taken by what is done one at a time and takes a while.
type turns struct {
	jobs sync.WaitGroup

	mu      sync.Mutex
	busy    string // what is being done; "" is nothing
	end     context.CancelFunc
	free    chan struct{} // closed when that is done
	waiting int           // that wait for that
}

// begin claims the one place, and waits until it is free: the client is told for what. An error about too many that
// wait comes before anything is told; others are ctx's.
func (t *turns) begin(ctx context.Context, what string, end context.CancelFunc, tell func(Step)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy != "" && t.waiting >= mostWait {
		return apiError{http.StatusConflict, fmt.Errorf("%s goes on, and %d others wait; try again later", t.busy, t.waiting)}
	}
	for t.busy != "" {
		free, other := t.free, t.busy
		t.waiting++
		t.mu.Unlock()
		tell(Step{Phase: "waiting for " + other})
		select {
		case <-free:
		case <-ctx.Done():
		}
		t.mu.Lock()
		t.waiting--
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	t.busy, t.end, t.free = what, end, make(chan struct{})
	t.jobs.Add(1)
	return nil
}

// done gives the place back.
func (t *turns) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy, t.end = "", nil
	close(t.free)
	t.jobs.Done()
}

// over is closed when nothing is done any more; no other one may begin.
func (t *turns) over() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		t.jobs.Wait()
		close(done)
	}()
	return done
}

// finish ends what is being done, which answers with what it has.
func (t *turns) finish(*http.Request) (any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end == nil {
		return nil, apiError{http.StatusConflict, errors.New("nothing goes on that could be ended")}
	}
	t.end()
	return struct{}{}, nil
}

// stream does something in its turn, without one if t is nil: lines of JSON say what is being done, the last one is the
// answer, which keep gets as well. A client that goes away ends it.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, t *turns, what string, do func(first, second context.Context, tell func(Step)) (any, error), keep func(answered)) {
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
	lines := &stepLines{w: w}
	defer lines.close()
	if t != nil {
		if err := t.begin(second, what, end, lines.tell); err != nil {
			if second.Err() == nil { // else nobody listens
				refuse(w, code(err), export.Clean(err.Error()))
			}
			return
		}
		defer t.done() // also after a fault of its own
	}
	a := answered{Said: []string{}}
	defer func() { keep(a) }()
	a.Error = "a fault of Rivulet's own; its log on the terminal has more"
	out, err := do(first, second, lines.tell)
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

// stepLines sends lines of JSON as they come.
type stepLines struct {
	mu   sync.Mutex
	w    http.ResponseWriter
	last time.Time
	said []string

	pending *Step // that came too soon after the last one; a later one takes its place
	closed  bool
}

// tell sends what is being done, not too often, and what a person should know.
func (l *stepLines) tell(s Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if s.Text != "" {
		s.Text = export.Clean(strings.TrimSpace(s.Text))
		l.said = append(l.said, s.Text)
		l.write(s)
		return
	}
	if time.Since(l.last) < tellEvery {
		if l.pending == nil {
			time.AfterFunc(tellEvery, l.late)
		}
		l.pending = &s
		return
	}
	l.pending = nil
	l.last = time.Now()
	l.write(s)
}

// late sends what came too soon.
func (l *stepLines) late() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending != nil && !l.closed {
		l.last = time.Now()
		l.write(*l.pending)
	}
	l.pending = nil
}

// send sends the last line.
func (l *stepLines) send(v any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(v)
	l.closed = true
}

// close has nothing written any more.
func (l *stepLines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

const ndjson = "application/x-ndjson"

func (l *stepLines) write(v any) {
	l.w.Header().Set("Content-Type", ndjson)
	json.NewEncoder(l.w).Encode(v)          //nolint:errcheck // the client has gone
	http.NewResponseController(l.w).Flush() //nolint:errcheck // as above
}

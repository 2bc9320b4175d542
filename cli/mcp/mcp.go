// Package mcp lets an assistant use Rivulet by the Model Context Protocol: it finds
// JVMs, samples them, chooses a root, records within a budget, and asks questions
// about what was found.
//
// A [Server] keeps the reports of its own session only, a bounded number of them.
// What it may do is said when it is made: which processes, for how long, whether it
// may instrument at all. Each refusal says which flag would allow it. Reports of one
// server may be asked for by several requests at a time; a JVM is sampled or recorded
// by one request at a time, the others wait.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A Backend does what the tools ask for.
type Backend interface {
	// Processes lists the JVMs that the user may see.
	Processes(ctx context.Context) ([]attach.Process, error)
	// Sample samples a JVM from outside.
	Sample(ctx context.Context, pid int, length time.Duration, wall bool) (*export.Report, error)
	// Record records what a root calls, and leaves the JVM as it was, also when ctx
	// ends before.
	Record(ctx context.Context, pid int, o Recording) (*export.Report, error)
	// Load reads a saved report.
	Load(path string) (*export.Report, error)
}

// A Recording says what to record.
type Recording struct {
	Roots  []string
	Length time.Duration
	Share  float64 // of the root calls that are recorded; 0 for all
	Count  string  // a further metric, such as "bytecodes"; "" for none
}

// A Budget says what an assistant may do.
type Budget struct {
	Longest time.Duration // of one sampling or recording
	Record  bool          // exact recordings, which instrument a JVM
	PIDs    []int         // the only processes; empty for all that the user may see
	Files   bool          // saved reports may be read
}

// mostReports bounds those that a server keeps; the oldest goes first.
const mostReports = 20

// A Server answers an assistant. Its methods may be called concurrently.
type Server struct {
	backend Backend
	budget  Budget
	sdk     *mcp.Server

	mu      sync.Mutex
	next    int
	kept    []string // ids, the oldest first
	reports map[string]*export.Report
	busy    map[int]chan struct{} // by process: holds a value while a request is at it
}

const instructions = `Rivulet profiles running JVMs. Start with list_jvms, then sample: it needs no agent and disturbs nothing, its figures are estimates. ` +
	`suggest_roots names methods worth an exact recording; record counts all calls below one of them exactly, which instruments the JVM for a while and restores it. ` +
	`Both give a report id; ask about it with top, callers, tree and diff. Say which figures are estimates. Never record on a production server without the user's consent.`

// New makes a server. version is the program's.
func New(backend Backend, budget Budget, version string) *Server {
	s := &Server{
		backend: backend, budget: budget, reports: map[string]*export.Report{}, busy: map[int]chan struct{}{},
		sdk: mcp.NewServer(&mcp.Implementation{Name: "rivulet", Title: "Rivulet, a profiler for running JVMs", Version: version}, &mcp.ServerOptions{Instructions: instructions}),
	}
	s.tools()
	return s
}

// Run answers over a transport until the client leaves or ctx ends. The error is
// ctx's or the transport's.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error { return s.sdk.Run(ctx, t) }

// Errors of requests that are refused.
var (
	errNoReport = errors.New("there is no such report; reports lists them, sample and record make them")
	errRole     = errors.New("this server may not record: whoever started it can allow that by --allow record")
)

// keep stores a report under a new id.
func (s *Server) keep(r *export.Report) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	id := fmt.Sprint("r", s.next)
	s.reports[id] = r
	if s.kept = append(s.kept, id); len(s.kept) > mostReports {
		delete(s.reports, s.kept[0])
		s.kept = s.kept[1:]
	}
	return id
}

func (s *Server) report(id string) (*export.Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.reports[id]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("%q: %w", id, errNoReport)
}

// allowed checks a process and a length against the budget.
func (s *Server) allowed(pid int, seconds float64) (time.Duration, error) {
	if len(s.budget.PIDs) > 0 && !slices.Contains(s.budget.PIDs, pid) {
		return 0, fmt.Errorf("process %d is not among those that this server may look at (--pid)", pid)
	}
	if !(seconds > 0) || seconds > s.budget.Longest.Seconds() {
		return 0, fmt.Errorf("seconds must be above 0 and at most %g (--longest)", s.budget.Longest.Seconds())
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// alone waits until no other request is at a process.
func (s *Server) alone(ctx context.Context, pid int) (release func(), err error) {
	s.mu.Lock()
	c := s.busy[pid]
	if c == nil {
		c = make(chan struct{}, 1)
		s.busy[pid] = c
	}
	s.mu.Unlock()
	select {
	case c <- struct{}{}:
		return func() { <-c }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

package export

import (
	"errors"
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// ErrNoLoads is returned for reports that can't know of class loads: those of samples.
var ErrNoLoads = errors.New("it is a report of samples, which know of no class loads; record the program with --count classes")

// CausedLoads are the classes that were loaded, and why: the JSON form of rivulet classes --causes.
type CausedLoads struct {
	Schema  int          `json:"schema"`
	Kind    string       `json:"kind"` // "class_loads"
	File    string       `json:"file,omitempty"`
	PID     int          `json:"pid,omitempty"`
	Seconds float64      `json:"seconds"`            // for which it was looked
	Total   int64        `json:"total_ns,omitempty"` // of a report: the time of its roots
	Summary string       `json:"summary"`            // in a sentence; "" where nothing was loaded
	Loads   []CausedLoad `json:"loads"`              // by the time at which they began
	Notes   []string     `json:"notes"`
}

// A CausedLoad is a class that was loaded, and why.
type CausedLoad struct {
	Class   string   `json:"class"`
	Loader  string   `json:"loader"`
	From    string   `json:"from,omitempty"` // the jar, folder or module that it came from
	At      int64    `json:"at_ns"`          // since the recording began
	Took    *int64   `json:"took_ns"`        // null where nobody timed it
	Own     *int64   `json:"self_ns"`        // without other loads that it needed
	Thread  string   `json:"thread"`
	Cause   string   `json:"cause"`   // the method that needed it
	Context []string `json:"context"` // from the root, or the thread's first method, to that method
}

// CausedLoads are those of a recording, with the context that needed each. It fails with
// [ErrNoLoads] for samples. It may be called concurrently as long as nobody changes the report.
func (r *Report) CausedLoads() (*CausedLoads, error) {
	if r.Sampling != nil {
		return nil, ErrNoLoads
	}
	j := &CausedLoads{Schema: Schema, Kind: "class_loads", Seconds: r.Time.Seconds(), Summary: r.LoadLine(), Loads: []CausedLoad{}, Notes: []string{}}
	if r.Tree == nil {
		return j, nil
	}
	for _, root := range r.Tree.Roots() {
		j.Total += root.Total
	}
	for _, c := range r.Tree.Caused() {
		l := CausedLoad{Class: c.Class, Loader: c.Loader, From: c.From, At: c.At, Thread: c.Thread.Name, Context: methodsOf(r, c.Path)}
		if c.Took >= 0 {
			l.Took, l.Own = &c.Took, &c.Own
		}
		l.Cause = l.Context[len(l.Context)-1]
		j.Loads = append(j.Loads, l)
	}
	if k := r.Loads; k != nil {
		if !k.Timed {
			j.Notes = append(j.Notes, "how long loads took is known of recordings with --count classes, in a JVM that has Flight Recorder")
		}
		if k.Left > 0 {
			j.Notes = append(j.Notes, fmt.Sprintf("%s more found no room", Plural(k.Left, "load", "loads")))
		}
		if k.Unplaced > 0 {
			j.Notes = append(j.Notes, fmt.Sprintf("of %s the context is not known: Flight Recorder cut the stack off", Plural(k.Unplaced, "hidden class", "hidden classes")))
		}
	}
	return j, nil
}

func methodsOf(r *Report, path []*cct.Node) (names []string) {
	for _, n := range path {
		names = append(names, r.Method(n.Method).Name)
	}
	return names
}

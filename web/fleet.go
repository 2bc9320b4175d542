package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// What can be done in a fleet, see [FleetQuery].
const (
	fleetJVMs    = "jvms"
	fleetEvents  = "events"
	fleetSample  = "sample"
	fleetKept    = "kept"
	fleetProfile = "profile"
	fleetCompare = "compare"
	fleetHeap    = "heap"
	fleetLocks   = "locks"
)

var fleetWays = []string{fleetJVMs, fleetEvents, fleetSample, fleetKept, fleetProfile, fleetCompare, fleetHeap, fleetLocks}

// A FleetQuery says what is done in the JVMs of many hosts.
type FleetQuery struct {
	// Do is "jvms" (which there are), "events" (which rules came true), "sample", "kept" (samples of the time before),
	// "profile", "compare" (records groups at the same time), "heap" (objects by class) or "locks".
	Do string `json:"do"`

	Select string `json:"select"` // rules as of rivulet fleet --select; "" is all

	// Seconds is for how long, 0.1 to 300, of locks from 0 on, which looks for deadlocks alone; of events and kept how
	// far back, up to a week; of others nothing.
	Seconds float64 `json:"seconds"`

	AtOnce   string `json:"at_once"`  // of what is done in each JVM: as --max-at-once; "" is all
	Wall     bool   `json:"wall"`     // of sample: also threads that wait
	All      bool   `json:"all"`      // of heap: dead objects, too
	Exact    bool   `json:"exact"`    // of locks: each wait, by Flight Recorder
	Root     string `json:"root"`     // of profile and compare
	Overhead string `json:"overhead"` // of profile and compare: as --overhead; "" is any
	By       string `json:"by"`       // of compare: the key or label whose values make the groups
	Base     string `json:"base"`     // of compare: the value of the group that others are compared with; "" is the largest
}

// A FleetGroup are JVMs of a fleet that have the same value of a key, and what was recorded in them.
type FleetGroup struct {
	Value     string   `json:"value"`
	JVMs      int      `json:"jvms"`                  // whose recordings are in the figures
	RootCalls int64    `json:"root_invocations"`      // ended or not
	Mean      *int64   `json:"root_mean_ns"`          // total time by root call; null without any
	PerRoot   *float64 `json:"calls_per_root"`        // calls below a root call; null without any
	Why       string   `json:"error,omitempty"`       // why there are no figures, or what is missing in them
	Verdict   string   `json:"verdict,omitempty"`     // beside the base
	Snapshot  int64    `json:"snapshot_id,omitempty"` // of its recording; 0 if there is none

	Report *export.Report `json:"-"` // becomes the snapshot; nil if there is none
}

// FleetGroups are what "compare" returns.
type FleetGroups struct {
	By     string        `json:"by"`
	Base   string        `json:"base"` // the group that the others are compared with
	Groups []*FleetGroup `json:"groups"`
}

// A FleetFunc does something in a fleet, as [InsideFunc] looks into a JVM. What it returns is sent as JSON; a
// *[export.Report] is put among the snapshots, and that snapshot's line is sent. So are the reports of *[FleetGroups].
type FleetFunc func(first, second context.Context, q FleetQuery, tell func(Step)) (any, error)

// A Fleet is what the page can reach beyond this machine.
type Fleet struct {
	Name  string    // whose key it is, and of which role
	Local bool      // there is no fleet: several JVMs of this machine are reached
	Keys  []string  // by which JVMs are selected and put into groups, beside labels
	Do    FleetFunc // nil: there is no fleet
}

const (
	fleetLeast = 0.1           // seconds
	fleetBack  = 7 * 24 * 3600 // seconds
)

type fleetTurns struct {
	turns
	Fleet
}

func (q *FleetQuery) check() error {
	recorded := q.Do == fleetProfile || q.Do == fleetCompare
	switch {
	case !slices.Contains(fleetWays, q.Do):
		return badRequestf("do=%s: there is only %s", clip(q.Do), strings.Join(fleetWays, ", "))
	case (q.Do == fleetEvents || q.Do == fleetKept) && !(q.Seconds > 0 && q.Seconds <= fleetBack):
		return badRequestf("seconds: give up to %d", fleetBack)
	case q.Do == fleetLocks && !(q.Seconds >= 0 && q.Seconds <= insideMost):
		return badRequestf("seconds: give up to %d", insideMost)
	case q.Do == fleetLocks && q.Exact && q.Seconds == 0:
		return badRequestf("seconds: for how long shall each wait be recorded?")
	case (q.Do == fleetSample || recorded) && !(q.Seconds >= fleetLeast && q.Seconds <= insideMost):
		return badRequestf("seconds: give %g to %d", fleetLeast, insideMost)
	case recorded && q.Root == "":
		return badRequestf("root: which method shall be recorded?")
	case q.Do == fleetCompare && q.By == "":
		return badRequestf("by: which key's values make the groups?")
	}
	return nil
}

// getFleet answers with who the server is in a fleet; null if there is none.
func (s *Server) getFleet(*http.Request) (any, error) {
	if s.fleet.Do == nil {
		return nil, nil //nolint:nilnil // null: there is none
	}
	return struct {
		Name  string   `json:"name"`
		Local bool     `json:"local"`
		Keys  []string `json:"keys"`
	}{s.fleet.Name, s.fleet.Local, append([]string{}, s.fleet.Keys...)}, nil
}

// postFleet does something in a fleet, as postInside looks into a JVM.
func (s *Server) postFleet(w http.ResponseWriter, r *http.Request) {
	var q FleetQuery
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	err := body(r, &q)
	if err == nil {
		err = q.check()
	}
	if err == nil && s.fleet.Do == nil {
		err = badRequestf("this server has no key of a fleet: rivulet serve --fleet FILE")
	}
	if err != nil {
		refuse(w, code(err), export.Clean(err.Error()))
		return
	}
	t := &s.fleet.turns
	if q.Do == fleetJVMs || q.Do == fleetEvents { // lists take no turn
		t = nil
	}
	s.stream(w, r, t, "what another page does in the fleet", func(first, second context.Context, tell func(Step)) (any, error) {
		out, err := s.fleet.Do(first, second, q, tell)
		if err != nil {
			return nil, err
		}
		switch out := out.(type) {
		case *export.Report:
			return s.live.Open(export.Saved{Report: out}, cmp.Or(q.Select, "fleet"))
		case *FleetGroups:
			return out, s.openGroups(out)
		}
		return out, nil
	}, func(answered) {})
}

// openGroups puts the recordings of groups among the snapshots.
func (s *Server) openGroups(all *FleetGroups) error {
	for _, g := range all.Groups {
		if g.Report == nil {
			continue
		}
		info, err := s.live.Open(export.Saved{Report: g.Report}, all.By+"="+g.Value)
		if err != nil {
			return err
		}
		g.Snapshot = info.ID
	}
	return nil
}

package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// What can be done in a fleet, see [FleetQuery].
const (
	fleetJVMs    = "jvms"
	fleetEvents  = "events"
	fleetSample  = "sample"
	fleetKept    = "kept"
	fleetProfile = "profile"
)

// A FleetQuery says what is done in the JVMs of many hosts.
type FleetQuery struct {
	// Do is "jvms" (which there are), "events" (which rules came true), "sample", "kept" (samples of the time before) or
	// "profile".
	Do string `json:"do"`

	Select string `json:"select"` // rules as of rivulet fleet --select; "" is all

	// Seconds is for how long, 0.1 to 300; of events and kept how far back, up to a week.
	Seconds float64 `json:"seconds"`

	Wall     bool   `json:"wall"`     // of sample: also threads that wait
	Root     string `json:"root"`     // of profile
	AtOnce   string `json:"at_once"`  // of sample and profile: as --max-at-once; "" is all
	Overhead string `json:"overhead"` // of profile: as --overhead; "" is any
}

// A FleetFunc does something in a fleet, as [InsideFunc] looks into a JVM. What it returns is sent as JSON; a
// *[export.Report] is put among the snapshots, and that snapshot's line is sent.
type FleetFunc func(first, second context.Context, q FleetQuery, tell func(Step)) (any, error)

// A Fleet is what the page can reach beyond this machine.
type Fleet struct {
	Name string    // whose key it is, and of which role
	Do   FleetFunc // nil: there is no fleet
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
	back := q.Do == fleetEvents || q.Do == fleetKept
	switch {
	case !slices.Contains([]string{fleetJVMs, fleetEvents, fleetSample, fleetKept, fleetProfile}, q.Do):
		return badRequestf("do=%s: there is only jvms, events, sample, kept and profile", clip(q.Do))
	case back && !(q.Seconds > 0 && q.Seconds <= fleetBack):
		return badRequestf("seconds: give up to %d", fleetBack)
	case (q.Do == fleetSample || q.Do == fleetProfile) && !(q.Seconds >= fleetLeast && q.Seconds <= insideMost):
		return badRequestf("seconds: give %g to %d", fleetLeast, insideMost)
	case q.Do == fleetProfile && q.Root == "":
		return badRequestf("root: which method shall be recorded?")
	}
	return nil
}

// getFleet answers with who the server is in a fleet; null if there is none.
func (s *Server) getFleet(*http.Request) (any, error) {
	if s.fleet.Do == nil {
		return nil, nil //nolint:nilnil // null: there is none
	}
	return struct {
		Name string `json:"name"`
	}{s.fleet.Name}, nil
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
		report, ok := out.(*export.Report)
		if err != nil || !ok {
			return out, err
		}
		return s.live.Open(export.Saved{Report: report}, cmp.Or(q.Select, "fleet"))
	}, func(answered) {})
}

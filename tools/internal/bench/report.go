package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A Report is what is read of "rivulet profile --format json"
// (docs/formats-report.md). Times are in ns.
type Report struct {
	Seconds     float64
	Calls       int64
	Objects     int64 `json:"allocated_objects"` // with --count allocations
	Arrays      int64 `json:"allocated_arrays"`
	Bytes       int64 `json:"allocated_bytes"`
	Bytecodes   int64 // with --count bytecodes
	Invocations int64 `json:"root_invocations"`
	Incomplete  int64
	Overflow    int64
	Lost        int64
	Methods     struct{ Instrumented, Called int }

	Redefinition struct {
		Batches, Classes int
		MS               float64
		Pause            float64 `json:"longest_pause_ms"`
		Pauses           float64 `json:"total_pause_ms"`
		Wait             float64 `json:"longest_wait_ms"` // of a thread, for a reveal
		Analysis         float64 `json:"analysis_ms"`
	}
	Processing float64 `json:"processing_ms"`
	Time       struct {
		Measured   int64  `json:"measured_ns"`
		Suspended  int64  `json:"suspended_ns"`
		Subtracted int64  `json:"subtracted_ns"`
		Clamped    int64  `json:"clamped_ns"`
		Charged    *int64 `json:"charged_ns"` // nil without calibration
	}
	Calibration *Calibration // nil where it could not be measured
	Flat        []Method
	Tree        []*Node
}

// A Calibration is what a probe pair costs by the session's own measurement, in
// ns.
type Calibration struct {
	Inner float64 `json:"inner_ns"`
	Outer float64 `json:"outer_ns"`
}

// A Method is an entry of the report's flat list.
type Method struct {
	Method string // with its descriptor
	Calls  int64
	Self   int64 `json:"self_ns"`
	Raw    int64 `json:"measured_ns"` // before correction
	Error  int64 `json:"error_ns"`
	Spread int64 `json:"spread_ns"` // of Error, from the spread of the probes' cost

	Bytecodes      int64 `json:"self_bytecodes"`       // with --count bytecodes
	BlockBytecodes int64 `json:"self_block_bytecodes"` // with --count blocks

	Counted bool // it has no times: they are its callers'
}

// A Node is a calling context.
type Node struct {
	Method   string
	Calls    int64
	Self     int64 `json:"self_ns"`
	Total    int64 `json:"total_ns"`
	Raw      int64 `json:"measured_ns"` // of Self, before correction
	Error    int64 `json:"error_ns"`
	Spread   int64 `json:"spread_ns"`
	Children []*Node
	Below    struct{ Nodes int64 } // with --depth: left out
}

// ReadReport reads a report.
func ReadReport(file string) (*Report, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.Calls == 0 {
		return nil, errors.New("the report has no calls: was the root called?")
	}
	return &r, nil
}

// ErrInexact is wrapped by the error about a report that does not claim exact
// counts.
var ErrInexact = errors.New("the report is not exact")

// Exact refuses a report that does not claim exact counts, by [ErrInexact].
func (r *Report) Exact() error {
	if r.Incomplete+r.Overflow+r.Lost != 0 {
		return fmt.Errorf("%w: incomplete %d, overflow %d, lost %d", ErrInexact, r.Incomplete, r.Overflow, r.Lost)
	}
	return nil
}

// Calibrated is what a call costs by the session's own calibration, in ns; NaN
// if it could not be measured, as on a busy machine.
func (r *Report) Calibrated() float64 {
	if r.Calibration == nil {
		return math.NaN()
	}
	return r.Calibration.Inner + r.Calibration.Outer
}

// Charged is the sum of all corrected self times, in ns; NaN without
// correction.
func (r *Report) Charged() float64 {
	if r.Time.Charged == nil {
		return math.NaN()
	}
	return float64(*r.Time.Charged)
}

// ErrUncorrected says that the session could not measure the probes' cost, so
// that the report's times are not corrected. Measure again, when the machine
// is less busy.
var ErrUncorrected = errors.New("times are not corrected: the probes' cost could not be measured")

// Corrected returns [ErrUncorrected] unless the times are corrected.
func (r *Report) Corrected() error {
	if r.Calibration == nil || r.Time.Charged == nil {
		return ErrUncorrected
	}
	return nil
}

// Below adds up what all trees have below a method, itself included, wherever
// it is at the top.
func (r *Report) Below(method string) (sum Sums) {
	sum.Methods = map[string]*Method{}
	for _, n := range r.Tree {
		if Name(n.Method) == method {
			sum.add(n)
		}
	}
	return sum
}

// Sums are the figures of a subtree: all of it, and each method over its
// contexts. Errors are those of sums, as in the report.
type Sums struct {
	Calls, Charged, Raw, Error, Spread int64
	Methods                            map[string]*Method // by name without descriptor
}

func (s *Sums) add(n *Node) {
	name := Name(n.Method)
	m := s.Methods[name]
	if m == nil {
		m = &Method{Method: name}
		s.Methods[name] = m
	}
	m.Calls += n.Calls
	m.Self += n.Self
	m.Raw += n.Raw
	of := cct.Uncertainty{Error: n.Error, Spread: n.Spread}
	u := cct.Uncertainty{Error: m.Error, Spread: m.Spread}.Plus(of)
	m.Error, m.Spread = u.Error, u.Spread
	s.Calls += n.Calls
	s.Charged += n.Self
	s.Raw += n.Raw
	u = cct.Uncertainty{Error: s.Error, Spread: s.Spread}.Plus(of)
	s.Error, s.Spread = u.Error, u.Spread
	for _, c := range n.Children {
		s.add(c)
	}
}

// Name cuts the descriptor off a method's name.
func Name(method string) string {
	for i, c := range method {
		if c == '(' {
			return method[:i]
		}
	}
	return method
}

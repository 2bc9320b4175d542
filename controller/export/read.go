package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// ErrNotReport is wrapped by errors about files that are no reports of a
// recording, or of a schema that this version doesn't know.
var ErrNotReport = errors.New("not a report that rivulet profile --format json writes")

// leftOut stands for levels that were not written because of --depth.
const leftOut = "(levels left out by --depth)"

// mostLevels bounds the depth of a tree that is read.
const mostLevels = 1 << 20

// ReadJSON reads what [Report.JSON] has written, compressed by gzip or not.
// Written again it is the same. Levels that --depth left out come back as one
// node with their sums. Errors wrap [ErrNotReport], or say where the file is
// damaged. Trees may be as deep as they were written.
func ReadJSON(r io.Reader) (*Report, error) {
	b, err := unpacked(r)
	if err != nil {
		return nil, err
	}
	in := reader{scanner: newScanner(b), ids: map[cct.MethodKey]int32{}, counted: map[int32]bool{}, byName: map[string]int32{}, types: map[string]*cct.Type{}}
	out, err := in.report()
	if err != nil {
		return nil, fmt.Errorf("json report, at byte %d: %w", in.at(), err)
	}
	return out, nil
}

// A reader builds the report piece by piece, without a copy of the file.
type reader struct {
	*scanner
	head    head
	fields  map[string]json.RawMessage // of the top object, but the long ones
	methods []cct.Method
	ids     map[cct.MethodKey]int32
	counted map[int32]bool
	byName  map[string]int32 // the method of a name that flat has once, -1 of others
	roots   []*cct.Node
	threads []jsonThread // of each root, as its entry has them
	nodes   []cct.Node   // room for nodes
	metrics *metric.Table
	types   map[string]*cct.Type // that were allocated, by their names
	cut     bool                 // there are levels that were left out
	columns []func([]Process)    // of "flat", for the processes
	slowest *Slowest
	line    *Timeline
}

func (in *reader) report() (*Report, error) {
	if c, err := in.peek(); err != nil || c != '{' {
		return nil, fmt.Errorf("%w: %w", ErrNotReport, cmp.Or(err, errors.New("no JSON object")))
	}
	in.fields = map[string]json.RawMessage{}
	if err := in.object(func(key string) error {
		switch key {
		case "metrics":
			return in.readMetrics()
		case "flat":
			return in.flat()
		case "tree":
			return in.trees()
		case "slowest":
			return in.slow()
		case "timeline":
			return in.timeline()
		}
		v, err := in.raw()
		in.fields[key] = slices.Clone(v)
		return err
	}); err != nil {
		return nil, err
	}
	text, err := json.Marshal(in.fields)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &in.head); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotReport, err)
	}
	sampled := in.head.Kind == sampleKind && in.head.Sampling != nil
	if _, ok := in.fields["kind"]; ok && !sampled {
		return nil, fmt.Errorf("%w: it is of kind %q", ErrNotReport, in.head.Kind)
	}
	if in.head.Schema != Schema {
		return nil, fmt.Errorf("%w: it is of schema %d, this version reads %d", ErrNotReport, in.head.Schema, Schema)
	}
	return in.build()
}

// read is what json wrote.
func (j *jsonRedefinition) read() Redefinition {
	return Redefinition{
		Batches: j.Batches, Classes: j.Classes, Time: fromMS(j.MS), LongestPause: given(j.LongestPause),
		Pauses: given(j.Pauses), LongestWait: given(j.LongestWait), Analysis: given(j.Analysis),
	}
}

// given is what known wrote.
func given(ms *float64) *time.Duration {
	if ms == nil {
		return nil
	}
	d := fromMS(*ms)
	return &d
}

// seen is what [Report.Seen] was.
func (h *head) seen() int64 {
	if h.Admitted.Of > h.Admitted.Invocations {
		return h.Admitted.Of
	}
	return 0
}

// build makes the report of what was read.
func (in *reader) build() (*Report, error) {
	h := &in.head
	r := &Report{
		Target: Target(h.Target), Scheme: h.Scheme, Clock: h.Clock, Fold: h.Recursion == "folded", Roots: h.Roots,
		Time: time.Duration(h.Seconds*1e9 + 0.5), Seen: h.seen(), Ended: h.Ended, Notes: h.Notes, Agents: h.Agents, CPU: h.CPU, Calibration: h.Calibration,
		Filter: h.Filter, Counted: in.counted, Instrumented: h.Methods.Instrumented, Reach: h.Methods.Reach, Called: h.Methods.Probes == "called", Natives: h.Methods.Natives, Skipped: h.Methods.Skipped,
		Governor: h.Governor, Gaps: h.Gaps, UncountedMethods: h.UncountedMethods, Late: h.Late, Prepared: h.Prepared, Redefinition: h.Redefinition.read(), Processing: fromMS(h.Processing), Warmed: fromMS(h.Warmed), Room: h.Room,
	}
	if h.Time.Subtracted != nil && h.Time.Clamped != nil {
		r.Correction = cct.Correction{Subtracted: *h.Time.Subtracted, Clamped: *h.Time.Clamped}
	}
	r.Sampling, r.Estimates, r.Heap = h.Sampling, h.Estimates, h.Heap
	r.Processes, r.Pauses, r.History, r.Loads, r.Contention = h.Processes, h.Pauses, h.History, h.Loads, h.Contention
	for _, fill := range in.columns {
		fill(r.Processes)
	}
	if in.fields["exact"] == nil && r.Sampling == nil { // written by an earlier version
		r.AddGap("the version of Rivulet that recorded this did not look for calls that it could not follow", nil)
	}
	methods := in.methods
	r.Lookup = func(id int32) (cct.Method, bool) {
		if id < 0 || int(id) >= len(methods) {
			return cct.Method{}, false
		}
		return methods[id], true
	}
	cct.Totals(in.roots)
	sum := cct.Sum(in.roots)
	if s := r.Sampling; s != nil {
		if sum.Samples != s.Samples {
			return nil, fmt.Errorf("the tree has %d samples, the head says %d: the file is damaged, or was changed", sum.Samples, s.Samples)
		}
		if !s.OverTime.sane() {
			return nil, fmt.Errorf("over_time has %d pieces of %g ms: the file is damaged, or was changed", len(s.OverTime.Samples), s.OverTime.Piece)
		}
		if s.Mode == WallMode {
			r.CPU = &CPU{Samples: s.Samples, Share: s.Share}
		}
	} else if sum.Calls != h.Calls {
		return nil, fmt.Errorf("the tree has %d calls, the head says %d: the file is damaged, or was changed", sum.Calls, h.Calls)
	}
	s := &cct.Snapshot{Metrics: in.metrics, Unthrown: h.Unthrown, Overflow: h.Overflow, Uncounted: h.Uncounted, Lost: h.Lost, Refused: h.Refused, Incomplete: h.Incomplete, Bad: h.Damaged, Unfollowed: h.Unfollowed}
	threads := h.Threads
	if in.fields["threads"] == nil { // written by an earlier version
		threads = in.threadsOfEntries()
	}
	rest := in.roots
	for _, t := range threads {
		if t.Trees < 0 || t.Trees > len(rest) {
			return nil, errors.New("threads: more trees than there are")
		}
		s.Threads = append(s.Threads, &cct.Thread{
			ID: t.ID, Name: t.Name, Virtual: t.Virtual, Shared: t.Shared, Open: t.Inside, Roots: rest[:t.Trees:t.Trees],
			RootEntries: t.Entries, RootReturns: t.Entries - t.Open, Suspended: t.Suspended,
		})
		rest = rest[t.Trees:]
	}
	if len(rest) > 0 {
		return nil, errors.New("threads: fewer trees than there are")
	}
	r.Tree = s
	r.Events, r.Slowest, r.Timeline, r.Marks = h.Events.read(), in.slowest, in.line, h.Marks.read()
	if in.cut {
		r.Notes = append(r.Notes, "The report was written with --depth: what lay deeper shows as "+leftOut+".")
	}
	return r, nil
}

// threadsOfEntries puts neighbouring entries of one thread together. Nobody
// knows any more which thread the root invocations were of.
func (in *reader) threadsOfEntries() []jsonThread {
	var out []jsonThread
	for _, t := range in.threads {
		if last := len(out) - 1; last >= 0 && out[last].ID == t.ID && out[last].Name == t.Name && !t.Virtual && !t.Shared {
			out[last].Trees++
			continue
		}
		t.Trees = 1
		if len(out) == 0 {
			t.Entries, t.Open, t.Suspended = in.head.RootInvocations, in.head.OpenInvocations, in.head.Time.Suspended
		}
		out = append(out, t)
	}
	return out
}

func fromMS(ms float64) time.Duration { return time.Duration(ms*1e6 + 0.5) }

// flat reads the loaders of methods; the figures are computed from the tree.
func (in *reader) flat() error {
	return in.list(func() error {
		var e struct {
			Method string `json:"method"`
			Loader string `json:"loader"`
			Hidden int    `json:"hidden"`
			Source string `json:"source"`
			Line   int    `json:"line"`

			Counted bool `json:"counted"`

			Processes *jsonColumns `json:"processes"`
		}
		if err := in.value(&e); err != nil {
			return err
		}
		id := in.method(cct.Method{Name: e.Method, Loader: e.Loader, Hidden: e.Hidden, Source: e.Source, Line: e.Line})
		if e.Counted {
			in.counted[id] = true
		}
		if method := id; e.Processes != nil {
			in.columns = append(in.columns, func(to []Process) { e.Processes.read(to, method) })
		}
		if _, ok := in.byName[e.Method]; ok {
			id = -1
		}
		in.byName[e.Method] = id
		return nil
	})
}

// list reads a list; read takes an element.
func (in *reader) list(read func() error) error { return in.each('[', ']', read) }

// object reads an object; read takes a field's value.
func (in *reader) object(read func(key string) error) error {
	return in.each('{', '}', func() error {
		key, err := in.key()
		if err != nil {
			return err
		}
		if err := read(key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
}

func (in *reader) each(first, last byte, read func() error) error {
	if err := in.open(first); err != nil {
		return err
	}
	for {
		more, err := in.more()
		if err != nil {
			return err
		}
		if !more {
			return in.close(last)
		}
		if err := read(); err != nil {
			return err
		}
	}
}

func (in *reader) method(m cct.Method) int32 {
	if (m.Name == noRoom || m.Name == noRoomBefore) && m.Loader == "" {
		return cct.Unplaced
	}
	id, ok := in.ids[m.Key()]
	if !ok {
		id = int32(len(in.methods))
		in.methods = append(in.methods, m)
		in.ids[m.Key()] = id
	}
	in.methods[id].Hidden = max(in.methods[id].Hidden, m.Hidden)
	return id
}

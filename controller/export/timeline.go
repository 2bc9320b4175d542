package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
)

// A Timeline is the longest pieces of the threads' time. Times are ns from the
// beginning of the recording.
type Timeline struct {
	Slices  []event.Slice
	Threads map[int64]cct.Thread // who they are, without trees
	Left    int64                // slices left out
	Least   int64                // ns below which they were; 0 if none was

	Hops     []event.Hop // tasks that were handed over and executed
	HopsLeft int64       // of these, the shorter ones, left out
}

// Marks are what happened to the target meanwhile: collections, redefinitions,
// reveals, classes that came. Times are ns from the beginning of the recording.
type Marks struct {
	All  []event.Mark
	Left int64  // marks left out, for want of room
	Note string // why a kind of marks is missing; "" if none is
}

// Name says who the threads are, as far as a snapshot knows.
func (t *Timeline) Name(threads []*cct.Thread) {
	for _, o := range threads {
		if _, ok := t.Threads[o.ID]; ok {
			t.Threads[o.ID] = cct.Thread{ID: o.ID, Name: o.Name, Virtual: o.Virtual}
		}
	}
}

// Summary says in one line what the timeline has and lacks.
func (t *Timeline) Summary() string {
	text := Plural(int64(len(t.Slices)), "slice", "slices") + " of time"
	if t.Left > 0 {
		text += fmt.Sprintf("; %s shorter than %s left out", Count(t.Left), Duration(t.Least))
	}
	return text
}

// A TimelineView is the part of a timeline that somebody looks at.
type TimelineView struct {
	event.Window              // of Slices; Left and Least are those that the window lacks
	Missing      int64        // slices that the recording did not keep, all of them shorter
	MissingBelow int64        // than so many ns
	Hops         []event.Hop  // that meet the range, the longest, by when they were handed over
	HopsLeft     int64        // hops that are not here, for want of room
	Marks        []event.Mark // that meet the range, the longest of each kind; those without a length by time
	MarksLeft    int64        // marks that are not here, for want of room
	Threads      map[int64]cct.Thread
	Lookup       cct.Lookup
	End          int64 // ns when the last slice or mark ended
	Note         string
}

// Bounds of a view: marks of a kind, and hops.
const (
	mostMarksShown = 1000
	mostHopsShown  = 2000
)

// View answers a query; names are of the slices' methods.
func (t *Timeline) View(q event.Query, marks *Marks, names cct.Lookup) *TimelineView {
	if marks == nil {
		marks = &Marks{}
	}
	v := &TimelineView{
		Window: event.Cut(t.Slices, q), Missing: t.Left, MissingBelow: t.Least,
		MarksLeft: marks.Left, Threads: t.Threads, Lookup: names, Note: marks.Note,
	}
	for i := range t.Slices {
		v.End = max(v.End, t.Slices[i].Start+t.Slices[i].Took)
	}
	v.hops(t, q)
	var kinds [event.MarkKinds][]event.Mark
	for _, k := range marks.All {
		v.End = max(v.End, k.Start+k.Took)
		if k.Start+k.Took >= q.From && (q.To == 0 || k.Start <= q.To) {
			kinds[k.Kind] = append(kinds[k.Kind], k)
		}
	}
	for _, of := range kinds {
		if n := len(of) - mostMarksShown; n > 0 {
			slices.SortStableFunc(of, func(a, b event.Mark) int { return cmp.Compare(b.Took, a.Took) })
			of = of[:mostMarksShown]
			v.MarksLeft += int64(n)
		}
		slices.SortStableFunc(of, func(a, b event.Mark) int { return cmp.Compare(a.Start, b.Start) })
		v.Marks = append(v.Marks, of...)
	}
	return v
}

// hops adds those that meet the range, between threads that have slices.
func (v *TimelineView) hops(t *Timeline, q event.Query) {
	v.HopsLeft = t.HopsLeft
	for _, h := range t.Hops {
		if _, ok := t.Threads[h.From]; !ok {
			continue
		}
		if _, ok := t.Threads[h.To]; !ok || h.Began+h.Took < q.From || q.To != 0 && h.At > q.To || q.Thread != 0 && q.Thread != h.From && q.Thread != h.To {
			continue
		}
		v.Hops = append(v.Hops, h)
	}
	if n := len(v.Hops) - mostHopsShown; n > 0 {
		slices.SortStableFunc(v.Hops, func(a, b event.Hop) int { return cmp.Compare(b.Began+b.Took-b.At, a.Began+a.Took-a.At) })
		v.Hops = v.Hops[:mostHopsShown]
		v.HopsLeft += int64(n)
	}
	slices.SortStableFunc(v.Hops, func(a, b event.Hop) int { return cmp.Compare(a.At, b.At) })
}

type jsonMarks struct {
	All  []jsonMark `json:"all"`
	Left int64      `json:"left_out"`
	Note string     `json:"note,omitempty"`
}

type jsonMark struct {
	Kind  string `json:"kind"`
	Name  string `json:"name,omitempty"`
	Start int64  `json:"start_ns"`
	Took  int64  `json:"took_ns"`
	Count int64  `json:"count"`
	Pause *int64 `json:"pause_ns"`
	Off   int64  `json:"off_ns,omitempty"`
	Cause string `json:"cause,omitempty"`
}

func (m *Marks) json() *jsonMarks {
	if m == nil {
		return nil
	}
	out := &jsonMarks{All: []jsonMark{}, Left: m.Left, Note: m.Note}
	for _, k := range m.All {
		j := jsonMark{Kind: k.Kind.String(), Name: k.Name, Start: k.Start, Took: k.Took, Count: k.Count, Off: k.Off, Cause: k.Cause}
		if k.Pause >= 0 {
			j.Pause = &k.Pause
		}
		out.All = append(out.All, j)
	}
	return out
}

// read leaves marks out whose kind nobody knows: a later version's.
func (m *jsonMarks) read() *Marks {
	if m == nil {
		return nil
	}
	out := &Marks{Left: m.Left, Note: m.Note}
	for _, j := range m.All {
		kind, ok := event.MarkKindNamed(j.Kind)
		if !ok {
			continue
		}
		k := event.Mark{Kind: kind, Name: j.Name, Start: j.Start, Took: j.Took, Count: j.Count, Pause: -1, Off: j.Off, Cause: j.Cause}
		if j.Pause != nil {
			k.Pause = *j.Pause
		}
		out.All = append(out.All, k)
	}
	return out
}

package export

import (
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
)

// Events says what the recorder of events has carried.
type Events struct {
	Words     int64 // of 8 bytes each
	Dropped   int64 // events for which there was no room in time
	Muted     int64 // root calls without events
	Waits     int64 // of the target's threads for the reader
	Waited    int64 // ns of these waits; in nobody's time
	Rings     int64
	RingBytes int64
	Bad       int64 // words and rings that made no sense: the target's memory is damaged
	Began     int64 // when the recording did, ns on the target's nanoTime

	// Differ is in how many contexts the tree made of the events differs from
	// the one that was recorded directly; nil where events are missing.
	Differ *int64
}

// share is the part of the threads' time inside that they waited for the reader.
func (e *Events) share(measured int64) float64 {
	if measured+e.Waited <= 0 {
		return 0
	}
	return float64(e.Waited) / float64(measured+e.Waited)
}

// Slowest are the slowest root invocations.
type Slowest struct {
	TimesOnly   bool  // their trees were not recorded: each has a node for its root alone
	Asked       int   // how many were to be kept
	Over        int64 // ns that they had to exceed; 0 none
	Of          int64 // root calls that did
	Invocations []Invocation
}

// An Invocation is one root invocation. Its times are corrected as the report's
// are, except for Took and Suspended, which are as measured.
type Invocation struct {
	Thread      *cct.Thread // its only root is the invocation's own tree
	Start       int64       // ns from the beginning of the recording
	Took        int64       // ns, without Suspended
	Suspended   int64       // ns that the profiler made it wait
	Ran         *int64      // ns of Took on a core, by samples; nil where nobody looked, or it was too short
	Thrown      bool        // it ended by an exception
	Span        event.Span  // that it was part of; the zero value where none is known
	CutContexts int64       // contexts that are not in the tree, for want of room; their time is their callers'
	CutCalls    int64       // calls of these
	Paused      *Paused     // by collections, from its begin to its end; nil where that is not known
	Path        *Path       // what its end waited for; nil if that was not followed
}

// Tree is the invocation's own tree.
func (i Invocation) Tree() *cct.Node { return i.Thread.Roots[0] }

type jsonEvents struct {
	Words     int64   `json:"words"`
	Bytes     int64   `json:"bytes"`
	Dropped   int64   `json:"dropped"`
	Muted     int64   `json:"muted_invocations"`
	Waits     int64   `json:"waits"`
	Waited    int64   `json:"waited_ns"`
	Share     float64 `json:"waited_share"`
	Rings     int64   `json:"rings"`
	RingBytes int64   `json:"ring_bytes"`
	Bad       int64   `json:"bad"`
	Began     int64   `json:"began_nanotime"`
	Differ    *int64  `json:"contexts_that_differ"`
}

func (e *Events) json(measured int64) *jsonEvents {
	if e == nil {
		return nil
	}
	return &jsonEvents{
		Words: e.Words, Bytes: 8 * e.Words, Dropped: e.Dropped, Muted: e.Muted, Waits: e.Waits, Waited: e.Waited,
		Share: e.share(measured), Rings: e.Rings, RingBytes: e.RingBytes, Bad: e.Bad, Began: e.Began, Differ: e.Differ,
	}
}

func (e *jsonEvents) read() *Events {
	if e == nil {
		return nil
	}
	return &Events{
		Words: e.Words, Dropped: e.Dropped, Muted: e.Muted, Waits: e.Waits, Waited: e.Waited,
		Rings: e.Rings, RingBytes: e.RingBytes, Bad: e.Bad, Began: e.Began, Differ: e.Differ,
	}
}

// slowest writes the field "slowest", where there is one.
func (w *jsonWriter) slowest(s *Slowest) {
	if s == nil {
		return
	}
	w.text(",\n \"slowest\": {\"asked\":")
	w.number(int64(s.Asked))
	if s.TimesOnly {
		w.flag("times_only", true)
	}
	w.field("over_ns", s.Over)
	w.field("of", s.Of)
	w.text(`,"invocations":[`)
	for k, i := range s.Invocations {
		w.line(k)
		w.text(`{"start_ns":`)
		w.number(i.Start)
		w.field("took_ns", i.Took)
		w.field("suspended_ns", i.Suspended)
		w.flag("thrown", i.Thrown)
		if i.Ran != nil {
			w.field("on_core_ns", *i.Ran)
		}
		w.span(i.Span)
		if p := i.Paused; p != nil {
			w.text(`,"gc_pause":{"least_ns":`)
			w.number(p.Least)
			w.field("most_ns", p.Most)
			w.text("}")
		}
		if i.CutContexts > 0 {
			w.field("cut_contexts", i.CutContexts)
			w.field("cut_calls", i.CutCalls)
		}
		w.path(i.Path)
		w.text(`,"tree":`)
		w.tree(i.Thread, i.Tree())
		w.text("}")
	}
	w.text("\n ]}")
}

// Bounds of an invocation's tree in the text report.
const (
	slowShare = 0.05 // branches below this part of the invocation's time are left out
	slowRows  = 12
	slowDepth = 8
)

// slowest writes the slowest invocations, each with what took long in it.
func (t *textWriter) slowest() {
	s := t.report.Slowest
	if s == nil {
		return
	}
	t.section("Slowest root calls")
	which := Plural(s.Of, "root call", "root calls")
	if s.Over > 0 {
		which += " that took longer than " + Duration(s.Over)
	}
	if len(s.Invocations) == 0 {
		t.text("none of " + which + " has ended\n")
		return
	}
	if s.TimesOnly {
		t.slowTimes(s, which)
		return
	}
	t.printf("%d of %s; all of their trees are in the JSON report\n", len(s.Invocations), which)
	for k, i := range s.Invocations {
		t.printf("\n%d. %s, %s after the beginning, on %s", k+1, Duration(i.Took), Duration(i.Start), threadName(i.Thread))
		if i.Suspended > 0 {
			t.printf(", and %s paused by Rivulet", Duration(i.Suspended))
		}
		if i.Thrown {
			t.text(", ended by an exception")
		}
		if p := i.Paused; p != nil && p.Most > 0 {
			t.printf("; garbage collections paused it for %s", p)
		}
		t.span(i.Span)
		t.text("\n")
		if i.CutContexts > 0 {
			t.printf("   for want of memory summed up in their callers: %s\n", Plural(i.CutContexts, "call path", "call paths"))
		}
		t.invocation(i.Tree())
		t.path(i.Path)
	}
}

// invocation writes the heaviest branches of an invocation's tree.
func (t *textWriter) invocation(root *cct.Node) {
	roots := t.folded(cct.FoldRecursion([]*cct.Node{root}))
	rows, left := 0, int64(0)
	levels := []int{0} // of the path, without those that only lead to the application
	table := table{head: []string{"  calls", "self", "total", "share", "  method"}}
	cct.Walk(roots, func(n *cct.Node, depth int) bool {
		level := levels[depth]
		if !t.view.Passes(n) {
			level++
		}
		levels = append(levels[:depth+1], level)
		if depth > 0 && (float64(n.Total) < slowShare*float64(roots[0].Total) || levels[depth] > slowDepth || rows >= slowRows) {
			left++
			return false
		}
		rows++
		label := ""
		for range depth {
			label += "  "
		}
		table.add("  "+label+t.nodeLabel(branch{node: n, depth: depth}), "", Count(n.Calls), Duration(n.Self), Duration(n.Total), share(n.Total, roots[0].Total))
		return true
	}, func(*cct.Node, int) {})
	table.write(&t.sink, t.o.Color, t.o.Width)
	if left > 0 {
		t.printf("   … %s\n", Plural(left, "smaller or deeper branch", "smaller or deeper branches"))
	}
}

// events writes what the recorder of events has to say of itself.
func (t *textWriter) events() {
	e := t.report.Events
	if e == nil {
		return
	}
	t.printf("%s of events", Bytes(8*e.Words))
	if e.Waits > 0 {
		t.printf("; threads waited %s for the reader, %.1f %% of their time, which is in no figure above", Duration(e.Waited), 100*e.share(max(t.sums.Raw, t.sums.Self)))
	}
	t.text("\n")
	for _, l := range []struct {
		n          int64
		what, hint string
	}{
		{e.Dropped, "events dropped since nobody took them in time", "the tree has them; the slowest and the timeline may lack invocations"},
		{e.Muted, "root calls without events", "the tree has them; raise --memory"},
		{e.Bad, "damaged words in the streams", "the target's memory can't be trusted"},
	} {
		if l.n > 0 {
			t.printf("%s: %s (%s)\n", l.what, Count(l.n), l.hint)
		}
	}
	if e.Differ != nil && *e.Differ > 0 {
		t.printf("warning: the tree made of the events differs from the recorded one on %s\n", Plural(*e.Differ, "call path", "call paths"))
	}
}

package export

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
)

// ErrNoSpan is wrapped by the error of [Report.OfSpan] where no root call that was kept belongs
// to a trace or span of that id.
var ErrNoSpan = errors.New("no root call of that trace or span was kept")

// span writes a span's ids, where there is one.
func (w *jsonWriter) span(s event.Span) {
	if !s.Known() {
		return
	}
	w.text(`,"trace_id":"` + s.TraceID() + `","span_id":"` + s.SpanID() + `"`)
	w.flag("span_within", s.Within)
}

// span names an invocation's span.
func (t *textWriter) span(s event.Span) {
	if !s.Known() {
		return
	}
	t.printf("; trace %s, span %s", s.TraceID(), s.SpanID())
	if s.Within {
		t.text(" (begun during the call)")
	}
}

// Spans is how many of the slowest root calls have a span.
func (s *Slowest) Spans() (n int) {
	for _, i := range s.Invocations {
		if i.Span.Known() {
			n++
		}
	}
	return n
}

// OfSpan is a report of those slowest root calls alone that belong to the trace, or the
// span, of an id in hexadecimal digits: its tree is theirs. It shares their nodes with r. Errors wrap
// [ErrNoSpan].
func (r *Report) OfSpan(id string) (*Report, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	if r.Slowest == nil {
		return nil, fmt.Errorf("%w: the recording kept none (--slowest N)", ErrNoSpan)
	}
	var of []Invocation
	for _, i := range r.Slowest.Invocations {
		if i.Span.Known() && (i.Span.TraceID() == id || i.Span.SpanID() == id) {
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return nil, fmt.Errorf("%w: of %s, %s a span", ErrNoSpan, Plural(int64(len(r.Slowest.Invocations)), "root call", "root calls"), verb(r.Slowest.Spans(), "has", "have"))
	}
	out := r.OfRootCall(of...)
	out.Notes = append([]string{fmt.Sprintf("This is %s of the recording alone, of trace or span %s.", Plural(int64(len(of)), "root call", "root calls"), id)}, r.Notes...)
	return out, nil
}

// OfRootCall is a report of some of the slowest root calls alone: its tree is theirs. It
// shares their nodes with r.
func (r *Report) OfRootCall(of ...Invocation) *Report {
	tree := &cct.Snapshot{}
	if r.Tree != nil {
		tree.Metrics = r.Tree.Metrics
	}
	for _, i := range of {
		one := *i.Thread
		one.RootEntries, one.RootReturns, one.Suspended = 1, 1, i.Suspended
		tree.Threads = append(tree.Threads, &one)
	}
	out := *r
	out.Tree, out.Slowest = tree, &Slowest{Asked: r.Slowest.Asked, Over: r.Slowest.Over, Of: int64(len(of)), Invocations: of}
	out.Timeline, out.Marks, out.History, out.Pauses, out.Stream, out.Seen = nil, nil, nil, nil, nil, 0
	return &out
}

func verb(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
)

// A jsonTimeline is the field "timeline". Its slices are [thread, depth, method,
// start, took, flags]: places in Threads and Methods.
type jsonTimeline struct {
	Threads []jsonLane  `json:"threads"`
	Methods [][2]string `json:"methods"` // name, loader
	Left    int64       `json:"left_out"`
	Least   int64       `json:"below_ns"`
	Slices  [][6]int64  `json:"slices"`

	// Hops are [thread, depth, method that handed over, thread, depth, method
	// that was executed, when, begin, took, flags], threads and methods as in Slices.
	Hops     [][10]int64 `json:"hops"`
	HopsLeft int64       `json:"hops_left_out"`

	Spans []jsonSliceSpan `json:"spans"`
}

// A jsonSliceSpan is the span that a root call was part of, which is a slice.
type jsonSliceSpan struct {
	Slice   int    `json:"slice"` // its place
	TraceID string `json:"trace_id"`
	SpanID  string `json:"span_id"`
	Within  bool   `json:"span_within"`
}

type jsonLane struct {
	Name    string `json:"thread"`
	ID      int64  `json:"thread_id"`
	Virtual bool   `json:"virtual,omitempty"`
}

// Places of no method: in slices in which the profiler made the thread wait, and where
// it is not known.
const (
	waiting = -1
	nobody  = -2
)

// timeline writes the field "timeline", where there is one.
func (w *jsonWriter) timeline(t *Timeline) {
	if t == nil {
		return
	}
	threads, methods := map[int64]int64{}, map[int32]int64{event.Suspended: waiting}
	for id := range t.Threads {
		threads[id] = 0
	}
	var named []int32
	for i := range t.Slices {
		threads[t.Slices[i].Thread] = 0
		named = append(named, t.Slices[i].Method)
	}
	var hops []event.Hop // those between threads that have slices: others are never shown
	for _, h := range t.Hops {
		_, from := threads[h.From]
		_, to := threads[h.To]
		if from && to {
			hops = append(hops, h)
			named = append(named, h.By, h.Method)
		}
	}
	w.text(",\n \"timeline\": {\"threads\":[")
	for i, id := range slices.Sorted(maps.Keys(threads)) {
		if i > 0 {
			w.text(",")
		}
		threads[id] = int64(i)
		w.text(`{"thread":`)
		w.bytes(quote(t.Threads[id].Name))
		w.field("thread_id", id)
		w.flag("virtual", t.Threads[id].Virtual)
		w.text("}")
	}
	w.text(`],"methods":[`)
	last := int64(-1)
	for _, m := range named {
		if _, ok := methods[m]; ok {
			continue
		}
		if m < 0 && m != cct.Unplaced {
			methods[m] = nobody
			continue
		}
		if last++; last > 0 {
			w.text(",")
		}
		methods[m] = last
		w.text("[")
		w.bytes(w.name(m))
		w.text(",")
		w.bytes(quote(w.report.Method(m).Loader))
		w.text("]")
	}
	w.text("]")
	w.field("left_out", t.Left)
	w.field("below_ns", t.Least)
	w.text(`,"slices":[`)
	for i := range t.Slices {
		s := &t.Slices[i]
		w.line(i)
		w.text("[")
		w.numbers(threads[s.Thread], int64(s.Depth), methods[s.Method], s.Start, s.Took, s.Flags())
		w.text("]")
	}
	w.text("\n ]")
	w.field("hops_left_out", t.HopsLeft)
	w.text(`,"hops":[`)
	for i, h := range hops {
		flags := int64(0)
		if h.Open {
			flags = event.SliceOpen
		}
		w.line(i)
		w.text("[")
		w.numbers(threads[h.From], int64(h.FromDepth), methods[h.By], threads[h.To], int64(h.ToDepth), methods[h.Method], h.At, h.Began, h.Took, flags)
		w.text("]")
	}
	w.text("\n ]")
	first := true
	for i := range t.Slices {
		s := t.Slices[i].Span
		if s == nil {
			continue
		}
		if first {
			w.text(`,"spans":[`)
			w.line(0)
		} else {
			w.line(1)
		}
		first = false
		w.text(`{"slice":`)
		w.number(int64(i))
		w.span(*s)
		w.text("}")
	}
	if !first {
		w.text("\n ]")
	}
	w.text("}")
}

func (w *jsonWriter) numbers(list ...int64) {
	for i, v := range list {
		if i > 0 {
			w.text(",")
		}
		w.number(v)
	}
}

// timeline reads the field "timeline".
func (in *reader) timeline() error {
	var j jsonTimeline
	raw, err := in.raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	t := &Timeline{Threads: map[int64]cct.Thread{}, Left: j.Left, Least: j.Least, HopsLeft: j.HopsLeft, Slices: make([]event.Slice, 0, len(j.Slices))}
	for _, l := range j.Threads {
		t.Threads[l.ID] = cct.Thread{ID: l.ID, Name: l.Name, Virtual: l.Virtual}
	}
	if len(t.Threads) != len(j.Threads) {
		return errors.New("a thread is there twice")
	}
	methods := make([]int32, len(j.Methods))
	for i, m := range j.Methods {
		methods[i] = in.method(cct.Method{Name: m[0], Loader: m[1]})
	}
	sane := func(thread, depth, method int64) bool {
		return thread >= 0 && thread < int64(len(j.Threads)) && depth >= 0 && depth < 1<<16 && method >= nobody && method < int64(len(methods))
	}
	method := func(place int64) int32 {
		switch place {
		case waiting:
			return event.Suspended
		case nobody:
			return -1
		}
		return methods[place]
	}
	for i, h := range j.Hops {
		if !sane(h[0], h[1], h[2]) || !sane(h[3], h[4], h[5]) || h[8] < 0 {
			return fmt.Errorf("hop %d makes no sense: %v", i, h)
		}
		t.Hops = append(t.Hops, event.Hop{
			From: j.Threads[h[0]].ID, FromDepth: uint16(h[1]), By: method(h[2]), To: j.Threads[h[3]].ID, ToDepth: uint16(h[4]), Method: method(h[5]),
			At: h[6], Began: h[7], Took: h[8], Open: h[9]&event.SliceOpen != 0,
		})
	}
	for i, s := range j.Slices {
		if !sane(s[0], s[1], s[2]) || s[4] < 0 {
			return fmt.Errorf("slice %d makes no sense: %v", i, s)
		}
		t.Slices = append(t.Slices, event.Slice{
			Thread: j.Threads[s[0]].ID, Depth: uint16(s[1]), Method: method(s[2]), Start: s[3], Took: s[4], Root: s[5]&event.SliceRoot != 0, Open: s[5]&event.SliceOpen != 0, Task: s[5]&event.SliceTask != 0,
		})
	}
	for _, s := range j.Spans {
		span, ok := event.ParseSpan(s.TraceID, s.SpanID)
		if !ok || s.Slice < 0 || s.Slice >= len(t.Slices) {
			return fmt.Errorf("span %s of slice %d makes no sense", s.SpanID, s.Slice)
		}
		span.Within = s.Within
		t.Slices[s.Slice].Span = &span
	}
	in.line = t
	return nil
}

// Timeline is one of what a view of the whole recording has: what the view
// leaves out is left out.
func (v *TimelineView) Timeline() (*Timeline, *Marks) {
	return &Timeline{Slices: v.Slices, Threads: v.Threads, Left: v.Left + v.Missing, Least: max(v.Least, v.MissingBelow), Hops: v.Hops, HopsLeft: v.HopsLeft},
		&Marks{All: v.Marks, Left: v.MarksLeft, Note: v.Note}
}

package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestOfSpan finds a root call by its trace and by its span, and shows its tree alone.
func TestOfSpan(t *testing.T) {
	r := withEvents()
	for _, id := range []string{"4bf90000000000000000000000000036", " 00F00000000000B7\n"} {
		one, err := r.OfSpan(id)
		if err != nil {
			t.Fatalf("%q: %v", id, err)
		}
		if got, want := cct.Sum(one.Tree.Roots()), cct.Sum(r.Slowest.Invocations[0].Thread.Roots); got.Calls != want.Calls || got.Self != want.Self {
			t.Errorf("%q: its tree has %+v, want %+v", id, got, want)
		}
		if s := one.Slowest; len(s.Invocations) != 1 || s.Of != 1 || one.Timeline != nil || !strings.Contains(strings.Join(one.Notes, " "), "1 root call of the recording alone") {
			t.Errorf("%q: %+v, notes %q", id, *s, one.Notes)
		}
	}
	if len(r.Slowest.Invocations) != 2 || r.Timeline == nil || r.Slowest.Of != 14 {
		t.Error("the report itself has changed")
	}
	for _, bad := range []string{"", "00f0", "4bf90000000000000000000000000037"} {
		if _, err := r.OfSpan(bad); !errors.Is(err, export.ErrNoSpan) || !strings.Contains(err.Error(), "of 2 root calls, 1 has a span") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	r.Slowest = nil
	if _, err := r.OfSpan("00f00000000000b7"); !errors.Is(err, export.ErrNoSpan) || !strings.Contains(err.Error(), "--slowest") {
		t.Errorf("without any: %v", err)
	}
}

// TestSpanJSON: each root call has its own ids by their names in the format, and those without have none.
func TestSpanJSON(t *testing.T) {
	var out bytes.Buffer
	if err := withEvents().JSON(&out, export.JSONOptions{Timeline: true}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Slowest struct{ Invocations []map[string]any }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	first, second := got.Slowest.Invocations[0], got.Slowest.Invocations[1]
	if first["trace_id"] != "4bf90000000000000000000000000036" || first["span_id"] != "00f00000000000b7" || first["span_within"] != true {
		t.Errorf("%v %v %v", first["trace_id"], first["span_id"], first["span_within"])
	}
	for _, key := range []string{"trace_id", "span_id", "span_within"} {
		if v, ok := second[key]; ok {
			t.Errorf("a root call without a span has %s %v", key, v)
		}
	}
	read, err := export.ReadJSON(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if s := read.Timeline.Slices[2].Span; s == nil || *s != read.Slowest.Invocations[0].Span || read.Timeline.Slices[0].Span != nil {
		t.Errorf("spans of slices: %v, %v", s, read.Timeline.Slices[0].Span)
	}
	broken := strings.Replace(out.String(), `{"slice":2,`, `{"slice":99,`, 1)
	if _, err := export.ReadJSON(strings.NewReader(broken)); err == nil {
		t.Error("a span of a slice that is not there was read")
	}
}

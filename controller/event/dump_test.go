package event_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

func TestDump(t *testing.T) {
	d := event.NewDump(5)
	words := wordsOf(bytes.Repeat([]byte{0x11, 2, 3, 0, 0, 0, 0, 0}, 4))
	d.Take(3, words[:1])
	d.Take(3, words[:1])
	d.Take(1, words[:2])
	d.Take(3, words[:4])
	d.Take(2, words)
	if kept, left := d.Len(); kept != 5 || left != 7 {
		t.Errorf("%d kept, %d left", kept, left)
	}
	var b bytes.Buffer
	if err := d.Write(&b, func(m int32) string { return fmt.Sprint("method ", m, " # so") }); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "# The first 5 events; 7 came after them.\nrecord 3\nenter ") || !strings.Contains(b.String(), "  # method ") {
		t.Error(b.String())
	}
	got, err := event.ReadDump(&b)
	want := []event.Piece{{Record: 3, Words: words[:2]}, {Record: 1, Words: words[:2]}, {Record: 3, Words: words[:1]}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(event.Piece{})); diff != "" || err != nil {
		t.Error(err, diff)
	}
	d = event.NewDump(2)
	d.Take(1, []event.Word{event.Timed(wire.EvSuspend, 0, 7), event.Timed(wire.EvCharge, wire.MarkPark, 7)})
	b.Reset()
	if err := d.Write(&b, func(int32) string { return "a method" }); err != nil || strings.Contains(b.String(), "a method") {
		t.Errorf("%v: marks have names: %s", err, b.String())
	}
	var none *event.Dump
	none.Take(1, words)
	for text, message := range map[string]string{
		"enter 1 +1":             "line 1: event \"enter 1 +1\": of which record?",
		"record x":               "line 1: record \"x\"",
		"# so\nrecord 1\nexit 1": "line 3: event \"exit 1\": give a kind",
	} {
		if _, err := event.ReadDump(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), message) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

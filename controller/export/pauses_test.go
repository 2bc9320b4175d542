package export_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestPauses writes what collectors did as text and JSON, and reads it again.
func TestPauses(t *testing.T) {
	r := withEvents()
	r.Marks.All[0].Cause = "G1 Evacuation Pause"
	r.Slowest.Invocations[0].Paused = &export.Paused{Least: 2e6, Most: 12e6}
	r.Slowest.Invocations[1].Paused = &export.Paused{}
	r.Pauses = &export.Pauses{
		Resolution: 5e6, Collections: 1200, Time: 3e9, Longest: 9e6,
		Collectors: []export.Collector{{Name: "G1 young collection pauses", Collections: 1200, Time: 3e9}},
		Causes:     []export.GCCause{{Cause: "G1 Evacuation Pause", Collections: 1190}, {Cause: "System.gc()", Collections: 7}},
		Unseen:     3,
		Safepoints: &export.Safepoints{Count: 1300, Time: 4e9, Sync: 1e9},
		Allocated:  &export.Allocated{Bytes: 5000 << 20, Over: 10e9},
	}
	var text, out bytes.Buffer
	if err := r.Text(&text, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"paused by Rivulet; garbage collections paused it for 2.00 ms to 12.0 ms; trace 4bf90000000000000000000000000036, span 00f00000000000b7 (begun during the call)\n",
		"1,200 garbage collections, paused for 3.00 s in all, the longest 9.00 ms; causes: G1 Evacuation Pause 1,190, System.gc() 7, not seen 3\n",
		"1,300 safepoints, collections and redefinitions among them: all threads were stopped for 4.00 s, and reaching the safepoints took 1.00 s\n",
		"between collections the whole program took about 500 MB a second as allocation buffers\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	if n := strings.Count(text.String(), "collections paused it"); n != 1 {
		t.Errorf("%d root calls with pauses, want 1", n)
	}
	if err := r.JSON(&out, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	read, err := export.ReadJSON(&out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Pauses, read.Pauses); diff != "" {
		t.Error(diff)
	}
	for i, of := range r.Slowest.Invocations {
		if diff := cmp.Diff(of.Paused, read.Slowest.Invocations[i].Paused); diff != "" {
			t.Error(diff)
		}
	}
	if read.Marks.All[0].Cause != "G1 Evacuation Pause" {
		t.Errorf("mark %+v", read.Marks.All[0])
	}
	var trace strings.Builder
	if err := r.Trace(&trace); err != nil || !strings.Contains(trace.String(), `"cause":"G1 Evacuation Pause"`) {
		t.Errorf("the trace lacks the cause: %v", err)
	}
	r.Pauses = &export.Pauses{Unknown: "the target publishes no counters"}
	text.Reset()
	if err := r.Text(&text, export.TextOptions{}); err != nil || !strings.Contains(text.String(), "pauses of the garbage collector are not known: the target publishes no counters\n") || strings.Contains(text.String(), "no garbage collection ended") {
		t.Errorf("without counters: %v\n%s", err, text.String())
	}
}

package export

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
)

// TestReadSaved tells comparisons from reports by their first bytes, compressed
// or not.
func TestReadSaved(t *testing.T) {
	var comparison bytes.Buffer
	if err := (&Comparison{Clock: "tick", Roots: []string{"a.B.c()V"}}).JSON(&comparison); err != nil {
		t.Fatal(err)
	}
	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	if _, err := z.Write(comparison.Bytes()); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for _, text := range []string{comparison.String(), small.String()} {
		s, err := ReadSaved(strings.NewReader(text))
		if err != nil || s.Report != nil || s.Comparison == nil || s.Comparison.Clock != "tick" {
			t.Errorf("%+v, %v", s, err)
		}
	}
	for _, text := range []string{"", "[1", `{"kind":1}`, `{"schema":1,"kind":"dry-run"}`, `{"schema":9,"kind":"comparison"}`, "\x1f\x8bx"} {
		if s, err := ReadSaved(strings.NewReader(text)); !errors.Is(err, ErrNotReport) {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
	for text, want := range map[string]string{
		comparison.String(): "comparison", `{"schema":1,"kind":"dry-run"`: "dry-run", `{"kind":{`: "", `[1`: "", "": "", `{"kind":1}`: "",
	} {
		if got := kindOf([]byte(text[:min(len(text), kindWithin)])); got != want {
			t.Errorf("%.40s: %q, want %q", text, got, want)
		}
	}
}

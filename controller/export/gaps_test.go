package export

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// TestExact has each reason for which a report is not exact, and none.
func TestExact(t *testing.T) {
	if r := (&Report{Tree: &cct.Snapshot{Refused: 3}}); !r.Exact() {
		t.Error("root calls that were refused make it inexact")
	}
	for what, s := range map[string]cct.Snapshot{
		"incomplete": {Incomplete: 1}, "overflow": {Overflow: 1}, "uncounted": {Uncounted: 1}, "lost": {Lost: 1},
		"unfollowed": {Unfollowed: 1}, "detached": {Detached: 1}, "damaged": {Bad: 1},
	} {
		if r := (&Report{Tree: &s}); r.Exact() {
			t.Errorf("%s, and exact", what)
		}
	}
	r := &Report{}
	r.AddGap("natives", []string{"b", "a", "b"})
	if g := r.Gaps; r.Exact() || len(g) != 1 || g[0].Count != 2 || strings.Join(g[0].Where, " ") != "a b" {
		t.Errorf("a gap: exact %v, %+v", r.Exact(), g)
	}
}

// TestGaps has gaps survive JSON and merging, names them in the text, and takes reports
// of versions that did not look for any as not exact.
func TestGaps(t *testing.T) {
	r := &Report{Roots: []string{"a.B.c()V"}, Tree: &cct.Snapshot{}}
	r.AddGap("hidden classes are within reach", []string{"a.B.d()V"})
	var b bytes.Buffer
	if err := r.JSON(&b, JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := ReadJSON(bytes.NewReader(b.Bytes()))
	if err != nil || len(again.Gaps) != 1 || again.Gaps[0].Where[0] != "a.B.d()V" {
		t.Fatalf("read again: %+v, %v", again, err)
	}
	merged := Merge(r, again, &Report{Tree: &cct.Snapshot{}})
	if len(merged.Gaps) != 1 || merged.Gaps[0].Count != 1 || merged.Exact() {
		t.Errorf("merged: %+v", merged.Gaps)
	}
	var text strings.Builder
	if err := merged.Text(&text, TextOptions{}); err != nil || !strings.Contains(text.String(), "not exact: hidden classes are within reach (1: a.B.d()V)") {
		t.Errorf("text: %v\n%s", err, text.String())
	}
	old := bytes.Replace(b.Bytes(), []byte(`"exact": false,`), nil, 1)
	old = bytes.Replace(old, []byte("hidden classes are within reach"), []byte("x"), 1)
	if again, err = ReadJSON(bytes.NewReader(old)); err != nil || len(again.Gaps) != 2 {
		t.Errorf("an old report: %+v, %v", again, err)
	}
}

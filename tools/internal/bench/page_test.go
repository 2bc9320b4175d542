package bench

import (
	"errors"
	"strings"
	"testing"
)

// TestMerge replaces the sections that were measured anew, and leaves the rest.
func TestMerge(t *testing.T) {
	p := NewPage("bench:x", "X", "new intro")
	p.Table("B", "new", "n")
	p.Row(2.0)
	p.Table("C", "first", "n")
	p.merge("<!-- old -->\n\n# X\n\nold intro\n\n## A\n\nkept\n\n## B\n\nold\n")
	want := "<!-- Written by \"go tool task bench:x\". Do not edit. -->\n\n# X\n\nnew intro\n\n## A\n\nkept\n\n## B\n\nnew\n\n| n |\n|---:|\n| 2.00 |\n\n## C\n\nfirst\n\n| n |\n|---:|\n"
	if got := p.text.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFailed has a page say what it lacks, below the table that lacks it, and keeps
// what should not have failed for the task's end.
func TestFailed(t *testing.T) {
	p := NewPage("bench:x", "X", "intro")
	p.Table("A", "a", "n")
	p.Left("whole", ErrInexact)
	p.Row(1.0)
	if p.failed != nil {
		t.Errorf("failed: %v", p.failed)
	}
	wrong := errors.New("wrong\noutput")
	p.Failed("part", wrong)
	p.Table("B", "b", "n")
	p.end()
	want := "| 1.00 |\n\nLeft out: whole: the report is not exact.\n\nLeft out: part: wrong.\n\n## B\n\nb\n\n| n |\n|---:|\n"
	if got := p.text.String(); !strings.HasSuffix(got, want) || !errors.Is(p.failed, wrong) {
		t.Errorf("failed: %v, page\n%s", p.failed, got)
	}
}

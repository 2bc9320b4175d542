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

// TestMergeRows replaces the rows of some programs, and says so, again and again.
func TestMergeRows(t *testing.T) {
	old := "<!-- old -->\n\n# X\n\nold\n\n## A\n\nkept\n\n## B\n\nwas so. Measured on Monday.\n\n| program | root | n |\n|---|---|---:|\n| h2 | whole | 1 |\n| h2 | part | 2 |\n| shop | part | 3 |\n\nLeft out: shop, whole: no room.\n\nLeft out: javac, whole: no room.\n"
	measured := func(day string, rows ...[]any) string {
		p := NewPage("bench:x", "X", "new")
		p.run = " Measured on " + day + "."
		p.Table("B", "is so.", "program|", "root|", "n")
		for _, r := range rows {
			p.Row(r...)
		}
		p.end()
		p.mergeRows(old)
		p.merge(old)
		return p.text.String()
	}
	head := "<!-- Written by \"go tool task bench:x\". Do not edit. -->\n\n# X\n\nnew\n\n## A\n\nkept\n\n## B\n\nis so. Measured on Monday.\n\n| program | root | n |\n|---|---|---:|\n"
	old = measured("Tuesday", []any{"h2", "part", 7}, []any{"shop", "whole", 8})
	if want := head + "| h2 | whole | 1 |\n| h2 | part | 7 |\n| shop | part | 3 |\n| shop | whole | 8 |\n\nLeft out: javac, whole: no room.\n\nApart: h2, part; shop, whole. Measured on Tuesday.\n"; old != want {
		t.Errorf("got\n%s\nwant\n%s", old, want)
	}
	old = measured("Wednesday", []any{"shop", "whole", 9})
	if want := head + "| h2 | whole | 1 |\n| h2 | part | 7 |\n| shop | part | 3 |\n| shop | whole | 9 |\n\nLeft out: javac, whole: no room.\n\nApart: h2, part. Measured on Tuesday.\n\nApart: shop, whole. Measured on Wednesday.\n"; old != want {
		t.Errorf("got\n%s\nwant\n%s", old, want)
	}
	old = strings.Replace(old, "Left out: javac, whole", "Left out: ecj: unlike.\n\nLeft out: javac, whole", 1)
	old = measured("Thursday", []any{"h2", "third", 4}, []any{"ecj", "part", 5}) // below those of the same program
	if want := head + "| h2 | whole | 1 |\n| h2 | part | 7 |\n| h2 | third | 4 |\n| shop | part | 3 |\n| shop | whole | 9 |\n| ecj | part | 5 |\n\nLeft out: javac, whole: no room.\n\nApart: h2, part. Measured on Tuesday.\n\nApart: shop, whole. Measured on Wednesday.\n\nApart: h2, third; ecj, part. Measured on Thursday.\n"; old != want {
		t.Errorf("got\n%s\nwant\n%s", old, want)
	}
}

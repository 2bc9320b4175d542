package bench

import "testing"

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

package export

import (
	"strings"
	"unicode/utf8"
)

// A table aligns columns to the right and leaves the last one, the label, as
// it is. Columns that are empty in every row but the head are left out.
type table struct {
	head []string
	rows []row
}

type row struct {
	cells []string
	label string
	style string // escape sequence, used if colours are on
}

func (t *table) add(label, style string, cells ...string) {
	t.rows = append(t.rows, row{cells, label, style})
}

const styleEnd = "\x1b[0m"

func (t *table) write(s *sink, color bool) {
	columns := len(t.head) - 1
	width := make([]int, columns)
	for _, r := range t.rows {
		for i, c := range r.cells {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for i := range columns {
		if width[i] > 0 {
			width[i] = max(width[i], utf8.RuneCountInString(t.head[i]))
		}
	}
	line := func(cells []string, label, style string) {
		for i, c := range cells {
			if width[i] > 0 {
				s.text(strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)))
				s.text(c)
				s.text("  ")
			}
		}
		if color && style != "" {
			s.text(style)
			s.text(label)
			s.text(styleEnd)
		} else {
			s.text(label)
		}
		s.text("\n")
	}
	line(t.head[:columns], t.head[columns], "")
	for _, r := range t.rows {
		line(r.cells, r.label, r.style)
	}
}

package export

import (
	"strings"
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

// write writes the table, with labels cut to lines of most columns; 0 cuts
// nothing.
func (t *table) write(s *sink, color bool, most int) {
	columns := len(t.head) - 1
	width := make([]int, columns)
	for _, r := range t.rows {
		for i, c := range r.cells {
			width[i] = max(width[i], Width(c))
		}
	}
	for i := range columns {
		if width[i] > 0 {
			width[i] = max(width[i], Width(t.head[i]))
		}
	}
	room := 0
	if most > 0 {
		room = most
		for _, w := range width {
			if w > 0 {
				room -= w + 2
			}
		}
		room = max(room, leastLabel)
	}
	line := func(cells []string, label, style string) {
		for i, c := range cells {
			if width[i] > 0 {
				s.text(strings.Repeat(" ", width[i]-Width(c)))
				s.text(c)
				s.text("  ")
			}
		}
		if room > 0 {
			label = fitLabel(label, room)
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

package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
)

// A heat is a map of the samples over time, and the range of it that is looked at.
type heat struct {
	counts   []int64
	piece    int64 // ns
	from, to int64 // ns; 0, 0 is none: what is new since the last look
}

// cell is how many ns a character of the map stands for.
func (h *heat) cell(width int) int64 {
	_, each := export.Spark(h.counts, max(width, 1))
	return int64(max(each, 1)) * max(h.piece, 1)
}

// end is the time up to which there are samples.
func (h *heat) end() int64 { return h.piece * int64(len(h.counts)) }

// move moves the range by so many characters and makes it wider by so many; without one it begins with the last
// tenth of the map.
func (h *heat) move(by, wider, width int) {
	cell, end := h.cell(width), h.end()
	if end == 0 {
		return
	}
	length := h.to - h.from
	if length == 0 {
		length = max(end/10/cell, 1) * cell
		h.from, by = (end+cell-1)/cell*cell-length, 0
	}
	length = min(max(length+int64(wider)*cell, cell), (end+cell-1)/cell*cell)
	h.from = max(min(h.from/cell*cell+int64(by)*cell, (end-1)/cell*cell+cell-length), 0)
	h.to = h.from + length
}

// lines are the map, and below it the range.
func (h *heat) lines(width int) [2]string {
	line, _ := export.Spark(h.counts, max(width, 1))
	if h.to == 0 {
		return [2]string{line, fmt.Sprintf("the samples of %s; left and right: look at a range of it", export.Duration(h.end()))}
	}
	cell := h.cell(width)
	marks := strings.Repeat(" ", int(h.from/cell)) + strings.Repeat("^", int(max((h.to-h.from)/cell, 1)))
	text := fmt.Sprintf("%s to %s", export.Duration(h.from), export.Duration(min(h.to, h.end())))
	if room := width - export.Width(marks); room > len(text)+1 {
		return [2]string{line, marks + " " + text}
	}
	if left := int(h.from / cell); left > len(text)+1 {
		return [2]string{line, strings.Repeat(" ", left-len(text)-1) + text + " " + marks[left:]}
	}
	return [2]string{line, marks}
}

// tree are the hottest calls of a range, as many as there is room for, each below its caller.
func tree(v *collect.View, o Options) []string {
	lines := []string{" total %    self %  call"}
	took := max(v.Took, time.Millisecond)
	hottest(v.Tree, o.Rows, func(n *cct.Node, depth int) {
		m, _ := v.Lookup(n.Method)
		lines = append(lines, fmt.Sprintf("%8.1f  %8.1f  %s%s", percent(n.Total, took), percent(n.Self, took), strings.Repeat(" ", min(depth, mostIndent)), export.Clean(short(m.Name))))
	})
	return lines
}

// mostIndent bounds how far calls are put to the right of their callers.
const mostIndent = 40

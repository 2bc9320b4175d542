package export

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// own and total are a context's figures of the i-th further metric; 0 where it has none.
func own(v *metric.Values, i int) int64 {
	if v == nil {
		return 0
	}
	return v.Own[i]
}

func total(v *metric.Values, i int) int64 {
	if v == nil {
		return 0
	}
	return v.Total[i]
}

// figure writes a value for people, as its unit wants it.
func figure(u metric.Unit, v int64) string {
	switch u {
	case metric.Nanoseconds:
		return Duration(v)
	case metric.Bytes:
		return Bytes(v)
	}
	return Count(v)
}

// rateDigits are those of a rate after the point, in tables.
const rateDigits = 2

// PerNanosecond is a context's own figure by its own time in ns; "" where the time is
// not known, or not even its first digit. off is how far it may be off.
func PerNanosecond(figure, self, off int64) string {
	if self <= 0 || off >= self {
		return ""
	}
	return strconv.FormatFloat(float64(figure)/float64(self), 'f', rateDigits, 64)
}

// CountHeads are the heads of the columns that further metrics have in tables.
func CountHeads(rows []metric.Metric) (heads []string) {
	for _, m := range rows {
		heads = append(heads, m.Title)
		if m.Rate != "" {
			heads = append(heads, "per ns")
		}
		if m.Total != "" {
			heads = append(heads, "total "+m.Title)
		}
	}
	return heads
}

// CountCells are the cells below them: counts has own and total of each metric
// in turn, self is the context's own time and off how far that may be off, in ns.
func CountCells(rows []metric.Metric, counts []int64, self, off int64) (cells []string) {
	for i, m := range rows[:min(len(rows), len(counts)/2)] {
		cells = append(cells, figure(m.Unit, counts[2*i]))
		if m.Rate != "" {
			cells = append(cells, PerNanosecond(counts[2*i], self, off))
		}
		if m.Total != "" {
			cells = append(cells, figure(m.Unit, counts[2*i+1]))
		}
	}
	return cells
}

// countCells are the cells of a context. counted: it has no time of its own.
func countCells(t *metric.Table, v *metric.Values, counted bool, self int64, u cct.Uncertainty) []string {
	var counts []int64
	for i := range t.All() {
		counts = append(counts, own(v, i), total(v, i))
	}
	if counted {
		self = 0
	}
	return CountCells(t.All(), counts, self, u.Error)
}

// counts writes a context's further metrics. counted: it has no time of its own.
func (w *jsonWriter) counts(v *metric.Values, counted bool, self int64) {
	for i, m := range w.metrics.All() {
		w.field(m.Self, own(v, i))
		switch {
		case m.Rate == "":
		case counted || self <= 0:
			w.text(`,"` + m.Rate + `":null`)
		default:
			w.text(`,"` + m.Rate + `":` + strconv.FormatFloat(float64(own(v, i))/float64(self), 'g', 4, 64))
		}
		if m.Total != "" {
			w.field(m.Total, total(v, i))
		}
	}
}

// readMetrics reads the field "metrics", which comes before the trees: the
// further metrics that they have.
func (in *reader) readMetrics() error {
	var rows []metric.Metric
	if err := in.value(&rows); err != nil {
		return err
	}
	if len(rows) > metric.Room {
		return fmt.Errorf("%d metrics, at most %d are known how to read", len(rows), metric.Room)
	}
	for _, m := range rows {
		if m.Name == "" || m.Self == "" {
			return errors.New("a metric without a name")
		}
	}
	in.metrics = metric.NewTable(rows...)
	return nil
}

// countField is where the value of a field goes that a further metric has; nil if none has it.
func (in *reader) countField(n *cct.Node, key string) any {
	for i, m := range in.metrics.All() {
		if m.Self == key {
			if n.Counts == nil {
				n.Counts = &metric.Values{Table: in.metrics}
			}
			return &n.Counts.Own[i]
		}
	}
	return nil
}

// union gives all nodes below roots the metrics of a table, by their names.
func union(roots []*cct.Node, t *metric.Table) {
	for n := range cct.All(roots) {
		if n.Counts != nil {
			v := &metric.Values{Table: t}
			v.Add(n.Counts)
			n.Counts = v
		}
	}
	cct.Totals(roots)
}

// unionOf has the metrics of all reports, each name once.
func unionOf(reports []*Report) *metric.Table {
	var rows []metric.Metric
	for _, r := range reports {
		if r.Tree == nil {
			continue
		}
		for _, m := range r.Tree.Metrics.All() {
			if metric.NewTable(rows...).Index(m.Name) < 0 {
				rows = append(rows, m)
			}
		}
	}
	return metric.NewTable(rows...)
}

package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/event"
)

// Rows of marks in a trace: slices of one row must not overlap, so those of one
// kind that do (reveals, for which threads wait at the same time) get further
// rows. Their numbers are far above those of Java threads, and within the 32
// bits that viewers read.
const (
	markRows     = 0x70000000 // of kind k they begin at markRows + k*mostMarkRows
	mostMarkRows = 64
	marksOfOnce  = "class loads"
)

var markRowNames = [event.MarkKinds]string{"GC", "redefinition", "waiting for instrumentation", marksOfOnce, "agents"}

// marks writes the report's marks, and names their rows.
func (w *jsonWriter) marks(r *Report) {
	if r.Marks == nil {
		return
	}
	all := slices.Clone(r.Marks.All)
	slices.SortStableFunc(all, func(a, b event.Mark) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Start, b.Start), cmp.Compare(b.Took, a.Took))
	})
	var ends [event.MarkKinds][]int64 // by row
	for _, k := range all {
		if k.Kind >= event.MarkKinds {
			continue
		}
		rows := &ends[k.Kind]
		row := slices.IndexFunc(*rows, func(end int64) bool { return end <= k.Start })
		if row < 0 && len(*rows) < mostMarkRows {
			row = len(*rows)
			*rows = append(*rows, 0)
			name := markRowNames[k.Kind]
			if row > 0 {
				name += fmt.Sprint(" ", row+1)
			}
			w.text(fmt.Sprintf(",\n"+`{"ph":"M","name":"thread_name","pid":%d,"tid":%d,"args":{"name":%s}}`, r.Target.PID, rowOf(k.Kind, row), quote(name)))
		}
		if row < 0 {
			continue // more than mostMarkRows at one time: it is in the JSON report
		}
		(*rows)[row] = k.Start + k.Took
		w.mark(r, k, rowOf(k.Kind, row))
	}
}

// once tells whether marks of a kind have no length.
func once(k event.MarkKind) bool { return k == event.Loading || k == event.Agent }

func rowOf(k event.MarkKind, row int) int64 { return markRows + int64(k)*mostMarkRows + int64(row) }

func (w *jsonWriter) mark(r *Report, k event.Mark, row int64) {
	if once(k.Kind) {
		w.text(",\n" + `{"ph":"i","s":"t","name":`)
	} else {
		w.text(",\n" + `{"ph":"X","name":`)
	}
	w.bytes(quote(cmp.Or(k.Name, "classes instrumented")))
	w.text(`,"cat":"` + k.Kind.String() + `","ts":`)
	w.micros(max(k.Start, 0))
	if !once(k.Kind) {
		w.text(`,"dur":`)
		w.micros(k.Took + min(k.Start, 0))
	}
	w.field("pid", int64(r.Target.PID))
	w.field("tid", row)
	w.text(`,"args":{"count":`)
	w.number(k.Count)
	if k.Pause >= 0 {
		w.field("pause_ns", k.Pause)
	}
	if k.Off > 0 {
		w.field("off_ns", k.Off)
	}
	if k.Cause != "" {
		w.text(`,"cause":`)
		w.bytes(quote(k.Cause))
	}
	w.text("}}")
}

package live

import (
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// DifferenceOptions choose what [Difference] lists.
type DifferenceOptions struct {
	Each  bool // per root call: what came after is scaled to as many as before; reports of samples are scaled to as many seconds
	Top   int  // methods whose own time differs most
	Depth int  // levels of the tree
}

// smallDifference is the part of all time below which a branch of the
// difference is not followed.
const smallDifference = 0.01

// Difference compares two reports, and follows the branches of the tree in which they
// differ. Nodes are matched by path, methods by name and class loader, even if the two JVMs
// gave the loader different hashes. It does not change the reports. It may be called
// concurrently for different reports.
func Difference(before, after *export.Report, o DifferenceOptions) *export.Diff {
	numbering := newNumbering()
	a, b := newFrame(1, before, numbering), newFrame(2, after, numbering)
	q := &CompareQuery{Rows: maxRows, Each: o.Each}
	open := map[int32]bool{}
	var view CompareView
	for {
		view = compare(a, b, q)
		small := int64(smallDifference * float64(max(view.Before, view.After)))
		known := len(open)
		for _, r := range view.Rows {
			path, depth, change := int32(r[0]), int(r[1]), r[7]-r[6]
			if r[10] > 0 && depth+1 < o.Depth && len(open) < maxRows && max(change, -change) > small && path != 0 && !open[path] {
				open[path] = true
				q.Open = append(q.Open, path)
			}
		}
		if len(open) == known {
			break
		}
	}
	d := &export.Diff{Each: view.Scaled, Unlike: view.Unlike, Verdict: view.Verdict, Differ: view.Differ, Within: view.Within, Invocations: view.Roots, Total: [2]int64{view.Before, view.After}}
	if a, b := before.Sampling, after.Sampling; a != nil && b != nil {
		d.Samples, d.Seconds = [2]int64{a.Samples, b.Samples}, [2]float64{before.Time.Seconds(), after.Time.Seconds()}
	}
	small := int64(smallDifference * float64(max(view.Before, view.After)))
	for _, r := range view.Rows {
		if change := r[7] - r[6]; r[1] > 0 && max(change, -change) <= small {
			d.Small++
			continue
		}
		d.Tree = append(d.Tree, export.DiffLine{
			Method: numbering.method(int32(r[2])), Depth: int(r[1]), Calls: [2]int64{r[4], r[5]}, Total: [2]int64{r[6], r[7]}, Self: [2]int64{r[8], r[9]},
			TotalBound: r[11], SelfBound: r[12], Closed: r[10] > 0 && r[3]&rowOpen == 0, Async: r[3]&rowAsync != 0,
		})
	}
	for _, c := range view.Changes[:min(o.Top, len(view.Changes))] {
		d.Methods = append(d.Methods, export.DiffLine{
			Method: numbering.method(int32(c[0])), Calls: [2]int64{c[1], c[2]}, Self: [2]int64{c[3], c[4]}, Total: [2]int64{c[5], c[6]}, SelfBound: c[7],
		})
	}
	d.More = view.More + len(view.Changes) - len(d.Methods)
	if before.Sampling == nil && after.Sampling == nil && !export.Grave(view.Unlike) {
		d.Metrics = export.DiffMetrics(before, after, view.Scaled, o.Top)
	}
	return d
}

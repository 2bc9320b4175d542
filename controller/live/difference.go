package live

import (
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// DifferenceOptions choose what Difference looks at.
type DifferenceOptions struct {
	Each  bool // per root invocation: what came after is scaled to as many as before
	Top   int  // methods whose own time differs most
	Depth int  // levels of the tree
}

// smallDifference is the part of all time below which a branch of the
// difference is not followed.
const smallDifference = 0.01

// Difference compares two reports as the page does: nodes by their paths,
// methods by name and loader, of which other JVMs have other hashes. Branches are followed where the difference is.
func Difference(before, after *export.Report, o DifferenceOptions) *export.Diff {
	book := newBook()
	a, b := newFrame(1, before, book), newFrame(2, after, book)
	look := &CompareLook{Rows: mostRows, Each: o.Each}
	open := map[int32]bool{}
	var page ComparePage
	for {
		page = compare(a, b, look)
		small := int64(smallDifference * float64(max(page.Before, page.After)))
		known := len(open)
		for _, r := range page.Rows {
			path, depth, change := int32(r[0]), int(r[1]), r[7]-r[6]
			if r[10] > 0 && depth+1 < o.Depth && len(open) < mostRows && max(change, -change) > small && path != 0 && !open[path] {
				open[path] = true
				look.Open = append(look.Open, path)
			}
		}
		if len(open) == known {
			break
		}
	}
	d := &export.Diff{Each: o.Each, Invocations: page.Roots, Total: [2]int64{page.Before, page.After}}
	small := int64(smallDifference * float64(max(page.Before, page.After)))
	for _, r := range page.Rows {
		if change := r[7] - r[6]; r[1] > 0 && max(change, -change) <= small {
			d.Small++
			continue
		}
		d.Tree = append(d.Tree, export.DiffLine{
			Method: book.name(int32(r[2])), Depth: int(r[1]), Calls: [2]int64{r[4], r[5]}, Total: [2]int64{r[6], r[7]}, Self: [2]int64{r[8], r[9]},
			Closed: r[10] > 0 && r[3]&rowOpen == 0, Async: r[3]&rowAsync != 0,
		})
	}
	for _, c := range page.Changes[:min(o.Top, len(page.Changes))] {
		d.Methods = append(d.Methods, export.DiffLine{
			Method: book.name(int32(c[0])), Calls: [2]int64{c[1], c[2]}, Self: [2]int64{c[3], c[4]}, Total: [2]int64{c[5], c[6]},
		})
	}
	d.More = page.More + len(page.Changes) - len(d.Methods)
	return d
}

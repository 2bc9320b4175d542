package export

import (
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// htmlPage is a page without its data; it loads nothing from anywhere.
//
//go:embed page.html
var htmlPage string

// HTML writes one page that needs nothing else: the summary, the tree with the
// hot path opened, and the methods, to be sorted and searched. Names can't do
// anything in it but be shown. The data are compressed: 100,000 call paths stay
// below 2 MB.
func (r *Report) HTML(w io.Writer) error {
	var summary strings.Builder
	t := textWriter{sink: sink{w: &summary}, report: r, figures: r.figures(), o: TextOptions{Top: DefaultTop}}
	t.summary()
	t.allocations()
	t.footer()
	if err := t.flush(); err != nil {
		return err
	}
	before, rest, ok := strings.Cut(htmlPage, "/*TITLE*/")
	middle, after, ok2 := strings.Cut(rest, "/*DATA*/")
	if !ok || !ok2 {
		panic("page.html lacks its marks")
	}
	page := sink{w: w}
	page.text(before)
	page.text(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(Clean(r.Target.Main)))
	page.text(middle)
	page.text(`{"calls":`)
	page.bytes(quote(r.calls()))
	page.text(`,"packed":"`)
	text := base64.NewEncoder(base64.StdEncoding, &page)
	packer, err := gzip.NewWriterLevel(text, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	out := sink{w: packer}
	r.pageData(&out, &t, summary.String())
	if err := errors.Join(out.flush(), packer.Close(), text.Close()); err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	page.text(`"}`)
	page.text(after)
	if err := page.flush(); err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	return nil
}

// pageData writes the JSON that the page unpacks. Names go into it cleaned: what the
// page shows is text, never markup.
func (r *Report) pageData(out *sink, t *textWriter, summary string) {
	roots := cct.Merge(t.figures.snapshot.Roots())
	cct.Sort(roots)
	out.text(`{"summary":`)
	out.bytes(quote(summary))
	metrics := r.metrics()
	out.text(`,"metrics":[`)
	for i, m := range metrics.All() {
		if i > 0 {
			out.text(",")
		}
		out.text(`{"title":`)
		out.bytes(quote(m.Title))
		out.text(`,"unit":`)
		out.bytes(quote(string(m.Unit)))
		out.text("}")
	}
	out.text(`],"methods":[`)
	labels := r.labels(t.flat)
	number := map[int32]int64{}
	for i, e := range t.flat {
		if i > 0 {
			out.text(",")
		}
		number[e.Method] = int64(i)
		out.text("\n[")
		out.bytes(quote(labels[e.Method]))
		out.text(",")
		out.bytes(quote(Clean(r.Method(e.Method).Name)))
		for _, v := range []int64{e.Calls, e.Thrown, e.Self, e.Total, e.Error} {
			out.text(",")
			out.number(v)
		}
		out.text(",")
		out.bytes(quote(Clean(r.Method(e.Method).Place())))
		for i := range metrics.All() {
			out.text(",")
			out.number(own(e.Counts, i))
			out.text(",")
			out.number(total(e.Counts, i))
		}
		out.text("]")
	}
	out.text(`],"counted":[`) // methods that are only counted: their time is their callers'
	for i, first := 0, true; i < len(t.flat); i++ {
		if !r.Counted[t.flat[i].Method] {
			continue
		}
		if !first {
			out.text(",")
		}
		first = false
		out.number(int64(i))
	}
	out.text("],\n\"nodes\":")
	writeNodes(out, roots, number, len(metrics.All()))
	out.text("}")
}

// writeNodes writes the nodes in preorder as one list for each figure: depth, method, calls,
// thrown, self, what the total has beyond self and the callees' totals, self's error, and
// of each further metric its own and its total. Figures of one kind side by side, and
// totals that are mostly 0, are what keeps a large tree small when it is compressed; and
// nested lists would be too deep for browsers.
func writeNodes(out *sink, roots []*cct.Node, number map[int32]int64, metrics int) {
	columns := make([][]int64, 7+2*metrics)
	for n, depth := range cct.All(roots) {
		m, ok := number[n.Method]
		if !ok {
			m = -1
		}
		beyond := n.Total - n.Self
		for _, c := range n.Children {
			beyond -= c.Total
		}
		for i, v := range []int64{int64(depth), m, n.Calls, n.Thrown, n.Self, beyond, n.Error} {
			columns[i] = append(columns[i], v)
		}
		for i := range metrics {
			columns[7+2*i] = append(columns[7+2*i], own(n.Counts, i))
			columns[8+2*i] = append(columns[8+2*i], total(n.Counts, i))
		}
	}
	for i, column := range columns {
		out.text([]string{"[[", "],\n["}[min(i, 1)])
		for k, v := range column {
			if k > 0 {
				out.text(",")
			}
			out.number(v)
		}
	}
	out.text("]]")
}

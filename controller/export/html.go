package export

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// page is a page without its data; it loads nothing from anywhere.
//
//go:embed page.html
var page string

// HTML writes one page that needs nothing else: the summary, the tree with the
// hot path opened, and the methods, to be sorted and searched. Names can't do
// anything in it but be shown.
func (r *Report) HTML(w io.Writer) error {
	var summary strings.Builder
	t := textWriter{sink: sink{w: &summary}, report: r, figures: r.figures()}
	t.summary()
	t.footer()
	if err := t.flush(); err != nil {
		return err
	}
	before, rest, ok := strings.Cut(page, "/*TITLE*/")
	middle, after, ok2 := strings.Cut(rest, "/*DATA*/")
	if !ok || !ok2 {
		panic("page.html lacks its marks")
	}
	out := sink{w: w}
	out.text(before)
	out.text(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(Clean(r.Target.Main)))
	out.text(middle)
	roots := cct.Merge(t.figures.snapshot.Roots())
	cct.Sort(roots)
	out.text(`{"calls":`)
	out.bytes(quote(r.calls()))
	out.text(`,"summary":`)
	out.bytes(harmless(quote(summary.String())))
	metrics := r.metrics()
	out.text(`,"metrics":[`)
	for i, m := range metrics.All() {
		if i > 0 {
			out.text(",")
		}
		out.text(`{"title":`)
		out.bytes(harmless(quote(m.Title)))
		out.text(`,"unit":`)
		out.bytes(harmless(quote(string(m.Unit))))
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
		out.bytes(harmless(quote(labels[e.Method])))
		out.text(",")
		out.bytes(harmless(quote(Clean(r.Method(e.Method).Name))))
		for _, v := range []int64{e.Calls, e.Thrown, e.Self, e.Total, e.Error} {
			out.text(",")
			out.number(v)
		}
		out.text(",")
		out.bytes(harmless(quote(Clean(r.Method(e.Method).Place()))))
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
	// Depth, method, calls, thrown, self, total and self's error of each node, and
	// of each further metric its own and its total, in preorder: nested lists would be too deep for browsers.
	out.text("],\n\"nodes\":[")
	first := true
	for n, depth := range cct.All(roots) {
		if !first {
			out.text(",")
		}
		first = false
		m, ok := number[n.Method]
		if !ok {
			m = -1
		}
		for i, v := range []int64{int64(depth), m, n.Calls, n.Thrown, n.Self, n.Total, n.Error} {
			if i > 0 {
				out.text(",")
			}
			out.number(v)
		}
		for i := range metrics.All() {
			out.text(",")
			out.number(own(n.Counts, i))
			out.text(",")
			out.number(total(n.Counts, i))
		}
	}
	out.text("]}")
	out.text(after)
	if err := out.flush(); err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	return nil
}

// harmless keeps a JSON text from ending the script element that it stands in.
func harmless(b []byte) []byte {
	return []byte(strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(string(b)))
}

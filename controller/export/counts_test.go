package export_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// added is a metric that this program knows nothing of but its row.
var added = metric.Metric{Name: "naps", Title: "naps", Unit: metric.Nanoseconds, Merge: metric.Max, Self: "nap_ns", Total: "naps_below_ns", Doc: "the longest nap"}

// withCounts is a report whose contexts have bytecodes and the metric added.
func withCounts(factor int64) *export.Report {
	r := report()
	r.Tree.Metrics = metric.NewTable(metric.Bytecodes, added)
	for n := range cct.All(r.Tree.Roots()) {
		n.Counts = &metric.Values{Table: r.Tree.Metrics}
		n.Counts.Own[0], n.Counts.Own[1] = factor*(1000+n.Calls), factor*(50_000+n.Calls)
	}
	cct.Totals(r.Tree.Roots())
	return r
}

// TestNewMetric adds a metric, and finds it in every form that has more than one
// figure for a context; collapsed stacks have time alone.
func TestNewMetric(t *testing.T) {
	r := withCounts(1)
	for _, name := range export.FormatNames() {
		f, _ := export.FormatNamed(name)
		var b bytes.Buffer
		if err := f.Write(r, &b, export.FormatOptions{}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if f.Binary {
			z, err := gzip.NewReader(&b)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			text = string(plain)
		}
		if name == "html" {
			text = pageData(t, text)
		}
		for _, m := range []metric.Metric{metric.Bytecodes, added} {
			if has := strings.Contains(text, m.Title); has != (name != "collapsed") {
				t.Errorf("%s, of %s: %v", name, m.Name, has)
			}
		}
	}
}

// TestRates writes a context's own bytecodes by its own time, where it has one that is
// known.
func TestRates(t *testing.T) {
	for _, test := range []struct {
		self, off int64
		want      string
	}{{200, 0, "5.00"}, {1500, 1499, "0.67"}, {0, 0, ""}, {-5, 0, ""}, {200, 200, ""}} {
		if got := export.PerNanosecond(1000, test.self, test.off); got != test.want {
			t.Errorf("1000 bytecodes in %d ± %d ns: %q, want %q", test.self, test.off, got, test.want)
		}
	}
	r := withCounts(1)
	var text, doc strings.Builder
	if err := errors.Join(r.Text(&text, export.TextOptions{}), r.JSON(&doc, export.JSONOptions{})); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "per ns"); n != 2 {
		t.Errorf("%d columns with rates, want those of methods and tree:\n%s", n, text.String())
	}
	var in struct {
		Flat []struct {
			Self      int64    `json:"self_ns"`
			Bytecodes float64  `json:"self_bytecodes"`
			Rate      *float64 `json:"bytecodes_per_ns"`
		}
	}
	if err := json.Unmarshal([]byte(doc.String()), &in); err != nil {
		t.Fatal(err)
	}
	for _, m := range in.Flat {
		switch {
		case m.Self <= 0:
			if m.Rate != nil {
				t.Errorf("%+v has a rate", m)
			}
		case m.Rate == nil || math.Abs(*m.Rate/(m.Bytecodes/float64(m.Self))-1) > 1e-3:
			t.Errorf("%+v: rate %v", m, m.Rate)
		}
	}
}

// TestDensity says what is allocated for 1,000 executed bytecodes, counted either way, and
// nothing where one of both was not counted.
func TestDensity(t *testing.T) {
	for _, test := range []struct {
		rows []metric.Metric
		want string
	}{
		{[]metric.Metric{metric.Bytecodes, metric.Objects, metric.Arrays, metric.AllocatedBytes}, "2.50 objects and arrays, at least 32 B, for 1,000 executed bytecodes"},
		{[]metric.Metric{metric.Objects, metric.Arrays, metric.AllocatedBytes, metric.Blocks}, "2.50 objects and arrays, at least 32 B, for 1,000 executed bytecodes"},
		{[]metric.Metric{metric.Objects, metric.Arrays, metric.AllocatedBytes}, ""},
		{[]metric.Metric{metric.Bytecodes}, ""},
	} {
		r := report()
		r.Tree.Metrics = metric.NewTable(test.rows...)
		for n := range cct.All(r.Tree.Roots()) {
			n.Counts = &metric.Values{Table: r.Tree.Metrics}
			if i := r.Tree.Metrics.Executed(); i >= 0 {
				n.Counts.Own[i] = 2000
			}
			n.Details().Allocs = []cct.Alloc{{Type: &cct.Type{Name: "a.B"}, Objects: 3, Bytes: cct.NotKnown}, {Type: &cct.Type{Name: "int[]", Array: true}, Objects: 2, Elements: 8, Bytes: 64}}
			for _, a := range n.Allocs() {
				n.Allocated(a)
			}
		}
		cct.Totals(r.Tree.Roots())
		var text, doc strings.Builder
		if err := errors.Join(r.Text(&text, export.TextOptions{}), r.JSON(&doc, export.JSONOptions{})); err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(text.String(), "for 1,000 executed bytecodes"); has != (test.want != "") || !strings.Contains(text.String(), test.want) {
			t.Errorf("%v: want %q:\n%s", test.rows, test.want, text.String())
		}
		var in struct {
			Density *export.Density `json:"allocation_density"`
		}
		if err := json.Unmarshal([]byte(doc.String()), &in); err != nil {
			t.Fatal(err)
		}
		if (in.Density != nil) != (test.want != "") || in.Density != nil && *in.Density != (export.Density{Objects: 2.5, Bytes: 32}) {
			t.Errorf("%v: density %v", test.rows, in.Density)
		}
	}
}

// written is a report as JSON.
func written(t *testing.T, r *export.Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.JSON(&b, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readBack reads a report, which says the same when it is written again.
func readBack(t *testing.T, text string) *export.Report {
	t.Helper()
	back, err := export.ReadJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, written(t, back)); diff != "" {
		t.Errorf("written again, -want +got:\n%s", diff)
	}
	return back
}

// TestMetricsReadBack reads what was written, metrics that this program doesn't
// know included, and puts reports together that have others.
func TestMetricsReadBack(t *testing.T) {
	text := written(t, withCounts(1))
	back := readBack(t, text)
	other := withCounts(3)
	other.Tree.Metrics = metric.NewTable(added) // the first one's place
	for n := range cct.All(other.Tree.Roots()) {
		n.Counts = &metric.Values{Table: other.Tree.Metrics}
		n.Counts.Own[0] = 3 * (50_000 + n.Calls)
	}
	sum := export.Merge(back, other)
	wants := []int64{cct.Sum(back.Tree.Roots()).Counts.Own[0], cct.Sum(other.Tree.Roots()).Counts.Own[0]}
	got := cct.Sum(sum.Tree.Roots()).Counts
	if sum.Tree.Metrics.Index("bytecodes") != 0 || sum.Tree.Metrics.Index("naps") != 1 || got.Own[0] != wants[0] || got.Own[1] != wants[1] {
		t.Errorf("together: %v of %v, want %v", got.Own, sum.Tree.Metrics, wants)
	}
}

// TestMetricsDamaged refuses tables of metrics that make no sense.
func TestMetricsDamaged(t *testing.T) {
	var b strings.Builder
	if err := withCounts(1).JSON(&b, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`"metrics": [{}],`, `"metrics": 1,`, `"metrics": [` + strings.Repeat(`{"name":"a","self":"b"},`, metric.Room) + `{"name":"a","self":"b"}],`} {
		from := strings.Index(b.String(), `"metrics":`)
		to := from + strings.Index(b.String()[from:], "],") + 2
		if _, err := export.ReadJSON(strings.NewReader(b.String()[:from] + bad + b.String()[to:])); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// TestAllocationsReadBack writes what contexts have allocated, reads it, and puts
// two reports together.
func TestAllocationsReadBack(t *testing.T) {
	r := report()
	c, _ := metric.Asked(metric.CountAllocations)
	r.Tree.Metrics = metric.NewTable(c.Rows...)
	types := []*cct.Type{{Name: "shop.Order<x>", Size: 24}, {Name: "int[]", Array: true}, {Name: "Vague", Size: cct.NotKnown}}
	i := int64(0)
	for n := range cct.All(r.Tree.Roots()) {
		n.Counts = &metric.Values{Table: r.Tree.Metrics}
		for _, a := range []cct.Alloc{{Type: types[0], Objects: 2, Bytes: 48}, {Type: types[1], Objects: 3, Elements: 10, Bytes: 112}, {Type: types[2], Objects: 1, Bytes: cct.NotKnown}} {
			if i++; i%4 != 0 {
				n.Details().Allocs = append(n.Allocs(), a)
				n.Allocated(a)
			}
		}
	}
	cct.Totals(r.Tree.Roots())
	write := func(r *export.Report) string {
		t.Helper()
		var b strings.Builder
		if err := r.JSON(&b, export.JSONOptions{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := write(r)
	for _, want := range []string{`{"type":"int[]","objects":3,"elements":10,"bytes":112}`, `{"type":"Vague","objects":1,"elements":0,"bytes":null}`, `"allocated_bytes": `} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	back := readBack(t, text)
	var stacks strings.Builder
	if err := r.Collapsed(&stacks, metric.AllocatedBytes.Name); err != nil {
		t.Fatal(err)
	}
	var bytes int64
	for line := range strings.Lines(stacks.String()) {
		var n int64
		stack, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, err := fmt.Sscan(number, &n); err != nil || !strings.HasSuffix(stack, ";int[]") && !strings.HasSuffix(stack, ";shop.Order<x>") {
			t.Errorf("stack %q", line)
		}
		bytes += n
	}
	if want := cct.Sum(r.Tree.Roots()).Counts.Own[2]; bytes != want {
		t.Errorf("%d bytes in stacks, want %d", bytes, want)
	}
	if err := r.Collapsed(io.Discard, metric.Bytecodes.Name); err == nil {
		t.Error("stacks of what was not counted")
	}
	one, two := cct.TypesOf(r.Tree.Roots()), cct.TypesOf(export.Merge(back, r).Tree.Roots())
	for k := range one {
		if a, b := one[k], two[k]; b.Objects != 2*a.Objects || b.Elements != 2*a.Elements || a.Bytes >= 0 && b.Bytes != 2*a.Bytes {
			t.Errorf("%s: %v once, %v of two reports", a.Type.Name, a, b)
		}
	}
}

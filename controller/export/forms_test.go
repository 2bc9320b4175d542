package export_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// whole is a report with everything that a file has to bring back.
func whole() *export.Report {
	pause := 9100 * time.Microsecond
	t := tree()
	t.Threads[0].Roots[0].Details().Sample = &cct.Sample{Ran: 3, Wall: 7, Count: 2}
	t.Threads = append(t.Threads,
		&cct.Thread{ID: 50, Name: "v", Virtual: true, RootEntries: 1, RootReturns: 1, Roots: cct.Merge([]*cct.Node{node(0, 1, 0, 5)})},
		&cct.Thread{ID: 50, Name: "v", Virtual: true, RootEntries: 2, RootReturns: 1, Suspended: 3, Roots: cct.Merge([]*cct.Node{node(0, 2, 0, 6, node(6, 1, 0, 1), node(cct.Unplaced, 0, 0, 0, node(7, 9, 0, 1)))})})
	t.Overflow, t.Uncounted, t.Lost, t.Refused, t.Incomplete, t.Bad = 9, 1, 2, 3, 4, 5
	r := &export.Report{
		Target: export.Target{PID: 1, Java: "17", VM: "HotSpot", Main: "shop.Main"}, Scheme: "B", Clock: "tick", Fold: true, Roots: []string{methods[0].Name},
		Time: 10 * time.Second, Ended: "stopped", Notes: []string{"a note"}, Tree: t, Lookup: lookup,
		CPU: &export.CPU{Samples: 7, Share: 0.5, Virtual: 1}, Calibration: &export.Calibration{Inner: 2, Outer: 3, Spread: 1, Batches: 9, Tick: &export.Tick{Period: 150000, Weighted: 160000.5, Ticks: 1000}},
		Filter: &export.Filter{Rules: []string{"--exclude a.**"}, Hidden: 2}, Instrumented: 9, Room: &export.Room{Used: 1 << 16, Most: 1 << 30}, Natives: 3,
		Skipped: []export.Skipped{{Method: "a.b()V", Reason: "native"}}, Redefinition: export.Redefinition{Batches: 2, Classes: 3, Time: 45678 * time.Microsecond, LongestPause: &pause},
	}
	r.Correction = t.Correct(func(int32) cct.Clock { return cct.Clock{} })
	return r
}

func write(t *testing.T, f func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asJSON(t *testing.T, r *export.Report) string {
	return write(t, func(w io.Writer) error { return r.JSON(w, export.JSONOptions{}) })
}

// TestReadJSON has a report come back from its file as it was, in both forms.
func TestReadJSON(t *testing.T) {
	want := whole()
	for n := range cct.All(want.Tree.Roots()) {
		n.Uncertainty = cct.Uncertainty{Error: n.Calls + n.Self%1000, Spread: n.Calls}
	}
	text := asJSON(t, want)
	for _, file := range []string{text, write(t, want.Snapshot)} {
		got, err := export.ReadJSON(strings.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, asJSON(t, got)); diff != "" {
			t.Error("-want +got:\n", diff)
		}
		o := export.TextOptions{Top: 20, Depth: 12}
		if diff := cmp.Diff(write(t, func(w io.Writer) error { return want.Text(w, o) }), write(t, func(w io.Writer) error { return got.Text(w, o) })); diff != "" {
			t.Error("text: -want +got:\n", diff)
		}
	}
	// A report of before there was "threads".
	at, end := strings.Index(text, ` "threads": [`), strings.Index(text, ` "flat": [`)
	old, err := export.ReadJSON(strings.NewReader(text[:at] + text[end:]))
	if err != nil {
		t.Fatal(err)
	}
	if w, g := cct.Sum(want.Tree.Roots()), cct.Sum(old.Tree.Roots()); w != g {
		t.Errorf("%+v, want %+v", g, w)
	}
}

func TestReadJSONFails(t *testing.T) {
	text := asJSON(t, whole())
	for _, test := range []struct{ file, want string }{
		{"", "EOF"},
		{"[]", "not a report"},
		{"{}", "of schema 0"},
		{`{"schema":1,"kind":"timing"}`, `of kind "timing"`},
		{strings.Replace(text, `"schema": 1`, `"schema": 2`, 1), "of schema 2"},
		{text[:len(text)/2], "unexpected EOF"},
		{strings.Replace(text, `"calls":1000`, `"calls":1001`, 2), "the file is damaged"},
		{strings.Replace(text, `"trees": 1`, `"trees": 0`, 1), "fewer trees"},
		{strings.Replace(text, `"calls":1000`, `"calls":"x"`, 2), "no whole number"},
		{"\x1f\x8bnonsense", "not a report"},
	} {
		if _, err := export.ReadJSON(strings.NewReader(test.file)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

// FuzzReadJSON wants an error or a report that can be written.
func FuzzReadJSON(f *testing.F) {
	var b bytes.Buffer
	if err := whole().JSON(&b, export.JSONOptions{}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema":1,"calls":1,"tree":[{"method":"a","calls":1,"children":[],"thread":"t"}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := export.ReadJSON(bytes.NewReader(file))
		if (r == nil) != (err != nil) {
			t.Fatal(r, err)
		}
		if r != nil {
			for _, form := range export.FormatNames() {
				f, _ := export.FormatNamed(form)
				if err := f.Write(r, io.Discard, export.FormatOptions{}); err != nil && form != "pprof" {
					t.Error(form, err)
				}
			}
		}
	})
}

// TestDepthRead keeps the sums of what --depth left out.
func TestDepthRead(t *testing.T) {
	r := whole()
	got, err := export.ReadJSON(strings.NewReader(write(t, func(w io.Writer) error { return r.JSON(w, export.JSONOptions{Depth: 2}) })))
	if err != nil {
		t.Fatal(err)
	}
	w, g := cct.Sum(r.Tree.Roots()), cct.Sum(got.Tree.Roots())
	if w.Calls != g.Calls || w.Self != g.Self || w.Thrown != g.Thrown || g.Depth != 3 {
		t.Errorf("%+v, want %+v", g, w)
	}
}

// TestDeepForms takes a tree as deep as stacks get through all forms.
func TestDeepForms(t *testing.T) {
	const levels = 6000
	n := node(1, 1, 0, 7)
	for i := range levels - 1 {
		n = node(int32(i%2), 1, 0, 1, n)
	}
	r := whole()
	r.Tree = &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", Roots: cct.Merge([]*cct.Node{n})}}}
	for _, name := range export.FormatNames() {
		f, _ := export.FormatNamed(name)
		text := write(t, func(w io.Writer) error { return f.Write(r, w, export.FormatOptions{}) })
		switch name {
		case "json", "snapshot":
			got, err := export.ReadJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if s := cct.Sum(got.Tree.Roots()); s.Depth != levels || s.Self != levels+6 {
				t.Errorf("%s: %+v", name, s)
			}
		case "pprof":
			p, err := profile.ParseData([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			sum, longest := int64(0), 0
			for _, s := range p.Sample {
				sum, longest = sum+s.Value[1], max(longest, len(s.Location))
			}
			if sum != levels+6 || longest > 300 {
				t.Errorf("pprof: %d ns, %d levels", sum, longest)
			}
		}
	}
}

// TestLarge has a quarter of a million contexts, whose figures are all different, in a
// file of a few megabytes, and back. The page's bench has a million.
func TestLarge(t *testing.T) {
	t.Parallel()
	const size = 250_000
	rnd := rand.New(rand.NewPCG(1, 2))
	all := make([]*cct.Node, 0, size)
	var calls int64
	for len(all) < size {
		n := node(int32(rnd.IntN(5000)), 1+rnd.Int64N(1000), rnd.Int64N(2), rnd.Int64N(100_000))
		n.Raw, n.Error = n.Self+10*n.Calls, rnd.Int64N(1000)
		if calls += n.Calls; len(all) > 0 {
			above := all[max(0, len(all)-1-rnd.IntN(2000))] // wide and deep
			above.Children = append(above.Children, n)
		}
		all = append(all, n)
	}
	r := whole()
	r.Tree = &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", Roots: all[:1]}}}
	r.Lookup = func(id int32) (cct.Method, bool) {
		return cct.Method{Name: fmt.Sprintf("shop.part%d.Service%d.method%d(Ljava/lang/String;I)V", id%50, id%500, id), Loader: "app", Source: fmt.Sprintf("Service%d.java", id%500), Line: int(id)}, true
	}
	var file bytes.Buffer
	began := time.Now()
	if err := r.Snapshot(&file); err != nil {
		t.Fatal(err)
	}
	wrote, bytes := time.Since(began), file.Len()
	began = time.Now()
	got, err := export.ReadJSON(&file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB, written in %v, read in %v", float64(bytes)/1e6, wrote, time.Since(began))
	sum := cct.Sum(got.Tree.Roots())
	if sum.Calls != calls || sum.Nodes != size || bytes > 10e6 {
		t.Errorf("%d bytes, %+v, want %d calls", bytes, sum, calls)
	}
}

func TestMergeReports(t *testing.T) {
	a, b := whole(), whole()
	// The same methods under other numbers.
	b.Tree = &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 5, RootReturns: 5, Roots: cct.Merge([]*cct.Node{node(7, 5, 1, 100, node(0, 7, 0, 10))})}}}
	b.Lookup = func(id int32) (cct.Method, bool) { return lookup(7 - id) }
	m := export.Merge(a, b)
	sa, sb, sum := cct.Sum(a.Tree.Roots()), cct.Sum(b.Tree.Roots()), cct.Sum(m.Tree.Roots())
	if sum.Calls != sa.Calls+sb.Calls || sum.Self != sa.Self+sb.Self || sum.Thrown != sa.Thrown+sb.Thrown {
		t.Errorf("%+v is not %+v and %+v", sum, sa, sb)
	}
	calls := map[string]int64{}
	for _, r := range []*export.Report{a, b} {
		for _, e := range cct.FlatOf(r.Tree.Roots()) {
			calls[r.Method(e.Method).Name+r.Method(e.Method).Loader] += e.Calls
		}
	}
	for _, e := range cct.FlatOf(m.Tree.Roots()) {
		if k := m.Method(e.Method).Name + m.Method(e.Method).Loader; e.Calls != calls[k] {
			t.Errorf("%q: %d calls, want %d", k, e.Calls, calls[k])
		}
	}
	if m.Time != 20*time.Second || m.Calibration.Inner != 2 || m.Tree.Overflow != 9 || len(m.Skipped) != 1 || m.Scheme != "B" {
		t.Errorf("%+v", m)
	}
	if got, err := export.ReadJSON(strings.NewReader(asJSON(t, m))); err != nil || asJSON(t, got) != asJSON(t, m) {
		t.Error("it doesn't come back from its file:", err)
	}
}

// TestMergeRestarted puts recordings of a server before and after a restart
// together: its loaders have other hashes then.
func TestMergeRestarted(t *testing.T) {
	run := func(hashes ...string) *export.Report {
		root := node(0, 1, 0, 10)
		for i := range hashes {
			root.Children = append(root.Children, node(int32(2*i+1), 2, 0, 20, node(int32(2*i+2), 3, 0, 30)))
		}
		return &export.Report{
			Tree: &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 1, RootReturns: 1, Roots: cct.Merge([]*cct.Node{root})}}},
			Lookup: func(id int32) (cct.Method, bool) {
				if id == 0 {
					return cct.Method{Name: "srv.Server.run()V", Loader: "app"}, true
				}
				return cct.Method{Name: fmt.Sprintf("app.Page.m%d()V", id%2), Loader: "srv.WebLoader@" + hashes[(id-1)/2]}, true
			},
		}
	}
	for _, test := range []struct {
		before, after []string
		contexts      int64
	}{
		{[]string{"1f"}, []string{"1f"}, 3},
		{[]string{"1f"}, []string{"2a"}, 3},
		{[]string{"1f", "20"}, []string{"2a", "2b"}, 5},
		{[]string{"1f"}, []string{"2a", "2b"}, 5},
	} {
		a, b := run(test.before...), run(test.after...)
		m := export.Merge(a, b)
		sa, sb, sum := cct.Sum(a.Tree.Roots()), cct.Sum(b.Tree.Roots()), cct.Sum(m.Tree.Roots())
		if sum.Nodes != test.contexts || sum.Calls != sa.Calls+sb.Calls || sum.Self != sa.Self+sb.Self {
			t.Errorf("%v and %v: %+v, want %d contexts", test.before, test.after, sum, test.contexts)
		}
	}
}

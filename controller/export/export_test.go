package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

var update = flag.Bool("update", false, "accept what the tests print as golden files")

var methods = []cct.Method{
	{Name: "shop.Orders.process(Lshop/Order;)V", Loader: "app", Source: "Orders.java", Line: 57},
	{Name: "shop.Orders.<init>()V", Loader: "app"},
	{Name: "shop.Price.of(I)J", Loader: "app", Source: "Price.java"},
	{Name: "shop.Price.of(J)J", Loader: "app"},
	{Name: "shop.Tree$Node.visit()I", Loader: "app"},
	{Name: "plugin.Hook.run()V", Loader: "plugin.Loader a"},
	{Name: "plugin.Hook.run()V", Loader: "plugin.Loader b"},
	{Name: "evil.\x1b[31mName.m()V", Loader: "app"},
}

func lookup(id int32) (cct.Method, bool) {
	if int(id) >= len(methods) {
		return cct.Method{}, false
	}
	return methods[id], true
}

// node makes a node; merging the roots computes the totals.
func node(method int32, calls, thrown, self int64, children ...*cct.Node) *cct.Node {
	return &cct.Node{Method: method, Calls: calls, Thrown: thrown, Self: self, Children: children}
}

func tree() *cct.Snapshot {
	const ms = 1e6
	visit := node(4, 64, 0, 9*ms)
	for range 5 {
		visit = node(4, 32, 0, 9*ms, visit, node(2, 3, 0, 1*ms))
	}
	lost := node(5, 2, 0, 3*ms)
	lost.Incomplete = true
	return &cct.Snapshot{
		Threads: []*cct.Thread{
			{ID: 1, Name: "main", RootEntries: 1200, RootReturns: 1200, Suspended: 12345678, Roots: cct.Merge([]*cct.Node{
				node(0, 1200, 0, 20*ms,
					node(1, 1200, 3, 0.4*ms), node(2, 1000, 0, 400*ms), node(3, 1, 1, 50*ms), visit),
			})},
			{ID: 23, Name: "worker\n1", RootEntries: 3, RootReturns: 2, Open: true, Roots: cct.Merge([]*cct.Node{
				node(0, 3, 0, 1*ms, lost, node(6, 2, 0, 30*ms), node(7, 1, 0, 20*ms), node(99, 1, 0, 0.1*ms)),
			})},
			{ID: 77, Virtual: true, RootEntries: 1, RootReturns: 1, Roots: cct.Merge([]*cct.Node{node(0, 1, 0, 2*ms)})},
		},
		Overflow: 1, Incomplete: 2,
	}
}

func report() *export.Report {
	pause := 9*time.Millisecond + 100*time.Microsecond
	return &export.Report{
		Target: export.Target{PID: 4711, Java: "17.0.15", VM: "OpenJDK 64-Bit Server VM", Main: "shop.Main"},
		Scheme: "B", Clock: "precise", Roots: []string{"shop.Orders.process(Lshop/Order;)V"},
		Time: 10 * time.Second, Ended: "stopped", Notes: []string{"a frame of the root was on a stack already"},
		Tree: tree(), Lookup: lookup, Instrumented: 20,
		Skipped: []export.Skipped{
			{"shop.Native.sync()V", "native"},
			{"shop.Native.flush()V", "native"},
			{"shop.Big.run()V", "over 64 KB with probes"},
		},
		Redefinition: export.Redefinition{Batches: 3, Classes: 7, Time: 45678 * time.Microsecond, LongestPause: &pause},
	}
}

func empty() *export.Report {
	return &export.Report{
		Target: export.Target{PID: 1}, Scheme: "A", Clock: "precise", Roots: []string{"pkg.C.m()V"},
		Time: 1500 * time.Millisecond, Ended: "target exited",
	}
}

// filtered has a root that calls three hidden methods.
func filtered() *export.Report {
	return &export.Report{
		Target: export.Target{PID: 1}, Scheme: "B", Clock: "precise", Roots: []string{"shop.Orders.process(Lshop/Order;)V"},
		Time: time.Second, Ended: "stopped", Instrumented: 2,
		Tree: &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 5, RootReturns: 5, Roots: cct.Merge([]*cct.Node{
			node(0, 5, 0, 4e6, node(2, 10, 0, 1e6)),
		})}}},
		Lookup: func(id int32) (cct.Method, bool) {
			m, ok := lookup(id)
			m.Hidden = map[int32]int{0: 3}[id]
			return m, ok
		},
		Filter:  &export.Filter{Rules: []string{"--exclude shop.log.**", "--include shop.log.\x1b[31mAudit"}, Hidden: 4},
		Skipped: []export.Skipped{{"shop.log.Log.line()V", "hidden by the filter"}},
	}
}

// preview is a dry run that finds classes in two packages and in none.
func preview() *export.Preview {
	p := &export.Preview{
		Target: export.Target{PID: 1, Java: "17.0.15", Main: "shop.Main"}, Roots: []string{"shop.Orders.process(Lshop/Order;)V"},
		Filter:  &export.Filter{Rules: []string{"--exclude shop.log.**"}, Hidden: 1},
		Skipped: []export.Skipped{{"shop.log.Log.line()V", "hidden by the filter"}, {"shop.Native.sync()V", "native"}},
		Notes:   []string{"1 of the classes is loaded and not initialized."},
		Classes: []export.PreviewClass{
			{Name: "Top", Loader: "app", Initialized: true, Methods: []string{"m()V"}},
			{Name: "shop.Orders", Loader: "app", Initialized: true, Methods: []string{"process(Lshop/Order;)V", "<init>()V"}},
		},
	}
	for i := range 7 {
		p.Classes = append(p.Classes, export.PreviewClass{Name: fmt.Sprintf("shop.price.P%d", i), Loader: "app", Methods: []string{"of()J"}})
	}
	return p
}

func TestGolden(t *testing.T) {
	tests := []struct {
		file  string
		write func(b *bytes.Buffer) error
	}{
		{"report.txt", func(b *bytes.Buffer) error { return report().Text(b, export.TextOptions{Top: 5, Depth: 12}) }},
		{"color.txt", func(b *bytes.Buffer) error {
			return report().Text(b, export.TextOptions{Top: 1, Depth: 2, Color: true})
		}},
		{"report.json", func(b *bytes.Buffer) error { return report().JSON(b, export.JSONOptions{}) }},
		{"depth.json", func(b *bytes.Buffer) error { return report().JSON(b, export.JSONOptions{Depth: 2}) }},
		{"empty.txt", func(b *bytes.Buffer) error { return empty().Text(b, export.TextOptions{}) }},
		{"filter.txt", func(b *bytes.Buffer) error { return filtered().Text(b, export.TextOptions{Top: 5}) }},
		{"filter.json", func(b *bytes.Buffer) error { return filtered().JSON(b, export.JSONOptions{}) }},
		{"preview.txt", func(b *bytes.Buffer) error { return preview().Text(b, false) }},
		{"preview.json", func(b *bytes.Buffer) error { return preview().JSON(b) }},
		{"empty.json", func(b *bytes.Buffer) error { return empty().JSON(b, export.JSONOptions{}) }},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			var got bytes.Buffer
			if err := test.write(&got); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", test.file)
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Error("-want +got:\n", diff)
			}
		})
	}
}

type jsonTree struct {
	Calls    int64
	Thrown   int64
	Self     int64 `json:"self_ns"`
	Below    struct{ Calls int64 }
	Children []jsonTree
}

func (n jsonTree) sum() int64 {
	s := n.Calls + n.Below.Calls
	for _, c := range n.Children {
		s += c.sum()
	}
	return s
}

// TestSums holds the JSON form to what the schema promises.
func TestSums(t *testing.T) {
	for depth := range 5 {
		var b bytes.Buffer
		if err := report().JSON(&b, export.JSONOptions{Depth: depth}); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Calls int64
			Flat  []struct{ Calls int64 }
			Tree  []jsonTree
		}
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		var flat, tree int64
		for _, f := range got.Flat {
			flat += f.Calls
		}
		for _, n := range got.Tree {
			tree += n.sum()
		}
		if got.Calls != flat || got.Calls != tree || got.Calls == 0 {
			t.Errorf("depth %d: calls %d, flat %d, tree %d", depth, got.Calls, flat, tree)
		}
	}
}

// TestDeep has a path of 20,000 levels without direct recursion.
func TestDeep(t *testing.T) {
	root := node(0, 1, 0, 1000)
	for i := range int32(20000) {
		root = node(i%7, 1, 0, 1000, root)
	}
	r := report()
	r.Tree = &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", Roots: cct.Merge([]*cct.Node{root})}}}
	var b bytes.Buffer
	if err := r.JSON(&b, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), `"children"`); n != 20001 {
		t.Errorf("%d nodes in the JSON form", n)
	}
	b.Reset()
	if err := r.Text(&b, export.TextOptions{Depth: 12}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "… 1 deeper branch, 19,988 call paths, 19,988 levels") {
		t.Error("no fold of the deep part:\n", b.String())
	}
	b.Reset()
	if err := r.Text(&b, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 1<<20 || !strings.Contains(b.String(), "[level 1000] ") {
		t.Errorf("all levels: %d bytes", b.Len())
	}
}

// TestStops has the text name the scheme that stops threads least, where they were
// stopped for long.
func TestStops(t *testing.T) {
	for _, test := range []struct {
		scheme string
		all    time.Duration
		hint   string
	}{{"B", 20 * time.Millisecond, ""}, {"B", 2 * time.Second, "C"}, {"C", 2 * time.Second, "A"}, {"A", 2 * time.Second, ""}} {
		r := report()
		r.Scheme, r.Redefinition.Pauses = test.scheme, &test.all
		var b bytes.Buffer
		if err := r.Text(&b, export.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), ", longest pause 9.10 ms, "+export.Duration(int64(test.all))+" in all\n") {
			t.Errorf("scheme %s: no sum of %v:\n%s", test.scheme, test.all, b.String())
		}
		_, hint, _ := strings.Cut(b.String(), "stops all threads: --scheme ")
		if hint, _, _ = strings.Cut(hint, " "); hint != test.hint {
			t.Errorf("scheme %s, %v: a hint to %q, want %q", test.scheme, test.all, hint, test.hint)
		}
	}
}

func TestWriteError(t *testing.T) {
	if err := report().JSON(full{}, export.JSONOptions{}); !errors.Is(err, errFull) {
		t.Error("JSON:", err)
	}
	if err := report().Text(full{}, export.TextOptions{}); !errors.Is(err, errFull) {
		t.Error("Text:", err)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestUnits(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 999: "999 ns", 1000: "1.00 µs", 12345: "12.3 µs", 999499: "999 µs", 999500: "1.00 ms",
		123456789: "123 ms", 1e9: "1.00 s", 59.9e9: "59.9 s", 59.96e9: "1m 00s", 125e9: "2m 05s", 3600e9: "1h 00m",
		-1500: "-1.50 µs", -1 << 63: "-2562047h 47m",
	} {
		if got := export.Duration(ns); got != want {
			t.Errorf("Duration(%d): got %q, want %q", ns, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -123: "-123", -1234: "-1,234"} {
		if got := export.Count(n); got != want {
			t.Errorf("Count(%d): got %q, want %q", n, got, want)
		}
	}
	if got := export.Clean("a\x1b[1mb\u202ec\n"); got != "a\ufffd[1mb\ufffdc\ufffd" {
		t.Errorf("Clean: got %q", got)
	}
}

func BenchmarkJSON(b *testing.B) {
	roots := []*cct.Node{node(0, 1, 0, 1)}
	for level := roots; len(level) < 1<<18; {
		var next []*cct.Node
		for _, n := range level {
			for m := range int32(8) {
				n.Children = append(n.Children, node(m, 1, 0, 1))
			}
			next = append(next, n.Children...)
		}
		level = next
	}
	r := report()
	r.Tree = &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Roots: cct.Merge(roots)}}}
	for b.Loop() {
		var buf bytes.Buffer
		if err := r.JSON(&buf, export.JSONOptions{}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(buf.Len()), "bytes")
	}
}

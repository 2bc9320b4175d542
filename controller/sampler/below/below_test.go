package below_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/below"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

var methods = map[string]*stack.Method{}

// of is a sample of "main a b", outermost first.
func of(at int64, text string) stack.Stack {
	s := stack.Stack{Time: at * 10_000_000, Weight: 10_000_000, TID: 1, Thread: "main", Java: true, State: stack.Running, Complete: true}
	for _, name := range strings.Fields(text) {
		if methods[name] == nil {
			methods[name] = &stack.Method{Class: "shop/Main", Name: name, Desc: "(I)V"}
		}
		s.Frames = append([]stack.Frame{{Method: methods[name], BCI: -1}}, s.Frames...)
	}
	return s
}

// counts are the samples of each path.
func counts(rep *export.Report, roots []*cct.Node) map[string]int64 {
	out := map[string]int64{}
	var way []string
	for n, depth := range cct.All(roots) {
		name := strings.TrimSuffix(strings.TrimPrefix(rep.Method(n.Method).Name, "shop.Main."), "(I)V")
		way = append(way[:depth], name)
		if n.Sample() != nil && n.Sample().Count > 0 {
			out[strings.Join(way, " ")] += n.Sample().Count
		}
	}
	return out
}

func same(t *testing.T, what string, got, want map[string]int64) {
	t.Helper()
	for path, n := range want {
		if got[path] != n {
			t.Errorf("%s: %q has %d samples, want %d", what, path, got[path], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %v", what, got)
	}
}

// TestBelow: a report has the samples below the outermost root on each stack, put together
// whoever called it, also of a range of time.
func TestBelow(t *testing.T) {
	roots, err := below.New([]string{"shop.Main.root", "shop.Main.ot*r(I)V"})
	if err != nil {
		t.Fatal(err)
	}
	c := collect.New(export.Target{PID: 1}, pcct.Options{})
	c.Add(roots.Filter([]stack.Stack{
		of(1, "main root a"), of(2, "main"), of(3, "main x root a"), of(4, "main root a root b"), of(5, "main x"), of(6, "main other"), of(7, "main root"), of(8, "main rooted a"),
	}))
	c.Add(roots.Filter([]stack.Stack{of(9, "")}))
	r := c.Report(collect.Source{Name: "perf", Mode: export.CPUMode}, "")
	roots.Cut(r)
	want := map[string]int64{"root": 1, "root a": 2, "root a root b": 1, "other": 1}
	same(t, "all", counts(r, r.Tree.Roots()), want)
	if s := r.Sampling; s.Samples != 5 || s.Outside != 4 || len(s.Below) != 2 {
		t.Errorf("%+v", s)
	}
	if note := r.Notes[len(r.Notes)-1]; note != "Samples below shop.Main.root, shop.Main.ot*r alone: 55.6 % of 9 samples." {
		t.Error(note)
	}
	same(t, "a range", counts(r, cct.Merge(r.Tree.Taken.Within(0, 30_000_000))), map[string]int64{"root a": 2})
	var out bytes.Buffer
	if err := r.JSON(&out, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := export.ReadJSON(&out); err != nil {
		t.Error("what was written can't be read:", err)
	}
}

// TestBelowPurged: samples whose contexts had no room are counted all the same.
func TestBelowPurged(t *testing.T) {
	roots, err := below.New([]string{"shop.Main.root"})
	if err != nil {
		t.Fatal(err)
	}
	c := collect.New(export.Target{}, pcct.Options{Nodes: pcct.LeastNodes})
	rnd := rand.New(rand.NewPCG(3, 4))
	word := func() string { return string('a'+rune(rnd.IntN(26))) + string('a'+rune(rnd.IntN(26))) }
	const samples = 20_000
	for i := range samples {
		c.Add(roots.Filter([]stack.Stack{of(int64(i), "main "+word()+" root "+word()+" "+word())}))
	}
	r := c.Report(collect.Source{Mode: export.CPUMode}, "")
	if r.Sampling.Purged == 0 {
		t.Fatal("there was room for all")
	}
	roots.Cut(r)
	if n := cct.Sum(r.Tree.Roots()).Samples; n != samples {
		t.Errorf("%d samples in the tree", n)
	}
}

// TestNone says that there are samples elsewhere.
func TestNone(t *testing.T) {
	roots, err := below.New([]string{"shop.Main.nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	c := collect.New(export.Target{}, pcct.Options{})
	c.Add(roots.Filter([]stack.Stack{of(1, "main a"), of(2, "main b")}))
	r := c.Report(collect.Source{Name: "perf", Mode: export.CPUMode}, "stopped")
	roots.Cut(r)
	var out bytes.Buffer
	if err := r.Text(&out, export.TextOptions{}); err != nil || !strings.Contains(out.String(), "No samples below shop.Main.nowhere, and 2 elsewhere.") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestRefused(t *testing.T) {
	for _, text := range []string{"", "main", ".main", "shop/Main.loop", "shop.[", "(I)V"} {
		if _, err := below.New([]string{text}); !errors.Is(err, below.ErrRoot) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

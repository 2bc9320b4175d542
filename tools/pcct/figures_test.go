package main

import (
	"math"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

func report(entries, samples int64) *export.Report {
	names := []string{"a.Main.loop()V", "a.Main.work()V", "a.Main.rare()V", "java.lang.String.length()I"}
	met := func(id int32, entries, samples int64, children ...*cct.Node) *cct.Node {
		return (&cct.Node{Method: id, Calls: entries, Children: children}).With(cct.Details{Sample: &cct.Sample{Count: samples}})
	}
	root := met(0, 1, 5, met(1, entries, samples, met(3, 99, 99)), met(2, 2, 20))
	return &export.Report{
		Tree:   &cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{root}}}},
		Lookup: func(id int32) (cct.Method, bool) { return cct.Method{Name: names[id]}, true },
	}
}

func TestAgainst(t *testing.T) {
	c := against(report(50, 40), map[string]int64{"a.Main.loop()V": 1, "a.Main.work()V": 5000, "a.Main.rare()V": 1, "java.lang.String.length()I": 7})
	// loop, work, rare: entries 1, 50, 2 and calls 1, 5000, 1; samples 164, 139, 20.
	if c.methods != 3 || math.Abs(c.fresh-0.866) > 0.001 || math.Abs(c.samples) > 0.001 || c.long != 2 || c.excess != 1 || c.share != 1.5 {
		t.Errorf("%+v", c)
	}
}

func TestAlike(t *testing.T) {
	if flat, contexts := alike(report(50, 40), report(50, 40)); math.Abs(flat-1) > 1e-9 || math.Abs(contexts-1) > 1e-9 {
		t.Errorf("%v %v", flat, contexts)
	}
	flat, contexts := alike(report(50, 40), report(0, 400))
	if flat > 0.9 || contexts > 0.9 {
		t.Errorf("%v %v", flat, contexts)
	}
}

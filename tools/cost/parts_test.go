package main

import (
	"math"
	"testing"
)

func TestExplain(t *testing.T) {
	whole := &outcome{bare: 100, overhead: 3, inside: map[string]float64{"a": 9e6, "b": 1e6}}
	part := &outcome{bare: 100, overhead: 1.5, inside: map[string]float64{"a": 4e6, "c": 2}}
	if n := whole.calls(); n != 10e6 {
		t.Errorf("%v calls, want ten million", n)
	}
	if n := part.dormant(whole); n != 5e6 {
		t.Errorf("%v dormant calls, want five million", n)
	}
	p := explain(part, part.calls(), part.dormant(whole), cost{inside: 5, dormant: 2})
	if near(p.inside, 0.2) && near(p.dormant, 0.1) && near(p.rest, 0.2) {
		return
	}
	t.Errorf("%+v, want 0.2, 0.1 and 0.2", p)
}

func TestAim(t *testing.T) {
	o := &outcome{bare: 100, inside: map[string]float64{"a": 30e6}} // 300 million a second
	if a := aim("sunflow", "whole", "tick", o); !near(a, 2.8) {
		t.Errorf("aim %v, want 2.8", a)
	}
	if a := aim("h2", "partial", "tick", o); a != 1.3 {
		t.Errorf("aim %v, want 1.3", a)
	}
	if a := aim("h2", "partial", "precise", o); !math.IsNaN(a) {
		t.Errorf("the precise clock has no aim, got %v", a)
	}
}

// near allows for what a division leaves.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

package main

import (
	"math"
	"testing"

	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// run is a program of two repetitions whose caller, mid, makes ten calls in each.
func run() *bench.MicroRun {
	r := &bench.MicroRun{
		Call: 10, Laps: 2, Warm: []float64{2000, 3000},
		Truth: map[string]float64{"leafL": 500, "leafM": 200, "leafS": 200, "mid": 310},
	}
	r.Sums.Methods = map[string]*bench.Method{
		"work.Acc.mid":   {Calls: 2, Self: 880, Raw: 1200, Error: 80},
		"work.Acc.leafS": {Calls: 20, Self: 220, Raw: 400, Error: 20},
	}
	return r
}

func TestCompare(t *testing.T) {
	r := run()
	for method, want := range map[string][]float64{
		"leafS": {10, 11, 0.1, 0.1, 1, 1.25},
		"mid":   {400, 440, 0.1, 0.1, 0.5, 1.25}, // 300, and ten calls more than its own
	} {
		got, err := compare(r, method)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Errorf("%s: %v, want %v", method, got, want)
				break
			}
		}
	}
	if _, err := compare(r, "leafL"); err == nil {
		t.Error("a method that was not recorded was compared")
	}
}

func TestWhole(t *testing.T) {
	r := &bench.MicroRun{Bare: []float64{10e6, 30e6, 20e6}, Warm: []float64{50e6, 50e6}, Report: &bench.Report{}}
	r.Sums.Charged, r.Sums.Raw, r.Sums.Error = 60e6, 100e6, 4e6
	r.Report.Time.Clamped, r.Report.Time.Measured = 1, 100
	want := []float64{20, 30, 1.5, 2, 2.5, 0.01}
	for i, got := range whole(r) {
		if got != want[i] {
			t.Errorf("%d: %v, want %v", i, got, want[i])
		}
	}
}

package main

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	if got := times("BARE 0 100 7\nPROF 0\nPROF 1 250 7\nPROF x\n", "PROF"); !slices.Equal(got, []float64{250}) {
		t.Errorf("times %v", got)
	}
	got := benchmarks("goos: linux\nBenchmarkBuilder/fib-slowest-2 \t 384\t 2953437 ns/op\t 101.6 Mevents/s\t 119 B/op\t 2 allocs/op\nPASS\n")
	if want := []benchmark{{"fib-slowest", 101.6, 2}}; !slices.Equal(got, want) {
		t.Errorf("benchmarks %v, want %v", got, want)
	}
}

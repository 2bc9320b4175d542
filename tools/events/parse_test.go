package main

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	got := benchmarks("goos: linux\nBenchmarkBuilder/fib-slowest-2 \t 384\t 2953437 ns/op\t 101.6 Mevents/s\t 119 B/op\t 2 allocs/op\nPASS\n")
	if want := []benchmark{{"fib-slowest", 101.6, 2}}; !slices.Equal(got, want) {
		t.Errorf("benchmarks %v, want %v", got, want)
	}
}

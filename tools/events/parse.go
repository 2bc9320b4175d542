package main

import (
	"regexp"
	"strconv"
)

// A benchmark is a line of "go test -bench".
type benchmark struct {
	name         string
	rate, allocs float64 // Mevents/s; allocations an operation
}

var benchLine = regexp.MustCompile(`(?m)^BenchmarkBuilder/(\S+?)(?:-\d+)?\s.*?([\d.]+) Mevents/s.*?(\d+) allocs/op`)

func benchmarks(text string) (out []benchmark) {
	for _, m := range benchLine.FindAllStringSubmatch(text, -1) {
		rate, err1 := strconv.ParseFloat(m[2], 64)
		allocs, err2 := strconv.ParseFloat(m[3], 64)
		if err1 == nil && err2 == nil {
			out = append(out, benchmark{m[1], rate, allocs})
		}
	}
	return out
}

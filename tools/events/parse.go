package main

import (
	"regexp"
	"strconv"
	"strings"
)

// times reads the lines "TAG i ns check" of work.Main.
func times(text, tag string) (out []float64) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != tag {
			continue
		}
		if v, err := strconv.ParseFloat(f[2], 64); err == nil {
			out = append(out, v)
		}
	}
	return out
}

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

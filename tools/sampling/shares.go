package main

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
)

// selves are the samples of a report by the innermost Java method, "a.B.c".
func selves(r *sampled) map[string]int64 {
	out := map[string]int64{}
	for _, m := range r.Flat {
		if name, _, ok := strings.Cut(m.Method, "("); ok && name != "" && m.Loader == "" && m.Self > 0 {
			out[name] += m.Self
		}
	}
	return out
}

// collapsed are those of async-profiler's lines "a;b;c 12" with annotated frames: "a/B.c_[j]".
func collapsed(text string) map[string]int64 {
	out := map[string]int64{}
	for line := range strings.Lines(text) {
		at := strings.LastIndexByte(line, ' ')
		if at < 0 {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(line[at:]), 10, 64)
		if err != nil {
			continue
		}
		frames := strings.Split(line[:at], ";")
		for _, f := range slices.Backward(frames) {
			name, kind, ok := strings.Cut(f, "_[")
			if !ok || strings.HasPrefix(kind, "k") { // native, or the kernel's
				continue
			}
			if dot := strings.LastIndexByte(name, '.'); dot > 0 {
				out[strings.ReplaceAll(pcct.ClassName(name[:dot]), "/", ".")+name[dot:]] += n
				break
			}
		}
	}
	return out
}

// overlap is the sum over methods of the smaller share, in percent. Of the one with more samples as
// many are drawn as the other has, always the same ones.
func overlap(a, b map[string]int64) float64 {
	n := min(sum(a), sum(b))
	if n == 0 {
		return 0
	}
	a, b = draw(a, n), draw(b, n)
	common := int64(0)
	for m, x := range a {
		common += min(x, b[m])
	}
	return 100 * float64(common) / float64(n)
}

func sum(of map[string]int64) (n int64) {
	for _, x := range of {
		n += x
	}
	return n
}

// draw takes n of the samples, each with the same chance.
func draw(from map[string]int64, n int64) map[string]int64 {
	left := sum(from)
	r := rand.New(rand.NewPCG(1, 2))
	out := map[string]int64{}
	for _, m := range slices.Sorted(maps.Keys(from)) {
		for range from[m] {
			if r.Int64N(left) < n {
				out[m]++
				n--
			}
			left--
		}
	}
	return out
}

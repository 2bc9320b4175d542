package main

import (
	"cmp"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// repeated are the programs whose counts are compared: iterations, and runs on each JDK.
var repeated = []struct {
	name             string
	iterations, runs int
}{{"sunflow", 1, 5}, {"xalan", 2, 2}}

// A tally is what the methods of a recording executed.
type tally map[string]int64

func (t tally) sum() (n int64) {
	for _, v := range t {
		n += v
	}
	return n
}

// differ lists the methods that executed different numbers, the largest difference first.
func (t tally) differ(o tally) (names []string) {
	for name := range t {
		if t[name] != o[name] {
			names = append(names, name)
		}
	}
	for name := range o {
		if _, ok := t[name]; !ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(-cmp.Compare(max(t[a]-o[a], o[a]-t[a]), max(t[b]-o[b], o[b]-t[b])), strings.Compare(a, b))
	})
	return names
}

// numbers compares what recordings of the same work count: with each other, between JDKs, and by
// whole blocks.
func numbers(k *bench.Kit, page *bench.Page) {
	page.Quote("The same numbers each time", "Bytecodes below the whole root, in processes of their own; blocks are what `--count blocks` says. Methods that differ do so from the first run of the first JDK; of several runs the row has the one that differs most. "+k.Machine(),
		"program|", "counted|", "JDK|", "runs", "bytecodes", "methods", "methods that differ", "more than the first", "share")
	for _, r := range repeated {
		if !k.Wants(r.name) {
			continue
		}
		i := slices.IndexFunc(bench.Programs, func(p bench.Program) bool { return p.Name == r.name })
		p := bench.Programs[i]
		p.Count, p.Cold = r.iterations, true
		var first tally
		for _, j := range k.JDKs {
			for _, w := range []struct {
				count string
				runs  int
			}{{"bytecodes", r.runs}, {"blocks", 1}} {
				worst, differ := tally(nil), []string(nil)
				for n := range w.runs {
					log.Printf("JDK %d, %s, %s, run %d", j.Version, r.name, w.count, n+1)
					t, err := executed(k, j, &p, w.count)
					if err != nil {
						page.Failed(r.name+", "+w.count, err)
						return
					}
					if first == nil {
						first = t
					}
					if d := t.differ(first); worst == nil || len(d) > len(differ) {
						worst, differ = t, d
					}
				}
				more := worst.sum() - first.sum()
				page.Row(r.name, w.count, j.Version, w.runs, worst.sum(), len(worst), len(differ), more, fmt.Sprintf("%.1g", float64(more)/float64(first.sum())))
				if len(differ) > 0 {
					for _, name := range differ[:min(len(differ), 3)] {
						log.Printf("%s: %d, %d in the first", name, worst[name], first[name])
					}
				}
			}
		}
	}
}

// executed records a program once.
func executed(k *bench.Kit, j jdk.JDK, p *bench.Program, count string) (tally, error) {
	r, _, err := run(k, j, p, []string{"--root", p.Whole, "--clock", "tick", "--scheme", "C", "--depth", "1", "--count", count})
	if err != nil {
		return nil, err
	}
	return tallyOf(r.Report)
}

// tallyOf is what the methods of a report executed.
func tallyOf(r *bench.Report) (tally, error) {
	if err := r.Exact(); err != nil {
		return nil, err
	}
	t := tally{}
	for _, m := range r.Flat {
		t[m.Method] += m.Bytecodes + m.BlockBytecodes
	}
	maps.DeleteFunc(t, func(_ string, n int64) bool { return n == 0 })
	return t, nil
}

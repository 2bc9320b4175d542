package main

import (
	"fmt"
	"log"
	"math"

	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// warm is how many recorded repetitions a micro program makes.
const warm = 12

// micros are what a call's cost is measured on. Only medium's is needed to
// explain real programs.
var micros = []bench.Micro{{Kind: "medium", Param: 256}, {Kind: "fib", Param: 32}, {Kind: "leaf", Param: 500}}

// A mode is how methods are recorded on a JDK of that feature version.
type mode struct {
	jdk  int
	name string
}

// A cost is what a call costs on medium, in ns: inside the subgraph, and of an
// instrumented method outside of it.
type cost struct{ inside, dormant float64 }

// quoted are others' figures on medium 256, each from measurements with the
// same program on another machine of the same kind.
var quoted = []struct{ tool, jdk, cost, source string }{
	{"async-profiler 4.5 `--trace`, 1 ms threshold, no tree", "17, 25", "49", "bench/README.md"},
	{"JFR method timing (JEP 520), no tree", "25", "69.5", "bench/README.md"},
	{"VisualVM's engine, lazy, one clock", "17", "176", "bench/README.md"},
	{"VisualVM's engine, lazy, its default of two clocks", "17", "686", "bench/README.md"},
}

// A recipe is how a mode is recorded.
type recipe struct {
	mode  string
	flags []string
}

// recipes are the clocks wanted and, unless clocks were chosen, methods that
// are counted without times and methods that are switched off. Those must be
// instrumented all the same, so Scheme A does it beforehand.
func recipes(k *bench.Kit) (out []recipe) {
	for _, clock := range k.Clocks() {
		out = append(out, recipe{clock, []string{"--clock", clock}})
	}
	if len(out) > 1 && k.Knows("--mode") {
		out = append(out, recipe{"counted", []string{"--mode", "work.*=counted"}}, recipe{"off", []string{"--scheme", "A", "--mode", "work.*=off"}})
	}
	return out
}

// calls measures the micro programs. Without this part it measures what the
// others need.
func calls(k *bench.Kit, page *bench.Page) (map[mode]cost, error) {
	full := k.Has("calls")
	if full {
		page.Table("A call", "Entry and exit together, bare subtracted, in ns: the best of "+fmt.Sprint(warm)+" recorded repetitions less the best bare one of the same process, before or after, "+
			"divided by the calls. Dormant is a call of the same methods by the same thread outside of the subgraph. Calibrated is what the session found on its own sample. "+
			"Overhead is recorded by bare, after is the best repetition after detaching by the best one before. Counted methods have no times; those that are off record nothing, inside the subgraph.",
			"JDK|", "program|", "mode|", "calls a repetition", "bare ms", "a call, ns", "overhead", "dormant, ns", "calibrated, ns", "two nanoTime, ns", "less nanoTime, ns", "after")
		if !k.Knows("--mode") {
			log.Print("this rivulet has no --mode: methods that are counted or off can't be measured")
		}
	}
	found := map[mode]cost{}
	for _, j := range k.JDKs {
		for _, m := range micros {
			shown := full && k.Wants(m.Kind)
			if !shown && (m.Kind != "medium" || !k.Has("programs")) {
				continue
			}
			count := 0.0 // calls of a repetition, as the clocks' recordings have them
			for _, r := range recipes(k) {
				if !shown && r.mode != "tick" && r.mode != "precise" {
					continue
				}
				log.Printf("JDK %d, %v, %s", j.Version, m, r.mode)
				var all [][]float64
				for range k.Reps {
					run, err := k.Micro(j, m, warm, r.flags...)
					if err != nil {
						return nil, err
					}
					if r.mode == "off" {
						run.Calls = count
					}
					all = append(all, figures(run, r.mode))
				}
				f := bench.Medians(all)
				count = f[0]
				if m.Kind == "medium" {
					found[mode{j.Version, r.mode}] = cost{f[2], f[4]}
				}
				if shown {
					page.Row(j.Version, m, r.mode, fmt.Sprint(int64(f[0])), f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8])
				}
			}
		}
	}
	if full {
		page.Quote("Others", "Quoted: on `medium 256`, another machine of the same kind, not measured in this run.", "tool|", "JDK|", "a call, ns", "source|")
		for _, q := range quoted {
			page.Row(q.tool, q.jdk, q.cost+" (quoted)", q.source)
		}
	}
	return found, nil
}

// figures are the numbers of a row.
func figures(r *bench.MicroRun, mode string) []float64 {
	bare, less := r.Best(), math.NaN()
	if mode == "precise" {
		less = r.Cost() - r.Nano
	}
	return []float64{r.Calls, bare / 1e6, r.Cost(), bench.Min(r.Warm) / bare, r.Dormant(), r.Report.Calibrated(), r.Nano, less, bench.Min(r.Post) / bench.Min(r.Bare)}
}

// Command accuracy compares the times that a recording charges with the truth
// and writes docs/figures/accuracy.md: each method's corrected self time on a
// program that knows its own (part acc, and part brief below a short root), the
// whole of a program of short calls (part medium), and real programs in tables
// like those of JFluid's paper (part programs). Run it from the repository's root by "go tool task
// bench:accuracy", on a machine that does nothing else.
package main

import (
	"log"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

func main() { bench.Main(5, "accuracy.md", measure) }

// warm is how many repetitions are recorded once the code is compiled.
const warm = 20

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("bench:accuracy", "How right times are", "Charged times beside the truth.")
	for _, part := range []struct {
		name    string
		measure func(*bench.Kit, *bench.Page) error
	}{{"acc", acc}, {"brief", brief}, {"medium", medium}, {"programs", programs}} {
		if !k.Has(part.name) {
			continue
		}
		if err := part.measure(k, page); err != nil {
			return page, err
		}
	}
	return page, nil
}

// all measures a micro program in all processes of a figure.
func all(k *bench.Kit, j jdk.JDK, m bench.Micro, clock string) (runs []*bench.MicroRun, err error) {
	for range k.Reps {
		log.Printf("JDK %d, %v, %s", j.Version, m, clock)
		r, err := bench.Until(k, func() (*bench.MicroRun, *bench.Report, error) {
			r, err := k.Micro(j, m, warm, "--clock", clock)
			if err != nil {
				return nil, nil, err
			}
			return r, r.Report, nil
		})
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

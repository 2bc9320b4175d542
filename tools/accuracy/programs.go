package main

import (
	"fmt"
	"log"
	"math"
	"strconv"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// programs writes tables like Tables 1 and 2 of Dmitriev, "Design of JFluid".
func programs(k *bench.Kit, page *bench.Page) error {
	timing, warmup := k.Times(), k.Knows("--warmup")
	if !timing {
		page.Text("This rivulet has no `time`: bare root times of partial roots are not known.")
	}
	if !warmup {
		page.Text("This rivulet has no `--warmup`: charged times contain revealing and what ran interpreted until it was compiled again.")
	}
	for _, t := range []struct{ root, title, table, bare string }{
		{"whole", "Whole programs", "Table 1", "the same iterations of a bare process"},
		{"partial", "Partial instrumentation", "Table 2", "the root's mean by `rivulet time` in another process, for as many invocations"},
	} {
		page.Table(t.title, "As in "+t.table+" of *Design of JFluid*. The first half of the iterations is the warm-up, with the one that is under way then; calls and times are of the others. Bare is "+t.bare+"; total is the recorded program's time, overhead that by a bare process's; "+
			"suspended is how long threads were made to wait, redefinition how long the JVM redefined classes, warm-up included; probes is what correcting took off, by total.",
			"JDK|", "program|", "clock|", "calls", "bare ms", "charged ms", "charged / bare", "total ms", "overhead", "probes", "redefinition ms", "suspended ms", "instrumented", "called")
		for _, j := range k.JDKs {
			for _, p := range bench.Programs {
				if !k.Wants(p.Name) {
					continue
				}
				run := &p
				if warmup {
					run = k.Warmed(p)
				}
				for _, clock := range k.Clocks() {
					log.Printf("JDK %d, %s, %s, %s", j.Version, p.Name, t.root, clock)
					f, err := charged(k, j, run, t.root, clock, timing)
					if err != nil {
						return err
					}
					page.Row(j.Version, p.Name, clock, f[0], f[1], f[2], f[2]/f[1], f[3], percent(f[4]), percent(f[5])[1:], f[6], f[7], int(f[8]), int(f[9]))
				}
			}
		}
	}
	return nil
}

// charged measures one row.
func charged(k *bench.Kit, j jdk.JDK, p *bench.Program, root, clock string, timing bool) ([]float64, error) {
	var rows [][]float64
	for range k.Reps {
		bare, err := k.Bare(j, p)
		if err != nil {
			return nil, err
		}
		flags := []string{"--root", p.Root(root), "--clock", clock}
		mean, count := math.NaN(), 1.0 // of the root's invocations: ms, and how many there are in an iteration
		if root == "partial" && timing {
			if mean, count, err = k.RootTime(j, p, p.Partial); err != nil {
				return nil, err
			}
		}
		if n := int(count * float64(p.Warm)); n > 0 {
			flags = append(flags, "--warmup", strconv.Itoa(n))
		}
		r, err := k.Corrected(j, p, bare, flags...)
		if err != nil {
			return nil, err
		}
		from := p.Warm
		if root == "whole" { // an invocation a lap; the one that the warm-up ended in is not recorded
			if from = len(r.Laps) - int(r.Report.Invocations); from < 0 {
				return nil, fmt.Errorf("%s: %d root calls in %d iterations", p.Name, r.Report.Invocations, len(r.Laps))
			}
		}
		truth := bench.Sum(bare.Laps[from:])
		total, t := bench.Sum(r.Laps[from:]), r.Report.Time
		overhead := total/truth - 1
		if root == "partial" {
			truth = mean * float64(r.Report.Invocations)
		}
		rows = append(rows, []float64{
			float64(r.Report.Calls), truth, r.Report.Charged() / 1e6, total, overhead, float64(t.Subtracted) / 1e6 / total,
			r.Report.Redefinition.MS, float64(t.Suspended) / 1e6, float64(r.Report.Methods.Instrumented), float64(r.Report.Methods.Called),
		})
	}
	return bench.Medians(rows), nil
}

package main

import (
	"fmt"
	"math"

	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// methods of work.Acc, with what VisualVM's engine makes of them (quoted from
// bench/README.md).
var methods = []struct{ name, quoted string }{
	{"leafL", "+2.5 %"}, {"leafM", "+8 %"}, {"leafS", "+30 %"}, {"mid", "+97 %"},
}

const class = "work.Acc."

func acc(k *bench.Kit, page *bench.Page) error {
	m := bench.Micro{Kind: "acc", Param: 20000}
	return each(k, page, m, "Each method", fmt.Sprintf("`%v`: self time in a repetition, over %d repetitions. Truth is what the program measures of itself, method by method, without probes. "+
		"A call belongs to the caller: it is taken off each method's, and mid has those of its callees added, at the price of an empty call that is not inlined. "+
		"± is what the report states. Noise is the mean repetition by the best while recording. VisualVM's engine is quoted from bench/README.md (JDK 17, another machine).", m, warm))
}

// brief has the same methods below a root that takes a twentieth of the time between
// two ticks.
func brief(k *bench.Kit, page *bench.Page) error {
	m := bench.Micro{Kind: "acc", Param: 20000, Root: class + "mid"}
	return each(k, page, m, "Short root calls", "The same with `mid` as the root: its invocations take some 12 µs, a twentieth of the time between two ticks, so nearly all of them end without one. "+
		"Before [decision 28](../decisions/0028-short-roots.md) mid was charged 14,627 ns a call instead of 270 (JDK 17, tick, one process).")
}

// each compares the methods one by one; below warm, which VisualVM's figures are for,
// with those.
func each(k *bench.Kit, page *bench.Page, m bench.Micro, title, text string) error {
	columns := []string{"JDK|", "clock|", "method|", "truth, ns a call", "charged, ns a call", "off", "± stated", "before correction", "noise"}
	if m.Root == "" {
		columns = append(columns, "VisualVM|")
	}
	page.Table(title, text, columns...)
	for _, j := range k.JDKs {
		for _, clock := range k.Clocks() {
			runs, err := all(k, j, m, clock)
			if err != nil {
				return err
			}
			for _, method := range methods {
				var rows [][]float64
				for _, r := range runs {
					row, err := compare(r, method.name)
					if err != nil {
						return err
					}
					rows = append(rows, row)
				}
				f := bench.Medians(rows)
				row := []any{j.Version, clock, method.name, f[0], f[1], percent(f[2]), "± " + percent(f[3])[1:], percent(f[4]), f[5]}
				if m.Root == "" {
					row = append(row, method.quoted)
				}
				page.Row(row...)
			}
		}
	}
	return nil
}

// compare returns truth and charged time of a call in ns, by how much the one
// is off, how far it may be off as stated, by how much it was off before it was
// corrected, each by the truth, and the noise.
func compare(r *bench.MicroRun, method string) ([]float64, error) {
	m := r.Sums.Methods[class+method]
	truth, ok := r.Truth[method]
	if m == nil || !ok {
		return nil, fmt.Errorf("no truth or no record of %s", method)
	}
	laps := r.Laps
	calls := float64(m.Calls) / laps
	truth -= calls * r.Call // the program times calls of the method
	if method == "mid" {
		truth += callCost(r)
	}
	self := float64(m.Self) / laps
	return []float64{
		truth / calls, self / calls, self/truth - 1, float64(m.Error) / laps / truth, float64(m.Raw)/laps/truth - 1,
		bench.Sum(r.Warm) / float64(len(r.Warm)) / bench.Min(r.Warm),
	}, nil
}

// callCost is what the calls of its callees take mid in a repetition.
func callCost(r *bench.MicroRun) float64 {
	calls := 0.0
	for _, method := range methods {
		if m := r.Sums.Methods[class+method.name]; m != nil && method.name != "mid" {
			calls += float64(m.Calls)
		}
	}
	return calls / r.Laps * r.Call
}

func percent(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) }

func medium(k *bench.Kit, page *bench.Page) error {
	m := bench.Micro{Kind: "medium", Param: 256}
	page.Table("Many short calls", fmt.Sprintf("`%v`: all that is charged in a repetition, over %d repetitions, beside the median bare one of the same process. "+
		"± is what the report states, of the sum of all contexts; truth inside says in how many processes the bare time lay within. Clamped is of the whole recording, by what was measured. "+
		"VisualVM's engine charges 9.9 times the bare time (quoted from bench/README.md: JDK 17, lazy, one clock).", m, warm),
		"JDK|", "clock|", "bare ms", "charged ms", "charged / bare", "aim", "± stated, ms", "truth inside|", "before correction", "clamped")
	for _, j := range k.JDKs {
		for _, clock := range k.Clocks() {
			runs, err := all(k, j, m, clock)
			if err != nil {
				return err
			}
			var rows [][]float64
			inside := 0
			for _, r := range runs {
				row := whole(r)
				if math.Abs(row[1]-row[0]) <= row[3] {
					inside++
				}
				rows = append(rows, row)
			}
			f := bench.Medians(rows)
			page.Row(j.Version, clock, f[0], f[1], f[2], map[string]string{"tick": "1.5", "precise": "3"}[clock], f[3], fmt.Sprintf("%d of %d", inside, len(runs)), f[4], percent(f[5])[1:])
		}
	}
	return nil
}

// whole returns a bare repetition and what was charged for a warm one, in ms,
// the one by the other, the error stated in ms, and then, by what was measured
// or bare: what it was before correction, and what was clamped.
func whole(r *bench.MicroRun) []float64 {
	ms := 1e6 * float64(len(r.Warm))
	bare, charged := bench.Median(r.Bare)/1e6, float64(r.Sums.Charged)/ms
	t := r.Report.Time
	return []float64{bare, charged, charged / bare, float64(r.Sums.Error) / ms, float64(r.Sums.Raw) / ms / bare, float64(t.Clamped) / float64(t.Measured)}
}

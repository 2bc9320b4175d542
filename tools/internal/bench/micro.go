package bench

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// A Micro is a program of work.Calls (testdata) with its parameter.
type Micro struct {
	Kind  string
	Param int
	Root  string // in place of cold and warm: a method that a repetition calls Param times; "" is those
}

func (m Micro) String() string { return fmt.Sprintf("%s %d", m.Kind, m.Param) }

// The roots in work.Calls: cold reveals the subgraph, warm has only what comes
// after.
const (
	coldRoot = "work.Calls.cold"
	WarmRoot = "work.Calls.warm"
)

// A MicroRun is what one process showed. Times are in ns, a repetition each.
type MicroRun struct {
	Bare, Warm, Outside, Post []float64
	Nano                      float64            // two readings of System.nanoTime
	Call                      float64            // of acc: a call that is not inlined
	Truth                     map[string]float64 // of acc: self time of each method in a repetition
	Laps                      float64            // repetitions in Sums
	Calls                     float64            // in one of these
	Sums                      Sums               // over all recorded repetitions that count
	Report                    *Report
}

// repetitions are how often a micro program is run: bare, cold, warm.
type repetitions struct{ bare, cold, warm int }

// Micro runs a program bare, recorded with these flags and afterwards, in one
// process. warm is how many recorded repetitions count.
func (k *Kit) Micro(j jdk.JDK, m Micro, warm int, flags ...string) (*MicroRun, error) {
	n := repetitions{bare: 20, cold: 8, warm: warm}
	if k.Short {
		n = repetitions{bare: 8, cold: 3, warm: min(warm, 4)}
	}
	t, err := k.micro(j, m, n)
	if err != nil {
		return nil, err
	}
	defer t.Kill()
	root, roots := WarmRoot, []string{"--root", coldRoot, "--root", WarmRoot}
	if m.Root != "" {
		root, roots = m.Root, []string{"--root", m.Root, "--warmup", strconv.Itoa(n.cold * m.Param)}
	}
	rec, err := k.Record(t.PID, append(roots, flags...)...)
	if err != nil {
		return nil, err
	}
	defer rec.Kill()
	if err := t.Work("go"); err != nil {
		return nil, err
	}
	r := &MicroRun{}
	if r.Report, err = rec.Stop(); err != nil {
		return nil, err
	}
	if err := t.Finish(); err != nil {
		return nil, err
	}
	if err := r.read(t.Out.All()); err != nil {
		return nil, fmt.Errorf("%v: %w", m, err)
	}
	r.Sums, r.Laps = r.Report.Below(root), float64(len(r.Warm))
	if m.Root != "" {
		r.Laps = float64(r.Report.Invocations) / float64(m.Param)
	}
	if r.Sums.Calls == 0 {
		return nil, fmt.Errorf("%v: no calls below %s", m, root)
	}
	r.Calls = float64(r.Sums.Calls) / r.Laps
	return r, nil
}

func (k *Kit) micro(j jdk.JDK, m Micro, n repetitions) (*Target, error) {
	var options []string
	if m.Kind == "acc" { // its truth is measured method by method
		options = []string{"-XX:CompileCommand=dontinline,work.Acc::*", "-XX:CompileCommand=dontinline,work.Calls::none"}
	}
	return k.Java(j, options, "work.Calls", m.Kind, strconv.Itoa(m.Param), strconv.Itoa(n.bare), strconv.Itoa(n.cold), strconv.Itoa(n.warm))
}

// read reads what work.Calls printed.
func (r *MicroRun) read(text string) error {
	r.Bare, r.Warm, r.Outside, r.Post = Laps(text, "BARE"), Laps(text, "WARM"), Laps(text, "OUTSIDE"), Laps(text, "POST")
	r.Nano, r.Call = price(text, "NANO"), price(text, "CALL")
	r.Truth = truth(text)
	if len(r.Bare) == 0 || len(r.Warm) == 0 || math.IsNaN(r.Nano) {
		return fmt.Errorf("printed no times: %s", text)
	}
	return nil
}

// price returns the least number of the lines "TAG number".
func price(text, tag string) float64 {
	var values []float64
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 2 || f[0] != tag {
			continue
		}
		if v, err := strconv.ParseFloat(f[1], 64); err == nil {
			values = append(values, v)
		}
	}
	return Min(values)
}

var pair = regexp.MustCompile(`(\w+) (\d+)`)

// truth reads the lines "TRUTH method ns method ns ...", the least of each.
func truth(text string) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "TRUTH ")
		if !ok {
			continue
		}
		for _, m := range pair.FindAllStringSubmatch(rest, -1) {
			v, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				continue // the pattern admits digits only
			}
			if have, ok := out[m[1]]; !ok || v < have {
				out[m[1]] = v
			}
		}
	}
	return out
}

// Best is the best repetition without probes, before or after.
func (r *MicroRun) Best() float64 { return Min(append(slices.Clip(r.Post), r.Bare...)) }

// Cost is what a call costs inside the subgraph, in ns: best warm repetition
// less best one without probes.
func (r *MicroRun) Cost() float64 { return (Min(r.Warm) - r.Best()) / r.Calls }

// Dormant is what a call of an instrumented method costs outside of it, in ns.
func (r *MicroRun) Dormant() float64 { return (Min(r.Outside) - r.Best()) / r.Calls }

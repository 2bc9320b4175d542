// Command bench measures, side by side in one process each, what recording
// costs the micro programs of the bench folder: repetitions bare, recorded,
// and after detaching. It writes docs/figures/calls.md. Run it from the
// repository's root by "go tool task bench:calls", on a machine that does
// nothing else.
//
// Minima of the repetitions are compared, since machines are shared. The first
// recorded repetition reveals the subgraph; it has a column of its own.
package main

import (
	"fmt"
	"log"
	"slices"
	"strconv"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

const repetitions = 12

// A kind is a micro program; quoted are VisualVM's figures for it from
// bench/README.md (JDK 17, lazy scheme, one clock).
type kind struct {
	name, param, root, quoted string
}

var kinds = []kind{
	{"fib", "32", "work.Fib.root", "x127, 147 ns"},
	{"medium", "256", "work.Medium.root", "x44, 176 ns"},
	{"mt", "30", "work.Mt.body", "-"},
}

// A row is what one run showed. Times are of the best repetition, in ns.
type row struct {
	jdk                   int
	program, clock        string
	calls                 int64
	bare, recorded, after float64
	first                 float64
	calibrated            float64
	armed, detached       time.Duration
}

func main() {
	bench.Main(1, "calls.md", func(k *bench.Kit) (*bench.Page, error) {
		var rows []row
		for _, j := range k.JDKs {
			for _, kind := range kinds {
				if !k.Wants(kind.name) {
					continue
				}
				for _, c := range k.Clocks() {
					log.Printf("JDK %d, %s %s, %s clock", j.Version, kind.name, kind.param, c)
					r, err := measure(k, j, kind, c)
					if err != nil {
						return nil, err
					}
					rows = append(rows, r)
				}
			}
		}
		return page(rows), nil
	})
}

func measure(k *bench.Kit, j jdk.JDK, kind kind, clock string) (row, error) {
	r := row{jdk: j.Version, program: kind.name + " " + kind.param, clock: clock}
	n := strconv.Itoa(repetitions)
	t, err := bench.StartTarget(k.Script(j, "run.sh", "micro", kind.name, n, n, n, kind.param))
	if err != nil {
		return r, err
	}
	defer t.Kill()
	rec, err := k.Record(t.PID, "--scheme", "B", "--root", kind.root, "--clock", clock, "--depth", "1")
	if err != nil {
		return r, err
	}
	defer rec.Kill()
	if err := t.Work("go"); err != nil {
		return r, err
	}
	if r.detached, err = rec.End(); err != nil {
		return r, err
	}
	report, err := rec.Read()
	if err == nil {
		err = report.Exact()
	}
	if err != nil {
		return r, err
	}
	if err := t.Finish(); err != nil {
		return r, err
	}
	text := t.Out.All()
	bare, recorded, after := bench.Laps(text, "BARE"), bench.Laps(text, "PROF"), bench.Laps(text, "POST")
	if len(bare) == 0 || len(recorded) < 2 || len(after) == 0 {
		return r, fmt.Errorf("%s printed no times", r.program)
	}
	r.bare, r.recorded, r.after, r.first = slices.Min(bare), slices.Min(recorded[1:]), slices.Min(after), recorded[0]
	r.armed, r.calls, r.calibrated = rec.Armed, report.Calls/repetitions, report.Calibrated()
	return r, nil
}

func page(rows []row) *bench.Page {
	p := bench.NewPage("bench:calls", "What a call costs", fmt.Sprintf("Micro programs, %d repetitions each bare, recorded with Scheme B, and after detaching, in one process; best repetitions. "+
		"ns a call is recorded less bare, divided by the calls; calibrated is what the session measured of its own probes beforehand. The column VisualVM is quoted from bench/README.md (JDK 17, lazy, one clock, another machine).", repetitions))
	p.Header("JDK|", "program|", "clock|", "calls", "bare ms", "recorded ms", "overhead", "ns a call", "calibrated ns", "first ms", "after / bare", "armed s", "detached s", "VisualVM|")
	for _, r := range rows {
		quoted := "-"
		for _, k := range kinds {
			if r.jdk == 17 && r.clock == "precise" && r.program == k.name+" "+k.param {
				quoted = k.quoted
			}
		}
		p.Row(r.jdk, r.program, r.clock, r.calls, r.bare/1e6, r.recorded/1e6, fmt.Sprintf("x%.1f", r.recorded/r.bare), (r.recorded-r.bare)/float64(r.calls), r.calibrated,
			r.first/1e6, r.after/r.bare, r.armed.Seconds(), r.detached.Seconds(), quoted)
	}
	return p
}

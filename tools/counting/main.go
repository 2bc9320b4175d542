// Command counting measures what counting executed bytecodes and allocations costs beside a
// recording without, and writes docs/figures/counting.md. Run it from the repository's
// root by "go tool task bench:counting" (parts calls, loops, objects, programs, numbers, exact), on a machine that does nothing else.
package main

import (
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

var wanted = flag.String("ways", "", "only these `ways` of counting, comma-separated, beside calls and time")

func main() { bench.Main(3, "counting.md", measure) }

// A way is what is counted.
type way struct {
	name  string
	flags []string
}

var ways = []way{
	{"calls and time", nil},
	{"bytecodes", []string{"--count", "bytecodes"}},
	{"blocks", []string{"--count", "blocks"}},
	{"allocations", []string{"--count", "allocations"}},
	{"survivors", []string{"--count", "survivors"}},
	{"contention", []string{"--count", "contention"}},
	{"classes", []string{"--count", "classes"}},
	{"bytecodes and allocations", []string{"--count", "bytecodes", "--count", "allocations"}},
}

// iterations are those of a program that are recorded.
var iterations = map[string]int{"h2": 24, "xalan": 60, "sunflow": 2, "javac": 24}

func measure(k *bench.Kit) (*bench.Page, error) {
	if *wanted != "" {
		names := strings.Split(*wanted, ",")
		for _, name := range names {
			if !slices.ContainsFunc(ways, func(w way) bool { return w.name == name }) {
				return nil, fmt.Errorf("-ways: there is no way %q", name)
			}
		}
		ways = slices.DeleteFunc(ways, func(w way) bool { return w.flags != nil && !slices.Contains(names, w.name) })
	}
	page := k.NewPage("bench:counting", "What counting costs", "What `--count bytecodes`, `allocations` and `survivors` cost beside a recording of calls and time alone.")
	switch k.Part {
	case "numbers":
		numbers(k, page)
		return page, nil
	case "exact":
		return page, exact(k, page)
	}
	for _, j := range k.JDKs {
		if k.Has("calls") {
			calls(k, page, j)
		}
		if k.Has("loops") {
			if err := loops(k, page, j); err != nil {
				return page, err
			}
		}
		if k.Has("objects") {
			if err := objects(k, page, j); err != nil {
				return page, err
			}
		}
		if !k.Has("programs") {
			continue
		}
		page.Table(fmt.Sprintf("Real programs, JDK %d, tick", j.Version), "Overhead is the processor time of the process over all recorded iterations, compilers included, by that of a bare process. "+
			"Beside the first way is the overhead by that of calls and time alone, and ns an object what it takes more, by the objects and arrays that are counted. Whole roots, of javac com.sun.tools.javac.jvm.Gen.genClass; Scheme C. ",
			"program|", "counted|", "bare CPU ms", "overhead", "beside the first way", "calls an iteration", "objects an iteration", "MB an iteration", "ns an object")
		for _, p := range bench.Programs {
			if n := iterations[p.Name]; n > 0 && k.Wants(p.Name) {
				p.Count = n
				if k.Short {
					p.Count = 8
				}
				program(k, page, j, &p)
			}
		}
	}
	if k.Part == "" {
		numbers(k, page)
	}
	return page, nil
}

// run runs a program and records its iterations, if there are flags. It returns the
// processor time of these in ms.
func run(k *bench.Kit, j jdk.JDK, p *bench.Program, flags []string) (r *bench.ProgramRun, spent float64, err error) {
	var rec *bench.Recording
	defer func() {
		if rec != nil {
			rec.Kill()
		}
	}()
	var of string
	var before float64
	r, err = k.Run(j, p, bench.Job{
		Begin: func(pid string) (err error) {
			if flags != nil {
				if rec, err = k.Record(pid, flags...); err != nil {
					return err
				}
			}
			of = pid
			before, err = bench.CPU(pid)
			return err
		},
		End: func() (*bench.Report, error) {
			after, err := bench.CPU(of)
			spent = 1000 * (after - before)
			if err != nil || rec == nil {
				return nil, err
			}
			return rec.Stop()
		},
	})
	return r, spent, err
}

// program measures one in all ways, which share the bare processes.
func program(k *bench.Kit, page *bench.Page, j jdk.JDK, p *bench.Program) {
	root := p.Whole
	if p.Room != "" { // the tree of its whole root takes minutes and gigabytes
		root = p.Partial
	}
	rows := make([][][]float64, len(ways))
	flags := []string{"--root", root, "--clock", "tick", "--scheme", "C", "--depth", "1"}
	flags = slices.Clip(flags)
	for range k.Reps {
		bare, spent, err := run(k, j, p, nil)
		if err != nil {
			page.Failed(p.Name, err)
			return
		}
		for i, w := range ways {
			log.Printf("JDK %d, %s, %s", j.Version, p.Name, w.name)
			r, cpu, err := run(k, j, p, append(flags, w.flags...))
			if err != nil {
				page.Failed(p.Name+", "+w.name, err)
				return
			}
			n := float64(len(r.Laps))
			rows[i] = append(rows[i], []float64{
				spent / float64(len(bare.Laps)), cpu / spent,
				float64(r.Report.Calls) / n, float64(r.Report.Objects+r.Report.Arrays) / n, float64(r.Report.Bytes) / n / 1e6,
			})
		}
	}
	first := bench.Medians(rows[0])
	for i, w := range ways {
		m := bench.Medians(rows[i])
		objects, size, each := "", "", ""
		if m[3] > 0 {
			objects, size = bench.Number(m[3]), bench.Number(m[4])
			if w.name == "allocations" || w.name == "survivors" {
				each = bench.Number((m[1] - first[1]) * m[0] * 1e6 / m[3])
			}
		}
		page.Row(p.Name, w.name, m[0], m[1], fmt.Sprintf("%+.1f %%", 100*(m[1]/first[1]-1)), bench.Number(m[2]), objects, size, each)
	}
}

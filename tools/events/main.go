// Command events measures what recording with events costs beside the tree
// alone, and writes docs/figures/events.md. Run it from the repository's root
// by "go tool task bench:events", on a machine that does nothing else.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// The parts of the page. Without -part calls and reader are measured, which take
// three minutes; equal takes some five, follow some two, the shop what -minutes says.
const (
	partCalls  = "calls"
	partEqual  = "equal"
	partReader = "reader"
	partShop   = "shop"
)

var minutes = flag.Float64("minutes", 2, "of the shop under load, with -part shop")

func main() {
	log.SetFlags(log.Ltime)
	k, err := bench.NewKit(bench.Parse(1))
	if err != nil {
		log.Fatal(err)
	}
	page, err := measure(k)
	// What leaves out nothing but parts is written.
	whole := true
	flag.Visit(func(f *flag.Flag) {
		whole = whole && (f.Name == "part" || f.Name == "minutes" || f.Name == "reps" || f.Name == "jdk")
	})
	if err == nil && whole {
		err = page.Update("events.md")
	}
	k.Close()
	if err != nil {
		log.Fatal(err)
	}
}

// A program is one of run.sh micro. Its threads do the same at one time.
type program struct {
	kind, root     string
	param, threads int
}

var programs = []program{
	{"fib", "work.Fib.root", 32, 1},
	{"mt", "work.Mt.body", 32, 2},
	{"medium", "work.Medium.root", 256, 1},
}

// Repetitions of a program: without a recording before, with one, and after.
const (
	before = 20
	during = 20
	after  = 10
)

// A run is what one process showed.
type run struct {
	bare, recorded float64 // ns of the best repetition
	calls          float64 // in a repetition
	report         report
}

type report struct {
	Calls  int64
	Events *struct {
		Words, Dropped, Waits int64
		Muted                 int64   `json:"muted_invocations"`
		Waited                int64   `json:"waited_ns"`
		Began                 int64   `json:"began_nanotime"`
		Share                 float64 `json:"waited_share"`
		Rings                 int64   `json:"ring_bytes"`
		Differ                *int64  `json:"contexts_that_differ"`
	}
}

func measure(k *bench.Kit) (*bench.Page, error) {
	page := bench.NewPage("bench:events", "What events cost", fmt.Sprintf("%d cores, %s. Each part says when, and under which load, it was measured; "+
		"\"go tool task bench:events -- -part PART\" measures one anew: calls, equal, follow, reader or shop. How to read the tables: [measuring](README.md).", runtime.NumCPU(), runtime.GOARCH))
	for _, p := range []struct {
		name    string
		measure func(*bench.Kit, *bench.Page) error
		asked   bool // only by -part
	}{{partCalls, calls, false}, {partReader, decoder, false}, {partEqual, equal, true}, {partFollow, follow, true}, {partShop, shop, true}} {
		if !k.Has(p.name) || p.asked && k.Part == "" {
			continue
		}
		begin := load()
		if err := p.measure(k, page); err != nil {
			return page, fmt.Errorf("%s: %w", p.name, err)
		}
		page.Text(fmt.Sprintf("%s Load of the machine over 15 minutes: %s before, %s after.", k.Machine(), begin, load()))
	}
	return page, nil
}

// calls measures what a call costs: all on the first JDK, on the others what
// the reader has to follow.
func calls(k *bench.Kit, page *bench.Page) error {
	page.Table("A call", "The best recorded repetition less the best one without probes, by its calls; of `mt` by those of one of its two threads, which with the reader are three for two cores. "+
		"A word is 8 bytes. Waited is the share of the threads' time inside that they waited for the reader; it is in nobody's time. Differ is in how many contexts the tree that was made of the events differs from the recorded one. "+
		fmt.Sprintf("Processes for each figure: %d.", k.Reps),
		"JDK|", "program|", "recorded|", "clock|", "bare ms", "a call, ns", "words a call", "Mwords/s", "waited %", "waits", "rings MB", "dropped", "differ")
	for i, j := range k.JDKs {
		for _, p := range programs {
			if !k.Wants(p.kind) || i > 0 && p.kind == "medium" {
				continue
			}
			for _, clock := range k.Clocks() {
				for _, record := range []string{"tree", "events", "slowest", "trace"} {
					more := record == "slowest" || record == "trace"
					if more && (i > 0 || clock == "precise") || clock == "precise" && (i > 0 || p.kind != "fib") {
						continue
					}
					if err := row(k, page, j, p, clock, record); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// load is the machine's load average over 15 minutes.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(b))
	if err != nil || len(f) < 3 {
		return "unknown"
	}
	return f[2]
}

func row(k *bench.Kit, page *bench.Page, j jdk.JDK, p program, clock, record string) error {
	log.Printf("JDK %d, %s %d, %s, %s", j.Version, p.kind, p.param, clock, record)
	flags := []string{"--root", p.root, "--clock", clock}
	switch record {
	case "events":
		flags = append(flags, "--record", "events")
	case "slowest":
		flags = append(flags, "--slowest", "10")
	case "trace":
		flags = append(flags, "--trace", filepath.Join(k.Temp, "trace.json"))
	}
	var all [][]float64
	for range k.Reps {
		r, err := measured(k, j, p, flags)
		if err != nil {
			return err
		}
		f := []float64{r.bare / 1e6, (r.recorded - r.bare) / (r.calls / float64(p.threads))}
		if e := r.report.Events; e != nil {
			differ := math.NaN()
			if e.Differ != nil {
				differ = float64(*e.Differ)
			}
			f = append(f, float64(e.Words)/float64(r.report.Calls), float64(e.Words)/float64(r.report.Calls)*r.calls/r.recorded*1e3,
				100*e.Share, float64(e.Waits), float64(e.Rings)/(1<<20), float64(e.Dropped+e.Muted), differ)
		} else {
			f = append(f, math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN())
		}
		all = append(all, f)
	}
	f := bench.Medians(all)
	cells := []any{j.Version, fmt.Sprintf("%s %d", p.kind, p.param), record, clock}
	for i, v := range f {
		if i == 5 || i > 6 {
			cells = append(cells, whole(v))
			continue
		}
		cells = append(cells, v)
	}
	page.Row(cells...)
	return nil
}

// measured runs a program bare, recorded and bare again, in one process.
func measured(k *bench.Kit, j jdk.JDK, p program, flags []string) (*run, error) {
	n := during
	if k.Short {
		n = 5
	}
	text, err := micro(k, k.Script(j, "run.sh", "micro", p.kind, strconv.Itoa(before), strconv.Itoa(n), strconv.Itoa(after), strconv.Itoa(p.param)), flags)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(k.Temp, "report.json"))
	if err != nil {
		return nil, err
	}
	r := &run{}
	if err := json.Unmarshal(b, &r.report); err != nil {
		return nil, err
	}
	laps := func(tag string) []float64 { return bench.Laps(text, tag) }
	r.bare = bench.Min(append(laps("BARE"), laps("POST")...))
	r.recorded = bench.Min(laps("PROF"))
	r.calls = float64(r.report.Calls) / float64(n)
	if r.calls == 0 || r.recorded == 0 {
		return nil, errors.New(p.kind + ": nothing was recorded")
	}
	return r, nil
}

// micro records a micro program and returns what it printed.
func micro(k *bench.Kit, cmd *exec.Cmd, flags []string) (string, error) {
	t, err := bench.StartTarget(cmd)
	if err != nil {
		return "", err
	}
	defer t.Kill()
	rec, err := k.Record(t.PID, flags...)
	if err != nil {
		return "", err
	}
	defer rec.Kill()
	if err := t.Work("go"); err != nil {
		return "", err
	}
	if _, err := rec.End(); err != nil {
		return "", err
	}
	err = t.Finish()
	return t.Out.All(), err
}

// decoder adds how fast the reader is, as "go test -bench" says.
func decoder(_ *bench.Kit, page *bench.Page) error {
	out, err := exec.Command("go", "test", "-run", "^$", "-bench", "Builder", "./controller/event").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -bench: %w: %s", err, out)
	}
	page.Table("The reader", "Trees made of events on one core, by `go test -bench Builder ./controller/event`: `fib` with its recursion expanded, `wide` with thirty callees in turn; with the slowest root calls, and with a timeline, kept.",
		"stream|", "Mevents/s", "allocations an operation")
	for _, b := range benchmarks(string(out)) {
		page.Row(b.name, b.rate, b.allocs)
	}
	return nil
}

package main

import (
	"encoding/json"
	"log"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// real records a program that repeats its calls exactly, first the tree alone and
// then with events, and compares.
func real(k *bench.Kit, page *bench.Page, j jdk.JDK) error {
	p := bench.Programs[0] // sunflow
	if !k.Wants(p.Name) {
		return nil
	}
	p.Count = 1
	page.Table("A real program, JDK "+strconv.Itoa(j.Version), "One iteration of "+p.Name+" with fixed arguments, root "+p.Partial+", tick clock; its calls repeat exactly. "+
		"Methods differ: how many methods' calls are not those that the tree alone counted, in another process. Contexts differ: in how many contexts calls, exceptions or times of the tree made of the events are not those of the tree recorded in the same process.",
		"recorded|", "root invocations", "calls", "s", "waited %", "dropped", "methods differ", "contexts differ")
	bare, err := k.Bare(j, &p)
	if err != nil {
		return err
	}
	var first map[string]float64
	for _, record := range []string{"tree", "events", "slowest"} {
		log.Printf("JDK %d, %s, %s", j.Version, p.Name, record)
		flags := []string{"--root", p.Partial, "--record", record}
		if record == "slowest" {
			flags = []string{"--root", p.Partial, "--slowest", "10"}
		}
		run, err := k.Profile(j, &p, bare, flags...)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(k.Temp, "report.json"))
		if err != nil {
			return err
		}
		var r report
		if err := json.Unmarshal(b, &r); err != nil {
			return err
		}
		counts := run.Report.PerUnit(1)
		methods := math.NaN()
		if first == nil {
			first = counts
		} else {
			methods = 0
			for m := range maps.Keys(union(first, counts)) {
				if first[m] != counts[m] {
					methods++
				}
			}
		}
		waited, dropped, contexts := math.NaN(), math.NaN(), math.NaN()
		if e := r.Events; e != nil {
			waited, dropped = 100*e.Share, float64(e.Dropped+e.Muted)
			if e.Differ != nil {
				contexts = float64(*e.Differ)
			}
		}
		page.Row(record, whole(float64(run.Report.Invocations)), whole(float64(run.Report.Calls)), bench.Sum(run.Laps)/1e3, waited, whole(dropped), whole(methods), whole(contexts))
	}
	return nil
}

func union(a, b map[string]float64) map[string]float64 {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// whole writes a count with all its digits.
func whole(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

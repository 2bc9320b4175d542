// Command governor shows how a budget for the slow-down is held by a program whose load changes, and
// writes docs/figures/governor.md. Run it from the repository's root by "go tool task bench:governor".
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

func main() { bench.Main(1, "governor.md", measure) }

// kinds are those of work.Changing.
var kinds = []string{"short methods", "parser", "few calls"}

const (
	block  = 5 * time.Second // of requests of one kind
	settle = 10 * time.Second
	length = 40 * time.Second // of a recording, after that
)

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("bench:governor", "A budget that is held", "How much slower a program is that is recorded with `--overhead`, and without.")
	page.Table("A load that changes", fmt.Sprintf("work.Changing serves requests of three kinds, %v of one kind, then of the next. Slow-down in %%: requests a second of the serving thread's processor time before the recording, over those in it, minus 1, medians of half seconds, "+
		"from %v after arming on for %v; after it, from 10 s after detaching on. Worst is the highest mean of 2 s. Recorded says how many of the root calls were, whatever their kind; off are the methods that were off or without probes at the end. The recorder's own estimate is the last one.", block, settle, length),
		"JDK|", "budget|", kinds[0], kinds[1], kinds[2], "worst 2 s", kinds[0]+", after", kinds[1]+", after", kinds[2]+", after", "recorded %", "off", "steps", "estimate %", "over budget, % of the time")
	for _, j := range k.JDKs {
		for _, budget := range []string{"none", "30%", "10%", "5%"} {
			if !k.Wants(budget) {
				continue
			}
			log.Printf("JDK %d, budget %s", j.Version, budget)
			if err := run(k, j, budget, page); err != nil {
				return page, err
			}
		}
	}
	return page, nil
}

// A rate is one of the program's lines.
type rate struct {
	at   time.Time
	kind int
	each float64 // requests a second
}

func run(k *bench.Kit, j jdk.JDK, budget string, page *bench.Page) error {
	t, err := k.Java(j, []string{"-Xmx256m"}, "work.Changing", strconv.Itoa(int(block.Seconds())))
	if err != nil {
		return err
	}
	defer t.Kill()
	var mu sync.Mutex
	var rates []rate
	for line := range strings.Lines(t.Out.All()) {
		if r, ok := parse(line); ok {
			rates = append(rates, r)
		}
	}
	quit := make(chan struct{})
	defer close(quit)
	go func() {
		for seen := strings.Count(t.Out.All(), "\n"); ; {
			select {
			case <-quit:
				return
			case <-time.After(100 * time.Millisecond):
			}
			lines := strings.Split(t.Out.All(), "\n")
			for ; seen < len(lines)-1; seen++ {
				if r, ok := parse(lines[seen]); ok {
					mu.Lock()
					rates = append(rates, r)
					mu.Unlock()
				}
			}
		}
	}()
	time.Sleep(3 * block) // a round of compiled code
	since := func(from time.Time) (out []rate) {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range rates {
			if r.at.After(from) {
				out = append(out, r)
			}
		}
		return out
	}
	bare := medians(since(time.Now().Add(-3 * block)))
	flags := []string{"--root", "work.Changing.serve"}
	if budget != "none" {
		flags = append(flags, "--overhead", budget)
	}
	rec, err := k.Record(t.PID, flags...)
	if err != nil {
		return err
	}
	defer rec.Kill()
	time.Sleep(settle)
	from := time.Now()
	wait := length
	if k.Short {
		wait = 3 * block
	}
	time.Sleep(wait)
	during := since(from)
	if _, err := rec.End(); err != nil {
		return err
	}
	time.Sleep(10 * time.Second)
	from = time.Now()
	time.Sleep(3 * block)
	after := medians(since(from))
	b, err := os.ReadFile(filepath.Join(k.Temp, "report.json"))
	if err != nil {
		return err
	}
	var report struct {
		Admitted struct {
			Root int64 `json:"root_invocations"`
			Of   int64 `json:"of"`
		} `json:"admitted"`
		Governor *struct {
			Overhead float64           `json:"overhead"`
			Over     float64           `json:"over_budget_share"`
			Off      []string          `json:"off"`
			Out      []string          `json:"out"`
			Steps    []json.RawMessage `json:"steps"`
		} `json:"governor"`
	}
	if err := json.Unmarshal(b, &report); err != nil {
		return err
	}
	row := []any{j.Version, budget}
	slow := medians(during)
	for i := range kinds {
		row = append(row, percent(bare[i], slow[i]))
	}
	row = append(row, worst(during, bare))
	for i := range kinds {
		row = append(row, percent(bare[i], after[i]))
	}
	row = append(row, 100*float64(report.Admitted.Root)/float64(max(report.Admitted.Of, 1)))
	if g := report.Governor; g != nil {
		row = append(row, len(g.Off)+len(g.Out), len(g.Steps), 100*g.Overhead, 100*g.Over)
	} else {
		row = append(row, "-", "-", "-", "-")
	}
	page.Row(row...)
	return nil
}

func parse(line string) (r rate, ok bool) {
	f := strings.Fields(line)
	if len(f) != 3 || f[0] != "RATE" {
		return r, false
	}
	kind, err1 := strconv.Atoi(f[1])
	each, err2 := strconv.ParseFloat(f[2], 64)
	return rate{time.Now(), kind, each}, err1 == nil && err2 == nil && kind >= 0 && kind < len(kinds)
}

// medians are the rates by kind.
func medians(rates []rate) []float64 {
	out := make([]float64, len(kinds))
	for i := range kinds {
		var of []float64
		for _, r := range rates {
			if r.kind == i {
				of = append(of, r.each)
			}
		}
		if len(of) > 0 {
			out[i] = bench.Median(of)
		}
	}
	return out
}

// percent is by how much the program was slower, in percent of its time before.
func percent(before, then float64) float64 {
	if before == 0 || then == 0 {
		return 0
	}
	return 100 * (before/then - 1)
}

// worst is the highest slow-down of four half seconds in a row.
func worst(rates []rate, bare []float64) (most float64) {
	for i := 3; i < len(rates); i++ {
		sum := 0.0
		for _, r := range rates[i-3 : i+1] {
			sum += percent(bare[r.kind], r.each)
		}
		most = max(most, sum/4)
	}
	return most
}

// Command sampler compares Rivulet's hottest methods with those of a sampler
// that knows nothing of it, JFR's ExecutionSample, read by the JDK's own jfr
// tool, and writes docs/figures/sampler.md. Run it from the repository's root
// by "go tool task bench:sampler".
package main

import (
	"fmt"
	"log"
	"strconv"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// compared are the programs, with iterations enough for a few thousand samples,
// after as many to warm up.
var compared = map[string]int{"h2": 40, "sunflow": 8}

// top is how many methods are ranked.
const top = 20

func main() { bench.Main(1, "sampler.md", measure) }

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("bench:sampler", "What a sampler says", "The "+fmt.Sprint(top)+" methods with the most corrected self time "+
		"(whole-run root, tick clock) beside JFR's ExecutionSample (10 ms) of another process of the same program. The first half of Rivulet's iterations is its warm-up. A sample counts for the topmost method that has times in Rivulet's report, since that charges the JDK's time, and that of short methods which it only counts, to their callers. JFR's process runs with -XX:+DebugNonSafepoints, without which samples go to places where code can be stopped. "+
		"Beyond chance: the shares differ by more than twice what both leave uncertain (Rivulet's ±, the square root of JFR's samples).")
	for _, j := range k.JDKs {
		for _, p := range bench.Programs {
			n, ok := compared[p.Name]
			if !ok || !k.Wants(p.Name) {
				continue
			}
			p.Count = n
			if err := compare(k, page, j, k.Warmed(p)); err != nil {
				return page, fmt.Errorf("JDK %d, %s: %w", j.Version, p.Name, err)
			}
		}
	}
	return page, nil
}

func compare(k *bench.Kit, page *bench.Page, j jdk.JDK, p *bench.Program) error {
	log.Printf("JDK %d, %s, rivulet", j.Version, p.Name)
	bare, err := k.Bare(j, p)
	if err != nil {
		return err
	}
	flags := []string{"--root", p.Whole, "--clock", "tick"}
	if k.Knows("--warmup") {
		flags = append(flags, "--warmup", strconv.Itoa(p.Warm))
	} else {
		page.Text("This rivulet has no `--warmup`: what ran interpreted until it was compiled again counts.")
	}
	r, err := k.Corrected(j, p, bare, flags...)
	if err != nil {
		return err
	}
	counted := map[string]bool{}
	for _, m := range r.Report.Flat {
		counted[m.Method] = m.Counted
	}
	log.Printf("JDK %d, %s, JFR", j.Version, p.Name)
	samples, err := sample(k, j, p, counted)
	if err != nil {
		return err
	}
	list := rank(r.Report.Flat, samples)
	page.Table(fmt.Sprintf("%s, JDK %d", p.Name, j.Version), fmt.Sprintf("%d samples inside the root.", samples.total),
		"", "method|", "calls", "self", "±", "JFR's samples", "JFR's rank", "differ by", "beyond chance|")
	for i, e := range list[:min(top, len(list))] {
		page.Row(i+1, "`"+bench.Name(e.method)+"`", e.calls, percent(e.share), percent(e.uncertain), percent(e.sampled), e.place(), points(e.share-e.sampled), e.verdict())
	}
	s := summarize(list)
	text := fmt.Sprintf("Rank correlation (Spearman) of these: %s; of their shares with JFR's, half the sum of differences: %s. Of JFR's first %d, %d are among them.",
		bench.Number(s.correlation), percent(s.distance), top, s.common)
	for _, e := range s.missing {
		text += fmt.Sprintf("\n* `%s` is JFR's number %s with %s; here it is number %d with %s ± %s", bench.Name(e.method), e.place(), percent(e.sampled), e.rank, percent(e.share), percent(e.uncertain))
	}
	page.Text(text)
	return nil
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func points(v float64) string { return fmt.Sprintf("%+.1f", 100*v) }

// place is the method's rank by samples, "-" without one.
func (e *entry) place() string {
	if e.samples == 0 {
		return "-"
	}
	return strconv.Itoa(int(e.sampledRank))
}

func (e *entry) verdict() string {
	if e.beyond() {
		return "yes"
	}
	return "no"
}

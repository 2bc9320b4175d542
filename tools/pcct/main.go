// Command pcct compares what the partial calling context tree of "rivulet sample" says of
// calls with the exact counts of a recording, and the trees of successive segments of a run
// with each other, as Whaley's paper on the tree does, and writes docs/figures/pcct.md. Run it from the
// repository's root by "go tool task bench:pcct".
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// compared are the programs, with iterations that are counted, and enough of them for
// two segments.
var compared = map[string]struct{ counted, long int }{"h2": {8, 60}, "sunflow": {2, 8}, "xalan": {40, 240}, "batik": {3, 12}}

// rates are samples a second.
var rates = []int{99, 999}

func main() { bench.Main(1, "pcct.md", measure) }

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("bench:pcct", "Entries of samples", "What `rivulet sample` says of calls, beside exact counts.")
	page.Table("Entries and calls", "Methods that samples met at least five times and a whole-run recording of another process of the same program counts. "+
		"Rank correlation (Spearman) with their calls: of samples, and of entries by samples. The latter is what edges know that times don't: who is called often and who runs long. "+
		"*Long* are methods with no more calls than samples, so that their mean time is a period at least: of their calls, samples should meet nearly all. "+
		"Entries are a lower bound: *too many* are methods with more entries than calls in the same number of iterations.",
		"program|", "JDK", "Hz", "samples", "methods", "samples and calls", "entries by samples and calls", "long", "entries of their calls", "too many")
	if err := each(k, page, "calls", compare); err != nil {
		return page, err
	}
	page.Table("Segments of a run", "Two successive reports of 2 s of one process: the correlation (Pearson) of samples by method, and of samples and entries by context, Whaley's measure of precision.",
		"program|", "JDK", "Hz", "methods", "contexts")
	return page, each(k, page, "segments", segments)
}

// each measures a part of the page for each JDK and program that are wanted.
func each(k *bench.Kit, page *bench.Page, part string, measure func(*bench.Kit, *bench.Page, jdk.JDK, *bench.Program) error) error {
	for _, j := range k.JDKs {
		for _, p := range bench.Programs {
			n, ok := compared[p.Name]
			if !ok || !k.Wants(p.Name) || !k.Has(part) {
				continue
			}
			p.Count = n.counted
			if part == "segments" {
				p.Count = n.long
			}
			if err := measure(k, page, j, &p); err != nil {
				return fmt.Errorf("JDK %d, %s: %w", j.Version, p.Name, err)
			}
		}
	}
	return nil
}

func compare(k *bench.Kit, page *bench.Page, j jdk.JDK, p *bench.Program) error {
	log.Printf("JDK %d, %s, exact counts", j.Version, p.Name)
	bare, err := k.Bare(j, p)
	if err != nil {
		return err
	}
	r, err := k.Profile(j, p, bare, "--root", p.Whole, "--clock", "tick")
	if err != nil {
		return err
	}
	calls := map[string]int64{}
	for _, m := range r.Report.Flat {
		calls[m.Method] += m.Calls
	}
	for _, hz := range rates {
		log.Printf("JDK %d, %s, %d Hz", j.Version, p.Name, hz)
		s, err := sampled(k, j, p, hz)
		if err != nil {
			return err
		}
		c := against(s, calls)
		page.Row(p.Name, j.Version, hz, s.Sampling.Samples, c.methods, bench.Number(c.samples), bench.Number(c.fresh), c.long, fmt.Sprintf("%.2f", c.share), c.excess)
	}
	return nil
}

func segments(k *bench.Kit, page *bench.Page, j jdk.JDK, p *bench.Program) error {
	for _, hz := range rates {
		log.Printf("JDK %d, %s, segments at %d Hz", j.Version, p.Name, hz)
		two, err := inSegments(k, j, p, hz)
		if err != nil {
			return err
		}
		flat, contexts := alike(two[0], two[1])
		page.Row(p.Name, j.Version, hz, bench.Number(flat), bench.Number(contexts))
	}
	return nil
}

// sampled runs the program and samples its iterations.
func sampled(k *bench.Kit, j jdk.JDK, p *bench.Program, hz int) (*export.Report, error) {
	var rec *bench.Recording
	file := filepath.Join(k.Temp, "sample.json")
	_, err := k.Run(j, p, bench.Job{
		Begin: func(pid string) (err error) {
			rec, err = k.Sample(pid, file, "--hz", fmt.Sprint(hz))
			return err
		},
		End: func() (*bench.Report, error) {
			_, err := rec.End()
			return nil, err
		},
	})
	if err != nil {
		return nil, err
	}
	return read(file)
}

const segment = 2 * time.Second

// inSegments runs a longer program and samples it twice, one after the other.
func inSegments(k *bench.Kit, j jdk.JDK, p *bench.Program, hz int) (two [2]*export.Report, err error) {
	done := make(chan error, 1)
	_, err = k.Run(j, p, bench.Job{
		Begin: func(pid string) error {
			go func() {
				time.Sleep(segment) // code has to be compiled first
				for i := range two {
					file := filepath.Join(k.Temp, fmt.Sprintf("segment%d.json", i))
					rec, err := k.Sample(pid, file, "--hz", fmt.Sprint(hz), "--for", segment.String())
					if err == nil {
						err = rec.Wait()
					}
					if err == nil {
						two[i], err = read(file)
					}
					if err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
			return nil
		},
		End: func() (*bench.Report, error) { return nil, <-done },
	})
	return two, err
}

func read(file string) (*export.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return export.ReadJSON(f)
}

// application tells the program's methods from the JDK's, and from what is none.
func application(method string) bool {
	return strings.Contains(method, "(") && !strings.HasPrefix(method, "(") && !strings.HasPrefix(method, "java.") && !strings.HasPrefix(method, "jdk.") && !strings.HasPrefix(method, "sun.")
}

// Command sampling compares "rivulet sample" with async-profiler, in turns in one process, and
// writes docs/figures/sampling.md. Run it from the repository's root by "go tool task bench:sample";
// "-- -only sunflow -jdk 17" measures the rows of one program and keeps the others.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// compared are the programs, with more iterations than the windows take.
var compared = map[string]int{"h2": 2000, "sunflow": 400, "xalan": 8000, "batik": 1000, "javac": 1000}

const (
	warm   = 4 * time.Second
	window = 3 * time.Second
	turns  = 2
	hz     = 249 // of Rivulet
	period = "4ms"
	fast   = 999
)

func main() { bench.Main(1, "sampling.md", measure) }

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("bench:sample", "Sampling beside async-profiler", "`rivulet sample` and async-profiler 4.5 in turns in one process.")
	page.Table("Agreement and cost", fmt.Sprintf("After %s, windows of %s: Rivulet (%d Hz), async-profiler (ctimer, %s), and again, then Rivulet with 99 and %d Hz, in a JVM with -XX:+DebugNonSafepoints. "+
		"*Overlap*: the sum over methods of the smaller share of self time, in percent, of two windows with equally many samples (the larger is thinned out); the programs' own drift is in all of them. "+
		"Complete: of samples of Java's threads of all windows. First: from the command to the first sample, the median of the windows. Own CPU: of a core, with the first sight of code.",
		warm, window, hz, period, fast),
		"program|", "JDK", "samples", "complete %", "lost", "Rivulet and async-profiler", "async-profiler twice", "Rivulet twice", "first, ms", "own CPU at 99 Hz, %", fmt.Sprintf("at %d Hz, %%", fast))
	lib, err := library(k)
	if err != nil {
		return page, err
	}
	for _, j := range k.JDKs {
		for _, p := range bench.Programs {
			n, ok := compared[p.Name]
			if !ok || !k.Wants(p.Name) || p.Name == "h2" && j.Version < leastShop {
				continue
			}
			p.Count, p.Cold = n, true
			log.Printf("JDK %d, %s", j.Version, p.Name)
			c, err := compare(k, j, &p, lib)
			if err != nil {
				return page, fmt.Errorf("JDK %d, %s: %w", j.Version, p.Name, err)
			}
			c.row(page, p.Name, j)
		}
		if k.Wants("shop") && j.Version >= leastShop {
			log.Printf("JDK %d, shop", j.Version)
			c, err := compareShop(k, j, lib)
			if err != nil {
				return page, fmt.Errorf("JDK %d, shop: %w", j.Version, err)
			}
			c.row(page, "shop", j)
		}
	}
	if err := slowdown(k, page); err != nil {
		return page, err
	}
	return page, waiting(k, page)
}

// row writes a comparison.
func (c *comparison) row(page *bench.Page, name string, j jdk.JDK) {
	page.Row(name, j.Version, c.samples, fmt.Sprintf("%.2f", 100*float64(c.complete)/float64(max(c.samples, 1))), c.lost,
		fmt.Sprintf("%.1f", c.between), fmt.Sprintf("%.1f", c.theirs), fmt.Sprintf("%.1f", c.ours), fmt.Sprintf("%.0f", c.first), fmt.Sprintf("%.2f", c.slow), fmt.Sprintf("%.2f", c.fast))
}

// debugInfo has the JVM say of each instruction which inlined method it is of.
var debugInfo = []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"}

// A sampled is what is read of a report.
type sampled struct {
	Sampling struct {
		Samples, Complete, Lost int64
		First                   float64 `json:"first_ms"`
		Share                   float64 `json:"sampler_cpu_share"`
	}
	Flat []struct {
		Method, Loader string
		Self           int64 `json:"self_samples"`
	}
}

// A comparison is one row.
type comparison struct {
	samples, complete, lost int64
	between, theirs, ours   float64 // percent
	first                   float64 // ms
	slow, fast              float64 // percent of a core
}

// compare runs a program, and everything in turns beside it.
func compare(k *bench.Kit, j jdk.JDK, p *bench.Program, lib string) (c comparison, err error) {
	done := make(chan error, 1)
	_, err = k.Run(j, p, bench.Job{
		Options: debugInfo,
		Begin: func(pid string) error {
			go func() {
				time.Sleep(warm)
				var err error
				c, err = windows(k, pid, lib)
				done <- err
				if n, e := strconv.Atoi(pid); e == nil {
					_ = syscall.Kill(n, syscall.SIGKILL) // the rest of it is not needed
				}
			}()
			return nil
		},
		End: func() (*bench.Report, error) { return nil, errors.New("the program ended before the windows did") },
	})
	select {
	case windowsErr := <-done: // the program was ended, so its error says nothing
		return c, windowsErr
	default:
		return c, err
	}
}

func windows(k *bench.Kit, pid, lib string) (c comparison, err error) {
	var ours, theirs [turns]map[string]int64
	var firsts []float64
	own := func(hz int) (*sampled, error) {
		r, err := sample(k, pid, hz)
		if err != nil {
			return nil, err
		}
		c.samples += r.Sampling.Samples
		c.complete += r.Sampling.Complete
		c.lost += r.Sampling.Lost
		firsts = append(firsts, r.Sampling.First)
		return r, nil
	}
	for i := range turns {
		r, err := own(hz)
		if err != nil {
			return c, err
		}
		ours[i] = selves(r)
		if theirs[i], err = async(k, pid, lib); err != nil {
			return c, err
		}
	}
	for i := range turns {
		for l := range turns {
			c.between += overlap(ours[i], theirs[l]) / turns / turns
		}
	}
	c.theirs, c.ours = overlap(theirs[0], theirs[1]), overlap(ours[0], ours[1])
	for _, w := range []struct {
		hz int
		to *float64
	}{{99, &c.slow}, {fast, &c.fast}} {
		r, err := own(w.hz)
		if err != nil {
			return c, err
		}
		*w.to = 100 * r.Sampling.Share
	}
	c.first = bench.Median(firsts)
	return c, nil
}

// sample is one window of Rivulet's.
func sample(k *bench.Kit, pid string, hz int) (*sampled, error) {
	return sampleFor(k, pid, window, "--hz", fmt.Sprint(hz))
}

func sampleFor(k *bench.Kit, pid string, length time.Duration, flags ...string) (*sampled, error) {
	file := filepath.Join(k.Temp, "own.json")
	rec, err := k.Sample(pid, file, append(flags, "--for", length.String())...)
	if err == nil {
		err = rec.Wait()
	}
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &sampled{}
	return r, json.Unmarshal(b, r)
}

// Command heap dumps programs with heaps of half a GB and more, analyses the dumps, and
// writes docs/figures/heap.md: time and memory. Run it from the repository's root by "go
// tool task bench:heap".
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

func main() { bench.Main(1, "heap.md", measure) }

// A run is a dump, and how much memory its analysis gets.
type run struct {
	part, shape string
	heap        int // MB in use
	memory      []string
}

var runs = []run{
	{"one", "records", 660, []string{"450M", "4G"}},
	{"one", "list", 560, []string{"450M"}},
	{"four", "records", 2640, []string{"1G"}},
}

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("bench:heap", "Heap dumps", "Analysing heap dumps: time and memory. Beside Eclipse MAT: [experiments](experiments.md#heap-analysis-beside-eclipse-mat).")
	for _, part := range []struct{ name, title string }{{"one", "One GB"}, {"four", "Four GB"}} {
		if !k.Has(part.name) {
			continue
		}
		page.Table(part.title, "`rivulet heap FILE --json` with all sections, of a dump that was just written. records is a map of records with strings, boxed numbers and lists that other collections hold, too; "+
			"list is a linked list of all values of an array list, whose dominators are chains as long as the list. MB are of a million bytes; peak is the most that was resident (ru_maxrss), pages of temporary files included. "+
			"Dumped is how long jcmd took to have it written, its own start included.",
			"JDK|", "heap|", "dump, MB", "objects", "dumped, s", "--max-memory|", "time, s", "s per GB", "CPU, s", "peak, MB")
		for _, j := range k.JDKs[:1] {
			for _, r := range runs {
				if r.part != part.name || !k.Wants(r.shape) {
					continue
				}
				if k.Short {
					r.heap /= 10
				}
				if err := r.measure(k, page, j); err != nil {
					return page, err
				}
			}
		}
	}
	return page, nil
}

func (r run) measure(k *bench.Kit, page *bench.Page, j jdk.JDK) error {
	log.Printf("JDK %d, %s of %d MB", j.Version, r.shape, r.heap)
	t, err := k.Java(j, []string{"-XX:+UseParallelGC", fmt.Sprintf("-Xmx%dm", 4*r.heap)}, "work.Fill", r.shape, fmt.Sprint(r.heap))
	if err != nil {
		return err
	}
	defer t.Kill()
	dump := filepath.Join(k.Temp, "heap.hprof")
	defer os.Remove(dump)
	dumped, err := take(j, t.PID, dump)
	if err != nil {
		return err
	}
	if err := t.Work("go"); err != nil {
		return err
	}
	if err := t.Finish(); err != nil {
		return err
	}
	info, err := os.Stat(dump)
	if err != nil {
		return err
	}
	mb := float64(info.Size()) / 1e6
	for _, memory := range r.memory {
		a, err := analyse(k, dump, memory)
		if err != nil {
			return err
		}
		page.Row(j.Version, r.shape, mb, a.objects, dumped.Seconds(), memory, a.time.Seconds(), a.time.Seconds()/mb*1000, a.cpu.Seconds(), a.peak)
	}
	return nil
}

// take has the JVM write its heap by its own tool: what the analysis costs doesn't depend
// on who asked.
func take(j jdk.JDK, pid, file string) (time.Duration, error) {
	began := time.Now()
	if b, err := exec.Command(filepath.Join(j.Home, "bin", "jcmd"), pid, "GC.heap_dump", file).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("jcmd: %w: %s", err, b)
	}
	return time.Since(began), nil
}

// analysed is what one analysis took.
type analysed struct {
	objects   int64
	time, cpu time.Duration
	peak      float64 // MB
}

func analyse(k *bench.Kit, dump, memory string) (*analysed, error) {
	cmd := exec.Command(k.Rivulet, "heap", dump, "--json", "--max-memory", memory, "-o", filepath.Join(k.Temp, "heap.json"))
	began := time.Now()
	if b, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("rivulet heap: %w: %s", err, b)
	}
	a := &analysed{time: time.Since(began), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	a.peak = float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) * 1024 / 1e6
	b, err := os.ReadFile(filepath.Join(k.Temp, "heap.json"))
	if err != nil {
		return nil, err
	}
	var report struct{ Objects int64 }
	if err := json.Unmarshal(b, &report); err != nil {
		return nil, err
	}
	a.objects = report.Objects
	return a, nil
}

// Command watchsoak lets "rivulet watch" run for a while beside a program, and looks what it costs:
// the program's CPU time for a request in turns with and without it, the watcher's own CPU, memory and
// files, and whether an event is captured with the minute before. It writes
// docs/figures/watch.md. Run it from the repository's root by "go tool task soak:watch".
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

//go:embed Soak.java
var source string

var (
	minutes = flag.Float64("minutes", 30, "how `long` the watcher runs without a break; 0 leaves that out for the server, and the long run")
	by      = flag.String("by", "", "watch the server by this `source`, such as jfr")
)

const (
	turn  = 10 * time.Second // with the watcher, and without
	pairs = 6
	calm  = 8 * time.Second // until the program's code is compiled
	keep  = 2 * time.Minute
	disk  = 4 << 20
)

func main() { bench.Main(1, "watch.md", measure) }

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("soak:watch", "Watching for a while", "Programs that answer requests in a closed loop, and `rivulet watch` beside them.")
	if k.Has("program") {
		if err := programs(k, page); err != nil {
			return page, err
		}
	}
	if k.Has("shop") {
		if err := shops(k, page); err != nil {
			return page, err
		}
	}
	if k.Has("long") && *minutes > 0 {
		return page, longs(k, page)
	}
	return page, nil
}

func programs(k *bench.Kit, page *bench.Page) error {
	page.Table("Cost and bounds", fmt.Sprintf("The program has one thread. CPU time of a request: the median of the seconds of %d turns of %v with the watcher, and of as many without, in one process. "+
		"Then the watcher runs without a break, keeps %v in at most %s, and after half of the time one method takes ten times as long. "+
		"Memory: resident, its own, after a minute, at the end, and the most.", pairs, turn, keep, "4 MB"),
		"JDK", "minutes", "without ns", "with ns", "ratio", "watcher, % of a core", "MB after a minute", "at the end", "most", "disk, most KB", "found after s", "capture has s before")
	for _, j := range k.JDKs {
		if err := soak(k, page, j); err != nil {
			return fmt.Errorf("JDK %d: %w", j.Version, err)
		}
	}
	return nil
}

func soak(k *bench.Kit, page *bench.Page, j jdk.JDK) error {
	if err := os.WriteFile(filepath.Join(k.Temp, "Soak.java"), []byte(source), 0o600); err != nil {
		return err
	}
	if out, err := exec.Command(filepath.Join(j.Home, "bin", "javac"), "-d", k.Temp, filepath.Join(k.Temp, "Soak.java")).CombinedOutput(); err != nil {
		return fmt.Errorf("javac: %w: %s", err, out)
	}
	p, err := proc.Start(exec.Command(filepath.Join(j.Home, "bin", "java"), "-Xmx128m", "-cp", k.Temp, "Soak"))
	if err != nil {
		return err
	}
	defer p.Kill()
	pid := strconv.Itoa(p.Cmd.Process.Pid)
	time.Sleep(calm)
	var with, without []float64
	for i := range pairs {
		log.Printf("JDK %d, turn %d of %d", j.Version, i+1, pairs)
		from := seconds(p)
		time.Sleep(turn)
		without = append(without, costs(p, from)...)
		w, err := watch(k, pid, filepath.Join(k.Temp, "turns"), "--for", turn.String())
		if err != nil {
			return err
		}
		from = seconds(p)
		if err := w.Wait(); err != nil {
			return fmt.Errorf("rivulet watch: %w: %s", err, w.Err.All())
		}
		with = append(with, costs(p, from)...)
	}
	long := time.Duration(*minutes * float64(time.Minute))
	r, err := run(k, p, pid, long)
	if err != nil {
		return err
	}
	a, b := bench.Median(without), bench.Median(with)
	page.Row(j.Version, fmt.Sprintf("%.3g", *minutes), fmt.Sprintf("%.0f", a), fmt.Sprintf("%.0f", b), fmt.Sprintf("%.4f", b/a), fmt.Sprintf("%.2f", 100*r.share),
		fmt.Sprintf("%.1f", r.early), fmt.Sprintf("%.1f", r.end), fmt.Sprintf("%.1f", r.most), r.disk>>10, fmt.Sprintf("%.1f", r.found.Seconds()), fmt.Sprintf("%.0f", r.before.Seconds()))
	return nil
}

// watch begins to watch, and returns when it does.
func watch(k *bench.Kit, pid, dir string, flags ...string) (*proc.Proc, error) {
	args := append([]string{"watch", pid, "--dir", dir, "--keep", keep.String(), "--disk", strconv.Itoa(disk)}, flags...)
	w, err := proc.Start(exec.Command(k.Rivulet, args...))
	if err != nil {
		return nil, err
	}
	if _, err := w.Err.Find(func(line string) bool { return strings.HasPrefix(line, "rivulet: watching") }); err != nil {
		w.Kill()
		return nil, fmt.Errorf("rivulet %s: %w", strings.Join(args, " "), err)
	}
	return w, nil
}

// A result is what the run without a break showed.
type result struct {
	share            float64   // of a core
	early, end, most float64   // MB
	memory           []float64 // MB, each second
	disk             int64
	found            time.Duration // from the change to the event
	before           time.Duration // that the capture has
}

func run(k *bench.Kit, p *proc.Proc, pid string, long time.Duration) (r result, err error) {
	dir := filepath.Join(k.Temp, "kept")
	var changed time.Time
	r, err = unbroken(k, pid, dir, long, func(since time.Duration) error {
		if !changed.IsZero() || since <= long/2 {
			return nil
		}
		changed = time.Now()
		return p.Send("hot")
	}, "--when", "share(Soak.*) doubled", "--when", "cpu > 95% for 10s")
	if err != nil {
		return r, err
	}
	return r, captured(k, dir, changed, "Soak.tax", &r)
}

// unbroken watches for so long, and looks at the watcher each second, at which something may be done.
func unbroken(k *bench.Kit, pid, dir string, long time.Duration, each func(since time.Duration) error, flags ...string) (r result, err error) {
	w, err := watch(k, pid, dir, append(flags, "--before", "1m", "--json", "--for", long.String())...)
	if err != nil {
		return r, err
	}
	defer w.Kill()
	own := strconv.Itoa(w.Cmd.Process.Pid)
	begun := time.Now()
	used := 0.0
	for time.Since(begun) < long-2*time.Second {
		time.Sleep(time.Second)
		m, err := bench.Resident(own)
		if err != nil {
			return r, fmt.Errorf("%w: %s", err, w.Err.All())
		}
		r.end, r.most, r.memory = m.Own, max(r.most, m.Own), append(r.memory, m.Own)
		if time.Since(begun) < time.Minute {
			r.early = m.Own
		}
		r.disk = max(r.disk, size(dir))
		if used, err = bench.CPU(own); err != nil {
			return r, err
		}
		r.share = used / time.Since(begun).Seconds()
		if err := each(time.Since(begun)); err != nil {
			return r, err
		}
	}
	if err := w.Wait(); err != nil {
		return r, fmt.Errorf("rivulet watch: %w: %s", err, w.Err.All())
	}
	return r, nil
}

// size is what a folder's files have, in bytes.
func size(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { //nolint:errcheck // what is gone has no size
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// seconds is how many the program has told of.
func seconds(p *proc.Proc) int { return strings.Count(p.Out.All(), "SECOND ") }

// costs are the CPU times of a request in the seconds since then, without the first and the last.
func costs(p *proc.Proc, from int) (out []float64) {
	n := 0
	for line := range strings.Lines(p.Out.All()) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "SECOND" {
			continue
		}
		if n++; n > from+1 {
			if v, err := strconv.ParseFloat(f[2], 64); err == nil {
				out = append(out, v)
			}
		}
	}
	return out[:max(len(out)-1, 0)]
}

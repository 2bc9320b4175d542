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
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
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

// A row is what one run showed. Times are of the best repetition.
type row struct {
	jdk, program, clock    string
	calls                  int64
	bare, recorded, after  time.Duration
	first                  time.Duration
	charged                time.Duration // a repetition, first included
	inner, outer           float64       // ns
	armed, detached        time.Duration
	instrumented, redefine int
}

func main() {
	log.SetFlags(0)
	tmp, err := os.MkdirTemp("", "rivulet-bench")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	bin := filepath.Join(tmp, "rivulet")
	if b, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		log.Fatalf("build rivulet: %v\n%s", err, b)
	}
	var rows []row
	for _, j := range jdks() {
		for _, k := range kinds {
			for _, c := range []string{"tick", "precise"} {
				log.Printf("JDK %s, %s %s, %s clock", j.name, k.name, k.param, c)
				r, err := measure(bin, filepath.Join(tmp, "report.json"), j, k, c)
				if err != nil {
					log.Fatal(err)
				}
				rows = append(rows, r)
			}
		}
	}
	text := table(rows)
	fmt.Print(text)
	if err := os.MkdirAll(filepath.Join("docs", "figures"), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("docs", "figures", "calls.md"), []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

type jdk struct{ name, home string }

// jdks are the one on the path and those that bench/jdks.sh fetches.
func jdks() []jdk {
	out := []jdk{{"17", ""}}
	cache := os.Getenv("RIVULET_BENCH")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return out
		}
		cache = filepath.Join(home, ".cache", "rivulet-bench")
	}
	if h := filepath.Join(cache, "jdk", "25", "home"); exists(h) {
		out = append(out, jdk{"25", h})
	}
	return out
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

func measure(bin, report string, j jdk, k kind, clock string) (row, error) {
	r := row{jdk: j.name, program: k.name + " " + k.param, clock: clock}
	n := strconv.Itoa(repetitions)
	scripts := os.Getenv("BENCH_SCRIPTS")
	if scripts == "" {
		scripts = filepath.Join("..", "shared", "bench")
	}
	cmd := exec.Command(filepath.Join(scripts, "run.sh"), "micro", k.name, n, n, n, k.param)
	cmd.Env = os.Environ()
	if j.home != "" {
		cmd.Env = append(cmd.Env, "JAVA_HOME="+j.home)
	}
	p, err := proc.Start(cmd)
	if err != nil {
		return r, err
	}
	defer p.Kill()
	pid, err := p.Line("PID ")
	if err != nil {
		return r, err
	}
	if _, err := p.Line("READY"); err != nil {
		return r, err
	}
	begin := time.Now()
	prof, err := proc.Start(exec.Command(bin, "profile", strings.TrimPrefix(pid, "PID "), "--root", k.root, "--scheme", "B", "--clock", clock, "--format", "json", "--depth", "1", "-o", report))
	if err != nil {
		return r, err
	}
	defer prof.Kill()
	if _, err := prof.ErrLine("rivulet: recording"); err != nil {
		return r, err
	}
	r.armed = time.Since(begin)
	if err := p.Send("go"); err != nil {
		return r, err
	}
	if _, err := p.Line("DONE"); err != nil {
		return r, err
	}
	begin = time.Now()
	if err := prof.Cmd.Process.Signal(os.Interrupt); err != nil {
		return r, err
	}
	if err := prof.Wait(); err != nil {
		return r, fmt.Errorf("rivulet: %w: %s", err, prof.Err.All())
	}
	r.detached = time.Since(begin)
	if err := p.Send("post"); err != nil {
		return r, err
	}
	if _, err := p.Line("END"); err != nil {
		return r, err
	}
	bare, recorded, after := times(p, "BARE"), times(p, "PROF"), times(p, "POST")
	if len(bare) == 0 || len(recorded) < 2 || len(after) == 0 {
		return r, fmt.Errorf("%s printed no times", r.program)
	}
	r.bare, r.recorded, r.after, r.first = slices.Min(bare), slices.Min(recorded[1:]), slices.Min(after), recorded[0]
	return r, r.read(report)
}

func times(p *proc.Proc, tag string) []time.Duration {
	var out []time.Duration
	for _, l := range strings.Split(p.Out.All(), "\n") {
		f := strings.Fields(l)
		if len(f) < 3 || f[0] != tag {
			continue
		}
		if ns, err := strconv.ParseInt(f[2], 10, 64); err == nil {
			out = append(out, time.Duration(ns))
		}
	}
	return out
}

func (r *row) read(report string) error {
	b, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	var doc struct {
		Calls   int64
		Methods struct{ Instrumented int }
		Redef   struct{ Batches int } `json:"redefinition"`
		Time    struct {
			Charged int64 `json:"charged_ns"`
		}
		Calibration struct {
			Inner float64 `json:"inner_ns"`
			Outer float64 `json:"outer_ns"`
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return err
	}
	r.charged, r.inner, r.outer = time.Duration(doc.Time.Charged/repetitions), doc.Calibration.Inner, doc.Calibration.Outer
	r.calls, r.instrumented, r.redefine = doc.Calls/repetitions, doc.Methods.Instrumented, doc.Redef.Batches
	return nil
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("<!-- Written by \"go tool task bench:calls\". Do not edit. -->\n\n# What a call costs\n\n")
	fmt.Fprintf(&b, "Micro programs, %d repetitions each bare, recorded with Scheme B, and after detaching, in one process; best repetitions. "+
		"ns a call is recorded less bare, divided by the calls; calibrated is what the session measured of its own probes beforehand. The column VisualVM is quoted from bench/README.md (JDK 17, lazy, one clock, another machine).\n\n", repetitions)
	b.WriteString("| JDK | program | clock | calls | bare ms | recorded ms | overhead | ns a call | calibrated ns | first ms | after / bare | armed s | detached s | VisualVM |\n|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n")
	ms := func(d time.Duration) string { return strconv.FormatFloat(float64(d)/1e6, 'f', 1, 64) }
	for _, r := range rows {
		quoted := "-"
		for _, k := range kinds {
			if r.jdk == "17" && r.clock == "precise" && strings.HasPrefix(r.program, k.name+" ") {
				quoted = k.quoted
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s | x%.1f | %.1f | %.1f | %s | %.2f | %.2f | %.2f | %s |\n", r.jdk, r.program, r.clock, r.calls, ms(r.bare), ms(r.recorded),
			float64(r.recorded)/float64(r.bare), float64(r.recorded-r.bare)/float64(r.calls), r.inner+r.outer, ms(r.first), float64(r.after)/float64(r.bare), r.armed.Seconds(), r.detached.Seconds(), quoted)
	}
	return b.String()
}

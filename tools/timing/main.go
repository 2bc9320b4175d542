// Command timing measures what timing a method costs a call: a method of two instructions
// as it is, with two readings of System.nanoTime written into it, and timed by
// "rivulet time", in turns in one process. It writes docs/figures/time.md. Run
// it from the repository's root by "go tool task bench:time", on a machine that
// does nothing else.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

// Repetitions are short, so that on a shared machine some are undisturbed; the
// best counts.
const (
	repetitions = 1000
	calls       = 20_000 // of a repetition, as in Leaf.java
)

// A figure is ns a call in the three forms.
type figure struct{ bare, clocked, timed float64 }

// A row is one run.
type row struct {
	jdk                   string
	threads               int
	before, during, after figure
	inner, call           float64 // as the session calibrated
	counted               int64
}

func main() {
	log.SetFlags(0)
	tmp, err := os.MkdirTemp("", "rivulet-timing")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	for _, c := range [][]string{
		{"go", "build", "-o", filepath.Join(tmp, "rivulet"), "."},
		{"javac", "--release", "8", "-Xlint:-options", "-d", tmp, filepath.Join("tools", "timing", "Leaf.java")},
	} {
		if b, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			log.Fatalf("%s: %v\n%s", strings.Join(c, " "), err, b)
		}
	}
	var rows []row
	for _, j := range []string{"8", "17", "25"} {
		java := java(j)
		if java == "" {
			log.Printf("JDK %s is not there", j)
			continue
		}
		for _, threads := range []int{1, 2} {
			r, err := measure(tmp, java, threads)
			if err != nil {
				log.Fatalf("JDK %s: %v", j, err)
			}
			r.jdk = j
			rows = append(rows, r)
			log.Printf("%+v", r)
		}
	}
	text := page(rows)
	fmt.Print(text)
	if err := os.WriteFile(filepath.Join("docs", "figures", "time.md"), []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

// java finds the command of a JDK: 17 is the one on the path, others are those
// that bench/jdks.sh fetches.
func java(version string) string {
	if version == "17" {
		return "java"
	}
	cache := os.Getenv("RIVULET_BENCH")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		cache = filepath.Join(home, ".cache", "rivulet-bench")
	}
	file := filepath.Join(cache, "jdk", version, "home", "bin", "java")
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

func measure(tmp, java string, threads int) (r row, err error) {
	r.threads = threads
	p, err := proc.Start(exec.Command(java, "-cp", tmp, "Leaf"))
	if err != nil {
		return r, err
	}
	defer p.Kill()
	if _, err := p.Line("READY"); err != nil {
		return r, err
	}
	run := func(f *figure) error {
		if err := p.Send(fmt.Sprintf("%d %d", threads, repetitions)); err != nil {
			return err
		}
		line, err := p.Line("NS ")
		if err != nil {
			return err
		}
		_, err = fmt.Sscanf(line, "NS %f %f %f", &f.bare, &f.clocked, &f.timed)
		return err
	}
	if err := run(&r.before); err != nil {
		return r, err
	}
	report := filepath.Join(tmp, "report.json")
	prof, err := proc.Start(exec.Command(filepath.Join(tmp, "rivulet"), "time", fmt.Sprint(p.Cmd.Process.Pid), "--root", "Leaf.timed", "--json", "-o", report))
	if err != nil {
		return r, err
	}
	defer prof.Kill()
	if _, err := prof.ErrLine("rivulet: recording"); err != nil {
		return r, err
	}
	if err := run(&r.during); err != nil {
		return r, err
	}
	if err := prof.Cmd.Process.Signal(os.Interrupt); err != nil {
		return r, err
	}
	if err := prof.Wait(); err != nil {
		return r, fmt.Errorf("rivulet: %w: %s", err, prof.Err.All())
	}
	if err := run(&r.after); err != nil {
		return r, err
	}
	return r, r.read(report)
}

func (r *row) read(report string) error {
	b, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	var doc struct {
		Timer struct {
			Inner float64 `json:"inner_ns"`
			Call  float64 `json:"call_ns"`
		}
		Methods []struct{ Count int64 }
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return err
	}
	want := int64(r.threads) * repetitions * calls
	if len(doc.Methods) != 1 || doc.Methods[0].Count != want {
		return fmt.Errorf("counted %+v, want %d", doc.Methods, want)
	}
	r.inner, r.call, r.counted = doc.Timer.Inner, doc.Timer.Call, want
	return nil
}

func page(rows []row) string {
	var b strings.Builder
	b.WriteString("<!-- Written by \"go tool task bench:time\". Do not edit. -->\n\n# What timing a method costs\n\n")
	fmt.Fprintf(&b, "A method of two instructions, ns a call, best of %d repetitions of %d calls in each of the threads, the three forms in turns in one process: as it is, with two readings of System.nanoTime in its source, and timed by `rivulet time`. "+
		"What the session measured of itself beforehand is in each report. Every count was exact.\n\n", repetitions, calls)
	b.WriteString("| JDK | threads | bare | two nanoTime | timed | before attaching | after detaching | counted |\n|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %d | %.2f | %.1f | %.1f | %.2f | %.2f | %d |\n",
			r.jdk, r.threads, r.during.bare, r.during.clocked, r.during.timed, r.before.timed, r.after.timed, r.counted)
	}
	return b.String()
}

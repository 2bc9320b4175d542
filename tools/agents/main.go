// Command agents measures what agents cost the program: the time of a root invocation without an
// agent, with one that is activated by polling, and with one for which threads are held at exits. It
// writes docs/figures/agents.md. Run it from the repository's root by "go tool task bench:agents", on
// a machine that does nothing else.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

const rounds = 15

// forms are the scripts that are tried, in turns; "" is none.
var forms = []struct{ name, script string }{
	{"no agent", ""},
	{"`on_time(f, 0.1)`", "on_time(f, 0.1)"},
	{"`on_bytecodes(f, 1000000)`", "on_bytecodes(f, 1000000)"},
	{"`on_exit(f)`", "on_exit(f)"},
	{"`on_exit(f, over_ms=5, exact=True)`, shorter ones", "on_exit(f, over_ms = 5, exact = True)"},
	{"`on_exit(f, exact=True)`", "on_exit(f, exact = True)"},
}

// function is what is activated: it looks at what the thread has done since.
const function = "count = [0, 0]\ndef f(r):\n  count[0] += 1\n  count[1] += r.since.sum('calls')\ndef g(r): print(count[0])\non_end(g)\n"

func main() {
	log.SetFlags(0)
	tmp, err := os.MkdirTemp("", "rivulet-agents")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	for _, c := range [][]string{
		{"go", "build", "-o", filepath.Join(tmp, "rivulet"), "."},
		{"javac", "--release", "8", "-Xlint:-options", "-d", tmp, filepath.Join("tools", "agents", "Serve.java")},
	} {
		if b, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			log.Fatalf("%s: %v\n%s", strings.Join(c, " "), err, b)
		}
	}
	out := fmt.Sprintf(`<!-- Written by "go tool task bench:agents". Do not edit. -->

# What agents cost the program

A program with root calls of some 20 µs and 100 calls each, by %s with --count bytecodes, JDK 17. µs for an invocation, median and
least of %d rounds of 1,000 invocations after the first two, three runs in turns. Each activation adds up the calls since the last one. Measured on %s, %d cores, %s.

| agent | median | least | activations |
|---|---:|---:|---:|
`, "`rivulet run`", rounds-2, time.Now().Format("2006-01-02"), runtime.NumCPU(), runtime.GOARCH)
	times, activations := make([][]float64, len(forms)), make([]string, len(forms))
	for range 3 {
		for i, f := range forms {
			all, n, err := measure(tmp, f.script)
			if err != nil {
				log.Fatalf("%s: %v", f.name, err)
			}
			times[i] = append(times[i], all[2:]...)
			activations[i] = n
		}
	}
	for i, f := range forms {
		out += fmt.Sprintf("| %s | %.1f | %.1f | %s |\n", f.name, bench.Median(times[i]), slices.Min(times[i]), activations[i])
	}
	fmt.Print(out)
	if err := os.WriteFile(filepath.Join("docs", "figures", "agents.md"), []byte(out), 0o644); err != nil {
		log.Fatal(err)
	}
}

// measure runs the program with a script: µs of an invocation in each round, and the activations.
func measure(tmp, script string) (us []float64, activations string, err error) {
	args := []string{"run", "--root", "Serve.serve", "--count", "bytecodes", "-o", filepath.Join(tmp, "report.json")}
	if script != "" {
		file := filepath.Join(tmp, "agent.star")
		if err := os.WriteFile(file, []byte(function+script+"\n"), 0o644); err != nil {
			return nil, "", err
		}
		args = append(args, "--agent", file)
	}
	cmd := exec.Command(filepath.Join(tmp, "rivulet"), append(args, "--", "java", "-cp", tmp, "Serve", fmt.Sprint(rounds))...)
	var told strings.Builder
	cmd.Stderr = &told
	text, err := cmd.Output()
	if err != nil {
		return nil, "", fmt.Errorf("%w: %s", err, told.String())
	}
	for _, ns := range bench.Laps(string(text), "NS") {
		us = append(us, ns/1e6)
	}
	if len(us) != rounds {
		return nil, "", fmt.Errorf("%d rounds of %d: %s", len(us), rounds, text)
	}
	for line := range strings.Lines(told.String()) {
		if n, ok := strings.CutPrefix(line, "rivulet: agent: "); ok {
			activations = strings.TrimSpace(n)
		}
	}
	return us, activations, nil
}

// Command transcripts runs "rivulet profile" on the real programs of the
// bench folder and writes what it printed to docs/transcripts, together with
// the checksums of the profiled program and of a bare run of it, which must
// be equal. Run it from the repository's root:
//
//	go tool task transcripts            all cases, some twenty minutes
//	go tool task transcripts -- h2 -C   those whose name contains h2 or -C
//
// "transcripts exact" (go tool task exact) compares what the schemes count
// instead, and writes docs/figures/exact.md.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

// A program is one of bench/run.sh, with the roots that are of interest.
type program struct {
	name    string
	args    []string // of run.sh
	count   string   // iterations, the first argument
	whole   string
	partial string
}

var programs = []program{
	{"h2", []string{"h2", "2000"}, "2", "wl.SqlW.iteration", "org.h2.command.dml.Update.update"},
	{"javac", nil, "1", "wl.JavacW.iteration", "com.sun.tools.javac.jvm.Gen.genClass"},
}

// The shop is a server under load: it has no last call, so it is recorded for
// some seconds.
var shop = program{name: "shop", whole: "shop.FrontController.service", partial: "shop.ItemAction.execute"}

const length = "20s" // of a recording of the shop

type tool struct {
	rivulet string // the binary
	bench   string // folder of the scripts
	out     string // docs/transcripts
}

func main() {
	log.SetFlags(0)
	t := tool{bench: os.Getenv("BENCH_SCRIPTS"), out: filepath.Join("docs", "transcripts")}
	if t.bench == "" {
		t.bench = filepath.Join("..", "shared", "bench")
	}
	tmp, err := os.MkdirTemp("", "transcripts")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	t.rivulet = filepath.Join(tmp, "rivulet")
	if b, err := exec.Command("go", "build", "-o", t.rivulet, ".").CombinedOutput(); err != nil {
		log.Fatalf("build rivulet: %v\n%s", err, b)
	}
	work := t.all
	if len(os.Args) > 1 && os.Args[1] == "exact" {
		work = t.exact
	}
	if err := work(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func (t *tool) all(only []string) error {
	wanted := func(name string) bool {
		return len(only) == 0 || slices.ContainsFunc(only, func(o string) bool { return strings.Contains(name, o) })
	}
	if wanted("demo") {
		log.Print("demo")
		if err := t.demo(); err != nil {
			return err
		}
	}
	for _, p := range programs {
		sum := ""
		for _, c := range cases(p) {
			if !wanted(c.name()) {
				continue
			}
			if sum == "" {
				var err error
				if sum, err = t.bare(p); err != nil {
					return err
				}
			}
			if err := t.batch(c, sum); err != nil {
				return fmt.Errorf("%s: %w", c.name(), err)
			}
		}
	}
	for _, c := range cases(shop) {
		if wanted(c.name()) {
			if err := t.server(c); err != nil {
				return fmt.Errorf("%s: %w", c.name(), err)
			}
		}
	}
	return nil
}

// A run is one transcript.
type run struct {
	program
	what, root, scheme string
}

func (r run) name() string { return fmt.Sprintf("%s-%s-%s", r.program.name, r.what, r.scheme) }

func cases(p program) (out []run) {
	for _, s := range []string{"A", "B", "C"} {
		out = append(out, run{p, "partial", p.partial, s}, run{p, "whole", p.whole, s})
	}
	return out
}

var checksum = regexp.MustCompile(`checksum=([0-9a-f]+)`)

func (t *tool) script(name string, args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(t.bench, name), args...)
}

// bare runs a program in the same way as it is profiled, without a profiler,
// and returns its checksum: what h2 says depends on what went before.
func (t *tool) bare(p program) (string, error) {
	log.Printf("%s bare", p.name)
	cmd := t.script("run.sh", append([]string{p.name, p.count}, p.args...)...)
	cmd.Env = append(os.Environ(), "JOPTS=-Dwl.bare=1")
	b, err := proc.Start(cmd)
	if err != nil {
		return "", err
	}
	defer b.Kill()
	for _, step := range []struct{ line, say string }{{"READY", "go"}, {"DONE", "post"}} {
		if _, err := b.Line(step.line); err != nil {
			return "", err
		}
		if err := b.Send(step.say); err != nil {
			return "", err
		}
	}
	line, err := b.Contains("checksum=")
	if err != nil {
		return "", err
	}
	m := checksum.FindStringSubmatch(line)
	if m == nil {
		return "", fmt.Errorf("%s printed no checksum: %q", p.name, line)
	}
	return m[1], nil
}

// batch profiles a program that waits before and after its iterations.
func (t *tool) batch(r run, bare string) error {
	log.Print(r.name())
	args := []string{"--top", "12", "--depth", "8"}
	shown, out, err := t.profile(r, bare, args...)
	if err != nil {
		return err
	}
	return t.write(r, shown, out, fmt.Sprintf("checksum %s, bare run %s: equal", bare, bare))
}

// profile returns the command and its output. The program's checksum must be
// that of its bare run.
func (t *tool) profile(r run, bare string, more ...string) (args []string, out string, err error) {
	cmd := t.script("run.sh", append([]string{r.program.name, r.count}, r.args...)...)
	cmd.Env = append(os.Environ(), "JOPTS=-Dwl.bare=1")
	p, err := proc.Start(cmd)
	if err != nil {
		return nil, "", err
	}
	defer p.Kill()
	pid, err := p.Line("PID ")
	if err != nil {
		return nil, "", err
	}
	if _, err := p.Line("READY"); err != nil {
		return nil, "", err
	}
	args = append([]string{"profile", strings.TrimPrefix(pid, "PID "), "--root", r.root, "--scheme", r.scheme}, more...)
	if r.what == "whole" {
		args = append(args, "--until-calls", r.count)
	}
	prof, err := proc.Start(exec.Command(t.rivulet, args...))
	if err != nil {
		return nil, "", err
	}
	defer prof.Kill()
	if _, err := prof.ErrLine("rivulet: recording"); err != nil {
		return nil, "", err
	}
	if err := p.Send("go"); err != nil {
		return nil, "", err
	}
	if _, err := p.Line("DONE"); err != nil {
		return nil, "", err
	}
	if r.what == "partial" {
		if err := prof.Cmd.Process.Signal(os.Interrupt); err != nil {
			return nil, "", err
		}
	}
	if err := prof.Wait(); err != nil {
		return nil, "", fmt.Errorf("rivulet: %w: %s", err, prof.Err.All())
	}
	if err := p.Send("post"); err != nil {
		return nil, "", err
	}
	line, err := p.Contains("checksum=")
	if err != nil {
		return nil, "", err
	}
	m := checksum.FindStringSubmatch(line)
	if m == nil || m[1] != bare {
		return nil, "", fmt.Errorf("%q, but the bare run's checksum is %s", line, bare)
	}
	return args, prof.Out.All(), nil
}

// server profiles the shop under load. Its own books are the checksum: the
// sum over the orders equals the sum over their lines, and all requests of the
// load were answered.
func (t *tool) server(r run) error {
	log.Print(r.name())
	if b, err := t.script("shop.sh", "start").CombinedOutput(); err != nil {
		return fmt.Errorf("shop.sh start: %w: %s", err, b)
	}
	defer t.script("shop.sh", "stop").Run() //nolint:errcheck // it may be gone
	pid, err := t.script("shop.sh", "pid").Output()
	if err != nil {
		return err
	}
	load := func(seconds string) (string, error) {
		b, err := t.script("shop.sh", "load", seconds, "8").CombinedOutput()
		return string(b), err
	}
	if _, err := load("20"); err != nil {
		return err
	}
	type answer struct {
		text string
		err  error
	}
	loaded := make(chan answer, 1)
	go func() {
		text, err := load("45")
		loaded <- answer{text, err}
	}()
	args := []string{"profile", strings.TrimSpace(string(pid)), "--root", r.root, "--scheme", r.scheme, "--for", length, "--top", "12", "--depth", "8"}
	prof, err := proc.Start(exec.Command(t.rivulet, args...))
	if err != nil {
		return err
	}
	defer prof.Kill()
	if err := prof.Wait(); err != nil {
		return fmt.Errorf("rivulet: %w: %s", err, prof.Err.All())
	}
	l := <-loaded
	if l.err != nil {
		return l.err
	}
	stat, err := books(l.text)
	if err != nil {
		return err
	}
	return t.write(r, args, prof.Out.All(), "under wrk with 8 connections; "+stat)
}

var (
	books1 = regexp.MustCompile(`requests (\d+) orders (\d+) total (\d+) lines (\d+)`)
	bad    = regexp.MustCompile(`Non-2xx.*|Socket errors: connect (?:[1-9]|\d+, read [1-9]|\d+, read \d+, write [1-9]).*`)
	late   = regexp.MustCompile(`Socket errors.* timeout (\d+)`)
)

// books reads what the shop says of itself after the load.
func books(text string) (string, error) {
	m := books1.FindStringSubmatch(text)
	switch {
	case m == nil:
		return "", fmt.Errorf("the shop does not answer: %s", text)
	case m[3] != m[4]:
		return "", fmt.Errorf("orders' total %s, lines' total %s", m[3], m[4])
	case bad.MatchString(text):
		return "", errors.New(bad.FindString(text))
	}
	note := ""
	if m := late.FindStringSubmatch(text); m != nil {
		note = fmt.Sprintf("; %s of them took longer than wrk's two seconds while classes were redefined", m[1])
	}
	return "no request failed, sum of orders and sum of their lines are equal" + note, nil
}

// write records a transcript without what differs from machine to machine:
// folders and process ids.
func (t *tool) write(r run, args []string, out, check string) error {
	shown := slices.Clone(args)
	shown[1] = "PID"
	for i, a := range shown {
		if strings.ContainsAny(a, "$<") {
			shown[i] = "'" + a + "'"
		}
	}
	text := fmt.Sprintf("$ rivulet %s\n%s\n%s\n", strings.Join(shown, " "), strings.ReplaceAll(out, "pid "+args[1], "pid PID"), check)
	if home, err := os.UserHomeDir(); err == nil {
		text = strings.ReplaceAll(text, home, "~")
	}
	if err := os.MkdirAll(t.out, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.out, r.name()+".txt"), []byte(text), 0o644)
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// A matrix is every configuration on every JDK.
type matrix struct {
	*bench.Kit
	dir     string            // the program's classes
	cells   map[string]string // by JDK and name; what earlier runs found, too
	configs []config
	columns []int                                  // versions of JDKs: those that are not tried now keep what the page has of them
	title   string                                 // of its section of the page
	begin   func(p *bench.Page, headings []string) // the table
	try     func(*config, jdk.JDK) (string, error) // finds what is in a cell; nil: on this machine
}

// A step is one use of Rivulet on the running program.
type step struct {
	name  string
	whole bool // only where all is tried
	run   func(*round) error
}

// steps are done one after another on one process, so each but the first attaches again.
var steps = []step{
	{"A", false, counted("--scheme", "A")},
	{"B, precise clock", true, counted("--scheme", "B", "--clock", "precise")},
	{"C, precise clock, events", false, counted("--scheme", "C", "--clock", "precise", "--record", "events")},
	{"auto, under load", false, loaded()},
	{"C, bytecodes", false, counted("--scheme", "C", "--count", "bytecodes")},
	{"A, allocations", true, counted("--scheme", "A", "--count", "allocations")},
	{"A, samples beside", true, counted("--scheme", "A", "--sample")},
	{"C, CPU time", true, counted("--scheme", "C", "--cpu")},
	{"A, folded recursion, restored first", true, folded},
	{"sample", false, looks("sample", "--for", "300ms")},
	{"heap", false, looks("heap")},
	{"threads", true, looks("threads")},
	{"classes", true, looks("classes", "f.*")},
	{"time", true, looks("time", "--root", root, "--for", "300ms")},
}

// page carries the matrix out and writes its section.
func (m *matrix) page(p *bench.Page, save func() error) error {
	headings := append([]string{"JVM|"}, columnsOf(m.columns)...)
	begun := time.Now()
	failed := map[string]error{}
	for i := range m.configs {
		c := &m.configs[i]
		if !m.Wants(c.plain()) {
			continue
		}
		for _, j := range m.JDKs {
			key := fmt.Sprintf("%d %s", j.Version, c.name)
			if m.cells[key] != "" || *limit > 0 && time.Since(begun) > *limit {
				continue
			}
			try := m.try
			if try == nil {
				try = m.cell
			}
			cell, err := try(c, j)
			if err != nil {
				failed[key] = err
				log.Printf("JDK %d, %s: FAILED: %v", j.Version, c.name, err)
				continue // another run tries again
			}
			m.cells[key] = cell
			log.Printf("JDK %d, %s: %s", j.Version, c.name, cell)
			if err := save(); err != nil {
				return err
			}
		}
	}
	m.begin(p, headings)
	page := section(written(), m.title)
	for i := range m.configs {
		c := &m.configs[i]
		if !m.Wants(c.plain()) {
			continue
		}
		row, before := []any{c.name}, earlier(page, c.name, m.columns)
		for _, v := range m.columns {
			key := fmt.Sprintf("%d %s", v, c.name)
			cell := cmp.Or(m.cells[key], before[v])
			switch {
			case failed[key] != nil:
				cell = "**failed**"
			case cell == "" && c.lacking(jdk.JDK{Version: v}):
				cell = "-"
			case cell == "":
				cell = "not tried"
			}
			row = append(row, cell)
		}
		p.Row(row...)
		for key, err := range failed {
			if strings.HasSuffix(key, " "+c.name) {
				p.Failed(key, err)
			}
		}
	}
	return nil
}

// columnsOf are the headings of versions of JDKs.
func columnsOf(versions []int) (out []string) {
	for _, v := range versions {
		out = append(out, fmt.Sprintf("%d|", v))
	}
	return out
}

// written is the page as it is, "" if it can't be read.
func written() string {
	b, err := os.ReadFile(filepath.Join("docs", "figures", bench.Reliability))
	if err != nil {
		return ""
	}
	return string(b)
}

// section is a part of a page, "" if it has none of this title.
func section(page, title string) string {
	_, after, _ := strings.Cut(page, "\n## "+title+"\n")
	part, _, _ := strings.Cut(after, "\n## ")
	return part
}

// earlier is what a page says in a row with columns of these versions.
func earlier(page, name string, versions []int) map[int]string {
	out := map[int]string{}
	for line := range strings.Lines(page) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "| "+name+" |")
		cells := strings.Split(strings.TrimSuffix(rest, "|"), "|")
		if !ok || len(cells) != len(versions) {
			continue
		}
		for i, v := range versions {
			if cell := strings.TrimSpace(cells[i]); cell != "not tried" {
				out[v] = cell
			}
		}
	}
	return out
}

// beginJVMs begins the table of JVMs.
func beginJVMs(p *bench.Page, headings []string) {
	var whole, short []string
	for _, s := range steps {
		whole = append(whole, s.name)
		if !s.whole {
			short = append(short, s.name)
		}
	}
	p.Table("JVMs", "Each cell is one process, to which Rivulet attaches several times. The steps of the first row: "+strings.Join(whole, "; ")+". Those of the other rows: "+strings.Join(short, "; ")+
		". After each step:\n\n"+
		"* counts of root calls and of the methods below are those that the program's source says (under load: the program's own count of root calls), and exact by the report;\n"+
		"* the program's methods have the code of before; this is read from outside, except with ZGC, compact headers and JDK 8, where only later counts show it;\n"+
		"* no thread, descriptor, mapping or file of Rivulet's is left, and no result was wrong.\n\n"+
		"At the end the program ends with its own exit code, and has printed nothing to standard error. "+
		"*exact*: all of this held; a step that needs samples or a heap dump may be refused where the JVM has none. *refused*: `profile` and `doctor` say why not, and the program is unharmed. -: this JDK has no such thing. *not tried*: no run has come to it.",
		headings...)
}

// cell tries one configuration on one JDK.
func (m *matrix) cell(c *config, j jdk.JDK) (string, error) {
	if c.lacking(j) {
		return "-", nil
	}
	dir, err := os.MkdirTemp(m.dir, "cell")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	var l launch
	if c.prepare != nil {
		if l, err = c.prepare(m, j, dir); errors.Is(err, errAbsent) {
			return "-", nil
		} else if err != nil {
			return "", err
		}
	}
	l.flags = append(l.flags, c.flags...)
	java := l.java
	if java == "" {
		java = j.Java()
	}
	if c.prepare == nil && exec.Command(java, append(l.flags, "-version")...).Run() != nil {
		return "-", nil
	}
	r := &round{Kit: m.Kit, fault: &fault{name: c.name}, rng: rand.New(rand.NewPCG(1, 1)), jdk: j, dir: m.dir, launch: l}
	if l.done != nil {
		defer l.done()
	}
	defer r.close()
	if err := r.start(false, 0); err != nil && (r.t == nil || !errors.Is(err, errUnread)) {
		return "", err
	}
	if err := r.t.ask("hold", "HELD"); err != nil {
		return "", err
	}
	if c.refused {
		return "refused", r.refuses(c.warned)
	}
	var without []string
	for _, s := range steps {
		if s.whole && !c.whole {
			continue
		}
		switch err := s.run(r); {
		case errors.Is(err, errRefused) && (s.name == "heap" || s.name == "sample"):
			without = append(without, s.name)
		case err != nil:
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if err := r.ends(c.says); err != nil {
		return "", err
	}
	if without != nil {
		return "exact, no " + strings.Join(without, ", "), nil
	}
	return "exact", nil
}

// counted records a known number of root calls.
func counted(options ...string) func(*round) error {
	return func(r *round) error {
		if err := r.once(perRequest, options...); err != nil {
			return err
		}
		return r.well()
	}
}

// folded does so with recursion folded; the calls are the same.
func folded(r *round) error {
	return counted("--scheme", "A", "--recursion", "fold", "--restore", "now")(r)
}

// loaded records while the workers run.
func loaded(options ...string) func(*round) error {
	return func(r *round) error {
		if err := r.t.Send("go"); err != nil {
			return err
		}
		if err := r.rivulet(append([]string{"profile", fmt.Sprint(r.t.pid), "--root", root, "--observe", "300ms"}, options...)...); err != nil {
			return err
		}
		if err := r.c.on(r.t); err != nil {
			return err
		}
		r.recording = true
		time.Sleep(300 * time.Millisecond)
		if err := r.t.ask("hold", "HELD"); err != nil {
			return err
		}
		_, r.ended, _ = r.t.calls()
		if err := r.leave(unix.SIGINT, 0); err != nil {
			return err
		}
		return r.well()
	}
}

// looks runs a command that ends by itself and records nothing. What it refuses is [errRefused].
func looks(args ...string) func(*round) error {
	return func(r *round) error {
		cmd := r.command(append([]string{args[0], fmt.Sprint(r.t.pid)}, args[1:]...)...)
		hangs := time.AfterFunc(*patient, func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
		out, err := cmd.CombinedOutput()
		if !hangs.Stop() {
			return fmt.Errorf("no end within %v: %s", *patient, out)
		}
		if err != nil {
			log.Printf("%s: %v: %s", args[0], err, out)
			err = fmt.Errorf("%w: %w: %s", errRefused, err, out)
		}
		return errors.Join(r.well(), err)
	}
}

// well looks at the program between two steps.
func (r *round) well() error {
	if _, _, wrong := r.t.calls(); wrong != 0 {
		return fmt.Errorf("%d results of the program are wrong: %s", wrong, r.t.Out.All())
	}
	return r.restore(time.Now(), false)
}

// ends has the program end, which must be as without us. says is a regular expression of the lines that it may print to standard
// error, beside what JVMs print by themselves; "" for none.
func (r *round) ends(says string) error {
	if err := r.t.ask("end", "END"); err != nil {
		return err
	}
	if err := r.t.Wait(); err != nil {
		return fmt.Errorf("the program ended with %w: %s", err, r.t.Err.All())
	}
	for line := range strings.Lines(r.t.Err.All()) {
		if line = strings.TrimSpace(line); line != "" && !known(line) && (says == "" || !regexp.MustCompile(says).MatchString(line)) {
			return fmt.Errorf("the program printed: %s", r.t.Err.All())
		}
	}
	return nil
}

// known reports whether the JVM prints this line by itself, for the flags or for any agent.
func known(line string) bool {
	for _, k := range []string{
		"A Java agent has been loaded dynamically", "If a serviceability tool is", "Dynamic loading of agents", "Sharing is only supported for boot loader",
		"deprecated", "will be removed", "Security Manager", "WARNING: System::setSecurityManager", "WARNING: Please consider", "Picked up ",
	} {
		if strings.Contains(line, k) {
			return true
		}
	}
	return false
}

// refuses looks whether a recording is refused with a reason, and the program goes on. The doctor has to know the
// refusal, or to warn of it by these words.
func (r *round) refuses(warned string) error {
	for _, args := range [][]string{{"profile", "--root", root, "--for", "100ms"}, {"doctor"}} {
		out, err := r.command(append([]string{args[0], fmt.Sprint(r.t.pid)}, args[1:]...)...).CombinedOutput()
		var exit *exec.ExitError
		refused := errors.As(err, &exit) && exit.ExitCode() == 1 && len(out) > 0
		if !refused && (args[0] != "doctor" || warned == "" || !strings.Contains(string(out), warned)) {
			return fmt.Errorf("%s does not refuse (%v): %s", args[0], err, out) //nolint:errorlint // nil says most
		}
	}
	if err := r.t.ask("run 10", "RAN"); err != nil {
		return err
	}
	if err := r.well(); err != nil {
		return err
	}
	return r.ends("")
}

// versions are the JDKs of the tables.
var versions = []int{8, 11, 17, 21, 25}

// measureMatrix tries all configurations and writes what came of it.
func measureMatrix(k *bench.Kit, dir string, page *bench.Page) error {
	all, err := kept(*keep, nil)
	if err != nil {
		return err
	}
	m := &matrix{Kit: k, dir: dir, cells: all.Cells, configs: configs, columns: versions, title: "JVMs", begin: beginJVMs}
	if err := prepare(k, dir); err != nil {
		return err
	}
	return m.page(page, func() error { return all.write(*keep) })
}

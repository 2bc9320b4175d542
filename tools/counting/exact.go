package main

import (
	"bufio"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

// A stepped program is counted by single steps, too. It says READY, does its work once for each
// of some lines, and ends when they end.
type stepped struct {
	name   string
	least  int // JDK
	root   string
	prefix string // of its classes' signatures
	skip   string // a class or method that is outside of the root

	args func(times int) []string // of java, behind the class path
	// send lets it do its work, and done is how a line begins that it then prints.
	send, done string
	lines      func(times int) []string // what it reads while it is stepped
}

var steppedPrograms = []stepped{
	micro("medium", 8, 8), micro("feat", 17, 20),
	{
		name: "exceptions and loops", least: 8, root: "t.Counted.run", prefix: "Lt/", skip: "t.Counted.main",
		args: func(int) []string { return []string{"t.Counted"} }, send: "run 60", done: "RAN ",
		lines: func(times int) []string {
			return strings.Split(strings.TrimSuffix(strings.Repeat("run 60\n", times), "\n"), "\n")
		},
	},
}

// micro is one of the bench programs.
func micro(kind string, least, param int) stepped {
	class := strings.ToUpper(kind[:1]) + kind[1:]
	return stepped{
		name: kind + " " + strconv.Itoa(param), least: least, root: "work." + class + ".root", prefix: "Lwork/", skip: "work.Main.",
		args: func(times int) []string {
			return []string{"work.Main", kind, "1", strconv.Itoa(times), "0", strconv.Itoa(param)}
		},
		send: "go", done: "DONE",
		lines: func(int) []string { return []string{"go", "post"} },
	}
}

// errDiffers says that counts are not those of single steps.
var errDiffers = errors.New("counts differ from single steps")

// exact compares what is counted with single steps of an interpreter, method by method.
func exact(k *bench.Kit, page *bench.Page) error {
	page.Quote("Against single steps", "One run of the root, counted by Rivulet while the JVM compiles as it likes, and by the JVM's own single steps (JVMTI) in its interpreter, in a process of its own: "+
		"what it steps in two runs less what it steps in one, so that classes are loaded and initialized. Hidden classes are in neither. Blocks: what `--count blocks` says beside. "+k.Machine(),
		"program|", "JDK|", "methods", "single steps", "methods that differ", "difference", "blocks")
	agent := filepath.Join(k.Temp, "steps.so")
	include := filepath.Join(k.JDKs[0].Home, "include")
	if b, err := exec.Command("cc", "-shared", "-fPIC", "-O2", "-I"+include, "-I"+filepath.Join(include, "linux"), "-o", agent, filepath.Join("tools", "counting", "testdata", "steps.c"), "-lpthread").CombinedOutput(); err != nil {
		return fmt.Errorf("cc: %w\n%s", err, b)
	}
	for _, j := range k.JDKs {
		classes := filepath.Join(k.Temp, "counted"+strconv.Itoa(j.Version))
		if err := os.Mkdir(classes, 0o755); err != nil {
			return err
		}
		if b, err := exec.Command(j.Javac(), "-nowarn", "-d", classes, filepath.Join("hotswap", "probe", "testdata", "Counted.java")).CombinedOutput(); err != nil {
			return fmt.Errorf("javac: %w\n%s", err, b)
		}
		path := classes + string(filepath.ListSeparator) + filepath.Join(jdk.Bench(), "classes")
		for _, p := range steppedPrograms {
			if j.Version < p.least || !k.Wants(p.name) {
				continue
			}
			if err := compareSteps(k, page, j, p, agent, path); err != nil {
				page.Failed(fmt.Sprintf("%s, JDK %d", p.name, j.Version), err)
			}
		}
	}
	return nil
}

// compareSteps adds a program's row.
func compareSteps(k *bench.Kit, page *bench.Page, j jdk.JDK, p stepped, agent, path string) error {
	log.Printf("JDK %d, %s", j.Version, p.name)
	steps, err := p.steps(k, j, agent, path, 2)
	if err != nil {
		return err
	}
	once, err := p.steps(k, j, agent, path, 1)
	if err != nil {
		return err
	}
	for name, n := range once {
		steps[name] -= n
	}
	maps.DeleteFunc(steps, func(name string, n int64) bool {
		return n == 0 || strings.HasPrefix(name, p.skip) || strings.Contains(name, "$$Lambda")
	})
	counted, err := p.recorded(k, j, path, "bytecodes")
	if err != nil {
		return err
	}
	blocks, err := p.recorded(k, j, path, "blocks")
	if err != nil {
		return err
	}
	differ := counted.differ(steps)
	page.Row(p.name, j.Version, len(steps), steps.sum(), len(differ), counted.sum()-steps.sum(), fmt.Sprintf("%+d (%+.2g %%)", blocks.sum()-steps.sum(), 100*(float64(blocks.sum())/float64(steps.sum())-1)))
	if len(differ) > 0 {
		var texts []string
		for _, name := range differ[:min(len(differ), 5)] {
			texts = append(texts, fmt.Sprintf("%s: counted %d, %d steps", name, counted[name], steps[name]))
		}
		return fmt.Errorf("%w: %s", errDiffers, strings.Join(texts, "; "))
	}
	return nil
}

// steps are the single steps of a whole process that does its work so many times.
func (p stepped) steps(k *bench.Kit, j jdk.JDK, agent, path string, times int) (tally, error) {
	file := filepath.Join(k.Temp, "steps.txt")
	cmd := exec.Command(j.Java(), append([]string{
		"-Xint", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UnlockDiagnosticVMOptions", "-XX:-RewriteBytecodes", "-XX:-RewriteFrequentPairs",
		"-agentpath:" + agent + "=" + file + "," + p.prefix, "-cp", path,
	}, p.args(times)...)...)
	cmd.Stdin = strings.NewReader(strings.Join(p.lines(times), "\n") + "\n")
	if b, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", p.name, err, b)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := tally{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		count, name, _ := strings.Cut(s.Text(), " ")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		class, method, _ := strings.Cut(strings.TrimPrefix(name, "L"), ";.")
		t[strings.ReplaceAll(class, "/", ".")+"."+method] += n
	}
	return t, s.Err()
}

// recorded is what Rivulet counts of the work, done once more after it was done once.
func (p stepped) recorded(k *bench.Kit, j jdk.JDK, path, count string) (tally, error) {
	t, err := proc.Start(exec.Command(j.Java(), append([]string{"-cp", path}, p.args(1)...)...))
	if err != nil {
		return nil, err
	}
	defer t.Kill()
	if _, err := t.Line("READY"); err != nil {
		return nil, err
	}
	rec, err := k.Record(strconv.Itoa(t.Cmd.Process.Pid), "--root", p.root, "--scheme", "C", "--count", count)
	if err != nil {
		return nil, err
	}
	defer rec.Kill()
	if err := t.Send(p.send); err != nil {
		return nil, err
	}
	if _, err := t.Line(p.done); err != nil {
		return nil, err
	}
	r, err := rec.Stop()
	if err != nil {
		return nil, err
	}
	return tallyOf(r)
}

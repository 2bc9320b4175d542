package main

import (
	"embed"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

//go:embed testdata/*.java
var sources embed.FS

// A crowd is a program with many classes, or with many virtual threads.
type crowd struct {
	name   string
	from   int // the first JDK that has it
	source string
	args   []string
	root   string
	flags  []string
	// calls are those of the root, and of the method that it calls.
	roots, callees int64
	callee         string
	least          int64 // of root calls that are recorded; 0: all
}

var crowds = []crowd{
	{"50,000 classes, Scheme A", 8, "Wide", []string{"50000"}, "wide.Wide.root", []string{"--scheme", "A"}, 200, 200 * 500, "area", 0},
	{"50,000 classes, Scheme C", 8, "Wide", []string{"50000"}, "wide.Wide.root", []string{"--scheme", "C"}, 200, 200 * 500, "area", 0},
	{"100,000 virtual threads, 2,000 inside", 21, "Virtual", []string{"100000", "2000"}, "wide.Virtual.root", nil, 100_000, 100_000, "step", 0},
	{"100,000 virtual threads, 10,000 inside", 21, "Virtual", []string{"100000", "10000"}, "wide.Virtual.root", nil, 100_000, 100_000, "step", 0},
	{"100,000 virtual threads, all inside", 21, "Virtual", []string{"100000", "100000"}, "wide.Virtual.root", nil, 100_000, 100_000, "step", 15_000},
}

// measureCrowds records them and checks the counts.
func measureCrowds(k *bench.Kit, page *bench.Page) error {
	page.Table("Many classes, and virtual threads", "Classes that are copies of one, all loaded and all of an interface whose method the root calls: 500 of them 200 times. They have no class files, so each is redefined once without a change before, for the JVM to tell its bytes. Virtual threads make one root call each; so many are inside "+
		"together, and wait there for each other. What the report counts is checked against what the program must make; lost are root calls for which no record was found, which the report says: some 16,000 threads can be inside at one time. "+
		"Armed: from the command until it recorded. MB resident: what the target's own memory grew by from before attaching to the end of the recording, and the controller's own, at the most.",
		"JDK|", "run|", "armed s", "classes redefined", "methods instrumented", "root calls", "lost", "longest pause ms", "all pauses ms", "target MB", "controller MB", "report s")
	for _, j := range k.JDKs {
		for _, c := range crowds {
			if j.Version < c.from {
				continue
			}
			log.Printf("JDK %d, %s", j.Version, c.name)
			if err := c.record(k, j, page); err != nil {
				page.Failed(fmt.Sprintf("%s, JDK %d", c.name, j.Version), err)
			}
		}
	}
	return nil
}

// compiled is the program's class path.
func (c *crowd) compiled(k *bench.Kit, j jdk.JDK) (string, error) {
	dir := filepath.Join(k.Temp, c.source+strconv.Itoa(j.Version))
	text, err := sources.ReadFile("testdata/" + c.source + ".java")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(dir, c.source+".java")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command(j.Javac(), "-nowarn", "-d", dir, file).CombinedOutput(); err != nil {
		return "", fmt.Errorf("javac: %w: %s", err, out)
	}
	return dir, nil
}

func (c *crowd) record(k *bench.Kit, j jdk.JDK, page *bench.Page) error {
	dir, err := c.compiled(k, j)
	if err != nil {
		return err
	}
	t, err := bench.StartTarget(exec.Command(j.Java(), append([]string{"-Xmx1g", "-cp", dir, "wide." + c.source}, c.args...)...))
	if err != nil {
		return err
	}
	defer t.Kill()
	before, err := bench.Resident(t.PID)
	if err != nil {
		return err
	}
	rec, err := k.Record(t.PID, append([]string{"--root", c.root, "--depth", "2"}, c.flags...)...)
	if err != nil {
		return err
	}
	defer rec.Kill()
	if err := t.Work("go"); err != nil {
		return err
	}
	target, err := bench.Resident(t.PID)
	if err != nil {
		return err
	}
	peak := bench.Peak(strconv.Itoa(rec.Cmd.Process.Pid))
	took, err := rec.End()
	controller := peak()
	if err != nil {
		return err
	}
	r, err := rec.Read()
	if err != nil {
		return err
	}
	if err := c.check(r); err != nil {
		return err
	}
	page.Row(j.Version, c.name, rec.Armed.Seconds(), r.Redefinition.Classes, r.Methods.Instrumented, r.Invocations, r.Lost, r.Redefinition.Pause, r.Redefinition.Pauses, target.Own-before.Own, controller.Own, took.Seconds())
	return t.Finish()
}

// check holds a report against what the program does.
func (c *crowd) check(r *bench.Report) error {
	var roots, callees int64
	for _, m := range r.Flat {
		name, _, _ := strings.Cut(m.Method, "(")
		switch {
		case name == c.root:
			roots += m.Calls
		case strings.HasSuffix(name, "."+c.callee):
			callees += m.Calls
		}
	}
	lost := c.roots - roots
	switch {
	case lost != r.Lost:
		return fmt.Errorf("%d root calls and %d lost, but the program makes %d", roots, r.Lost, c.roots)
	case c.least == 0 && lost != 0 || roots < c.least:
		return fmt.Errorf("%d root calls are lost", lost)
	case callees != c.callees-lost*(c.callees/c.roots):
		return fmt.Errorf("%d calls of %s, want %d for %d root calls", callees, c.callee, c.callees, roots)
	}
	return nil
}

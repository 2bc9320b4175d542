package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// Samples are how often methods were found at work.
type samples struct {
	of    map[string]int // by method with descriptor
	total int
}

// precisely has compiled code say where it is at any place, not only where it can
// be stopped: what is sampled between goes to the wrong one of inlined methods else.
var precisely = []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"}

// sample runs a program with JFR recording its iterations. What lies in methods that
// have no time in our report, since they are only counted, is their callers', too.
func sample(k *bench.Kit, j jdk.JDK, p *bench.Program, counted map[string]bool) (samples, error) {
	file := filepath.Join(k.Temp, "recording.jfr")
	defer os.Remove(file)
	target := ""
	tell := func(command ...string) error {
		out, err := exec.Command(filepath.Join(j.Home, "bin", "jcmd"), append([]string{target}, command...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("jcmd %s: %w: %s", strings.Join(command, " "), err, out)
		}
		return nil
	}
	if _, err := k.Run(j, p, bench.Job{
		Options: precisely,
		Begin: func(pid string) error {
			target = pid
			return tell("JFR.start", "name=rivulet", "settings=profile")
		},
		End: func() (*bench.Report, error) {
			return nil, tell("JFR.stop", "name=rivulet", "filename="+file)
		},
	}); err != nil {
		return samples{}, err
	}
	cmd := exec.Command(filepath.Join(j.Home, "bin", "jfr"), "print", "--json", "--stack-depth", "64", "--events", "jdk.ExecutionSample", file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return samples{}, err
	}
	if err := cmd.Start(); err != nil {
		return samples{}, err
	}
	s, err := read(out, p.Whole, counted)
	if err != nil {
		cmd.Process.Kill()
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return samples{}, fmt.Errorf("jfr print: %w", err)
	}
	if s.total == 0 {
		return s, errors.New("JFR has no sample inside the root")
	}
	return s, nil
}

// A frame as "jfr print --json" has it.
type frame struct {
	Method struct {
		Type struct {
			ClassLoader *struct{ Name string }
			Name        string
			Hidden      bool
		}
		Name, Descriptor string
		Hidden           bool
	}
}

func (f *frame) class() string { return strings.ReplaceAll(f.Method.Type.Name, "/", ".") }

// outside reports whether Rivulet has no probes in the method by default: the
// JDK's own and generated ones.
func (f *frame) outside() bool {
	l := f.Method.Type.ClassLoader
	return l == nil || l.Name == "bootstrap" || l.Name == "platform" || f.Method.Type.Hidden || f.Method.Hidden
}

// read reads samples one by one: a recording may have a gigabyte of them. Those
// count that have the root on their stack, or lie too deep to tell.
func read(r io.Reader, root string, counted map[string]bool) (samples, error) {
	s := samples{of: map[string]int{}}
	d := json.NewDecoder(r)
	for depth := 0; depth < 3; { // {"recording": {"events": [
		t, err := d.Token()
		if err != nil {
			return s, err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			return s, errors.New("no list of events")
		}
	}
	for d.More() {
		var e struct {
			Values struct {
				StackTrace *struct {
					Truncated bool
					Frames    []frame
				}
			}
		}
		if err := d.Decode(&e); err != nil {
			return s, err
		}
		stack := e.Values.StackTrace
		if stack == nil {
			continue
		}
		if !stack.Truncated && !slices.ContainsFunc(stack.Frames, func(f frame) bool { return f.class()+"."+f.Method.Name == root }) {
			continue
		}
		s.count(stack.Frames, counted)
	}
	return s, nil
}

// count counts a stack for its topmost method that has probes, and times.
func (s *samples) count(stack []frame, counted map[string]bool) {
	for _, f := range stack {
		if name := f.class() + "." + f.Method.Name + f.Method.Descriptor; !f.outside() && !counted[name] {
			s.of[name]++
			s.total++
			return
		}
	}
}

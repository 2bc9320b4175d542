package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// errAbsent is of a tool that is not here.
var errAbsent = errors.New("not here")

// A way is one of recording a server.
type way struct {
	name  string
	from  int // the first JDK that it is for
	begin func(m *measuring, j jdk.JDK, pid string) (recording, error)
}

// A recording is on.
type recording interface {
	end(r *run) error // ends it, and completes what is known of the run
}

// A section of the page.
type section struct {
	name, title, intro string
	ways               []way
	unprepared         bool // of JVMs without an agent alone
}

func (s *section) only(prepared bool) bool { return s.unprepared && prepared }

var sections = []section{
	{"partial", "A part of the server", "Root: " + bench.ShopPartial + ", a tenth of the time. %s", []way{
		{"nothing", 0, nothing},
		{"time", 0, timing},
		{"A", 0, recorded("--root", bench.ShopPartial, "--scheme", "A")},
		{"B", 0, recorded("--root", bench.ShopPartial, "--scheme", "B")},
		{"C", 0, recorded("--root", bench.ShopPartial, "--scheme", "C")},
		{"D", 0, recorded("--root", bench.ShopPartial, "--scheme", "D")},
	}, false},
	{"whole", "The whole server", "Root: " + bench.ShopWhole + ". %s", []way{
		{"C", 0, recorded("--root", bench.ShopWhole, "--scheme", "C")},
		{"D", 0, recorded("--root", bench.ShopWhole, "--scheme", "D")},
		{"D overhead=10%", 0, recorded("--root", bench.ShopWhole, "--scheme", "D", "--overhead", "10%")},
	}, false},
	{"peers", "Others", "They redefine the class of one method, " + bench.ShopPartial + ", and record it alone: what of theirs can be compared with `rivulet time`. %s", []way{
		{"async-profiler --trace", 0, traced},
		{"JFR method timing", 25, methodTiming},
	}, false},
}

// nothing is a server that is left alone.
func nothing(*measuring, jdk.JDK, string) (recording, error) { return none{}, nil }

type none struct{}

func (none) end(*run) error { return nil }

// A profile is a running "rivulet profile" or "rivulet time".
type profile struct {
	*bench.Recording
	tree bool
}

// recorded records by "rivulet profile".
func recorded(flags ...string) func(*measuring, jdk.JDK, string) (recording, error) {
	return func(m *measuring, _ jdk.JDK, pid string) (recording, error) {
		rec, err := m.Record(pid, append([]string{"--depth", "1"}, flags...)...)
		return profile{rec, true}, err
	}
}

// timing redefines one class.
func timing(m *measuring, _ jdk.JDK, pid string) (recording, error) {
	rec, err := m.Timing(pid, "--root", bench.ShopPartial)
	return profile{rec, false}, err
}

func (p profile) end(r *run) error {
	if _, err := p.End(); err != nil || !p.tree {
		return err
	}
	b, err := os.ReadFile(p.File())
	if err != nil {
		return err
	}
	var more struct{ Late []json.RawMessage }
	if err := json.Unmarshal(b, &more); err != nil {
		return err
	}
	r.late = len(more.Late)
	r.report, err = p.Read()
	return err
}

// commands are what ends a recording of another tool: a command of jcmd.
type commands struct {
	jcmd string
	args []string
}

func (c commands) end(*run) error { return jcmd(c.jcmd, c.args...) }

func jcmd(path string, args ...string) error {
	if b, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("jcmd: %w: %s", err, b)
	}
	return nil
}

// methodTiming is JFR's (JEP 520).
func methodTiming(_ *measuring, j jdk.JDK, pid string) (recording, error) {
	path := filepath.Join(j.Home, "bin", "jcmd")
	dot := strings.LastIndexByte(bench.ShopPartial, '.')
	class, method := bench.ShopPartial[:dot], bench.ShopPartial[dot+1:]
	err := jcmd(path, pid, "JFR.start", "name=busy", "settings=none", "jdk.MethodTiming#enabled=true", "jdk.MethodTiming#filter="+class+"::"+method)
	return commands{path, []string{pid, "JFR.stop", "name=busy"}}, err
}

// The peer as Maven Central has it.
const (
	asyncProfiler = "tools.profiler:async-profiler:4.5"
	asyncLibrary  = "linux-x64/libasyncProfiler.so"
)

// traced is async-profiler with one method and a threshold.
func traced(m *measuring, j jdk.JDK, pid string) (recording, error) {
	lib, err := m.async(j)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(j.Home, "bin", "jcmd")
	load := func(args string) []string { return []string{pid, "JVMTI.agent_load", lib, args} }
	file := filepath.Join(m.Temp, "traced.jfr")
	err = jcmd(path, load("start,trace="+bench.ShopPartial+":1ms,file="+file)...)
	return commands{path, load("stop,file=" + file)}, err
}

// async fetches the library by Maven.
func (m *measuring) async(j jdk.JDK) (string, error) {
	if runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("async-profiler: %w for %s", errAbsent, runtime.GOARCH)
	}
	lib := filepath.Join(m.Temp, filepath.FromSlash(asyncLibrary))
	if _, err := os.Stat(lib); err == nil {
		return lib, nil
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return "", fmt.Errorf("async-profiler: %w: mvn fetches it", errAbsent)
	}
	cmd := exec.Command(mvn, "-q", "-B", "dependency:copy", "-Dartifact="+asyncProfiler, "-DoutputDirectory="+m.Temp)
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("async-profiler: mvn: %w: %s", err, b)
	}
	cmd = exec.Command(filepath.Join(j.Home, "bin", "jar"), "xf", "async-profiler-4.5.jar", asyncLibrary)
	cmd.Dir = m.Temp
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("async-profiler: jar: %w: %s", err, b)
	}
	return lib, nil
}

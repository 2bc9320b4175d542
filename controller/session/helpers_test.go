package session_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session/sessiontest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// sources compiles files of testdata, named without .java, by the JDK that is
// at hand, for Java 8.
func sources(t *testing.T, names ...string) string {
	t.Helper()
	return compiled(t, nil, names...)
}

func compiled(t *testing.T, options []string, names ...string) string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join("testdata", name+".java"))
		if err != nil {
			t.Fatal(err)
		}
		files["t/"+name+".java"] = string(b)
	}
	return jvmtest.Compile(t, jvmtest.Any(t), 8, files, options...)
}

// program starts a class of package t and waits until it is ready.
func program(t *testing.T, j jvmtest.JDK, dir, class string, jvmArgs []string, args ...string) *jvmtest.Proc {
	t.Helper()
	p := jvmtest.Start(t, j, jvmArgs, "t."+class, args, dir)
	p.WaitLine("READY")
	return p
}

// ask sends a command and returns the answer's numbers.
func ask(t *testing.T, p *jvmtest.Proc, command, answer string) int64 {
	t.Helper()
	p.Send(command)
	line := p.WaitLine(answer)
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(line, answer)), 10, 64)
	if err != nil {
		t.Fatalf("answer %q", line)
	}
	return n
}

func TestMain(m *testing.M) { os.Exit(sessiontest.Run(m)) }

// rivulet starts the program itself.
func rivulet(t *testing.T, args ...string) *jvmtest.Proc {
	t.Helper()
	return sessiontest.Rivulet(t, args...)
}

// traces lists what a session has in a process, see [sessiontest.Traces].
func traces(pid int) (active, files []string) { return sessiontest.Traces(pid) }

// gone waits until nothing of a session is active in a process.
func gone(t *testing.T, pid int, within time.Duration) {
	t.Helper()
	sessiontest.Gone(t, pid, within)
}

// numbers are what grows where something leaks.
func numbers(t *testing.T, pid int) (fds, maps, threads int) {
	t.Helper()
	f, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	m, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	th, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(f), bytes.Count(m, []byte("\n")), len(th)
}

// ours are the loaded classes of Rivulet's in a JVM, live ones only.
func ours(t *testing.T, pid int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	vm, err := attach.Open(ctx, pid)
	if err != nil {
		t.Fatal(err)
	}
	r, err := vm.Execute(ctx, "inspectheap", "-live")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	in := bufio.NewScanner(strings.NewReader(r.Text))
	for in.Scan() {
		if strings.Contains(in.Text(), "rivulet") || strings.Contains(in.Text(), "Rivulet") {
			out = append(out, strings.Join(strings.Fields(in.Text())[1:], " "))
		}
	}
	slices.Sort(out)
	return out
}

// calls sums a report's calls by method name, without package and descriptor.
func calls(r *export.Report) map[string]int64 {
	out := map[string]int64{}
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		out[short(r, f.Method)] += f.Calls
	}
	return out
}

// short is a method's name without package and descriptor.
func short(r *export.Report, method int32) string {
	m, _ := r.Lookup(method)
	name, _, _ := strings.Cut(m.Name, "(")
	return strings.TrimPrefix(name, "t.")
}

// wantCalls compares some methods' calls.
func wantCalls(t *testing.T, r *export.Report, want map[string]int64) {
	t.Helper()
	got := calls(r)
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: %d calls, want %d (all: %v); ended: %s; notes: %q", name, got[name], n, got, r.Ended, r.Notes)
		}
	}
}

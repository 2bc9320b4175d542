package session_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestBacks: what only the JDK calls is recorded, in every scheme. A scheme that
// leaves out callbacks which it believes nobody calls, or methods of classes that
// are not initialized yet, fails here. Scheme C leaves out what nothing in the JDK
// names.
func TestBacks(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/Backs.java")
	if err != nil {
		t.Fatal(err)
	}
	built := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"t/Backs.java": string(source)})
	dir := t.TempDir() // built is everybody's, and has no services
	if err := os.CopyFS(dir, os.DirFS(built)); err != nil {
		t.Fatal(err)
	}
	services := filepath.Join(dir, "META-INF", "services")
	if err := os.MkdirAll(services, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(services, "java.util.function.IntToDoubleFunction"), []byte("t.Backs$Service\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for _, scheme := range []string{"A", "B", "C"} {
			if scheme != "C" && j.Version != 17 {
				continue
			}
			t.Run(scheme, func(t *testing.T) { backs(t, j, dir, scheme, scheme != "C" || j.Version < 9) })
		}
		if j.Version == 17 { // what somebody adds to the JDK may call anything
			t.Run("boot class path", func(t *testing.T) { backs(t, j, dir, "C", true, "-Xbootclasspath/a:"+t.TempDir()) })
		}
	}, 8, 17, 25)
}

func backs(t *testing.T, j jvmtest.JDK, dir, scheme string, all bool, options ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	p := jvmtest.Start(t, j, options, "t.Backs", nil, dir)
	p.WaitLine("READY")
	s, err := session.Attach(ctx, p.PID(), session.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // after Finish it does nothing
	if err := s.Start(ctx, session.Recording{Roots: []string{"t.Backs.root"}, Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	// Nobody names Idle's method until the JDK loads what calls it.
	idle, err := os.ReadFile(filepath.Join(dir, "t", "Backs$Idle.class"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Instrumented(ctx, "t/Backs$Idle", idle)
	if err != nil || bytes.Contains(b, []byte("enter")) != all && scheme != "A" {
		t.Errorf("a method that nothing in the JDK names has probes: %t (%v), want %t", b != nil, err, all)
	}
	p.Send("go")
	p.WaitLine("OK")
	r, err := s.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if r.Tree.Incomplete+r.Tree.Overflow+r.Tree.Lost != 0 {
		t.Errorf("incomplete %d, overflow %d, lost %d", r.Tree.Incomplete, r.Tree.Overflow, r.Tree.Lost)
	}
	got := map[string]int64{}
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		m, _ := r.Lookup(f.Method)
		name, _, _ := strings.Cut(strings.TrimPrefix(m.Name, "t.Backs"), "(")
		got[strings.TrimLeft(name, ".$")] += f.Calls
	}
	want := 0
	for _, line := range p.Stdout() {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "N" {
			continue
		}
		want++
		if n, err := strconv.ParseInt(f[2], 10, 64); err != nil || got[f[1]] != n {
			t.Errorf("%s: %d calls, want %s", f[1], got[f[1]], f[2])
		}
	}
	if want < 20 {
		t.Errorf("the program counted %d methods only", want)
	}
	p.Send("end")
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

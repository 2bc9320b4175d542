package compare_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/compare"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session/sessiontest"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// patient is how long a session has to leave a target.
const patient = 30 * time.Second

func TestMain(m *testing.M) { os.Exit(sessiontest.Run(m)) }

// sources compiles the program that is compared, for Java 8.
func sources(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "Compare.java"))
	if err != nil {
		t.Fatal(err)
	}
	return jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"t/Compare.java": string(b)})
}

// An invocation of Compare.root is 100 areas, half of them with two sides.
const compareCalls = 1 + 100 + 50*2

// sameWork wants runs of A, B and C with so many root invocations each, and as
// few useless methods as each scheme promises.
func sameWork(t *testing.T, c *export.Comparison, invocations int64) {
	t.Helper()
	if len(c.Runs) != 3 {
		t.Fatalf("%d runs", len(c.Runs))
	}
	for i, name := range []string{"A", "B", "C"} {
		r := &c.Runs[i]
		if r.Scheme != name || r.Invocations != invocations || r.Calls != invocations*compareCalls || !r.Exact || r.Called != 4 {
			t.Errorf("scheme %s, want %s: %d root calls, %d calls, want %d and %d, %d methods called; exact %t",
				r.Scheme, name, r.Invocations, r.Calls, invocations, invocations*compareCalls, r.Called, r.Exact)
		}
		if r.Useless() < 0 || r.Redefinition.Batches == 0 || r.Redefinition.Analysis == nil || *r.Redefinition.Analysis <= 0 || r.Armed <= 0 {
			t.Errorf("scheme %s: %+v", name, r)
		}
		if r.Redefinition.Pauses == nil || *r.Redefinition.Pauses < *r.Redefinition.LongestPause {
			t.Errorf("scheme %s: pauses %v, longest %v", name, r.Redefinition.Pauses, r.Redefinition.LongestPause)
		}
	}
	if c.Root == nil || c.Root.Invocations != invocations || c.Root.Mean() <= 0 {
		t.Errorf("bare root: %+v", c.Root)
	}
	if !strings.Contains(strings.Join(c.Notes, " "), "All schemes recorded the same calls.") {
		t.Errorf("notes: %q", c.Notes)
	}
}

// TestCompare compares the schemes on a program that runs: each must record the
// same, and leave nothing.
func TestCompare(t *testing.T) {
	dir := sources(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := jvmtest.Start(t, j, nil, "t.Compare", nil, dir)
		p.WaitLine("READY")
		ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
		defer cancel()
		var said []string
		var shown []int // runs that there are after each step
		c, err := compare.Running(ctx, p.PID(), compare.Options{
			Recording: spec.Recording{Roots: []string{"t.Compare.root"}, UntilCalls: 30}, Schemes: []string{"A", "B", "C"},
			Say:  func(text string) { said = append(said, text) },
			Show: func(c *export.Comparison) { shown = append(shown, len(c.Runs)) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(shown, []int{0, 0, 1, 2, 3}) {
			t.Errorf("runs shown: %v", shown)
		}
		sameWork(t, c, 30)
		if len(said) != 5 || said[4] != "recording by scheme C" {
			t.Errorf("said %q", said)
		}
		for i := range c.Runs {
			if _, ok := c.Overhead(&c.Runs[i]); !ok {
				t.Errorf("scheme %s: no overhead", c.Runs[i].Scheme)
			}
		}
		sessiontest.Gone(t, p.PID(), patient)

		ctx, cancel = context.WithCancel(context.Background())
		c, err = compare.Running(ctx, p.PID(), compare.Options{
			Recording: spec.Recording{Roots: []string{"t.Compare.root"}}, Schemes: []string{"B"}, For: time.Hour,
			Say: func(string) { time.AfterFunc(500*time.Millisecond, cancel) },
		})
		if c != nil || err == nil {
			t.Errorf("interrupted: %v, %v", c, err)
		}
		sessiontest.Gone(t, p.PID(), patient)
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}, 8, 17, 25)
}

// TestCompareRuns is "rivulet run --compare": a column for each scheme, and JSON
// that reads as it was written.
func TestCompareRuns(t *testing.T) {
	t.Parallel()
	j, dir := jvmtest.Need(t, 17), sources(t)
	file := filepath.Join(t.TempDir(), "compared.json")
	p := sessiontest.Rivulet(t, "run", "--compare", "--root", "t.Compare.root", "-o", file, "--", j.Java(), "-Dapp.password=hunter2", "-cp", dir, "t.Compare", "40")
	if code := p.Wait(); code != 0 {
		t.Fatalf("exit code %d: %q", code, p.Stderr())
	}
	if n := strings.Count(strings.Join(p.Stdout(), "\n"), "SUM "); n != 5 {
		t.Errorf("the program ran %d times, want 5", n)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "hunter2") {
		t.Error("the file has a secret of the command line")
	}
	c, err := export.ReadComparison(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	sameWork(t, c, 40)
	var again bytes.Buffer
	if err := c.JSON(&again); err != nil || again.String() != string(b) {
		t.Errorf("written again: %v\n%s\nwas\n%s", err, again.String(), b)
	}
	if c.Whole == nil || *c.Whole <= 0 || len(c.Command) != 6 {
		t.Errorf("%v, %q", c.Whole, c.Command)
	}
	for i := range c.Runs {
		if share, ok := c.Overhead(&c.Runs[i]); !ok || share < -0.9 {
			t.Errorf("scheme %s: overhead %v, %t", c.Runs[i].Scheme, share, ok)
		}
	}
	var text strings.Builder
	if err := c.Text(&text, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"   A  ", "   B  ", "   C  ", "in hotswapping", "methods instrumented", "Use "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

package foreign

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

var (
	binary = flag.String("rivulet", "", "test this `binary` instead of one built from the checkout")
	keep   = flag.String("keep", "", "leave the reports in this `folder`")
)

const (
	recording = 50 // root calls of a recording by attaching
	whole     = 60 // of one by rivulet run, and of the program
	patience  = 6 * time.Minute
)

// TestOwn compares with the programs that need no other language, each on one JDK: one attached with Scheme C and
// recorded once more from its first instruction, the other attached with A. Where [jvmtest.Whole] holds each is
// attached with one scheme in one variant and with another in the other, and recorded from its first instruction.
// TestForeign has all JDKs, variants and schemes of these, too.
func TestOwn(t *testing.T) {
	for _, c := range []struct {
		program
		attached []string // scheme of each variant
		briefly  int      // the variant that stands for all
		run      bool     // even then from its first instruction, too
	}{
		{relink, []string{"C", "A"}, 0, true},
		{nashorn, []string{"A", "C"}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
				line := c.build(t, j)
				for i, va := range c.variants {
					if !jvmtest.Whole() && i != c.briefly {
						continue
					}
					t.Run(va.name+"/"+c.attached[i], func(t *testing.T) { attached(t, c.attached[i], c.command(t, va, j, line)) })
				}
				if jvmtest.Whole() || c.run {
					t.Run("C-run", func(t *testing.T) { started(t, "C", c.command(t, c.variants[0], j, line)) })
				}
			}, c.versions...)
		})
	}
}

// attached records a running program twice.
func attached(t *testing.T, scheme string, c command) {
	proc := jvmtest.StartCmd(t, c.start(0))
	proc.WaitLine("READY")
	var all []*recorded
	for i := range 2 {
		file := reportFile(t, fmt.Sprint(i+1))
		rivulet(t, "", "profile", strconv.Itoa(proc.PID()), "--root", c.root, "--until-calls", strconv.Itoa(recording),
			"--for", "4m", "--scheme", scheme, "--format", "json", "-o", file)
		all = append(all, readReport(t, file))
	}
	proc.Send("end")
	if code := proc.Wait(); code != 0 {
		t.Errorf("the program ended with code %d", code)
	}
	own, err := parseCounts(proc.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		t.Run(fmt.Sprint("recording", i+1), func(t *testing.T) { compare(t, r, own, recording) })
	}
}

// started records a program from its first instruction to its end.
func started(t *testing.T, scheme string, c command) {
	file := reportFile(t, "run")
	cmd := c.start(whole)
	out := rivulet(t, c.dir, append([]string{"run", "--root", c.root, "--scheme", scheme, "--format", "json", "-o", file, "--"}, cmd.Args...)...)
	own, err := parseCounts(strings.Split(out, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, readReport(t, file), own, whole)
}

// compare fails the test where counts are wrong, and says so if the report does not.
func compare(t *testing.T, r *recorded, own counts, roots int64) {
	t.Helper()
	if r.Roots != roots {
		t.Errorf("%d root calls, expected %d", r.Roots, roots)
	}
	want, err := own.per(r.Roots)
	if err != nil {
		t.Fatal(err)
	}
	lines := r.wrong(want)
	says := "does not say whether it is exact"
	if r.Exact != nil {
		says = fmt.Sprintf("says exact: %v", *r.Exact)
	}
	switch {
	case lines == nil && r.Exact != nil && !*r.Exact:
		t.Logf("all counts are right, or of methods that were recorded late (%d), and the report %s: %v", len(r.Late), says, r.Gaps)
	case lines == nil:
	case r.Exact == nil || *r.Exact:
		t.Errorf("wrong counts, and the report %s (incomplete: %d)\n%s", says, r.Incomplete, strings.Join(lines, "\n"))
	default:
		t.Errorf("wrong counts; the report %s: %v\n%s", says, r.Gaps, strings.Join(lines, "\n"))
	}
}

// rivulet runs the product in a folder and returns its standard output.
func rivulet(t *testing.T, dir string, args ...string) string {
	t.Helper()
	file, err := product()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it detaches
	cmd.WaitDelay = 20 * time.Second
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("rivulet %s: %v\n%s%s", strings.Join(args, " "), err, out, errors.String())
	}
	return string(out)
}

var product = sync.OnceValues(func() (string, error) {
	if *binary != "" {
		return filepath.Abs(*binary)
	}
	file := filepath.Join(scratch, "rivulet")
	out, err := exec.Command("go", "build", "-o", file, "github.com/rivulet-profiler/rivulet").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
})

// scratch is a folder for all tests.
var scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "rivulet-foreign-")
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// reportFile names a report after the test.
func reportFile(t *testing.T, name string) string {
	t.Helper()
	dir := *keep
	if dir == "" {
		return filepath.Join(t.TempDir(), name+".json")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-")+"-"+name+".json")
}

func readReport(t *testing.T, file string) *recorded {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorded{}
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return r
}

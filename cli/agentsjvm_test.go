package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// sortedProgram sorts arrays of several sizes by comparing all pairs: the cost of a root invocation
// grows like the square of how many items are read.
const sortedProgram = `
public class Sorted {
    static int item(int n, int i) { return (i * 7919) % n; }
    static boolean less(int a, int b) { return a < b; }
    static int sort(int n) {
        int[] a = new int[n];
        for (int i = 0; i < n; i++) a[i] = item(n, i);
        for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) if (less(a[j], a[i])) { int t = a[i]; a[i] = a[j]; a[j] = t; }
        return a[0];
    }
    public static void main(String[] args) {
        for (int round = 0; round < 5; round++) for (int n = 10; n <= 320; n *= 2) sort(n);
    }
}`

// exits has each root invocation alone, by calls and bytecodes.
const exits = `
lines = []
def exit(r):
    s = r.thread.since
    lines.append(" ".join([str(r.thread.returned)] + ["%s=%d/%d" % (n.name, n.calls, n.self_bytecodes) for n in s.nodes()]))
def end(r):
    write("exits.txt", "\n".join(lines) + "\n")
    print(len(lines), r.tree.sum("self_bytecodes"))
on_exit(exit, exact = True)
on_end(end)
`

// TestAgentsJVM runs the same scripts beside the same program twice: each root invocation is seen
// alone, and the output is identical.
func TestAgentsJVM(t *testing.T) {
	t.Parallel()
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Sorted.java": sortedProgram})
		script := filepath.Join(t.TempDir(), "exits.star")
		if err := os.WriteFile(script, []byte(exits), 0o666); err != nil {
			t.Fatal(err)
		}
		type printed struct {
			Agents []struct {
				Name   string
				Output []string
				Failed string
				WentOn int64 `json:"went_on"`
			}
			Bytecodes int64
		}
		var files, outputs [2]string
		for i := range files {
			out := t.TempDir()
			code, _, errs := rivulet(t, "", "run", "--root", "Sorted.sort", "--count", "bytecodes", "--agent-dir", out, "-o", filepath.Join(out, "report.json"),
				"--agent", script, "--agent", "../docs/agents/fit.star", "--agent", "../docs/agents/merge.star", "--agent-arg", "size=Sorted.item",
				"--", j.Java(), "-Xmx64m", "-cp", dir, "Sorted")
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			b, err := os.ReadFile(filepath.Join(out, "report.json"))
			if err != nil {
				t.Fatal(err)
			}
			var r printed
			if err := json.Unmarshal(b, &r); err != nil {
				t.Fatal(err)
			}
			for _, a := range r.Agents {
				if a.Failed != "" || a.WentOn != 0 {
					t.Errorf("%s: %d threads went on; %s", a.Name, a.WentOn, a.Failed)
				}
				outputs[i] += a.Name + ": " + strings.Join(a.Output, "; ") + "\n"
			}
			for _, name := range []string{"exits.out/exits.txt", "fit.out/points.txt", "merge.out/tree.txt"} {
				b, err := os.ReadFile(filepath.Join(out, name))
				if err != nil {
					t.Error(err)
				}
				files[i] += string(b)
			}
		}
		if files[0] != files[1] || outputs[0] != outputs[1] {
			t.Errorf("the same script and program differ:\n%s%s\n%s%s", outputs[0], files[0], outputs[1], files[1])
		}
		lines := strings.Split(files[0], "\n")
		if !strings.HasPrefix(outputs[0], "exits: 30 ") || lines[0] != lines0 || !strings.HasPrefix(lines[29], "30 Sorted.sort=1/") {
			t.Errorf("%s%s", outputs[0], files[0])
		}
		for i, line := range lines[:30] { // the rounds are alike, except for the number of the invocation
			_, first, _ := strings.Cut(lines[i%6], " ")
			if _, this, _ := strings.Cut(line, " "); this != first {
				t.Errorf("line %d: %s; in the first round %s", i+1, this, first)
			}
		}
		if !strings.Contains(outputs[0], "fit: self_bytecodes grows like size^1.9") {
			t.Error(outputs[0])
		}
	})
}

// lines0 is the first root invocation: 10 items of 6 bytecodes each; 45 comparisons, of 6 where
// they are true, which 36 are, else of 5.
const lines0 = "1 Sorted.sort=1/1336 Sorted.item=10/60 Sorted.less=45/261"

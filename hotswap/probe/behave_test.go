package probe_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestBehaviour runs a program bare and with every method probed. What it
// prints must be the same, every entry must have its exit, and the counts must
// be those that the program keeps itself.
func TestBehaviour(t *testing.T) {
	home := classtest.Home(t)
	dir := compileBehave(t, home, "-source", "8", "-target", "8")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) { behave(t, j.Home, dir, "Behave", 20) })
}

// TestBeforeSuper runs constructors with statements before super(), which javac
// allows since 22.
func TestBeforeSuper(t *testing.T) {
	home := jvmtest.Need(t, 25).Home
	sources := map[string]string{}
	for _, name := range []string{"Early.java", "Truth.java", "Shadow.java"} {
		sources[name] = readTestdata(t, name)
	}
	behave(t, home, classtest.Compile(t, home, sources), "Early", 2)
}

func readTestdata(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func compileBehave(t *testing.T, home string, flags ...string) string {
	t.Helper()
	sources := map[string]string{"Big.java": bigSource()}
	for _, name := range []string{"Behave.java", "Truth.java", "Shadow.java"} {
		sources[name] = readTestdata(t, name)
	}
	return classtest.Compile(t, home, sources, flags...)
}

// probed writes the classes of a folder with all methods probed, except for those
// that keep the books, and the ids of the methods.
func probed(t *testing.T, dir string) (to, ids string) {
	t.Helper()
	to = t.TempDir()
	var book names
	for _, c := range classtest.ReadDir(t, dir) {
		if !strings.HasPrefix(c.Name, "Truth") && !strings.HasPrefix(c.Name, "Shadow") {
			c = book.probe(t, c, "Shadow")
		}
		if err := os.WriteFile(filepath.Join(to, c.Name+".class"), c.Bytes, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return to, book.write(t)
}

// names are the methods that the shadow stack knows by their ids.
type names struct {
	text strings.Builder
	n    int32
}

// probe puts probes into all methods of a class.
func (b *names) probe(t *testing.T, c classtest.Class, hooks string) classtest.Class {
	t.Helper()
	h := probe.Hooks{Class: hooks, Enter: "enter", Exit: "exit", Thrown: "thrown", Resync: "resync"}
	res, err := probe.Rewrite(c.Bytes, h, func(k probe.MethodKey) (int32, bool) {
		fmt.Fprintf(&b.text, "%s.%s\n", c.Name, k)
		id := b.n
		if b.n++; id%2 == 0 {
			id += firstID
		}
		return id, true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range res.Skipped {
		if s.Reason != "abstract" && s.Reason != "native" {
			t.Errorf("skipped %s.%s: %s", c.Name, s.MethodKey, s.Reason)
		}
	}
	if res.Bytes != nil {
		c.Bytes = res.Bytes
	}
	return c
}

// firstID is added to every other id, so that ids take all forms of constants.
// Shadow.java knows it too.
const firstID = 40000

// write writes the file that the shadow stack reads.
func (b *names) write(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ids")
	if err := os.WriteFile(file, []byte(b.text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// behave runs the program both ways and compares; of at least so many methods
// the program must count the calls itself.
func behave(t *testing.T, home, dir, main string, methods int) {
	to, ids := probed(t, dir)
	bare, truth := runProgram(t, home, "-cp", dir, main)
	out, books := runProgram(t, home, "-Xverify:all", "-Dids="+ids, "-cp", to, main)
	if out != bare {
		t.Errorf("the output changed:\n%s\nwas:\n%s", out, bare)
	}
	counts := map[string]int{} // by method name, descriptors summed
	sum := ""
	for line := range strings.Lines(books) {
		var name string
		var enters, exits, throwns int
		if strings.HasPrefix(line, "SUM ") {
			sum = strings.TrimSpace(line)
		}
		if strings.HasPrefix(line, "WRONG") {
			t.Error(line)
		}
		if n, _ := fmt.Sscanf(line, "COUNT %s %d %d %d", &name, &enters, &exits, &throwns); n == 4 {
			counts[name] += enters
			if enters != exits+throwns && !strings.Contains(name, ".<init>(") {
				t.Errorf("%s: %d enters, %d exits, %d thrown", name, enters, exits, throwns)
			}
		}
	}
	checkTruth(t, truth, counts, methods)
	var in, ret, thr, left, resyncs, wrong int
	fmt.Sscanf(sum, "SUM %d %d %d %d %d %d", &in, &ret, &thr, &left, &resyncs, &wrong)
	if in == 0 || in != ret+thr+left || wrong != 0 || resyncs == 0 || left == 0 {
		t.Errorf("enters %d, exits %d, thrown %d, left by super() %d, resyncs %d, wrong %d\n%.3000s", in, ret, thr, left, resyncs, wrong, books)
	}
	t.Log(sum)
}

// checkTruth compares the entries of methods with what the program counted
// under the method's plain name.
func checkTruth(t *testing.T, truth string, counts map[string]int, methods int) {
	t.Helper()
	sums := map[string]int{}
	for method, n := range counts {
		if strings.HasSuffix(method, "compareTo(Ljava/lang/Object;)I") {
			continue // the bridge
		}
		name := method[:strings.IndexByte(method, '(')]
		sums[name[strings.LastIndexByte(name, '.')+1:]] += n
	}
	checked := 0
	for line := range strings.Lines(truth) {
		var name string
		var want int
		if n, _ := fmt.Sscanf(line, "TRUTH %s %d", &name, &want); n != 2 {
			continue
		}
		if got, ok := sums[name]; ok {
			checked++
			if got != want {
				t.Errorf("%s: %d entries, %d in truth", name, got, want)
			}
		}
	}
	if checked < methods {
		t.Errorf("only %d methods compared with the truth", checked)
	}
}

func runProgram(t *testing.T, home string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(home, "bin", "java"), args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%.3000s\n%.3000s", args, err, &o, &e)
	}
	return o.String(), e.String()
}

// bigSource returns a class with methods that are too long to write by hand.
func bigSource() string {
	var b strings.Builder
	b.WriteString("public class Big {\n")
	b.WriteString("static long wide(int n) { Truth.hit(\"wide\"); long s = 0;\n")
	for i := range 300 {
		fmt.Fprintf(&b, "long v%d = n + %d; ", i, i)
	}
	b.WriteString("\nfor (int i = 0; i < 5; i++) try { v299 += Behave.thrower(i); } catch (RuntimeException e) { v298++; }\n")
	b.WriteString("return v0 + v150 + v298 + v299; }\n")
	// A loop over more than 32 KB: javac makes goto_w and inverted branches.
	b.WriteString("static int huge(int n) { Truth.hit(\"huge\"); int x = n; for (int i = 0; i < 3; i++) {\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "x = x * 31 + %d;\n", 200+i)
	}
	b.WriteString("} return x; }\n")
	// Just below 32 KB: the probes push gotos over the limit.
	b.WriteString("static int many(int n) { Truth.hit(\"many\"); int x = n; switch (n) {\n")
	for i := range 1500 {
		fmt.Fprintf(&b, "case %d: x = x * 31 + %d; break;\n", i, 200+i)
	}
	b.WriteString("} return x; }\n")
	b.WriteString("static int chain(int n) { Truth.hit(\"chain\"); int x = n;\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "if (x == %d) return x + %d;\n", 10*i+5, i)
	}
	b.WriteString("return x; }\n")
	// A loop of nearly 32 KB with returns inside, which probes make longer: its
	// conditional branch and its goto must grow.
	b.WriteString("static int near(int n) { Truth.hit(\"near\"); int x = n; long y = n; String s = \"\";\n")
	b.WriteString("for (int i = 0; i < 3; i++) { Object o = s; try { \n")
	for i := range 3000 {
		fmt.Fprintf(&b, "if (x == %d) return i;\n", 200+i)
	}
	b.WriteString("x = x * 31 + Behave.thrower(i + 1); y += x; } catch (RuntimeException e) { x++; s += o; } } return x + (int) y + s.length(); }\n}\n")
	return b.String()
}

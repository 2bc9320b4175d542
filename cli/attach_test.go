package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// term calls Term.root for ever, or as often as it is told. Its method names get
// what a terminal obeys (compilers leave that out, JVMs don't mind), and letters
// that are two columns wide.
const term = `
import java.util.Scanner;
public class Term {
    static volatile long sink;
    static void leaf() { sink++; }
    static void evil0c() { sink++; }
    static void csi002J() { sink++; }
    static void \u6e2c\u5b9a() { sink++; }
    static void root() {
        for (int i = 0; i < 3; i++) leaf();
        evil0c();
        csi002J();
        \u6e2c\u5b9a();
    }
    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        Thread background = new Thread(() -> { try { while (args.length > 0) { root(); Thread.sleep(1); } } catch (InterruptedException e) { } });
        background.setDaemon(true);
        background.start();
        Scanner in = new Scanner(System.in);
        while (in.hasNextInt()) {
            int n = in.nextInt();
            for (int i = 0; i < n; i++) root();
            System.out.println("DONE " + n);
        }
    }
}`

// callsEach is what an invocation of root counts, itself included.
const callsEach = 7

func startTerm(t *testing.T, args ...string) *jvmtest.Proc {
	t.Helper()
	j := jvmtest.Any(t)
	class, err := os.ReadFile(filepath.Join(jvmtest.Compile(t, j, 8, map[string]string{"Term.java": term}), "Term.class"))
	if err != nil {
		t.Fatal(err)
	}
	class = bytes.Replace(class, []byte("evil0c"), []byte("evil\x1bc"), 1)    // ESC c: reset the terminal
	class = bytes.Replace(class, []byte("csi002J"), []byte("csi\u009b2J"), 1) // CSI 2 J: wipe the screen
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Term.class"), class, 0o600); err != nil {
		t.Fatal(err)
	}
	p := jvmtest.Start(t, j, []string{"-Xmx64m"}, "Term", args, dir)
	p.WaitLine("READY")
	return p
}

// agentThreads counts the threads of agents in a process: none but during a session.
func agentThreads(t *testing.T, pid int) int {
	t.Helper()
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range names {
		text, _ := os.ReadFile(name)
		if strings.HasPrefix(string(text), "rivulet-agent") {
			n++
		}
	}
	return n
}

// wantNoAgent wants the target left; its agent's thread ends a moment later.
func wantNoAgent(t *testing.T, pid int) {
	t.Helper()
	until(t, "the agent to leave", func() bool { return agentThreads(t, pid) == 0 })
}

// rivulet runs a command with an input and returns its exit code.
func rivulet(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("rivulet", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// TestAttachScript goes through the commands on a real JVM, and has every form
// of the report read again by somebody else.
func TestAttachScript(t *testing.T) {
	t.Parallel()
	p := startTerm(t, "loop")
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	script := `# all that can be done
find Troot
root Term.root            # in a class that is loaded
until-calls 50
scheme A
start
wait end
status
top 3
methods 3 by calls
around leaf
threads
save '` + file("a.json") + `'
save ` + file("a.html") + `
save ` + file("a.pb.gz") + `
save ` + file("a.collapsed") + `
save ` + file("a.speedscope.json") + `
save ` + file("a.rivulet") + `
scheme B
until-calls 20
start
wait end
save ` + file("b.json") + `
snapshots
compare 1
until-calls 0
start
wait calls 21 20s
pause
reset
status
resume
clock precise
wait calls 1 20s
echo the end
quit
echo not reached
`
	code, stdout, stderr := rivulet(t, script, "attach", fmt.Sprint(p.PID()), "--probes", "called")
	if code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	for _, want := range []string{
		"Term.root()V\n",
		"\ncalls        350, ", "\nroot calls   50, 0 still running\n", "\nmethods      5 called of 5\n",
		"   50  ", "* Term.root\n", "Hot methods, by calls", "     150 calls ", " Term.leaf()V\ncalled by\n           150 calls ",
		"  1  all at once (A), low overhead timing (tick),", "350 calls: 1 Term.root, A\n", "140 calls: 2 Term.root, B\n",
		"before  snapshot 1: 50 root calls", "after   now: 20 root calls", "scaled to as many root calls as before",
		"phase        paused\n", "calls        0, 0 a second\n", "the end\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in stdout", want)
		}
	}
	if strings.Contains(stdout, "not reached") || !strings.Contains(stderr, "rivulet: recording: all at once (A), low overhead timing (tick)\n") {
		t.Errorf("stderr:\n%s", stderr)
	}
	if t.Failed() {
		t.Log(stdout)
	}
	if i := strings.IndexFunc(stdout, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 }); i >= 0 {
		t.Errorf("stdout has the control character %q", stdout[i:i+2])
	}
	wantNoAgent(t, p.PID())
	var saved struct{ Methods struct{ Probes string } }
	if b, err := os.ReadFile(file("b.json")); err != nil || json.Unmarshal(b, &saved) != nil || saved.Methods.Probes != "called" {
		t.Errorf("--probes called: %v, probes %q", err, saved.Methods.Probes)
	}
	checkForms(t, file)
}

// checkForms wants equal totals of all forms of one report.
func checkForms(t *testing.T, file func(string) string) {
	read := func(name string) []byte {
		b, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var a struct {
		Calls int64
		Flat  []struct {
			Method, Source string
			Line           int
		}
		Time struct {
			Measured int64  `json:"measured_ns"`
			Charged  *int64 `json:"charged_ns"`
		}
	}
	if err := json.Unmarshal(read("a.json"), &a); err != nil || a.Calls != 50*callsEach {
		t.Fatal(err, a.Calls)
	}
	for _, f := range a.Flat {
		if strings.HasPrefix(f.Method, "Term.leaf(") {
			if line := strings.Count(term[:strings.Index(term, "void leaf()")], "\n") + 1; f.Source != "Term.java" || f.Line != line {
				t.Errorf("%s is at %s:%d, not at Term.java:%d", f.Method, f.Source, f.Line, line)
			}
		}
	}
	self := a.Time.Measured
	if a.Time.Charged != nil {
		self = *a.Time.Charged
	}

	prof, err := profile.ParseData(read("a.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	sums := make([]int64, len(prof.SampleType))
	for _, s := range prof.Sample {
		for i, v := range s.Value {
			sums[i] += v
		}
	}
	want := []int64{a.Calls, self}
	if a.Time.Charged != nil {
		want = append(want, a.Time.Measured)
	}
	if !slices.Equal(sums, want) {
		t.Errorf("pprof %v, want %v", sums, want)
	}
	// And by pprof itself.
	out, err := exec.Command("go", "tool", "pprof", "-top", "-sample_index=calls", file("a.pb.gz")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "100% of 350 total") || !regexp.MustCompile(`(?m)^ +150 42.86% .* Term.leaf$`).Match(out) {
		t.Errorf("pprof: %v\n%s", err, out)
	}

	var collapsed int64
	for line := range strings.Lines(string(read("a.collapsed"))) {
		stack, n, ok := strings.Cut(strings.TrimSpace(line), " ")
		var v int64
		if _, err := fmt.Sscan(n, &v); !ok || err != nil || strings.Count(stack, ";") > 1 || !strings.HasPrefix(stack, "Term.root()V") {
			t.Errorf("collapsed %q: %v", line, err)
		}
		collapsed += v
	}
	if collapsed != self {
		t.Errorf("collapsed %d ns, want %d", collapsed, self)
	}

	var speed struct {
		Schema   string `json:"$schema"`
		Shared   struct{ Frames []struct{ Name string } }
		Profiles []struct {
			Type, Name, Unit     string
			StartValue, EndValue int64
			Events               []struct {
				Type      string
				Frame, At int64
			}
		}
	}
	if err := json.Unmarshal(read("a.speedscope.json"), &speed); err != nil || len(speed.Profiles) != 3 {
		t.Fatal(err, speed)
	}
	for i, want := range []int64{self, a.Calls, self} {
		p := speed.Profiles[i]
		var open []int64
		at := int64(0)
		for _, e := range p.Events {
			switch {
			case e.At < at || e.Frame >= int64(len(speed.Shared.Frames)):
				t.Fatalf("%s: event %+v after %d", p.Name, e, at)
			case e.Type == "O":
				open = append(open, e.Frame)
			case len(open) == 0 || open[len(open)-1] != e.Frame:
				t.Fatalf("%s: %+v closes none of %v", p.Name, e, open)
			default:
				open = open[:len(open)-1]
			}
			at = e.At
		}
		if p.Type != "evented" || p.EndValue != want || at != want || len(open) > 0 {
			t.Errorf("%s: ends at %d and %d, want %d; open %v", p.Name, p.EndValue, at, want, open)
		}
	}

	if page := strings.ReplaceAll(string(read("a.html")), "http://www.w3.org/", ""); !strings.Contains(page, "Content-Security-Policy") || strings.Contains(page, "http://") || strings.Contains(page, "https://") {
		t.Error("the page is not self-contained")
	}

	// What was saved is read again without a loss.
	if code, out, errs := rivulet(t, "", "view", file("a.rivulet"), "--format", "json"); code != 0 || out != string(read("a.json")) {
		t.Errorf("view: code %d, %d bytes, %s", code, len(out), errs)
	}
	if code, out, errs := rivulet(t, "", "merge", file("a.json"), file("b.json")); code != 0 || !strings.Contains(out, "70 root calls, 490 calls on 5 call paths") {
		t.Errorf("merge: code %d, %s%s", code, out, errs)
	}
	if code, out, errs := rivulet(t, "", "diff", file("a.json"), file("b.json"), "--absolute"); code != 0 || !strings.Contains(out, "note: Instrumented differently: all at once (A) before, as called (B) after.") || !strings.Contains(out, "   50     20  Term.root\n") {
		t.Errorf("diff: code %d, %s%s", code, out, errs)
	}
}

// TestAttachScriptFails has scripts fail: the line is named, and the target left.
func TestAttachScriptFails(t *testing.T) {
	t.Parallel()
	p := startTerm(t, "loop")
	pid := fmt.Sprint(p.PID())
	for _, test := range []struct {
		script string
		code   int
		want   string
	}{
		{"echo a\n\nfrobnicate\n", 2, `line 3, "frobnicate": there is no command "frobnicate"; help lists them`},
		{"start\n", 2, `line 1, "start": no root is chosen: root CLASS.METHOD chooses one`},
		{"start Term.rooot\n", 2, `line 1, "start Term.rooot": `},
		{"root 'x\n", 2, "the quote ' is not closed"},
		{"top\n", 1, "nothing has been recorded yet"},
		{"pause\n", 1, "not possible now: can't pause while attached"},
		{"start Term.root\nwait calls 1000000000 10ms\n", 1, "line 2, "},
		{"start Term.root\nsave /no/such/folder/x.json\n", 2, "no such file or directory"},
		{"start Term.root\nsave x.unknown\n", 2, "doesn't say in which form"},
	} {
		code, stdout, stderr := rivulet(t, test.script, "attach", pid)
		if code != test.code || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: code %d, want %d\n%s%s", test.script, code, test.code, stdout, stderr)
		}
	}
	wantNoAgent(t, p.PID())
}

// TestAttachScriptInterrupted ends a script that waits.
func TestAttachScriptInterrupted(t *testing.T) {
	t.Parallel()
	p := startTerm(t, "loop")
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		cmd := exec.Command("rivulet", "attach", fmt.Sprint(p.PID()), "--root", "Term.root")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(stdin, "start\nwait calls 7\necho here\nwait 10m")
		b := make([]byte, 5)
		if _, err := stdout.Read(b); err != nil || string(b) != "here\n" {
			t.Fatalf("%q, %v", b, err)
		}
		cmd.Process.Signal(sig)
		err = cmd.Wait()
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "rivulet: interrupted at line 4 of the script; the target is as it was\n") {
			t.Errorf("%v: %v\n%s", sig, err, stderr.String())
		}
		wantNoAgent(t, p.PID())
	}
}

// until waits for something, for half a minute.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(jvmtest.Patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("waited in vain for " + what)
}

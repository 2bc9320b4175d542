package jvmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestCases is how a test over cases looks, on each JDK.
func TestCases(t *testing.T) {
	for _, file := range Cases(t, "testdata/*.txtar") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			Each(t, func(t *testing.T, j JDK) {
				ar := Open(t, file)
				p := Start(t, j, nil, "p.Hello", ar.Lines("args"), ar.Compile(t, Any(t), 8))
				if code := p.Wait(); code != 0 {
					t.Errorf("exit code %d", code)
				}
				ar.Golden(t, "want", p.Stdout())
			})
		})
	}
}

// echo answers each line, fails when told to, and writes to both streams.
var echo = map[string]string{"Echo.java": `
import java.util.Scanner;

class Echo {
    public static void main(String[] args) {
        System.out.println("ready " + System.getProperty("x") + " " + args.length);
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String line = in.nextLine();
            System.out.println("got " + line);
            System.err.println("log " + line);
            if (line.equals("fail")) System.exit(3);
        }
        System.out.print("end without newline");
    }
}
`}

func TestProc(t *testing.T) {
	j := Any(t)
	dir := Compile(t, j, 8, echo)
	if again := Compile(t, j, 8, echo); again != dir {
		t.Errorf("compiled twice: %s and %s", dir, again)
	}
	start := func(t *testing.T) *Proc {
		p := Start(t, j, []string{"-Dx=y"}, "Echo", []string{"a", "b"}, dir)
		if line := p.WaitLine("ready"); line != "ready y 2" {
			t.Errorf("first line %q", line)
		}
		return p
	}
	t.Run("talk", func(t *testing.T) {
		p := start(t)
		p.Send("one")
		p.Send("two")
		if line := p.WaitLine("got t"); line != "got two" {
			t.Errorf("got %q", line)
		}
		if line := p.WaitError("log"); line != "log one" {
			t.Errorf("stderr %q", line)
		}
		p.CloseStdin()
		p.WaitLine("end")
		if code := p.Wait(); code != 0 || p.Running() {
			t.Errorf("code %d, running %v", code, p.Running())
		}
		if got, want := p.Stdout(), []string{"ready y 2", "got one", "got two", "end without newline"}; !slices.Equal(got, want) {
			t.Errorf("stdout %q, want %q", got, want)
		}
	})
	t.Run("fail", func(t *testing.T) {
		p := start(t)
		p.Send("fail")
		if code := p.Wait(); code != 3 {
			t.Errorf("code %d", code)
		}
		p.Signal(syscall.SIGTERM) // no error: it has ended
	})
	var pid int
	t.Run("killed at the end", func(t *testing.T) {
		p := start(t)
		pid = p.PID()
		if !p.Running() {
			t.Error("not running")
		}
	})
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
		t.Error("the process outlived its test")
	}
}

// TestWaitFails wants a clear message when the line never comes.
func TestWaitFails(t *testing.T) {
	j := Any(t)
	var r recorder
	r.TB = t
	p := Start(t, j, nil, "Echo", nil, Compile(t, j, 8, echo))
	p.t = &r
	p.CloseStdin()
	func() {
		defer func() { recover() }()
		p.WaitLine("nothing")
	}()
	if !strings.Contains(r.text, `ended (exit status 0) without a line "nothing"`) {
		t.Errorf("said %q", r.text)
	}
}

// recorder catches a Fatalf.
type recorder struct {
	testing.TB
	text string
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.text = fmt.Sprintf(format, args...)
	panic(r)
}

func TestWorkload(t *testing.T) {
	p := Workload(t, Any(t), nil, "micro", "fib", "1", "1", "1", "10")
	p.WaitLine("PID")
	p.WaitLine("READY")
	p.Send("")
	p.WaitLine("DONE")
	p.Send("")
	p.WaitLine("END")
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestGoldenDiff(t *testing.T) {
	got := diff("a\nb\nc\n", "a\nx\nc\nd\n")
	if want := "  a\n- b\n+ x\n  c\n+ d\n"; got != want {
		t.Errorf("diff:\n%swant:\n%s", got, want)
	}
}

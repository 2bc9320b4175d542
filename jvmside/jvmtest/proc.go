package jvmtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience is how long a wait for a line or an exit may take before the test
// fails. It is long because other tests may keep every core busy; WaitLine
// and Wait return as soon as they can.
const Patience = 5 * time.Minute

// A Proc is a running process whose output is read line by line. It is
// killed when its test ends. Its methods may be called concurrently.
type Proc struct {
	t     testing.TB
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{} // closed when it has ended and all output is read

	mu    sync.Mutex
	out   lines // standard output
	err   lines // standard error
	state *os.ProcessState
}

// lines is one stream's text so far.
type lines struct {
	all  []string
	seen int           // lines that a wait has passed
	more chan struct{} // closed and replaced at each new line
}

// Start starts a JVM with the class path dir ("" for none) in a folder of its own.
func Start(t testing.TB, j JDK, jvmArgs []string, mainClass string, args []string, dir string) *Proc {
	t.Helper()
	line := slices.Clone(jvmArgs)
	if dir != "" {
		line = append(line, "-cp", dir)
	}
	cmd := exec.Command(j.Java(), slices.Concat(line, []string{mainClass}, args)...)
	cmd.Dir = t.TempDir()
	return StartCmd(t, cmd)
}

// StartCmd starts any command that way. Without cmd.Env the process gets the
// test's environment without the variables that change what a JVM does.
func StartCmd(t testing.TB, cmd *exec.Cmd) *Proc {
	t.Helper()
	if cmd.Env == nil {
		cmd.Env = environ()
	}
	p := &Proc{t: t, cmd: cmd, ended: make(chan struct{})}
	p.out.more, p.err.more = make(chan struct{}), make(chan struct{})
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := spawn(cmd); err != nil {
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	var streams sync.WaitGroup
	streams.Go(func() { p.read(stdout, &p.out) })
	streams.Go(func() { p.read(stderr, &p.err) })
	go func() {
		streams.Wait()
		err := cmd.Wait()
		p.mu.Lock()
		p.state = cmd.ProcessState
		p.mu.Unlock()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			p.add(&p.err, "jvmtest: "+err.Error())
		}
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Kill()
		os.Remove(fmt.Sprintf("/tmp/.java_pid%d", p.PID())) // a killed JVM leaves its socket behind
		if t.Failed() {
			t.Logf("%s: %v\n%s", filepath.Base(cmd.Path), p.exit(), p.text())
		}
	})
	return p
}

// spawn starts a command from a thread that lives as long as this process:
// the kernel sends the death signal when the thread that forked ends, and Go
// ends threads of locked goroutines. So a JVM never outlives its test, not
// even one that go test has killed.
func spawn(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	result := make(chan error)
	spawner() <- func() { result <- cmd.Start() }
	return <-result
}

var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// environ is the environment without options for JVMs.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS", "CLASSPATH":
			return true
		}
		return false
	})
}

func (p *Proc) read(r io.Reader, to *lines) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			p.add(to, strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			return // the end, or a pipe that Wait has closed
		}
	}
}

func (p *Proc) add(to *lines, line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to.all = append(to.all, line)
	close(to.more)
	to.more = make(chan struct{})
}

// PID returns the process's number.
func (p *Proc) PID() int { return p.cmd.Process.Pid }

// WaitLine returns the next line of standard output that begins with prefix.
// Lines that it passes are not looked at again: the next call goes on behind
// the line returned. It fails the test if the process ends before, or after
// [Patience].
func (p *Proc) WaitLine(prefix string) string {
	p.t.Helper()
	return p.wait(&p.out, prefix)
}

// WaitError is WaitLine for standard error.
func (p *Proc) WaitError(prefix string) string {
	p.t.Helper()
	return p.wait(&p.err, prefix)
}

func (p *Proc) wait(from *lines, prefix string) string {
	p.t.Helper()
	timeout := time.After(Patience)
	for ended := false; ; {
		p.mu.Lock()
		for from.seen < len(from.all) {
			line := from.all[from.seen]
			from.seen++
			if strings.HasPrefix(line, prefix) {
				p.mu.Unlock()
				return line
			}
		}
		more := from.more
		p.mu.Unlock()
		if ended {
			p.t.Fatalf("%s ended (%v) without a line %q", filepath.Base(p.cmd.Path), p.exit(), prefix)
		}
		select {
		case <-more:
		case <-p.ended:
			ended = true // but look once more: a line may have come before
		case <-timeout:
			p.t.Fatalf("no line %q from %s within %v", prefix, filepath.Base(p.cmd.Path), Patience)
		}
	}
}

// Stdout returns the lines of standard output so far.
func (p *Proc) Stdout() []string { return p.snapshot(&p.out) }

// Stderr returns the lines of standard error so far.
func (p *Proc) Stderr() []string { return p.snapshot(&p.err) }

func (p *Proc) snapshot(from *lines) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(from.all)
}

// text is the end of both streams, for a failed test's log.
func (p *Proc) text() string {
	var b strings.Builder
	for _, s := range []struct {
		name string
		all  []string
	}{{"stdout", p.Stdout()}, {"stderr", p.Stderr()}} {
		if n := len(s.all) - 40; n > 0 {
			fmt.Fprintf(&b, "%s: ... %d lines\n", s.name, n)
			s.all = s.all[n:]
		}
		for _, line := range s.all {
			fmt.Fprintf(&b, "%s: %s\n", s.name, line)
		}
	}
	return b.String()
}

// Send writes a line to standard input.
func (p *Proc) Send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		p.t.Fatalf("send %q: %v", line, err)
	}
}

// CloseStdin ends standard input.
func (p *Proc) CloseStdin() {
	p.t.Helper()
	if err := p.stdin.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		p.t.Fatal(err)
	}
}

// Signal sends a signal; that the process has ended already is no error.
func (p *Proc) Signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// Wait waits until the process has ended by itself and returns its exit code,
// -1 if a signal ended it.
func (p *Proc) Wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(Patience):
		p.t.Fatalf("%s still runs after %v", filepath.Base(p.cmd.Path), Patience)
	}
	return p.exit().ExitCode()
}

// exit returns how the process ended, nil if it has not.
func (p *Proc) exit() *os.ProcessState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Running reports whether the process has not ended yet.
func (p *Proc) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Kill ends the process at once and waits until it is gone.
func (p *Proc) Kill() {
	p.cmd.Process.Kill() // an error means that it has ended
	// A child of the process that has inherited the pipes would hold them open.
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		p.t.Logf("%s is killed, but another process holds its output open", filepath.Base(p.cmd.Path))
	}
}

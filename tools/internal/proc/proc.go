// Package proc runs programs whose output is read line by line: the bench
// programs wait for lines and say where they are by lines.
package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Patience is how long a wait may take.
const Patience = 10 * time.Minute

// A Proc is a running program whose output is read line by line.
type Proc struct {
	Cmd      *exec.Cmd
	Out, Err *Lines
	in       io.WriteCloser
	done     chan error
}

// Start starts a program.
func Start(cmd *exec.Cmd) (*Proc, error) {
	p := &Proc{Cmd: cmd, done: make(chan error, 1)}
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.Out, p.Err = read(stdout), read(stderr)
	go func() {
		<-p.Out.end
		<-p.Err.end
		p.done <- cmd.Wait()
	}()
	return p, nil
}

// Wait waits until the program has ended, up to [Patience].
func (p *Proc) Wait() error {
	select {
	case err := <-p.done:
		p.done <- err
		return err
	case <-time.After(Patience):
		return errors.New("does not end")
	}
}

// Kill ends the program.
func (p *Proc) Kill() { p.Cmd.Process.Kill() } //nolint:errcheck // it may be gone

// Send writes a line to the program.
func (p *Proc) Send(line string) error {
	_, err := fmt.Fprintln(p.in, line)
	return err
}

// Line waits for a line of standard output with this beginning.
func (p *Proc) Line(prefix string) (string, error) {
	return p.Out.Find(func(s string) bool { return strings.HasPrefix(s, prefix) })
}

// Contains waits for a line of standard output that has this in it.
func (p *Proc) Contains(part string) (string, error) {
	return p.Out.Find(func(s string) bool { return strings.Contains(s, part) })
}

// ErrLine waits for a line of standard error with this beginning.
func (p *Proc) ErrLine(prefix string) (string, error) {
	return p.Err.Find(func(s string) bool { return strings.HasPrefix(s, prefix) })
}

// Lines are a stream's lines, the past ones and those to come.
type Lines struct {
	got  []string
	next chan string
	end  chan struct{}
}

func read(r io.Reader) *Lines {
	l := &Lines{next: make(chan string, 1<<16), end: make(chan struct{})}
	go func() {
		s := bufio.NewScanner(r)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			l.next <- s.Text()
		}
		close(l.next)
		close(l.end)
	}()
	return l
}

// Find waits for a line that matches, in what was not looked at yet.
func (l *Lines) Find(match func(string) bool) (string, error) {
	limit := time.After(Patience)
	for {
		select {
		case s, ok := <-l.next:
			if !ok {
				return "", fmt.Errorf("ended without the line waited for: %s", l.All())
			}
			l.got = append(l.got, s)
			if match(s) {
				return s, nil
			}
		case <-limit:
			return "", fmt.Errorf("no such line in %v: %s", Patience, l.All())
		}
	}
}

// All is the whole text, once the stream has ended; before, what came.
func (l *Lines) All() string {
	for {
		select {
		case s, ok := <-l.next:
			if ok {
				l.got = append(l.got, s)
				continue
			}
		default:
		}
		return strings.Join(l.got, "\n") + "\n"
	}
}

// On starts a program on a terminal: what it prints is read from the terminal's other side, as
// standard error.
func On(cmd *exec.Cmd, terminal, other *os.File) (*Proc, error) {
	p := &Proc{Cmd: cmd, done: make(chan error, 1), Out: read(strings.NewReader(""))}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.Err = read(other)
	go func() {
		p.done <- cmd.Wait()
	}()
	return p, nil
}

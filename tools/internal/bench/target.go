package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

// A Target is a program that prints PID and READY, waits for a line, works,
// prints DONE, waits for a line, and works again.
type Target struct {
	*proc.Proc
	PID string
}

// StartTarget starts a program and waits until it is ready.
func StartTarget(cmd *exec.Cmd) (*Target, error) {
	p, err := proc.Start(cmd)
	if err != nil {
		return nil, err
	}
	t := &Target{Proc: p}
	if t.PID, err = p.Line("PID "); err == nil {
		t.PID = strings.TrimPrefix(t.PID, "PID ")
		_, err = p.Line("READY")
	}
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, p.Err.All())
	}
	return t, nil
}

// Work lets the program go on to DONE.
func (t *Target) Work(line string) error {
	if err := t.Send(line); err != nil {
		return err
	}
	_, err := t.Line("DONE")
	return err
}

// Finish lets the program go on to its end.
func (t *Target) Finish() error {
	if err := t.Send("post"); err != nil {
		return err
	}
	if err := t.Wait(); err != nil {
		return fmt.Errorf("the program failed: %w: %s", err, t.Err.All())
	}
	return nil
}

// Laps returns the last number of each line "TAG i number", in order.
func Laps(text, tag string) (out []float64) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != tag {
			continue
		}
		if v, err := strconv.ParseFloat(f[2], 64); err == nil {
			out = append(out, v)
		}
	}
	return out
}

// Java starts one of this package's Java programs and waits until it is ready.
func (k *Kit) Java(j jdk.JDK, options []string, args ...string) (*Target, error) {
	path, err := k.Compile()
	if err != nil {
		return nil, err
	}
	return StartTarget(exec.Command(j.Java(), append(append(options, "-cp", path), args...)...))
}

// Script is the command of a script of the bench programs.
func (k *Kit) Script(j jdk.JDK, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(k.scripts, name), args...)
	cmd.Env = append(os.Environ(), "JAVA_HOME="+j.Home)
	return cmd
}

// A Recording is a running "rivulet profile", or "rivulet time".
type Recording struct {
	*proc.Proc
	Armed time.Duration // from its start until it recorded
	file  string
}

// Record attaches and waits until the recording, or its warm-up, is on.
func (k *Kit) Record(pid string, flags ...string) (*Recording, error) {
	return k.start("profile", pid, flags...)
}

// Timing starts "rivulet time" and waits until it is on.
func (k *Kit) Timing(pid string, flags ...string) (*Recording, error) {
	return k.start("time", pid, flags...)
}

// Sample starts to sample a process, and returns when it does.
func (k *Kit) Sample(pid, file string, flags ...string) (*Recording, error) {
	args := append([]string{"sample", pid, "--json", "-o", file}, flags...)
	p, err := proc.Start(exec.Command(k.Rivulet, args...))
	if err != nil {
		return nil, err
	}
	if _, err := p.Err.Find(func(line string) bool { return strings.HasPrefix(line, "rivulet: sampling") }); err != nil {
		p.Kill()
		return nil, fmt.Errorf("rivulet %s: %w", strings.Join(args, " "), err)
	}
	return &Recording{Proc: p, file: file}, nil
}

func (k *Kit) start(command, pid string, flags ...string) (*Recording, error) {
	r := &Recording{file: filepath.Join(k.Temp, "report.json")}
	os.Remove(r.file)
	args := append([]string{command, pid, "--format", "json", "-o", r.file}, flags...)
	begin := time.Now()
	var err error
	if r.Proc, err = proc.Start(exec.Command(k.Rivulet, args...)); err != nil {
		return nil, err
	}
	on := func(line string) bool {
		return strings.HasPrefix(line, "rivulet: recording") || strings.HasPrefix(line, "rivulet: warming up")
	}
	if _, err := r.Err.Find(on); err != nil {
		r.Kill()
		return nil, fmt.Errorf("rivulet %s: %w", strings.Join(args, " "), err)
	}
	r.Armed = time.Since(begin)
	return r, nil
}

// End stops the recording, waits until it has detached and written its report,
// and says how long that took.
func (r *Recording) End() (time.Duration, error) {
	begin := time.Now()
	if err := r.Cmd.Process.Signal(os.Interrupt); err != nil && r.Cmd.ProcessState == nil {
		return 0, err
	}
	if err := r.Wait(); err != nil {
		return 0, fmt.Errorf("rivulet: %w: %s", err, r.Err.All())
	}
	return time.Since(begin), nil
}

// Stop ends the recording and reads its report, which must be exact: no figure
// may be made of another.
func (r *Recording) Stop() (*Report, error) {
	if _, err := r.End(); err != nil {
		return nil, err
	}
	report, err := r.Read()
	if err == nil {
		err = report.Exact()
	}
	return report, err
}

// Read reads the report of a recording that has ended.
func (r *Recording) Read() (*Report, error) { return ReadReport(r.file) }

// File is the report's path.
func (r *Recording) File() string { return r.file }

// Size is the report's size in bytes.
func (r *Recording) Size() int64 {
	info, err := os.Stat(r.file)
	if err != nil {
		return 0
	}
	return info.Size()
}

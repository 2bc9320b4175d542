package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/jvmside"
	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// Seconds of the demo, whose target prints its speed once a second.
const (
	demoSale   = 3  // then the flash sale begins, which loads a class late
	demoWarmUp = 6  // at least, so that most is compiled and the sale is on
	demoSettle = 4  // at least, after the classes are restored: they are compiled anew
	demoPhase  = 4  // to be measured, before and after
	demoLonger = 12 // at the most beyond warming up and settling, until the speed is level
)

func (a *app) demo() *cobra.Command {
	var length time.Duration
	var java string
	var top, depth int
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Start a bundled sample program, profile it, and show what that cost it",
		Long: `Starts a small order-processing server (several threads, polymorphism, recursion,
lambdas, exceptions), attaches to it as to any process, profiles a root with
Scheme C, prints tree and hot methods, detaches, and shows the program's speed
before, during and after.`,
		Example: `  rivulet demo
  rivulet demo --for 20s --top 5
  rivulet demo --java /usr/lib/jvm/java-17/bin/java`,
		Args: takes(0),
		RunE: func(*cobra.Command, []string) error {
			if length < 2*time.Second {
				return usage("--for %v: the demo needs two seconds at least, to measure its speed", length)
			}
			if java == "" {
				found, ok := jdk.Default()
				if !ok {
					return errors.New("no Java found: install one (on Debian and Ubuntu: apt install default-jdk-headless), or name one with --java or JAVA_HOME")
				}
				java = found.Java()
			}
			options := textOptions(a.stdout)
			options.Top, options.Depth = top, depth
			return a.showDemo(java, length, options)
		},
	}
	fs := cmd.Flags()
	fs.DurationVar(&length, "for", 5*time.Second, "record for this `time`")
	fs.StringVar(&java, "java", "", "java `command` to run the sample program with (default: JAVA_HOME, PATH, /usr/lib/jvm)")
	fs.IntVar(&top, "top", 10, "`N` hot methods; 0 for all")
	fs.IntVar(&depth, "depth", export.DefaultDepth, "`N` levels of the tree; 0 for all")
	return cmd
}

func (a *app) showDemo(java string, length time.Duration, options export.TextOptions) error {
	in := watchInterrupts()
	defer in.stop()
	target, err := startDemo(in.first, java, a.stderr)
	if err != nil {
		return err
	}
	defer target.stop()
	a.say("started the sample program as process %d, with %s; it warms up for some seconds", target.pid(), java)
	before, err := target.level(in.first, demoWarmUp)
	if err != nil {
		return err
	}
	s, err := a.attach(in, target.pid(), a.config(0))
	if err != nil {
		return err
	}
	m := startMeter(a.stderr, s.Progress)
	defer m.stop()
	if err := arm(in, s, m, spec.Recording{Roots: []string{jvmside.DemoRoot}}); err != nil {
		return err
	}
	target.forget()
	await(s, m, length, in.first)
	during := target.seen()
	r, err := finish(in, s, m)
	if r == nil {
		return err
	}
	if werr := r.Text(a.stdout, options); err == nil {
		err = werr
	}
	if err != nil || in.first.Err() != nil {
		return err
	}
	a.say("detached; measuring the speed once more, which takes some %d seconds", demoSettle+demoPhase)
	after, err := target.level(in.first, demoSettle)
	if err != nil {
		return err
	}
	return writeSpeeds(a.stdout, before, during, after)
}

func writeSpeeds(w io.Writer, before, during, after []float64) error {
	if _, err := fmt.Fprint(w, "\nSpeed of the sample program, orders a second\n\n"); err != nil {
		return err
	}
	rows := [][]string{{"", "     mean", "   lowest", "  highest", "of before"}}
	for _, l := range []struct {
		when   string
		speeds []float64
	}{{"before", before}, {"during", during}, {"after", after}} {
		if len(l.speeds) == 0 {
			rows = append(rows, []string{l.when, "not measured", "", "", ""})
			continue
		}
		row := []string{l.when}
		for _, v := range []float64{mean(l.speeds), slices.Min(l.speeds), slices.Max(l.speeds)} {
			row = append(row, fmt.Sprintf("%9s", export.Count(int64(v))))
		}
		ratio := "        -"
		if b := mean(before); b > 0 {
			ratio = fmt.Sprintf("%7.1f %%", 100*mean(l.speeds)/b)
		}
		rows = append(rows, append(row, ratio))
	}
	return writeRows(w, rows, 0)
}

// A demoTarget is the sample program at work. It ends with its standard
// input, so it never outlives us.
type demoTarget struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	dir    string
	errors *tail
	speeds chan float64  // a line each second
	done   chan struct{} // closed at the end of its output
}

func startDemo(ctx context.Context, java string, stderr io.Writer) (t *demoTarget, err error) {
	dir, err := os.MkdirTemp("", "rivulet-demo-")
	if err != nil {
		return nil, fmt.Errorf("no place for the sample program: %w", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	jar := filepath.Join(dir, "demo.jar")
	if err := os.WriteFile(jar, jvmside.DemoJar(), 0o600); err != nil {
		return nil, fmt.Errorf("no place for the sample program: %w", err)
	}
	t = &demoTarget{dir: dir, errors: &tail{w: stderr}, speeds: make(chan float64, 1024), done: make(chan struct{})}
	t.cmd = exec.Command(java, "-jar", jar, "--late", fmt.Sprint(demoSale))
	t.cmd.Stderr = t.errors
	// Ctrl-C is for us: the program has to live until we have detached.
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if t.stdin, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errInterrupted
	}
	if err := t.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the sample program can't be started: %w; name a java command with --java", err)
	}
	go func() {
		defer close(t.done)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			var speed float64
			if _, err := fmt.Sscanf(lines.Text(), "speed %g orders/s", &speed); err != nil {
				continue
			}
			select {
			case t.speeds <- speed:
			default: // nobody wanted a thousand lines
			}
		}
	}()
	return t, nil
}

func (t *demoTarget) pid() int { return t.cmd.Process.Pid }

func (t *demoTarget) stop() {
	t.stdin.Close()
	select {
	case <-t.done:
	case <-time.After(5 * time.Second):
		t.cmd.Process.Kill()
		<-t.done
	}
	_ = t.cmd.Wait() // how it ended no longer matters
	os.RemoveAll(t.dir)
}

// next waits for the speed of the next second.
func (t *demoTarget) next(ctx context.Context) (float64, error) {
	select {
	case v := <-t.speeds:
		return v, nil
	case <-ctx.Done():
		return 0, errors.New("interrupted")
	case <-t.done:
		return 0, fmt.Errorf("the sample program has ended by itself: %s", t.errors.last())
	case <-time.After(20 * time.Second):
		return 0, errors.New("the sample program has said nothing for 20 seconds; is the machine too busy?")
	}
}

// level waits until the speed no longer rises or falls (compilers and other
// programs move it), but not for ever, and returns that of the last seconds.
func (t *demoTarget) level(ctx context.Context, least int) ([]float64, error) {
	t.seen()
	return t.settled(ctx, least)
}

// settled is level, but goes by what was printed already, too.
func (t *demoTarget) settled(ctx context.Context, least int) ([]float64, error) {
	var got []float64
	for {
		v, err := t.next(ctx)
		if err != nil {
			return nil, err
		}
		got = append(got, v)
		if len(got) < least+demoPhase {
			continue
		}
		last := got[len(got)-demoPhase:]
		if slices.Min(last) > 0.85*slices.Max(last) || len(got) >= least+demoPhase+demoLonger {
			return last, nil
		}
	}
}

// forget drops the lines so far and the one of the second that is running.
func (t *demoTarget) forget() {
	t.seen()
	select {
	case <-t.speeds:
	case <-time.After(2 * time.Second):
	}
}

// seen returns the speeds that were printed and not asked for.
func (t *demoTarget) seen() []float64 {
	var got []float64
	for {
		select {
		case v := <-t.speeds:
			got = append(got, v)
		default:
			return got
		}
	}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

// A tail passes text on and remembers its last line.
type tail struct {
	w    io.Writer
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if len(t.text) > 4096 {
		t.text = append([]byte(nil), t.text[len(t.text)-4096:]...)
	}
	return t.w.Write(p)
}

// last must only be called when nobody writes any more.
func (t *tail) last() string {
	text := strings.TrimSpace(string(bytes.ToValidUTF8(t.text, []byte("?"))))
	if text == "" {
		return "it said nothing"
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

// errRefused is wrapped where a recording did not begin.
var errRefused = errors.New("rivulet does not record")

const root = "f.Faults.request"

// A controller is a running rivulet.
type controller struct {
	*proc.Proc
	pid    int
	report string
	data   *os.File // the shared memory, once it was found
	before int64    // root calls that had ended before it began
	begun  int64    // root calls that had begun when it said that it records
}

// record starts a recording with options chosen at random, and returns at once.
func (r *round) record(more ...string) error {
	r.options = append(r.choose(), more...)
	return r.rivulet(append([]string{"profile", fmt.Sprint(r.t.pid), "--root", root}, r.options...)...)
}

// choose are options of a recording.
func (r *round) choose() (out []string) {
	pick := func(from ...string) {
		if s := from[r.rng.IntN(len(from))]; s != "" {
			out = append(out, strings.Fields(s)...)
		}
	}
	if r.jdk.Version >= 11 {
		pick("", "--scheme A", "--scheme B", "--scheme C", "--scheme D")
	} else {
		pick("", "--scheme A", "--scheme B", "--scheme C") // there D can't read the memory
	}
	pick("", "--clock precise")
	pick("", "", "", "--record events", "--count bytecodes", "--count blocks", "--count allocations", "--cpu", "--sample", "--slowest 3", "--follow")
	pick("", "--restore now")
	return append(out, "--observe", "1s") // on a busy machine the program may not run at all for a while
}

// command is one of Rivulet's, in its place.
func (r *round) command(args ...string) *exec.Cmd {
	argv := append(append(slices.Clone(r.launch.rivulet), r.Rivulet), args...)
	return exec.Command(argv[0], argv[1:]...)
}

// rivulet starts a controller.
func (r *round) rivulet(args ...string) error {
	c := &controller{report: filepath.Join(r.dir, "report.json")}
	os.Remove(c.report)
	_, c.before, _ = r.t.calls()
	if args[0] == "profile" && !has(args, "-o") {
		args = append(args, "--format", "json", "--depth", "50", "-o", c.report)
	}
	var err error
	if c.Proc, err = proc.Start(r.command(args...)); err != nil {
		return err
	}
	c.pid, r.c = c.Cmd.Process.Pid, c
	return nil
}

func has(args []string, what string) bool {
	for _, a := range args {
		if a == what {
			return true
		}
	}
	return false
}

// on waits until it records.
func (c *controller) on(t *target) error {
	timer := time.AfterFunc(*patient, c.Kill)
	defer timer.Stop()
	// On a terminal, what erases the progress comes before it.
	if _, err := c.Err.Find(func(line string) bool { return strings.Contains(line, "rivulet: recording") }); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	c.begun, _, _ = t.calls()
	return c.find()
}

// find opens its data file, so that it can be read when the controller is gone.
func (c *controller) find() error {
	names := c.open(func(to string) bool { return strings.HasPrefix(to, "/dev/shm/.rivulet-") })
	if len(names) == 0 {
		return errors.New("rivulet has no data file open")
	}
	f, err := os.OpenFile(names[0], os.O_RDWR, 0)
	c.data = f
	return err
}

// open are the descriptors that lead to something.
func (c *controller) open(is func(to string) bool) (out []string) {
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", c.pid))
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && is(to) {
			out = append(out, fd)
		}
	}
	return out
}

// word is a small word of the data file's header.
func (c *controller) word(off int64) uint32 {
	var b [4]byte
	c.data.ReadAt(b[:], off) //nolint:errcheck // then it is 0
	return binary.NativeEndian.Uint32(b[:])
}

// silent reports whether no probe records.
func (c *controller) silent() bool { return c.data == nil || c.word(wire.HTag+4) == 0 }

func (c *controller) signal(s syscall.Signal) { unix.Kill(c.pid, s) } //nolint:errcheck // it may have ended

// end waits for its end and returns its exit code. A controller that crashed is an error.
func (c *controller) end() (code int, err error) {
	hangs := time.AfterFunc(2*(*patient), func() {
		c.signal(unix.SIGQUIT) // prints what it does
		time.Sleep(time.Second)
		c.Kill()
	})
	err = c.Wait()
	text := c.Err.All()
	switch {
	case !hangs.Stop():
		return 0, fmt.Errorf("rivulet did not end within %v: %s", 2*(*patient), text)
	case strings.Contains(text, "panic: ") || strings.Contains(text, "fatal error: ") || strings.Contains(text, "SIGSEGV") || strings.Contains(text, "SIGBUS"):
		return 0, fmt.Errorf("rivulet crashed: %s", text)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// A report is what is read of one.
type report struct {
	Ended       string
	Calls       int64
	Invocations int64 `json:"root_invocations"`
	Open        int64 `json:"open_invocations"`
	Exact       bool
	Gaps        []struct{ Reason string }
	Overflow    int64
	Lost        int64
	Incomplete  int64
	Flat        []struct {
		Method string
		Calls  int64
	}
}

func (c *controller) read() (*report, error) {
	b, err := os.ReadFile(c.report)
	if err != nil {
		return nil, err
	}
	var r report
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return &r, nil
}

// of are the calls of one method.
func (r *report) of(method string) (n int64) {
	for _, f := range r.Flat {
		if bench.Name(f.Method) == method {
			n += f.Calls
		}
	}
	return n
}

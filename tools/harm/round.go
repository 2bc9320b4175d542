package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// calls of one request, by the program's source.
var perRequest = map[string]int64{"f.Faults.step": 8, "f.Faults.fib": 67 + 5, "f.Faults.half": 1, "f.Faults$Shape.twice": 8}

// promised is within what time the code is restored, or the agent says that it is doing so.
const promised = 2 * time.Second

// A round is one injection of one fault.
type round struct {
	*bench.Kit
	fault   *fault
	rng     *rand.Rand
	jdk     jdk.JDK
	dir     string
	options []string
	launch  launch
	t       *target
	c       *controller

	ended      int64 // root calls that had ended at the moment of the fault
	silent     time.Duration
	restored   time.Duration
	recording  bool // the fault came when the recording was on
	mustReport bool
	whole      bool
	again      bool
	exact      bool
	restoring  bool // the agent said that it is restoring by itself
	late       bool // it did not, and code was not restored within the time promised
}

// do carries the round out.
func (r *round) do() (err error) {
	defer r.close()
	private := (r.fault.private || r.rng.IntN(2) == 0) && mounts() == nil
	shm := 64
	if r.fault.shmMB != 0 {
		shm = r.fault.shmMB
	}
	if err := r.start(private, shm, r.fault.flags...); err != nil {
		return err
	}
	if err := r.t.Send("go"); err != nil {
		return err
	}
	r.wait(100 * time.Millisecond)
	return r.fault.run(r)
}

// close ends both processes, whatever they do.
func (r *round) close() {
	if r.c != nil {
		r.c.Kill()
		if r.c.data != nil {
			r.c.data.Close()
		}
	}
	if r.t != nil {
		r.t.close()
	}
}

// wait sleeps for a random time below the limit.
func (r *round) wait(limit time.Duration) { time.Sleep(time.Duration(r.rng.Int64N(int64(limit)))) }

// moment attaches, and waits until a random moment: while arming in every third round, else while
// recording. always waits until the recording is on.
func (r *round) moment(always bool, options ...string) error {
	early := !always && r.rng.IntN(3) == 0
	if err := r.record(options...); err != nil {
		return err
	}
	if early {
		r.wait(1500 * time.Millisecond)
	} else {
		if err := r.c.on(r.t); err != nil {
			return err
		}
		r.wait(700 * time.Millisecond)
		r.recording = true
	}
	_, r.ended, _ = r.t.calls()
	return nil
}

// kept reads the report, which must have everything up to the fault.
func (r *round) kept() error {
	if !r.recording {
		return nil
	}
	r.mustReport = true
	if err := r.check(); err != nil {
		return fmt.Errorf("%w: %s", err, r.c.Err.All())
	}
	return nil
}

func (r *round) check() error {
	p, err := r.c.read()
	if err != nil {
		return fmt.Errorf("no report: %w", err)
	}
	begun, _, _ := r.t.calls()
	if least, most := r.ended-r.c.begun, begun-r.c.before; p.Invocations < least || p.Invocations > most {
		if r.fault.loses && p.Invocations < least {
			return nil // the table says how often
		}
		return fmt.Errorf("the report has %d root calls, and there were %d to %d", p.Invocations, least, most)
	}
	if p.Exact && !r.fault.cut {
		for method, per := range perRequest {
			if n := p.of(method); n > per*p.Invocations || n < per*(p.Invocations-p.Open) {
				return fmt.Errorf("%d calls of %s in %d root calls, %d of them open", n, method, p.Invocations, p.Open)
			}
		}
	}
	r.whole = true
	return nil
}

// quiet measures from begin until the probes are silent. It is for controllers that are gone.
func (r *round) quiet(begin time.Time) error {
	for !r.c.silent() {
		if time.Since(begin) > *patient {
			return fmt.Errorf("probes still record %v after the fault", *patient)
		}
		time.Sleep(time.Millisecond)
	}
	r.silent = time.Since(begin)
	return nil
}

// restore waits until everything in the program is as before, and measures that from begin on.
func (r *round) restore(begin time.Time, measured bool) error {
	why := ""
	for {
		took := time.Since(begin)
		left := r.t.left()
		changed, err := r.t.changed()
		if err != nil {
			return err
		}
		if changed == "" && len(left) == 0 {
			if measured {
				r.restored = took
			}
			return nil
		}
		if why = changed; why == "" {
			why = strings.Join(left, ", ")
		}
		if _, restoring := attach.Restoring(r.t.pid); restoring {
			r.restoring = true
		} else if took > promised && changed != "" && measured {
			r.late = !r.restoring
		}
		if took > *patient && !r.restoring || took > 2*(*patient) {
			return fmt.Errorf("%v after the fault, and still restoring: %s", took.Round(time.Millisecond), why)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// after looks whether the program that lives is well: results, exact counts of one more
// recording, nothing left, and its orderly end.
func (r *round) after() error {
	if err := r.t.ask("hold", "HELD"); err != nil {
		return err
	}
	if _, _, wrong := r.t.calls(); wrong != 0 {
		return fmt.Errorf("%d results of the program are wrong: %s", wrong, r.t.Out.All())
	}
	if err := r.once(perRequest, "--scheme", string("ABC"[r.rng.IntN(3)])); err != nil {
		return fmt.Errorf("recorded once more: %w", err)
	}
	r.t.jarStays = false
	if err := r.restore(time.Now(), false); err != nil {
		return fmt.Errorf("after another recording: %w", err)
	}
	if left := r.t.trigger(); left != "" {
		return fmt.Errorf("left after another recording: %s", left)
	}
	if err := r.t.ask("end", "END"); err != nil {
		return err
	}
	if err := r.t.Wait(); err != nil {
		return fmt.Errorf("the program ended with %w: %s", err, r.t.Err.All())
	}
	return nil
}

// once records a known number of root calls with these options. Their counts must be exact, with
// so many calls of each method in one of them.
func (r *round) once(each map[string]int64, options ...string) error {
	r.again = true
	first := r.c
	defer func() {
		r.c.Kill()
		if first != nil {
			r.c = first
		}
	}()
	const requests = 20
	if err := r.begin(options...); err != nil {
		return err
	}
	if err := r.t.ask(fmt.Sprintf("run %d", requests), "RAN"); err != nil {
		return err
	}
	if err := r.counts(requests, each); err != nil {
		return fmt.Errorf("%s: %w", options, err)
	}
	r.exact = true
	return nil
}

// begin starts a recording and waits until it is on.
func (r *round) begin(options ...string) error {
	if err := r.rivulet(append([]string{"profile", fmt.Sprint(r.t.pid), "--root", root}, options...)...); err != nil {
		return err
	}
	if err := r.c.on(r.t); err != nil {
		return err
	}
	return r.c.data.Close()
}

// counts ends the recording, whose counts must be exact: so many root calls, with so many calls of each method in one of them.
func (r *round) counts(requests int64, each map[string]int64) error {
	r.c.signal(unix.SIGINT)
	if code, err := r.c.end(); err != nil || code != 0 {
		return fmt.Errorf("exit code %d: %w: %s", code, err, r.c.Err.All())
	}
	p, err := r.c.read()
	if err != nil {
		return err
	}
	if p.Invocations != requests || p.Open != 0 || !p.Exact {
		return fmt.Errorf("%d root calls of %d, %d open, exact %v, %v, overflow %d, lost %d, incomplete %d", p.Invocations, requests, p.Open, p.Exact, p.Gaps, p.Overflow, p.Lost, p.Incomplete)
	}
	for method, per := range each {
		if n := p.of(method); n != per*requests {
			return fmt.Errorf("%d calls of %s instead of %d", n, method, per*requests)
		}
	}
	return nil
}

// dead looks whether the files of a program that has ended are gone.
func (r *round) dead() error {
	if files := r.t.files(); len(files) > 0 {
		return fmt.Errorf("left of a program that has ended: %s", strings.Join(files, ", "))
	}
	return nil
}

// crash is what HotSpot left if the program crashed, "" if it did not.
func (r *round) crash() string {
	for _, dir := range []string{".", fmt.Sprintf("/proc/%d/cwd", r.t.pid)} {
		if names, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("hs_err_pid%d.log", r.t.pid))); len(names) > 0 {
			b, _ := os.ReadFile(names[0]) //nolint:errcheck // what is there is said
			return string(b[:min(len(b), 3000)])
		}
	}
	return ""
}

// said is a round's line in the log.
func (r *round) said(err error) string {
	if err != nil {
		if c := r.crash(); c != "" {
			err = errors.Join(err, errors.New(c))
		}
		return "FAILED: " + err.Error() + "\nprogram: " + r.t.Err.All()
	}
	var out []string
	if r.recording {
		out = append(out, "while recording")
	} else {
		out = append(out, "while arming")
	}
	if r.silent > 0 {
		out = append(out, fmt.Sprintf("silent after %d ms", r.silent.Milliseconds()))
	}
	if r.restored > 0 {
		out = append(out, fmt.Sprintf("restored after %d ms", r.restored.Milliseconds()))
	}
	if r.late {
		out = append(out, "late")
	}
	if r.restoring {
		out = append(out, "gently")
	}
	if r.mustReport {
		out = append(out, "reported")
	}
	return strings.Join(out, ", ")
}

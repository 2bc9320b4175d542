package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// A Program is one of bench/run.sh that makes a fixed number of iterations.
type Program struct {
	Name           string
	Count          int      // iterations that are recorded
	Args           []string // of run.sh, after the count
	Whole, Partial string   // roots
	Warm           int      // of Count, how many --warmup is to leave out
	Steady         int      // in place of Count where code has to be compiled again first; 0 is Count
	Room           string   // --memory for the contexts below the whole root; "" is what there is otherwise
	Cold           bool     // it makes no iterations before those that are recorded, and none after them
	Options        []string // of the JVM's
}

// Programs are the real ones, with sizes that let a whole-run root be recorded
// with the precise clock within minutes.
var Programs = []Program{
	{"sunflow", 4, []string{"128", "1"}, "org.sunflow.core.renderer.BucketRenderer$BucketThread.run", "org.sunflow.core.LightServer.initLightSamples", 0, 6, "", false, nil},
	{"h2", 10, []string{"h2", "2000"}, "wl.SqlW.iteration", "org.h2.command.dml.Update.update", 0, 60, "", false, nil},
	{"xalan", 40, []string{"org.apache.xalan.processor.TransformerFactoryImpl", "1"}, "wl.XsltW.iteration", "org.apache.xalan.templates.FuncFormatNumb.execute", 0, 150, "", false, nil},
	{"javac", 4, nil, "wl.JavacW.iteration", "com.sun.tools.javac.jvm.Gen.genClass", 0, 24, "4G", false, nil},
	{"batik", 4, []string{"256"}, "wl.BatikW.iteration", "org.apache.batik.bridge.GVTBuilder.build", 0, 12, "", false, nil},
}

// Root returns the root of that name: "partial", or any other for the whole.
func (p *Program) Root(what string) string {
	if what == "partial" {
		return p.Partial
	}
	return p.Whole
}

// A ProgramRun is what one process showed. Times are in ms.
type ProgramRun struct {
	Bare, Laps, Post []float64 // iterations before, during and after the recording
	Report           *Report   // nil of a bare run
	Armed            float64   // from the command until it recorded
	checksum         string
}

// A Job is done to a program between READY and DONE. Before it works, begin is
// called with its pid; then end, which may have a report.
type Job struct {
	Options []string // more of the JVM's
	Begin   func(pid string) error
	End     func() (*Report, error)
}

// Bare runs a program without a profiler, by the same protocol.
func (k *Kit) Bare(j jdk.JDK, p *Program) (*ProgramRun, error) {
	return k.Run(j, p, Job{
		Begin: func(string) error { return nil },
		End:   func() (*Report, error) { return nil, nil },
	})
}

// Profile runs a program and records its iterations. A program that says other
// things than its bare run is an error.
func (k *Kit) Profile(j jdk.JDK, p *Program, bare *ProgramRun, flags ...string) (*ProgramRun, error) {
	var rec *Recording
	defer func() {
		if rec != nil {
			rec.Kill()
		}
	}()
	r, err := k.Run(j, p, Job{
		Begin: func(pid string) (err error) {
			rec, err = k.Record(pid, append([]string{"--depth", "1"}, flags...)...)
			return err
		},
		End: func() (*Report, error) { return rec.Stop() },
	})
	if err == nil {
		r.Armed = float64(rec.Armed.Microseconds()) / 1e3
	}
	if err == nil && r.checksum != bare.checksum {
		err = fmt.Errorf("%s: checksum %s, but the bare run's is %s", p.Name, r.checksum, bare.checksum)
	}
	return r, err
}

// Corrected is [Kit.Profile], repeated until the times are corrected.
func (k *Kit) Corrected(j jdk.JDK, p *Program, bare *ProgramRun, flags ...string) (*ProgramRun, error) {
	return Until(k, func() (*ProgramRun, *Report, error) {
		r, err := k.Profile(j, p, bare, flags...)
		if err != nil {
			return nil, nil, err
		}
		return r, r.Report, nil
	})
}

// RootTime runs a program and times a root alone, with nothing beneath it
// ("rivulet time"): the mean of its invocations in ms, and how many there are
// in an iteration. The program makes some more iterations than otherwise, since
// attaching throws compiled code away.
func (k *Kit) RootTime(j jdk.JDK, p *Program, root string) (mean, count float64, err error) {
	long := *p
	long.Count, long.Warm = 3*p.Count, 0
	var rec *Recording
	defer func() {
		if rec != nil {
			rec.Kill()
		}
	}()
	_, err = k.Run(j, &long, Job{
		Begin: func(pid string) (err error) {
			rec, err = k.start("time", pid, "--root", root)
			return err
		},
		End: func() (*Report, error) {
			if _, err := rec.End(); err != nil {
				return nil, err
			}
			b, err := os.ReadFile(rec.file)
			if err != nil {
				return nil, err
			}
			mean, count, err = timed(b)
			return nil, err
		},
	})
	return mean, count / float64(k.Iterations(&long)), err
}

// timed returns the mean invocation in ms and the number of invocations of a
// timing's report, over all its methods.
func timed(report []byte) (mean, invocations float64, err error) {
	var doc struct {
		Kind    string
		Methods []struct {
			Count int64
			Total int64 `json:"total_ns"`
		}
	}
	if err := json.Unmarshal(report, &doc); err != nil {
		return 0, 0, fmt.Errorf("timing: %w", err)
	}
	if doc.Kind != "timing" {
		return 0, 0, fmt.Errorf("timing: a report of kind %q", doc.Kind)
	}
	var count, total int64
	for _, m := range doc.Methods {
		count += m.Count
		total += m.Total
	}
	if count == 0 {
		return 0, 0, errors.New("timing: the root was never called")
	}
	return float64(total) / float64(count) / 1e6, float64(count), nil
}

// Times reports whether this rivulet has the command "time".
func (k *Kit) Times() bool {
	help, err := exec.Command(k.Rivulet, "time", "--help").Output()
	return err == nil && strings.Contains(string(help), "rivulet time PID") // help of what is no command is the program's
}

// Run runs a program with a job.
func (k *Kit) Run(j jdk.JDK, p *Program, job Job) (*ProgramRun, error) {
	n := k.Iterations(p)
	bare := (n + 1) / 2
	if p.Cold {
		bare = 0
	}
	cmd := k.Script(j, "run.sh", append([]string{p.Name, strconv.Itoa(n)}, p.Args...)...)
	cmd.Env = append(cmd.Env, fmt.Sprintf("JOPTS=-Dwl.bare=%d %s", bare, strings.Join(slices.Concat(p.Options, job.Options), " ")))
	t, err := StartTarget(cmd)
	if err != nil {
		return nil, err
	}
	defer t.Kill()
	if err := job.Begin(t.PID); err != nil {
		return nil, err
	}
	if err := t.Work("go"); err != nil {
		return nil, err
	}
	r := &ProgramRun{}
	if r.Report, err = job.End(); err != nil {
		return nil, err
	}
	if err := t.Finish(); err != nil {
		return nil, err
	}
	return r, r.read(t.Out.All(), p.Cold)
}

// Iterations is how many a program makes between READY and DONE.
func (k *Kit) Iterations(p *Program) int {
	if k.Short && p.Warm == 0 {
		return min(p.Count, 2)
	}
	return p.Count
}

// Warmed returns the program with as many iterations again before those that
// count.
func (k *Kit) Warmed(p Program) *Program {
	p.Warm = k.Iterations(&p)
	p.Count = 2 * p.Warm
	return &p
}

var ending = regexp.MustCompile(`checksum=([0-9a-f]+) iter_ms:([ 0-9]+)`)

// read reads what wl.Harness printed.
func (r *ProgramRun) read(text string, cold bool) error {
	m := ending.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("printed no checksum: %s", text)
	}
	r.checksum = m[1]
	for _, f := range strings.Fields(m[2]) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return err
		}
		r.Laps = append(r.Laps, v)
	}
	r.Bare, r.Post = Laps(text, "BARE"), Laps(text, "POST")
	if len(r.Laps) == 0 || !cold && (len(r.Bare) == 0 || len(r.Post) == 0) {
		return errors.New("printed no times")
	}
	return nil
}

// PerUnit returns each method's calls divided by units: iterations or requests.
func (r *Report) PerUnit(units float64) map[string]float64 {
	out := map[string]float64{}
	for _, f := range r.Flat {
		out[f.Method] += float64(f.Calls) / units
	}
	return out
}

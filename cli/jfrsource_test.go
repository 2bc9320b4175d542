package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// spinning computes in spin, below main, until a line comes in, and then for 300 ms more of a core.
const spinning = `
public class Spinning {
    static volatile long sink;
    static void spin() { for (int i = 0; i < 1000; i++) sink += i; }
    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        while (System.in.available() == 0) spin();
        java.lang.management.ThreadMXBean threads = java.lang.management.ManagementFactory.getThreadMXBean();
        for (long until = threads.getCurrentThreadCpuTime() + 300_000_000L; threads.getCurrentThreadCpuTime() < until; ) spin();
    }
}`

func startSpinning(t *testing.T, j jvmtest.JDK) (*jvmtest.Proc, *attach.VM) {
	t.Helper()
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Spinning.java": spinning})
	p := jvmtest.Start(t, j, []string{"-Xmx64m"}, "Spinning", nil, dir)
	p.WaitLine("READY")
	vm, err := attach.Open(t.Context(), p.PID())
	if err != nil {
		t.Fatal(err)
	}
	return p, vm
}

// checkRecordings is what a JVM answers on which recordings there are.
func checkRecordings(t *testing.T, vm *attach.VM) string {
	t.Helper()
	r, err := vm.Execute(context.WithoutCancel(t.Context()), "jcmd", "JFR.check")
	if err != nil {
		t.Fatal(err)
	}
	return r.Text
}

// wantNoRecording fails if there is a recording of ours in the JVM, or a folder of one that was made since then. Other
// tests on this machine may have such folders, too, and remove them.
func wantNoRecording(t *testing.T, vm *attach.VM, since time.Time) {
	t.Helper()
	if text := checkRecordings(t, vm); strings.Contains(text, "rivulet-") {
		t.Errorf("recordings are left: %s", text)
	}
	left, err := filepath.Glob("/tmp/rivulet-jfr-*/settings.jfc")
	for _, f := range left {
		there := func() bool {
			b, e := os.ReadFile(f)
			return e == nil && strings.Contains(string(b), ownHz)
		}
		if st, e := os.Stat(f); e != nil || st.ModTime().Before(since) {
			continue // of tests that were killed
		}
		for end := time.Now().Add(jvmtest.Patience); there(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s is left: %v", f, err)
			}
		}
	}
}

// ownHz is a rate that no other test has, by which a settings file is told to be of this one.
const ownHz = ">37"

// TestJFRSourceJVM samples by Flight Recorder over several recordings, beside one of somebody else's, which
// goes on as if nothing had been, and has what was before, meanwhile and afterwards.
func TestJFRSourceJVM(t *testing.T) {
	t.Parallel()
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p, vm := startSpinning(t, j)
		theirs, err := vm.StartRecording(t.Context(), []attach.EventSetting{
			{Event: jfr.ExecutionSample, Settings: map[string]string{"period": "50 ms", "stackTrace": "true"}}, {Event: "jdk.ActiveSetting"},
		}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Remove(context.WithoutCancel(t.Context())) //nolint:errcheck // looked at below
		before := checkRecordings(t, vm)
		begun := time.Now()
		d, err := openJFR(t.Context(), p.PID(), sampler.Options{Hz: 27}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		type key struct {
			tid int
			at  int64
		}
		taken := map[key]bool{}
		batches, last, met := 0, int64(0), 0
		err = d.Run(ctx, func(batch []stack.Stack) {
			for _, s := range batch {
				if s.Time < last {
					t.Errorf("a sample at %d after one at %d", s.Time, last)
				}
				last = s.Time
				if k := (key{s.TID, s.Time}); taken[k] {
					t.Errorf("the sample %+v is there twice", k)
				} else {
					taken[k] = true
				}
				if n := len(s.Frames); s.Thread == "main" && n > 0 && *s.Frames[n-1].Method == (stack.Method{Class: "Spinning", Name: "main", Desc: "([Ljava/lang/String;)V"}) {
					met++
				}
			}
			if batches++; batches >= 3 && met > 0 {
				cancel()
			}
		})
		if err != nil || ctx.Err() != context.Canceled {
			t.Fatalf("%d samples of main in %d batches: %v, %v", met, batches, err, ctx.Err())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		passed := time.Since(begun)
		st := d.Stats()
		if want := map[bool]string{true: jfr.CPUTimeSample, false: jfr.ExecutionSample}[j.Version >= 25]; st.Event != want || st.Source != "jfr" || st.Hz != 27 || st.Samples < int64(met) || st.NoPerf != "" {
			t.Errorf("%+v", st)
		}
		wantNoRecordingBut(t, vm, before)
		if err := theirs.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		whole := map[bool]int{}
		if err := jfr.Each(t.Context(), jfr.NewReader(theirs.File, theirs.Size, jfr.Options{}), func(ty *jfr.Type) bool { return ty.Name == jfr.ExecutionSample }, func(e *jfr.Event) error {
			whole[time.Unix(0, e.Start()).Before(begun.Add(passed))]++
			return nil
		}); err != nil || whole[true] == 0 {
			t.Errorf("theirs has %v samples until the end of ours: %v", whole, err)
		}
		if err := theirs.Remove(t.Context()); err != nil {
			t.Error(err)
		}
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("the JVM ended with code %d", code)
		}
	})
}

// wantNoRecordingBut fails if the JVM has other recordings than before.
func wantNoRecordingBut(t *testing.T, vm *attach.VM, before string) {
	t.Helper()
	if after := checkRecordings(t, vm); after != before {
		t.Errorf("recordings were\n%s\nnow they are\n%s", before, after)
	}
}

// TestJFRSourceInterruptedJVM: the command, ended by a signal, reports what there is and leaves no recording.
func TestJFRSourceInterruptedJVM(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		begun := time.Now()
		p, vm := startSpinning(t, j)
		ended, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			var had time.Duration // of the cores, when it was recorded
			for {
				select {
				case <-ended:
					return
				case <-time.After(20 * time.Millisecond):
				}
				r, err := vm.Execute(context.WithoutCancel(t.Context()), "jcmd", "JFR.check")
				switch used := coresOf(p.PID()); {
				case err != nil || !strings.Contains(r.Text, "rivulet-"):
				case had == 0:
					had = used
				case used-had > time.Second:
					syscall.Kill(os.Getpid(), syscall.SIGINT) //nolint:errcheck // the command waits for it
					return
				}
			}
		}()
		code, stdout, stderr := command("sample", fmt.Sprint(p.PID()), "--source", "jfr", "--hz", "27", "--json")
		close(ended)
		<-done
		var r struct {
			Sampling struct{ Source, Event, Why string }
		}
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 || r.Sampling.Source != "jfr" || !strings.HasPrefix(r.Sampling.Event, "jdk.") || r.Sampling.Why != "" {
			t.Errorf("code %d, %v: %+v, %s", code, err, r, stderr)
		}
		if !strings.Contains(stderr, "sampling time on a core by jfr (jdk.") {
			t.Error(stderr)
		}
		wantNoRecording(t, vm, begun)
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("the JVM ended with code %d", code)
		}
	})
}

// coresOf is what a process's threads have had of the cores.
func coresOf(pid int) (sum time.Duration) {
	times, _ := attach.ThreadTimes(pid)
	for _, d := range times {
		sum += d
	}
	return sum
}

// TestJFRSourceExitJVM: what a JVM recorded before it ended is there.
func TestJFRSourceExitJVM(t *testing.T) {
	t.Parallel()
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p, _ := startSpinning(t, j)
		d, err := openJFR(t.Context(), p.PID(), sampler.Options{Hz: 99}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		p.Send("end") // it goes on computing for a while
		n := 0
		if err := d.Run(t.Context(), func(batch []stack.Stack) { n += len(batch) }); !errors.Is(err, os.ErrProcessDone) || n == 0 {
			t.Errorf("%d samples, %v", n, err)
		}
	})
}

// TestSamplers: the best source that is possible is taken, and why is said.
func TestSamplers(t *testing.T) {
	denied, none := errors.New("the memory may not be read"), errors.New("there is no Flight Recorder")
	for _, c := range []struct {
		source       string
		outside, jfr error
		want, why    string
	}{
		{"", nil, nil, "outside", ""},
		{"", denied, nil, "jfr", "the memory may not be read"},
		{"", denied, none, "threaddump", "the memory may not be read; by Flight Recorder: there is no Flight Recorder"},
		{"", os.ErrProcessDone, nil, "", ""},
		{"perf", denied, nil, "", ""},
		{"ptrace", nil, nil, "outside", ""},
		{"jfr", nil, nil, "jfr", ""},
		{"jfr", nil, none, "", ""},
		{"threaddump", nil, nil, "threaddump", ""},
	} {
		var opened []string
		open := func(name string, err, why error) (sampling, error) {
			if err == nil {
				opened = append(opened, name)
			}
			if why != nil {
				opened = append(opened, why.Error())
			}
			return nil, err
		}
		s := samplers{
			outside: func(int, sampler.Options) (sampling, error) { return open("outside", c.outside, nil) },
			jfr: func(_ context.Context, _ int, _ sampler.Options, why error) (sampling, error) {
				if c.jfr != nil {
					return nil, c.jfr
				}
				return open("jfr", nil, why)
			},
			dumps: func(_ context.Context, _ int, _ sampler.Options, why error) (sampling, error) {
				return open("threaddump", nil, why)
			},
		}
		_, err := s.open(t.Context(), 1, sampler.Options{Source: c.source})
		want := slices.DeleteFunc([]string{c.want, c.why}, func(s string) bool { return s == "" })
		if !slices.Equal(opened, want) || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, opened, err)
		}
	}
}

func TestHowSampled(t *testing.T) {
	for want, st := range map[string]sampler.Stats{
		"time on a core by perf at 99 Hz":                                                                       {Source: "perf", Mode: "cpu", Hz: 99},
		"all threads by ptrace at 20 Hz, since there are no perf events: no right":                              {Source: "ptrace", Mode: "wall", Hz: 20, NoPerf: "no right"},
		"time on a core by jfr (jdk.CPUTimeSample) at 100 Hz, since sampling from outside is not possible: x y": {Source: "jfr", Event: jfr.CPUTimeSample, Mode: "cpu", Hz: 100, NoPerf: "x\ny"},
	} {
		if got := howSampled(&st); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if err := checkSource("jfr", true); err == nil || !strings.Contains(err.Error(), "none that wait") {
		t.Error(err)
	}
	if err := checkSource("best", false); err == nil || !strings.Contains(err.Error(), "threaddump") {
		t.Error(err)
	}
}

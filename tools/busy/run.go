package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
	"github.com/rivulet-profiler/rivulet/tools/internal/load"
)

// measuring is a kit with the lengths of a run.
type measuring struct {
	*bench.Kit
	lengths
}

// rivulet runs a command of the product.
func (m *measuring) rivulet(args ...string) error {
	if b, err := exec.Command(m.Rivulet, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("rivulet %s: %w: %s", strings.Join(args, " "), err, b)
	}
	return nil
}

// A run is what one server showed.
type run struct {
	before          float64 // answers a second
	p99             time.Duration
	arming, leaving window
	armed           time.Duration
	report          *bench.Report // nil of what is no recording
	late            int
	grown           float64 // the target's resident memory, in MB
	compiling       float64 // processor time of the JVM's compilers while it was armed and recorded, in s
}

// A window is a stretch of time from the command, or from its end, on.
type window struct {
	rates   []float64
	gap     time.Duration
	answers load.Answers
}

// run starts a server and measures a way of recording it.
func (m *measuring) run(j jdk.JDK, options []string, w way) (r *run, err error) {
	s, err := m.Serve(j, 0, options...)
	if err != nil {
		return nil, err
	}
	defer s.Stop(&err)
	l := load.Start(s.URL, connections, load.Shop)
	defer l.Stop()
	time.Sleep(m.warm)
	from := l.Now()
	time.Sleep(m.before)
	to := l.Now()
	r = &run{}
	bare := l.Between(from, to)
	r.before, r.p99 = float64(len(bare))/(to-from).Seconds(), bare.Took(0.99)
	if r.before == 0 {
		return nil, fmt.Errorf("the server answers nothing: %w", bare.Failed())
	}
	before := resident(s.PID)

	compiled := compilers(s.PID)
	begun := l.Now()
	on, err := w.begin(m, j, s.PID)
	if err != nil {
		return nil, err
	}
	r.armed = l.Now() - begun
	if left := begun + m.window - l.Now(); left > 0 {
		time.Sleep(left)
	}
	r.arming = cut(l, begun, m.window)
	r.grown, r.compiling = resident(s.PID)-before, compilers(s.PID)-compiled

	ended := l.Now()
	done := make(chan error, 1)
	go func() { done <- on.end(r) }()
	time.Sleep(m.window)
	if err := <-done; err != nil {
		return nil, err
	}
	r.leaving = cut(l, ended, m.window)
	if err := l.Between(from, l.Now()).Failed(); err != nil {
		return nil, err
	}
	return r, nil
}

func cut(l *load.Load, from, length time.Duration) window {
	a := l.Between(from, from+length)
	return window{a.Rates(from, int(length/time.Second)), a.Gap(from, from+length), a}
}

// row are the figures of a run, in the page's order.
func (r *run) row() []float64 {
	half := r.arming.rates[len(r.arming.rates)/2:]
	row := []float64{
		r.before, load.Lost(r.arming.rates, r.before), load.Lost(r.leaving.rates, r.before), 100 * bench.Sum(half) / float64(len(half)) / r.before,
		ms(r.arming.gap), ms(r.leaving.gap), ms(r.p99), ms(r.arming.answers.Took(0.99)), ms(max(r.arming.answers.Took(1), r.leaving.answers.Took(1))), r.armed.Seconds(),
	}
	if r.report == nil {
		none := math.NaN()
		return append(row, none, none, none, none, r.compiling, r.grown)
	}
	return append(row, float64(r.report.Redefinition.Classes), float64(r.report.Methods.Instrumented), float64(r.report.Methods.Called), float64(r.late), r.compiling, r.grown)
}

// curve are the rates in % of the one before, of 5 s each.
func (r *run) curve() string {
	var out []string
	for i, w := range []window{r.arming, r.leaving} {
		if i > 0 {
			out = append(out, "|")
		}
		for at := 0; at+5 <= len(w.rates); at += 5 {
			out = append(out, strconv.Itoa(int(math.Round(100*bench.Sum(w.rates[at:at+5])/5/r.before))))
		}
	}
	return strings.Join(out, " ")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// resident is the memory of a process that lies in RAM, in MB; 0 if it can't be read.
func resident(pid string) float64 {
	b, err := os.ReadFile("/proc/" + pid + "/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	pages, err := strconv.ParseFloat(f[1], 64)
	if err != nil {
		return 0
	}
	return pages * float64(os.Getpagesize()) / 1e6
}

// compilers is the processor time that a JVM's compilers have used, in s; 0 if it can't be read.
func compilers(pid string) (seconds float64) {
	tasks, err := filepath.Glob("/proc/" + pid + "/task/*")
	if err != nil {
		return 0
	}
	for _, t := range tasks {
		name, err := os.ReadFile(filepath.Join(t, "comm"))
		if err != nil || !strings.HasPrefix(string(name), "C1 Compiler") && !strings.HasPrefix(string(name), "C2 Compiler") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(t, "schedstat"))
		var ns float64
		if _, bad := fmt.Sscan(string(b), &ns); err == nil && bad == nil {
			seconds += ns / 1e9
		}
	}
	return seconds
}

//go:build servers

package servers

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

var (
	binary  = flag.String("rivulet", "", "test this `binary` instead of one built from the checkout")
	keep    = flag.String("keep", "", "leave reports, logs and thread dumps in this `folder`")
	figures = flag.String("figures", "", "append the rows of the table to this `file`")
	schemes = flag.String("schemes", "D,C,A,B", "schemes to record with, each in a process of its own")
	record  = flag.Duration("record", 20*time.Second, "record for so long")
	warm    = flag.Duration("warm", 25*time.Second, "load the server for so long before")
	dumps   = flag.Bool("dumps", false, "dump the server's threads while requests hang, which itself stops it now and then")
)

const (
	rate        = 40
	connections = 64
	owners      = 40 // as the server's
	root        = "app.Orders.order"
	look        = 10 * time.Second // requests before and after are looked at for so long
)

// TestSpring records one endpoint of the server under a steady load.
func TestSpring(t *testing.T) {
	for _, v := range []int{17, 21, 25} {
		t.Run(fmt.Sprintf("jdk%d", v), func(t *testing.T) {
			j := jvmtest.Need(t, v)
			s := spring(t)
			for _, agents := range []bool{false, true} {
				name := "bare"
				if agents {
					name = "agents"
				}
				t.Run(name, func(t *testing.T) {
					for scheme := range strings.SplitSeq(*schemes, ",") {
						t.Run(scheme, func(t *testing.T) { s.measure(t, j, agents, scheme) })
					}
				})
			}
		})
	}
}

// measure starts a server, loads it, records it once, and prints a row.
func (s server) measure(t *testing.T, j jvmtest.JDK, agents bool, scheme string) {
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	dir = filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	proc := jvmtest.StartCmd(t, s.start(t, j, agents))
	port := strings.TrimPrefix(proc.WaitLine("PORT "), "PORT ")
	l := &load{
		url: "http://127.0.0.1:" + port, rate: rate, connections: connections, patience: 2 * time.Minute,
		path:  func(i int) string { return fmt.Sprintf("/order?owner=%d", i%owners) },
		check: func(i int, answer string) error { return checkOrder(i%owners, answer) },
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { l.run(stop); close(done) }()
	end := sync.OnceFunc(func() { close(stop); <-done })
	defer end()
	time.Sleep(*warm)

	file := filepath.Join(dir, "report.json")
	w := &watch{file: filepath.Join(dir, "stacks.txt"), pid: proc.PID(), load: l}
	at := profile(t, dir, w, strconv.Itoa(proc.PID()), "--root", root, "--for", record.String(), "--scheme", scheme, "--format", "json", "-o", file, "-v")
	time.Sleep(look)
	end()

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &report{}
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	own, err := parseCounts(get(t, l.url+"/counts"))
	if err != nil {
		t.Fatal(err)
	}
	all := l.requests()
	wrong := r.wrong(own, root)
	writeTimes(t, filepath.Join(dir, "requests.txt"), all, at.begin)
	print(t, row(t.Name(), all, at, r, wrong))
	if *dumps {
		print(t, w.summary())
	}

	failed := 0
	for _, q := range all {
		if q.err != nil {
			if failed++; failed <= 5 {
				t.Errorf("request at %.1f s: %v", q.due.Sub(at.begin).Seconds(), q.err)
			}
		}
	}
	if failed > 5 {
		t.Errorf("%d of %d answers are wrong or missing", failed, len(all))
	}
	if int64(len(all)) != own[root] {
		t.Errorf("%d requests, of which the server counted %d", len(all), own[root])
	}
	if r.Roots == 0 {
		t.Error("no root call")
	}
	switch {
	case wrong == nil:
	case r.Exact != nil && *r.Exact:
		t.Errorf("wrong counts, and the report says exact: true\n%s", strings.Join(wrong, "\n"))
	case r.Incomplete == 0: // else it says that calls are missing, and not which
		t.Errorf("wrong counts of methods that the report does not call late\n%s", strings.Join(wrong, "\n"))
	default:
		t.Logf("wrong counts, and the report says that it is not exact\n%s", strings.Join(wrong, "\n"))
	}
	restored(t, proc)
	proc.Send("end")
	if code := proc.Wait(); code != 0 {
		t.Errorf("the server ended with code %d", code)
	}
}

// restoredBy is how long the agent may take to restore the classes by itself.
const restoredBy = 3 * time.Minute

// restored fails the test if the server has something of Rivulet left that runs or
// takes memory, once the agent has had its time to restore.
func restored(t *testing.T, proc *jvmtest.Proc) {
	t.Helper()
	begin := time.Now()
	for ; ; time.Sleep(200 * time.Millisecond) {
		left := leftOf(t, proc)
		if left == "" {
			break
		}
		if time.Since(begin) > restoredBy {
			t.Errorf("after %v there is still: %s", restoredBy, left)
			return
		}
	}
	print(t, fmt.Sprintf("%s: restored %.1f s after that\n", t.Name(), time.Since(begin).Seconds()))
}

// leftOf is what a process has of Rivulet; "" if there is nothing.
func leftOf(t *testing.T, proc *jvmtest.Proc) string {
	t.Helper()
	if !proc.Running() {
		t.Fatal("the server has ended")
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", proc.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "rivulet") && !strings.Contains(line, "/rivulet-bench/") {
			return "mapped: " + strings.TrimSpace(line)
		}
	}
	there, err := attach.HasThread(proc.PID(), "rivulet")
	if err != nil {
		t.Fatal(err)
	}
	if there {
		return "the agent's thread"
	}
	return ""
}

// checkOrder compares an answer with what the server's data say.
func checkOrder(owner int, answer string) error {
	sum, price := 0, 0
	for i := range 5 {
		p := 100*owner + 10*i
		sum += p
		if i == owner%5 {
			price = p
		}
	}
	if want := fmt.Sprintf("%d %d/%d 5 no %d", sum, price, sum/5, owner); answer != want {
		return fmt.Errorf("owner %d: %q, expected %q", owner, answer, want)
	}
	return nil
}

// phases are when things happened to a recording.
type phases struct{ begin, armed, stopped, ended time.Time }

// profile runs rivulet and keeps what it says, each line with the seconds since
// its start.
func profile(t *testing.T, dir string, w *watch, args ...string) (at phases) {
	t.Helper()
	file, err := product()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	ctx, cancel := context.WithTimeout(t.Context(), *record+5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, append([]string{"profile"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it detaches
	cmd.WaitDelay = 30 * time.Second
	at.begin = time.Now()
	w.begin = at.begin
	cmd.Stderr = &lineWriter{line: func(line string) {
		now := time.Now()
		fmt.Fprintf(log, "%8.3f %s\n", now.Sub(at.begin).Seconds(), line)
		switch {
		case at.armed.IsZero() && strings.HasPrefix(line, "rivulet: recording"):
			at.armed = now
		case at.stopped.IsZero() && strings.HasPrefix(line, "rivulet: detaching"):
			at.stopped = now
		}
	}}
	if *dumps {
		stop := w.start(ctx, t)
		defer stop()
	}
	if err := cmd.Run(); err != nil {
		t.Fatalf("rivulet %s: %v; see %s", strings.Join(args, " "), err, log.Name())
	}
	at.ended = time.Now()
	if at.stopped.IsZero() { // it took less than a second
		at.stopped = at.ended
	}
	if at.armed.IsZero() {
		t.Fatalf("not seen to record: %+v; see %s", at, log.Name())
	}
	return at
}

// A lineWriter calls a function for each line.
type lineWriter struct {
	line func(string)
	rest string
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest += string(b)
	for {
		at := strings.IndexAny(w.rest, "\n\r")
		if at < 0 {
			return len(b), nil
		}
		w.line(w.rest[:at])
		w.rest = w.rest[at+1:]
	}
}

// row is a recording's part of the table.
func row(name string, all []request, at phases, r *report, wrong []string) string {
	exact, match := "-", "equal"
	if r.Exact != nil {
		exact = fmt.Sprint(*r.Exact)
	}
	if wrong != nil {
		match = fmt.Sprintf("%d WRONG", len(wrong))
	} else if r.Open > r.Roots/10 {
		match = "not comparable: too many had not ended"
	}
	var suspended int64
	for _, t := range r.Threads {
		suspended += t.Suspended
	}
	ms := func(f *float64) string {
		if f == nil {
			return "-"
		}
		return fmt.Sprintf("%.0f", *f)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: armed after %.1f s, detached in %.1f s; %d methods instrumented, %d called; %d classes in %d batches, pauses %s ms, longest %s; analysis %s ms\n",
		name, at.armed.Sub(at.begin).Seconds(), at.ended.Sub(at.stopped).Seconds(), r.Methods.Instrumented, r.Methods.Called,
		r.Redefinition.Classes, r.Redefinition.Batches, ms(r.Redefinition.Pauses), ms(r.Redefinition.LongestPause), ms(r.Redefinition.Analysis))
	fmt.Fprintf(&b, "  roots %d (%d open), calls %d, longest_wait_ms %s, suspended in all %d ms, incomplete %d, exact %s, counts %s\n",
		r.Roots, r.Open, r.Calls, ms(r.Redefinition.LongestWait), suspended/1e6, r.Incomplete, exact, match)
	for _, g := range r.Gaps {
		fmt.Fprintf(&b, "  gap: %s (%d): %s\n", g.Reason, g.Count, strings.Join(g.Where[:min(3, len(g.Where))], ", "))
	}
	for _, line := range wrong {
		fmt.Fprintf(&b, "  count: %s\n", line)
	}
	b.WriteString("  requests due: n/p50/p99/longest ms/over 250 ms/over 1 s:")
	for _, p := range []struct {
		name     string
		from, to time.Time
	}{
		{"before", at.begin.Add(-look), at.begin},
		{"arming", at.begin, at.armed},
		{"recording", at.armed, at.stopped},
		{"detaching", at.stopped, at.ended},
		{"after", at.ended, at.ended.Add(look)},
	} {
		fmt.Fprintf(&b, " %s %v", p.name, measure(all, p.from, p.to))
	}
	return b.String() + "\n"
}

// writeTimes keeps when each request was due, seconds after the command, and what it took.
func writeTimes(t *testing.T, file string, all []request, begin time.Time) {
	t.Helper()
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%.3f %.1f\n", r.due.Sub(begin).Seconds(), float64(r.took)/1e6)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// print shows figures at once, and appends them to the file that was asked for.
func print(t *testing.T, text string) {
	t.Helper()
	fmt.Print(text)
	if *figures == "" {
		return
	}
	f, err := os.OpenFile(*figures, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "[%s] %s", time.Now().Format(time.TimeOnly), text)
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := &http.Client{Timeout: time.Minute}
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var product = sync.OnceValues(func() (string, error) {
	if *binary != "" {
		return filepath.Abs(*binary)
	}
	file := filepath.Join(scratch, "rivulet")
	out, err := exec.Command("go", "build", "-o", file, "github.com/rivulet-profiler/rivulet").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
})

// scratch is a folder for all tests.
var scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "rivulet-servers-")
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

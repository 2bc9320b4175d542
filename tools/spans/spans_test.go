//go:build spans

package spans

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

const (
	api   = "1.49.0"
	agent = "2.21.0"
	times = 60 // root invocations of the program
)

// artifacts fetches files of Maven Central, once, and returns their paths.
func artifacts(t *testing.T, names ...string) (files []string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "rivulet-bench", "company")
	for _, name := range names {
		part := strings.Split(name, ":")
		file := filepath.Join(dir, part[1]+"-"+part[2]+".jar")
		if _, err := os.Stat(file); err != nil {
			if out, err := exec.Command("mvn", "-q", "-B", "dependency:copy", "-Dartifact="+name, "-DoutputDirectory="+dir).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
		}
		files = append(files, file)
	}
	return files
}

// TestTraced records a program that uses the API with the SDK, and with OpenTelemetry's agent,
// and compares the span of each root call with what the program says. As often as not
// the program uses the API for the first time while it is recorded.
func TestTraced(t *testing.T) {
	var jars []string
	for _, name := range []string{"api", "context", "sdk", "sdk-common", "sdk-logs", "sdk-metrics", "sdk-trace"} {
		jars = append(jars, artifacts(t, "io.opentelemetry:opentelemetry-"+name+":"+api)...)
	}
	javaagent := artifacts(t, "io.opentelemetry.javaagent:opentelemetry-javaagent:"+agent)[0]
	source, err := os.ReadFile("testdata/Traced.java")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join(jars, string(os.PathListSeparator))
	classes := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"t/Traced.java": string(source)}, "-cp", path)
	// Scheme D does not record a program that is as idle as this one, without the agent's threads.
	for with, schemes := range map[string][]string{"sdk": {"A", "C"}, "agent": {"C", "D"}} {
		for _, scheme := range schemes {
			t.Run(with+"/"+scheme, func(t *testing.T) {
				jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
					if scheme == "D" && j.Version < 11 {
						t.Skip("scheme D is not for every JVM of version 8")
					}
					var options []string
					if with == "agent" {
						options = []string{"-javaagent:" + javaagent, "-Dotel.traces.exporter=none", "-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none"}
					}
					p := jvmtest.Start(t, j, options, "t.Traced", []string{with, fmt.Sprint(times)}, classes+string(os.PathListSeparator)+path)
					p.WaitLine("READY")
					r, said := record(t, p, scheme)
					if len(r.Slowest.Invocations) != times {
						t.Fatalf("%d root calls were kept, want %d", len(r.Slowest.Invocations), times)
					}
					slices.SortFunc(r.Slowest.Invocations, func(a, b export.Invocation) int { return int(a.Start - b.Start) })
					for k, i := range r.Slowest.Invocations {
						n := k + 1
						got, want := fmt.Sprintf("%d - -", n), said[k]
						if i.Span.Known() {
							got = fmt.Sprintf("%d %s %s", n, i.Span.TraceID(), i.Span.SpanID())
						}
						if got != want || i.Span.Within != (n%3 == 1) {
							t.Errorf("root call %s, within %t; the program says %s", got, i.Span.Within, want)
						}
					}
					p.Send("e")
				})
			})
		}
	}
}

// record records all root calls of the program, and returns what it says of each.
func record(t *testing.T, p *jvmtest.Proc, scheme string) (r *export.Report, said []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := session.Attach(ctx, p.PID(), session.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Start(ctx, session.Recording{Roots: []string{"t.Traced.work"}, Scheme: scheme, Slowest: 2 * times}); err != nil {
		t.Fatal(err)
	}
	p.Send("go")
	for n := 1; n <= times; n++ {
		said = append(said, p.WaitLine(fmt.Sprintf("%d ", n)))
	}
	p.WaitLine("OK")
	if r, err = s.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	return r, said
}

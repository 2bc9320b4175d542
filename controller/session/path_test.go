package session_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

var pathLambda = regexp.MustCompile(`(lambda\$\w+)\$\d+`)

// segments are a path's segments as testdata/Path.java has them, and the methods
// that ran on it. Waits without a cause are left out, except for the longest one
// where that is asked for: a lock of the pool's may be busy, and a permit that is
// left over ends a wait at once.
func segments(r *export.Report, p *export.Path, waits bool) (all, ran string) {
	longest := int64(-1)
	for _, s := range p.Segments {
		if waits && s.Kind == event.Wait && s.Cause == event.NoCause {
			longest = max(longest, s.To-s.From)
		}
	}
	name := func(id int32) string {
		full, _, _ := strings.Cut(r.Method(id).Name, "(")
		return pathLambda.ReplaceAllString(full[strings.LastIndexByte(full, '.')+1:], "$1")
	}
	var out, methods []string
	letter, next := map[int64]string{}, 'A' // of what a thread executes
	for _, s := range p.Segments {
		if letter[s.Thread.ID] == "" || s.Kind == event.Queue {
			letter[s.Thread.ID] = string(next)
			next++
		}
		text := []string{"run", "queue", "wait"}[s.Kind] + " " + letter[s.Thread.ID]
		switch {
		case s.Kind == event.Queue:
			text += " " + name(s.Method)
		case s.Kind == event.Wait && s.Cause != event.NoCause:
			text += []string{"", " unpark", " end", " notify"}[s.Cause]
		case s.Kind == event.Wait && s.To-s.From != longest:
			continue
		}
		if n := len(out); n == 0 || out[n-1] != text {
			out = append(out, text)
		}
	}
	for _, s := range p.Shares {
		if m := name(s.Method); s.Run > 0 && !strings.HasPrefix(m, "lambda$") && m != "<init>" && m != "busy" && m != "until" && !strings.HasPrefix(r.Method(s.Method).Name, "java.") {
			methods = append(methods, m)
		}
	}
	slices.Sort(methods)
	return strings.Join(out, " | "), strings.Join(slices.Compact(methods), " ")
}

// said are the lines "// WHAT how: text" of testdata/Path.java.
func said(t *testing.T, what string) map[string]string {
	t.Helper()
	b, err := os.ReadFile("testdata/Path.java")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "// "+what+" "); ok {
			how, text, _ := strings.Cut(rest, ": ")
			out[how] = text
		}
	}
	return out
}

// TestPath follows critical paths that are known, through each way to wait.
func TestPath(t *testing.T) {
	t.Parallel()
	hows := []string{"future", "latch", "stages", "threads", "forkjoin", "nothing"}
	want, ran := said(t, "WANT"), said(t, "RAN")
	dir := sources(t, "Path")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Path", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Path.root"}, Clock: "precise", Follow: true, Slowest: len(hows), Natives: session.NativesOff})
		p.Send(strings.Join(hows, ","))
		p.WaitLine("OK")
		r := stopped(t, s)
		if len(r.Slowest.Invocations) != len(hows) || len(r.Notes) > 0 {
			t.Fatalf("%d invocations, notes %q", len(r.Slowest.Invocations), r.Notes)
		}
		slices.SortFunc(r.Slowest.Invocations, func(a, b export.Invocation) int { return int(a.Start - b.Start) })
		for k, i := range r.Slowest.Invocations {
			how, path := hows[k], i.Path
			if all := path.Run + path.Queue + path.Wait + path.Profiler; all != i.Took+i.Suspended || path.Lacking != 0 || path.Left != 0 {
				t.Errorf("%s: %d ns on the path, of %d and %d; %+v", how, all, i.Took, i.Suspended, path)
			}
			wanted := want[how]
			if j.Version < 17 && how == "forkjoin" { // on monitors
				wanted = strings.ReplaceAll(wanted, "unpark", "notify")
			}
			got, methods := segments(r, path, how == "nothing")
			if got != wanted || methods != ran[how] {
				t.Errorf("%s:\n got %s\nwant %s\n ran %s\nwant %s", how, got, wanted, methods, ran[how])
			}
		}
		if e := r.Events; e.Differ == nil || *e.Differ != 0 || e.Bad != 0 {
			t.Errorf("events and tree differ: %+v", e)
		}
		checkPathWritten(t, r)
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if t.Failed() {
			var text bytes.Buffer
			_ = r.Text(&text, export.TextOptions{})
			t.Log(text.String())
		}
	}, 8, 17, 25)
}

// checkPathWritten reads a report again and merges it.
func checkPathWritten(t *testing.T, r *export.Report) {
	t.Helper()
	var once, again, text bytes.Buffer
	if err := r.JSON(&once, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	read, err := export.ReadJSON(bytes.NewReader(once.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := read.JSON(&again, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(once.String(), again.String()); diff != "" {
		t.Errorf("read and written again, -want +got:\n%s", diff)
	}
	for k, i := range export.Merge(r, read).Slowest.Invocations {
		if i.Path == nil || len(i.Path.Segments) == 0 {
			t.Errorf("merged: invocation %d has no path", k)
		}
	}
	if err := read.Text(&text, export.TextOptions{}); err != nil || !strings.Contains(text.String(), "critical path: ran ") {
		t.Errorf("error %v; no path in the text:\n%s", err, fmt.Sprint(text.String()))
	}
}

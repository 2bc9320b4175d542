package session_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestSpans joins root invocations to spans of a program whose API has the names of
// OpenTelemetry's: the span around an invocation, else the first one within. The program
// begins to use the API while it is recorded, and what is called of it is counted as
// always. (go tool task test:spans has the API itself, and its agent.)
func TestSpans(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	dir := os.DirFS("testdata/spans")
	if err := fs.WalkDir(dir, ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			var b []byte
			b, err = fs.ReadFile(dir, path)
			files[path] = string(b)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	const times = 40
	classes := jvmtest.Compile(t, jvmtest.Any(t), 8, files)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, classes, "Spanned", nil, fmt.Sprint(times))
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Spanned.work"}, Scheme: "C", Slowest: 100, Timeline: 10000})
		p.Send("go")
		p.WaitLine("OK")
		r := stopped(t, s)
		agree(t, r)
		want := map[string]int64{}
		for n := int64(1); n <= times; n++ {
			id := int64(0)
			switch n % 4 {
			case 0, 1:
				id = 100 * n
			case 2:
				id = 100*n + 1
			}
			text := "none"
			if id > 0 {
				text = fmt.Sprintf("fedcba9876543210%016x %016x %t", n, id, n%4 == 2)
			}
			want[text]++
		}
		got := map[string]int64{}
		for _, i := range r.Slowest.Invocations {
			text := "none"
			if i.Span.Known() {
				text = fmt.Sprintf("%s %s %t", i.Span.TraceID(), i.Span.SpanID(), i.Span.Within)
			}
			got[text]++
		}
		for _, texts := range []map[string]int64{want, got} {
			for text := range texts {
				if got[text] != want[text] {
					t.Errorf("%d root calls with span %s, want %d", got[text], text, want[text])
				}
			}
		}
		calls := map[string]int64{}
		for n := range cct.All(r.Tree.Roots()) {
			m, _ := r.Lookup(n.Method)
			name, _, _ := strings.Cut(m.Name, "(")
			calls[name] += n.Calls
		}
		// Of four invocations one makes no context current, two make one, and one makes two.
		for name, n := range map[string]int64{"t.Spanned.work": times, "t.Spanned.step": 3 * times, "io.opentelemetry.context.ThreadLocalContextStorage.attach": times} {
			if calls[name] != n {
				t.Errorf("%d calls of %s, want %d", calls[name], name, n)
			}
		}
		traced := 0
		for _, l := range r.Timeline.Slices {
			if l.Span != nil {
				if traced++; !l.Root {
					t.Errorf("a slice that is no root call has span %s", l.Span.SpanID())
				}
			}
		}
		if traced != times*3/4 {
			t.Errorf("%d slices have a span, want %d", traced, times*3/4)
		}
		one, err := r.OfSpan(fmt.Sprintf("fedcba9876543210%016x", 8))
		if err != nil || len(one.Slowest.Invocations) != 1 || len(one.Tree.Threads) != 1 {
			t.Errorf("report of one trace: %+v, %v", one, err)
		}
		p.Send("e")
	})
}

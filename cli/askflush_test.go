package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

func TestFlushIsSaid(t *testing.T) {
	f := newFake()
	f.flushes = doctor.Flush{Methods: 3800, Compiled: 41 * time.Second, Busy: 1.9, Cores: 2}
	want := "throws away all compiled code, of 3800 methods here; its compilers have worked for 41s since it began; it uses 1.9 of 2 cores now: it is going to be slow"
	for _, command := range []string{"profile", "time"} {
		f.run(t, command, "4711", "--root", "a.B.c", "--for", "1ms").want(t, 0, "", want)
		f.run(t, command, "4711", "--root", "a.B.c", "--for", "1ms", "--yes").want(t, 0, "", want)
	}
	f.flushes.Earlier = true
	if r := f.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms"); strings.Contains(r.stderr, "compiled code") {
		t.Error(r.stderr)
	}
}

// silence is a reader that nothing comes from until its end.
func silence() (r *io.PipeReader, end func() error) {
	r, w := io.Pipe()
	return r, w.Close
}

func TestAsk(t *testing.T) {
	for answer, want := range map[string]error{"y\n": nil, "Yes\n": nil, "n\n": errDeclined, "\n": errDeclined, "": errDeclined} {
		var out bytes.Buffer
		a := &app{stderr: &out}
		err := a.ask(&interrupts{first: context.Background()}, "go on?", strings.NewReader(answer))
		if !errors.Is(err, want) || !strings.Contains(out.String(), "go on? [y/N]") {
			t.Errorf("%q: %v, %s", answer, err, out.String())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	silent, end := silence()
	defer end()
	if err := (&app{stderr: new(bytes.Buffer)}).ask(&interrupts{first: ctx}, "go on?", silent); !errors.Is(err, errDeclined) {
		t.Errorf("interrupted: %v", err)
	}
}

// The page says it before the first recording, and not after.
func TestFlushLive(t *testing.T) {
	f := newFake()
	f.flushes = doctor.Flush{Methods: 3800, Compiled: 41 * time.Second, Busy: 1.9, Cores: 2}
	l := live.New(live.Config{Backend: &liveBackend{app: &app{backend: f, stderr: &strings.Builder{}}, quiet: true}})
	ctx := context.Background()
	if err := l.Attach(ctx, 4711, live.AttachOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := l.State().Target.Redefinition; !strings.Contains(got, "of 3800 methods here") {
		t.Errorf("%q", got)
	}
	rec := l.Defaults()
	rec.Roots = []string{"shop.Price.of"}
	if err := l.Start(ctx, rec); err != nil {
		t.Fatal(err)
	}
	if got := l.State().Target.Redefinition; got != "" {
		t.Errorf("%q while recording", got)
	}
	if err := l.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

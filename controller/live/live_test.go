package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// running is a Live that reads frames, and that has ended when the test has.
func running(t *testing.T, f live.Backend) *live.Live {
	t.Helper()
	l := live.New(live.Config{Backend: f})
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx, context.Background()) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return l
}

// record begins a recording.
func record(t *testing.T, l *live.Live) {
	t.Helper()
	if err := errors.Join(l.Attach(t.Context(), 4711, live.AttachOptions{}), l.Start(t.Context(), spec.Recording{Roots: []string{"a.B.c"}})); err != nil {
		t.Fatal(err)
	}
}

// TestDiagnosis wants it to be looked why a root is not called, also while nobody
// watches, and nothing to be looked for where it is.
func TestDiagnosis(t *testing.T) {
	for _, called := range []bool{false, true} {
		f := fakejvm.New()
		f.Diagnosis = "root a.B.c has not been called"
		if !called {
			f.Tree = func() *cct.Snapshot { return &cct.Snapshot{} }
		}
		l := running(t, f)
		record(t, l)
		time.Sleep(2 * live.FrameEvery) // the first frame is too early to tell
		l.Backdate(live.DiagnoseAfter)
		time.Sleep(3 * live.FrameEvery)
		for over := time.Now().Add(5 * time.Minute); !called && l.State().Diagnosis == "" && time.Now().Before(over); {
			time.Sleep(live.FrameEvery)
		}
		state := l.State()
		if (state.Diagnosis == f.Diagnosis) == called || state.Frame > 2 {
			t.Errorf("called %t: %q after %d frames", called, state.Diagnosis, state.Frame)
		}
	}
}

// TestBusy wants one action at a time.
func TestBusy(t *testing.T) {
	f := fakejvm.New()
	begun, end := make(chan bool), make(chan bool)
	f.Finishing = func(context.Context) error {
		close(begun)
		<-end
		return nil
	}
	l := live.New(live.Config{Backend: f})
	record(t, l)
	stopped := make(chan error, 1)
	go func() { stopped <- l.Stop(context.Background()) }()
	<-begun
	if err := l.Attach(t.Context(), 1, live.AttachOptions{}); !errors.Is(err, live.ErrBusy) {
		t.Error(err)
	}
	close(end)
	if err := errors.Join(<-stopped, l.Attach(t.Context(), 1, live.AttachOptions{})); err != nil {
		t.Error(err)
	}
}

// TestSearchLoaded finds methods of classes that were loaded after the attach.
func TestSearchLoaded(t *testing.T) {
	f := fakejvm.New()
	l := live.New(live.Config{Backend: f})
	if err := l.Attach(t.Context(), 4711, live.AttachOptions{}); err != nil {
		t.Fatal(err)
	}
	f.Loaded = []live.Method{{Name: "shop.Late.come()V", Root: true}}
	if _, n := l.Search(t.Context(), "late", 5); n != 0 {
		t.Errorf("%d found at once: the list is made anew for each letter", n)
	}
	l.Backdate(live.ListedFor)
	if got, n := l.Search(t.Context(), "late", 5); n != 1 || got[0].Name != "shop.Late.come()V" {
		t.Errorf("found %v", got)
	}
}

package session_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestLaunchFolded measures the probes of a program that was started, with folded
// recursion, as they will record it.
func TestLaunchFolded(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Leaves")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := session.Launch(ctx, []string{jvmtest.Any(t).Java(), "-cp", dir, "t.Leaves"},
		session.Stdio{In: strings.NewReader("run 100\n"), Out: io.Discard, Err: io.Discard}, session.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Abandon)
	must(t, "start", func(ctx context.Context) error {
		return l.Start(ctx, session.Recording{Roots: []string{"t.Leaves.root"}, Wait: true, Fold: true})
	})
	if all, expanded := l.SampleNodes(); all == 0 || expanded > 0 {
		t.Errorf("%d contexts of the sample, %d of them expanded", all, expanded)
	}
}

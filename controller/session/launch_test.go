package session_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestLaunchInterpreted starts a JVM that compiles nothing, where interpreted probes are what there is to be measured.
func TestLaunchInterpreted(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Leaves")
	var most []float64
	for _, option := range []string{"-Xmixed", "-Xint"} {
		l, err := session.Launch(t.Context(), []string{jvmtest.Any(t).Java(), option, "-cp", dir, "t.Leaves"},
			session.Stdio{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, session.Config{})
		if err != nil {
			t.Fatal(err)
		}
		ns, err := l.MostTimerCost(t.Context())
		if most = append(most, ns); err != nil {
			t.Error(err)
		}
		l.Abandon()
	}
	if most[1] <= most[0] {
		t.Errorf("a timer may cost %v ns where all is interpreted, %v else", most[1], most[0])
	}
}

// TestLaunchFolded measures the probes of a program that was started, with folded
// recursion, as they will record it.
func TestLaunchFolded(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Leaves")
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
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

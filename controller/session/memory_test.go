package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/headroom"
	"github.com/rivulet-profiler/rivulet/controller/headroom/headroomtest"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/session/sessiontest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestMemoryShort has the target in a container whose memory gets used up while it is recorded. The recording ends by
// itself, before the kernel kills anybody, and all calls until then are counted.
func TestMemoryShort(t *testing.T) {
	t.Parallel()
	dir := sources(t, "FullHeap")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) { memoryShort(t, j, dir) }, 8, 17, 25)
}

func memoryShort(t *testing.T, j jvmtest.JDK, dir string) {
	p := program(t, j, dir, "FullHeap", []string{"-Xmx32m"})
	group := headroomtest.New(t, 400<<20)
	group.Add(t, p.PID())
	if m, limited := headroom.Of(p.PID()); !limited || m.Left < 200<<20 {
		t.Skip("this machine has less itself")
	}
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.FullHeap.root"}, Scheme: "A"})
	ask(t, p, "run 10", "RAN")
	m, _ := headroom.Of(p.PID())
	file, err := os.CreateTemp("/dev/shm", "rivulet-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	fill := group.Command("head", "-c", fmt.Sprint(m.Left-20<<20), "/dev/zero")
	fill.Stdout = file
	if err := fill.Run(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	case <-time.After(jvmtest.Patience):
		t.Fatal("the recording goes on")
	}
	r, err := s.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.Ended, "the memory limit of the target's container is near") {
		t.Error("it ended, since", r.Ended)
	}
	wantCalls(t, r, map[string]int64{"FullHeap.root": 10, "FullHeap.leaf": 20})
	gone(t, p.PID(), patient)
	os.Remove(file.Name())
	p.Send("end")
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d: %s", code, p.Stderr())
	}
}

// TestMemoryRefused: a container that has not what an analysis takes is told so before anything is done.
func TestMemoryRefused(t *testing.T) {
	t.Parallel()
	dir := sources(t, "FullHeap")
	binary := sessiontest.Binary(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "FullHeap", []string{"-Xmx32m"})
		group := headroomtest.New(t, 24<<20) // as much as its classes take; Rivulet has some of it already
		for _, args := range [][]string{{"profile", fmt.Sprint(p.PID()), "--root", "t.FullHeap.root", "--for", "100ms"}, {"doctor", fmt.Sprint(p.PID())}} {
			out, err := group.Command(append([]string{binary}, args...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "MB left until its limit") {
				t.Errorf("%s: %v: %s", args[0], err, out)
			}
		}
		gone(t, p.PID(), patient)
	}, 17)
}

// TestLittleMemory has too little memory in the container of the target and of Rivulet, and attaches all the same. Whatever becomes of
// Rivulet, the target goes on: the kernel kills it, it gives up, or, with 16 MB, it even records.
func TestLittleMemory(t *testing.T) {
	t.Parallel()
	dir := sources(t, "FullHeap")
	binary := sessiontest.Binary(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, left := range []int64{12 << 20, 16 << 20} {
			littleMemory(t, j, dir, binary, left)
		}
	}, 25) // the others manage with so little
}

func littleMemory(t *testing.T, j jvmtest.JDK, dir, binary string, left int64) {
	group := headroomtest.New(t, 2<<30)
	// A compiler takes tens of MB when it likes to, for which the kernel could only kill the JVM.
	p := jvmtest.StartCmd(t, group.Command(j.Java(), "-Xint", "-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-cp", dir, "t.FullHeap"))
	p.WaitLine("READY")
	m, limited := headroom.Of(p.PID())
	if !limited || m.Limit != 2<<30 {
		t.Skip("this machine has less itself")
	}
	if err := group.Limit(m.Limit - m.Left + left); err != nil {
		t.Fatal(err)
	}
	out, err := group.Command(binary, "profile", fmt.Sprint(p.PID()), "--root", "t.FullHeap.root", "--scheme", "A", "--record", "events", "--for", "100ms", "--little-memory").CombinedOutput()
	t.Logf("%d MB: %v: %s", left>>20, err, out)
	gone(t, p.PID(), patient)
	ask(t, p, "run 10", "RAN")
	p.Send("end")
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d: %s", code, p.Stderr())
	}
}

// TestMemoryShortBefore: what leads to a recording ends as well, and says why.
func TestMemoryShortBefore(t *testing.T) {
	short := fmt.Errorf("short: %w", session.ErrMemory)
	other := errors.New("another")
	for name, c := range map[string]struct {
		short, interrupted bool
		err                func(context.Context) error
		want               error
	}{
		"enough":                {false, false, func(context.Context) error { return nil }, nil},
		"short":                 {true, false, func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("while it armed: %w", ctx.Err()) }, short},
		"short, but done":       {true, false, func(ctx context.Context) error { <-ctx.Done(); return nil }, nil},
		"short, and it failed":  {true, false, func(ctx context.Context) error { <-ctx.Done(); return other }, other},
		"interrupted by Ctrl-C": {false, true, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			scarce, do := session.Roomy(ctx)
			if c.short {
				scarce(short)
			}
			if c.interrupted {
				cancel()
			}
			if got := do(c.err); !errors.Is(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

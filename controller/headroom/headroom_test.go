package headroom

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
)

// TestLook has a target that takes more and more, then this process.
func TestLook(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	t.Setenv("GOMEMLIMIT", "")
	const mb = 1 << 20
	groups := func(target, own int64) map[string]string {
		return map[string]string{
			"proc/7/cgroup": "0::/target\n", fmt.Sprintf("proc/%d/cgroup", os.Getpid()): "0::/own\n", "groups/target/memory.max": fmt.Sprint(1024 * mb),
			"groups/target/memory.current": fmt.Sprint(target * mb), "groups/own/memory.max": fmt.Sprint(160 * mb), "groups/own/memory.current": fmt.Sprint(own * mb),
		}
	}
	fake(t, groups(500, 50))
	w := New(7)
	for _, c := range []struct {
		target, own int64 // MB that are taken
		want        string
	}{
		{500, 50, ""},
		{992, 50, ""},
		{993, 50, "the memory limit of the target's container is near: 31 of 1024 MB are left"},
		{500, 140, ""},
		{500, 141, "the memory limit of Rivulet's container is near: 19 of 160 MB are left"},
		{1025, 50, "the memory limit of the target's container is near: 0 of 1024 MB are left"},
	} {
		fake(t, groups(c.target, c.own))
		if got := w.Look(); got != c.want {
			t.Errorf("%d and %d MB: %q, want %q", c.target, c.own, got, c.want)
		}
	}
	// The collector knows what this process may take, and what has none of its own does not bound it.
	defer func(was func() int64) { taken = was }(taken)
	taken = func() int64 { return 30 * mb }
	fake(t, groups(500, 60))
	w.Look()
	if limit := debug.SetMemoryLimit(-1); limit != 70*mb { // and half of 100 - 20
		t.Errorf("Go's memory limit is %d MB", limit/mb)
	}
	w.Close()
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		t.Errorf("Go's memory limit stays at %d MB", limit/mb)
	}
	// What is left at the beginning is little: half of it may be taken.
	fake(t, groups(1020, 50))
	w = New(7)
	for taken, want := range map[int64]bool{1020: false, 1022: false, 1023: true} {
		fake(t, groups(taken, 50))
		if got := w.Look() != ""; got != want {
			t.Errorf("%d MB of 1020 at the beginning: %v", taken, got)
		}
	}
	w.Close()
	fake(t, nil)
	if w := New(7); w != nil {
		t.Errorf("without a limit: %+v", w)
	}
}

// TestEnough knows what a session takes.
func TestEnough(t *testing.T) {
	const mb = 1 << 20
	own := func(limit int64) {
		fake(t, map[string]string{fmt.Sprintf("proc/%d/cgroup", os.Getpid()): "0::/\n", "groups/memory.max": fmt.Sprint(limit * mb), "groups/memory.current": fmt.Sprint(10 * mb)})
	}
	own(198)
	if need, left, ok := Enough(5120); !ok || need != 188*mb || left != 188*mb {
		t.Errorf("%d MB, of %d: %v", need/mb, left/mb, ok)
	}
	if _, _, ok := Enough(5121); ok {
		t.Error("one class more is enough, too")
	}
	fake(t, nil)
	if _, _, ok := Enough(1 << 30); !ok {
		t.Error("not enough without a limit")
	}
}

// TestGivenLimit leaves the user's own limit alone.
func TestGivenLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	t.Setenv("GOMEMLIMIT", "1GiB")
	fake(t, map[string]string{fmt.Sprintf("proc/%d/cgroup", os.Getpid()): "0::/\n", "groups/memory.max": "1000000000", "groups/memory.current": "1000"})
	before := debug.SetMemoryLimit(-1)
	w := New(7)
	w.Look()
	w.Close()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Error("Go's memory limit is", got)
	}
}

// TestDieFirst has a process of its own raise its score, and start one that keeps the usual.
func TestDieFirst(t *testing.T) {
	if os.Getenv("RIVULET_DIE_FIRST") != "" {
		DieFirst()
		own, _ := os.ReadFile(scoreFile)
		cmd := exec.Command("cat", scoreFile)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := Start(cmd); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		again, _ := os.ReadFile(scoreFile)
		fmt.Printf("scores %s %s %s\n", bytes.TrimSpace(own), bytes.TrimSpace(out.Bytes()), bytes.TrimSpace(again))
		return
	}
	usual, err := os.ReadFile(scoreFile)
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDieFirst$")
	cmd.Env = append(os.Environ(), "RIVULET_DIE_FIRST=1")
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("scores 1000 %s 1000\n", bytes.TrimSpace(usual)); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v: %s; want %s", err, out, want)
	}
}

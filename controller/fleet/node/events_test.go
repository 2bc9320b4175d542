package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/job"
)

// TestEvents: while the broker is away events wait on disk, also for the next node; of too many the oldest go.
func TestEvents(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(*job.Worker) {})
	h.b.down = true
	const all, kept = 1100, 1000
	h.start()
	for n := range all {
		h.events <- fleet.Event{Found: fleet.Found{Node: "another", JVM: fleet.JVM{PID: n}}, Rule: "deadlock"}
	}
	dir := filepath.Join(h.dir, "events")
	newest := func() string {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) == 0 {
			return ""
		}
		b, _ := os.ReadFile(filepath.Join(dir, entries[len(entries)-1].Name()))
		return string(b)
	}
	for !strings.Contains(newest(), fmt.Sprintf(`"pid":%d,`, all-1)) {
		time.Sleep(time.Millisecond)
	}
	h.stop()
	h.b.mu.Lock()
	h.b.down = false
	h.b.mu.Unlock()
	h.start()
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	h.stop()
	if len(h.b.events) != kept {
		t.Fatalf("%d events", len(h.b.events))
	}
	for i, e := range h.b.events {
		if e.JVM.PID != all-kept+i || e.Node != "n1" || e.Rule != "deadlock" {
			t.Fatalf("event %d: %+v", i, e)
		}
	}
}

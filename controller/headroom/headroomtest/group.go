// Package headroomtest makes control groups with a limit of memory.
package headroomtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A Group is a control group that is removed when the test ends; its processes must have ended by then.
type Group struct {
	dir, limit string
}

// New makes a group with a limit in bytes. The test is skipped where that can't be done.
func New(t *testing.T, most int64) Group {
	t.Helper()
	dir, limit := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
	if _, err := os.Stat(filepath.Join(dir, limit)); err != nil {
		dir, limit = "/sys/fs/cgroup", "memory.max"
	}
	g := Group{filepath.Join(dir, fmt.Sprintf("rivulet-test-%d-%d", os.Getpid(), time.Now().UnixNano())), limit}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		t.Skip("no control groups here: ", err)
	}
	t.Cleanup(func() { remove(g.dir) })
	if err := g.Limit(most); err != nil {
		t.Skip("no limit of memory here: ", err)
	}
	return g
}

// remove removes a control group as soon as its last process is gone, which the kernel may take a moment for.
func remove(dir string) {
	for range 250 {
		if err := os.Remove(dir); err == nil || os.IsNotExist(err) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Limit sets the limit. The error is that of writing it, as where the processes have more already.
func (g Group) Limit(most int64) error {
	return os.WriteFile(filepath.Join(g.dir, g.limit), fmt.Append(nil, most), 0)
}

// Add puts a process into the group.
func (g Group) Add(t *testing.T, pid int) {
	t.Helper()
	if err := os.WriteFile(g.Procs(), fmt.Append(nil, pid), 0); err != nil {
		t.Fatal(err)
	}
}

// Command runs a command in the group.
func (g Group) Command(argv ...string) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", `echo $$ >"$0" && exec "$@"`, g.Procs()}, argv...)...)
}

// Procs is the file to which a process writes its number to join.
func (g Group) Procs() string { return filepath.Join(g.dir, "cgroup.procs") }

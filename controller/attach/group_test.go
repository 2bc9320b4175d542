package attach

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGroupMemoryLeft has a process in a control group with a limit, and one without.
func TestGroupMemoryLeft(t *testing.T) {
	needRoot(t)
	dir, limit := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
	if _, err := os.Stat(filepath.Join(dir, limit)); err != nil {
		dir, limit = "/sys/fs/cgroup", "memory.max"
	}
	group := filepath.Join(dir, fmt.Sprintf("rivulet-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip("no control groups here: ", err)
	}
	defer os.Remove(group)
	const most = 100 << 20
	if err := os.WriteFile(filepath.Join(group, limit), fmt.Append(nil, most), 0); err != nil {
		t.Skip("no limit of memory here: ", err)
	}
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() //nolint:errcheck // it is killed
	defer cmd.Process.Kill()
	before, limited := GroupMemoryLeft(cmd.Process.Pid)
	if limited && before <= most {
		t.Skip("this machine has less itself")
	}
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), fmt.Append(nil, cmd.Process.Pid), 0); err != nil {
		t.Fatal(err)
	}
	if left, limited := GroupMemoryLeft(cmd.Process.Pid); !limited || left > most || left < most/2 {
		t.Errorf("%d, %v", left, limited)
	}
}

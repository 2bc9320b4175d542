// Package sessiontest has what tests of a session, and of packages that use
// sessions, have in common: the built program, and a check that nothing of a
// session is left in a target.
package sessiontest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// The program is built once for all tests that start it.
var (
	buildDir string
	build    = sync.OnceValues(func() (file string, err error) {
		if buildDir, err = os.MkdirTemp("", "rivulet-test-"); err != nil {
			return "", err
		}
		file = filepath.Join(buildDir, "rivulet")
		out, err := exec.Command("go", "build", "-o", file, "github.com/rivulet-profiler/rivulet").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return file, err
	})
)

// Run runs the tests of a package that uses [Rivulet], and removes the built
// program. It returns the exit code for os.Exit.
func Run(m *testing.M) int {
	code := m.Run()
	if buildDir != "" {
		os.RemoveAll(buildDir)
	}
	return code
}

// Binary is the built program.
func Binary(t *testing.T) string {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Rivulet starts the program itself.
func Rivulet(t *testing.T, args ...string) *jvmtest.Proc {
	t.Helper()
	return jvmtest.StartCmd(t, exec.Command(Binary(t), args...))
}

// Traces lists what a session has in a process: threads, mappings and
// descriptors (active), and files of its temporary folders.
func Traces(pid int) (active, files []string) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	for _, f := range tasks {
		if b, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(b), "rivulet") {
			active = append(active, "thread "+strings.TrimSpace(string(b)))
		}
	}
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	for line := range bytes.Lines(maps) {
		if bytes.Contains(line, []byte(".rivulet")) && !bytes.Contains(line, []byte("boot1.jar (deleted)")) { // JDK 8 maps a jar's directory
			active = append(active, "mapping "+string(line[bytes.IndexByte(line, '/'):]))
		}
	}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	jars := 0 // JDK 8 has the jar open twice, others once
	for _, f := range fds {
		to, _ := os.Readlink(f)
		if !strings.Contains(to, ".rivulet") {
			if is, _ := filepath.Match("/proc/[0-9]*/stat", to); is { // the controller's
				active = append(active, "descriptor "+to)
			}
			continue
		}
		if jars++; jars > 2 || !strings.HasSuffix(to, "boot1.jar (deleted)") {
			active = append(active, "descriptor "+to)
		}
	}
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		names, _ := filepath.Glob(attach.Path(pid, filepath.Join(dir, ".rivulet-*")))
		for _, n := range names {
			if !strings.HasPrefix(filepath.Base(n), ".rivulet-run-") { // stays as long as its program
				files = append(files, n)
			}
		}
	}
	return active, files
}

// Gone waits until nothing of a session is active in a process.
func Gone(t *testing.T, pid int, within time.Duration) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if left, _ = Traces(pid); len(left) == 0 {
			return
		}
	}
	t.Errorf("after %v there are still: %q", within, left)
}

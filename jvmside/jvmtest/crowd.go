package jvmtest

import (
	"os/exec"
	"runtime"
	"testing"
)

// Crowd has all cores busy with other processes until disperse is called, or the
// test ends.
func Crowd(t testing.TB) (disperse func()) {
	t.Helper()
	var all []*exec.Cmd
	disperse = func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		all = nil
	}
	t.Cleanup(disperse)
	for range 2 * runtime.NumCPU() {
		cmd := exec.Command("sh", "-c", "while kill -0 $PPID; do for i in $(seq 100000); do :; done; done") // not after a test that was killed
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	return disperse
}

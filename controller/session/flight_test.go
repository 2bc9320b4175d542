package session_test

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestLostFlight: if the controller is lost, the agent ends the recording of Flight Recorder's that it had begun, and no
// other one.
func TestLostFlight(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Load")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Load", nil, "classes")
		vm, err := attach.Open(t.Context(), p.PID())
		if err != nil {
			t.Fatal(err)
		}
		jfr := func(command string) string {
			t.Helper()
			r, err := vm.Execute(context.WithoutCancel(t.Context()), "jcmd", command)
			if err != nil {
				t.Fatal(err)
			}
			return r.Text
		}
		jfr("JFR.start name=other")
		for _, sig := range []unix.Signal{unix.SIGKILL, unix.SIGSTOP} {
			c := profile(t, p, "--count", "contention")
			c.WaitError("rivulet: recording")
			if text := jfr("JFR.check"); !strings.Contains(text, "rivulet-") || !strings.Contains(text, "other") {
				t.Errorf("while it records: %s", text)
			}
			c.Signal(sig)
			until(t, "only the other recording is there", patient, func() bool {
				text := jfr("JFR.check")
				return !strings.Contains(text, "rivulet-") && strings.Contains(text, "other")
			})
			if sig == unix.SIGSTOP {
				gone(t, p.PID(), patient)
				c.Signal(unix.SIGCONT)
				code := c.Wait()
				// What Flight Recorder had until then is written, and counts.
				if why, calls := ended(t, c); code != 0 || !strings.Contains(why, "stopped") || calls == 0 || !strings.Contains(strings.Join(c.Stdout(), "\n"), `"contention": {`) {
					t.Errorf("after Ctrl-Z and fg: exit code %d, %d calls: %s", code, calls, why)
				}
			} else {
				c.Wait()
			}
			gone(t, p.PID(), patient)
		}
		jfr("JFR.stop name=other")
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("the target ended with %d", code)
		}
	}, 8, 17, 25)
}

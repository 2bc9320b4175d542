package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestSecurityManager: a policy that grants the agent nothing is a reason to
// refuse, soon and in words; one that grants it all, and the program nothing, is no
// obstacle.
func TestSecurityManager(t *testing.T) {
	t.Parallel()
	dir, _ := locks(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		policy := filepath.Join(t.TempDir(), "policy")
		options := []string{"-Djava.security.manager", "-Djava.security.policy==" + policy}
		for _, granted := range []bool{false, true} {
			text := "grant { };\n"
			if granted {
				text = "grant codeBase \"file:/tmp/-\" { permission java.security.AllPermission; };\n"
			}
			if err := os.WriteFile(policy, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			p := jvmtest.Start(t, j, options, "t.Locks", []string{"calm"}, elsewhere(t, dir))
			if granted {
				lockRun(t, p, lockCase{want: map[string]int64{"root": 1, "calm": 1, "Calm.work": 2, "Calm.compare": 1}}, "B")
				continue
			}
			p.WaitLine("READY")
			ctx, cancel := context.WithTimeout(context.Background(), patient)
			begin := time.Now()
			_, err := session.Attach(ctx, p.PID(), session.Config{})
			cancel()
			if !errors.Is(err, session.ErrManaged) {
				t.Errorf("after %v: %v", time.Since(begin), err)
			}
			p.Send("go")
			p.WaitLine("OK")
			p.CloseStdin()
			if code := p.Wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		}
	}, 8, 17)
}

// elsewhere copies a folder to where the policy grants nothing.
func elsewhere(t *testing.T, dir string) string {
	t.Helper()
	to, err := os.MkdirTemp("testdata", "managed-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(to) })
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if to, err = filepath.Abs(to); err != nil {
		t.Fatal(err)
	}
	return to
}

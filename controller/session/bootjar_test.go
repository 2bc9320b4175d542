package session_test

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestBootJarUnusable attaches to a JVM that has read the boot jar's path when there was no class in it. A JVM reads each
// path once.
func TestBootJarUnusable(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Awake")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := inNamespace(t, j, dir, []string{"-m"}, "mount -t tmpfs -o mode=1777 tmpfs /tmp", "Awake")
		folder := attach.Path(p.PID(), "/tmp/.rivulet-boot-0")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(folder, "boot1.jar"))
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		m, err := z.Create("META-INF/MANIFEST.MF")
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Write([]byte("Manifest-Version: 1.0\r\nAgent-Class: rivulet.boot.Boot1\r\n\r\n"))
		if err := errors.Join(err, z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), jvmtest.Patience)
		defer cancel()
		vm, err := attach.Open(ctx, p.PID())
		if err != nil {
			t.Fatal(err)
		}
		var e *attach.Error
		if err := vm.LoadAgent(ctx, "/tmp/.rivulet-boot-0/boot1.jar", ""); !errors.As(err, &e) || e.Code != attach.AgentStartError {
			t.Fatalf("%v", err)
		}
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Awake.work"}, Scheme: "A", UntilCalls: 200})
		<-s.Done()
		r := stopped(t, s)
		exact(t, r)
		wantCalls(t, r, map[string]int64{"Awake.work": 200, "Awake.shape": 600})
		if left, _ := filepath.Glob(attach.Path(p.PID(), "/tmp/.rivulet*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}, 8, 17)
}

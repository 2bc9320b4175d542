package attach

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

const nobody = 65534

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// TestOtherUserAsRoot: root takes on the target's user for the connection, and
// is root again afterwards on every thread.
func TestOtherUserAsRoot(t *testing.T) {
	needRoot(t)
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		for _, option := range []string{"-Xmx64m", "-XX:-UsePerfData"} {
			tg := inside(t, j, "--mount", "true", setNobody, option)
			tg.WaitLine("up")
			vm := open(t, tg.pid)
			if p := vm.Process(); p.UID != nobody || !p.Attachable || p.User == "root" || p.Major() != j.Version {
				t.Errorf("%+v", p)
			}
			if r, err := vm.Execute(deadline(t, jvmtest.Patience), "properties"); err != nil || r.Code != 0 {
				t.Error(err, r)
			}
			if err := vm.LoadAgent(deadline(t, jvmtest.Patience), "/mnt/agent.jar", "x"); err != nil {
				t.Error(err)
			}
			tg.unharmed()
		}
		runtime.GC()
		status, _ := filepath.Glob("/proc/self/task/*/status")
		for _, name := range status {
			b, err := os.ReadFile(name)
			if err == nil && !strings.Contains(string(b), "Uid:\t0\t0\t0\t0\n") && !switching(string(b)) {
				t.Errorf("a thread is not root any more:\n%.300s", b)
			}
		}
		if n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || n != 1 && !testing.Verbose() {
			t.Logf("dumpable: %d, %v", n, err)
		}
	})
}

// switching: a parallel test may be in asUser at this moment; such a thread
// keeps root as its real and saved user.
func switching(status string) bool {
	return strings.Contains(status, fmt.Sprintf("Uid:\t0\t%d\t0\t%d\n", nobody, nobody))
}

// TestForeignSocket: the dead socket of another user's JVM with the same number.
func TestForeignSocket(t *testing.T) {
	t.Parallel()
	tg := inside(t, jvmtest.Any(t), "--mount", "true", setNobody)
	tg.WaitLine("up")
	os.Remove(tg.socket()) // of a JVM killed long ago, which had the same number
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: tg.socket(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(deadline(t, jvmtest.Patience), tg.pid)
	wantErr(t, err, ErrNoSocket, tg.pid)
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := open(t, tg.pid).Execute(deadline(t, jvmtest.Patience), "properties"); err != nil {
		t.Error(err)
	}
	tg.unharmed()
}

// TestAsUser: files belong to the user, and errors come through.
func TestAsUser(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	os.Chmod(filepath.Dir(dir), 0o755)
	os.Chmod(dir, 0o777)
	name := filepath.Join(dir, "f")
	err := asUser(nobody, nobody, func() error {
		fd, err := unix.Open(name, unix.O_CREAT|unix.O_WRONLY, 0o600)
		unix.Close(fd)
		return err
	})
	var st unix.Stat_t
	if err != nil || unix.Stat(name, &st) != nil || st.Uid != nobody || st.Gid != nobody {
		t.Errorf("%v, %+v", err, st)
	}
	if err := asUser(nobody, nobody, func() error { return os.ErrInvalid }); !errors.Is(err, os.ErrInvalid) {
		t.Error(err)
	}
	if unix.Geteuid() != 0 {
		t.Error("not root any more")
	}
}

// TestAsNobody runs the tool without privileges.
func TestAsNobody(t *testing.T) {
	needRoot(t)
	t.Parallel()
	j := jvmtest.Need(t, 17)
	if !strings.HasPrefix(j.Home, "/usr/") {
		t.Skip("JDK 17 is not one that every user can run")
	}
	mine := exec.Command(j.Java(), "-cp", classes(t), "Target")
	mine.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	group := exec.Command(j.Java(), "-cp", classes(t), "Target")
	group.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: 12345}}
	mine.Dir, group.Dir = "/", "/"
	own, otherGroup, roots := launch(t, mine), launch(t, group), start(t, j)
	own.WaitLine("up")
	otherGroup.WaitLine("up")
	for _, c := range []struct {
		tg   *target
		want string
	}{{own, "ok"}, {otherGroup, ErrOtherUser.Error()}, {roots, ErrOtherUser.Error()}} {
		cmd := role("open", fmt.Sprint(c.tg.pid))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Dir = "/"
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil || !strings.HasPrefix(string(out), "open: "+c.want+" ") {
			t.Errorf("want %q: %v", c.want, err)
		}
		c.tg.unharmed()
	}
}

package attach

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// inside starts Target in a mount namespace of its own, as nobody, after the
// given shell commands. It finds the classes in /mnt and the JDK in /media,
// since nobody may not enter root's home. Flags are of unshare.
func inside(t *testing.T, j jvmtest.JDK, flags, prepare, as string, options ...string) *target {
	t.Helper()
	needRoot(t)
	for _, tool := range []string{"unshare", "setpriv"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs " + tool)
		}
	}
	script := fmt.Sprintf("mount --bind %s /mnt && mount --bind %s /media && %s && exec %s /media/bin/java %s -cp /mnt Target",
		classes(t), j.Home, prepare, as, strings.Join(options, " "))
	cmd := exec.Command("unshare", append(strings.Fields(flags), "sh", "-c", script)...)
	return launch(t, cmd)
}

const setNobody = "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +dac_read_search --ambient-caps +dac_read_search"

// TestContainer: JVMs as pid 1 of their own namespaces, with a /tmp of their own.
func TestContainer(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := inside(t, j, "--mount --pid --net --fork --kill-child --mount-proc", "mount -t tmpfs tmpfs /tmp", setNobody)
		tg.WaitLine("up")
		list, err := List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var p Process
		for _, q := range list {
			if b, _ := os.ReadFile(procFile(q.PID, "stat")); strings.Contains(string(b), fmt.Sprintf(") S %d ", tg.pid)) {
				p = q
			}
		}
		if p.NSPID != 1 || p.UID != nobody || p.Main != "Target" || !p.Attachable || p.Major() != j.Version {
			t.Fatalf("%+v", p)
		}
		if in, out := NumberFor(p.PID), NumberFor(tg.pid); in != 0 || out != os.Getpid() { // the JVM, and unshare
			t.Errorf("our number is %d inside and %d outside, want 0 and %d", in, out, os.Getpid())
		}
		vm := open(t, p.PID)
		if r, err := vm.Execute(deadline(t, jvmtest.Patience), "properties"); err != nil || r.Code != 0 {
			t.Error(err, r)
		}
		if err := vm.LoadAgent(deadline(t, jvmtest.Patience), "/mnt/agent.jar", "inside"); err != nil {
			t.Error(err)
		}
		tg.WaitLine("agent:inside")
		files, err := os.ReadDir(Path(p.PID, "/tmp"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Name() != ".java_pid1" && !strings.HasPrefix(f.Name(), "hsperfdata_") {
				t.Errorf("left in its /tmp: %s", f.Name())
			}
		}
		tg.unharmed()
	})
}

// TestReadOnlyTmp: nowhere to put the socket; the JVM must not be signalled.
func TestReadOnlyTmp(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		prepare string
		cause   error
	}{
		"read-only": {"mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp", unix.EROFS},
		"full":      {"mount -t tmpfs -o size=8k tmpfs /tmp && { cat /dev/zero >/tmp/fill 2>/dev/null; true; }", unix.ENOSPC},
		"forbidden": {"mount -t tmpfs -o mode=755 tmpfs /tmp", unix.EACCES},
		// Another user's JVM that had the same number has left its socket.
		"left": {"mount -t tmpfs tmpfs /opt && cp " + self + " /opt/role && mount -t tmpfs -o mode=1777 tmpfs /tmp && ATTACH_TEST_ROLE=listen=/tmp/.java_pid$$ /opt/role </dev/null >/dev/null && mount -o remount,ro /tmp", unix.EROFS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tg := inside(t, jvmtest.Any(t), "--mount", c.prepare, setNobody)
			tg.WaitLine("up")
			_, err := Open(deadline(t, jvmtest.Patience), tg.pid)
			wantErr(t, err, ErrReadOnly, tg.pid)
			if !errors.Is(err, c.cause) {
				t.Errorf("got %v, want %v", err, c.cause)
			}
			tg.unharmed()
		})
	}
}

// TestLinksStayInside: absolute links are the target's, not ours.
func TestLinksStayInside(t *testing.T) {
	tg := inside(t, jvmtest.Any(t), "--mount", "mount -t tmpfs tmpfs /srv && mkdir /srv/real && echo yes >/srv/real/file && ln -s /srv/real /srv/link", "")
	tg.WaitLine("up")
	if s := readTargetText(tg.pid, "/srv/link/file"); s != "yes\n" {
		t.Errorf("read %q", s)
	}
	if _, err := os.Stat(Path(tg.pid, "/srv/link/file")); err == nil {
		t.Error("the naive path works too; this test shows nothing")
	}
}

// TestFrozen: a paused container.
func TestFrozen(t *testing.T) {
	needRoot(t)
	t.Parallel()
	group := fmt.Sprintf("/sys/fs/cgroup/freezer/attach-test-%d", os.Getpid())
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip("needs the freezer control group of version 1")
	}
	defer os.Remove(group)
	write := func(name, value string) {
		if err := os.WriteFile(filepath.Join(group, name), []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	tg := start(t, jvmtest.Any(t))
	write("cgroup.procs", fmt.Sprint(tg.pid))
	write("freezer.state", "FROZEN")
	defer tg.Kill()
	defer write("freezer.state", "THAWED")
	_, err := Open(deadline(t, 5*time.Second), tg.pid)
	wantErr(t, err, ErrStopped, tg.pid)
	write("freezer.state", "THAWED")
	open(t, tg.pid)
	tg.unharmed()
}

// TestNoInstrument: a runtime made by jlink.
func TestNoInstrument(t *testing.T) {
	t.Parallel()
	j := jvmtest.Any(t)
	if _, err := os.Stat(filepath.Join(j.Home, "jmods")); err != nil {
		t.Skip("needs a JDK with jmods")
	}
	home := filepath.Join(t.TempDir(), "runtime")
	out, err := exec.Command(filepath.Join(j.Home, "bin", "jlink"), "--add-modules", "java.base", "--output", home).CombinedOutput()
	if err != nil {
		t.Fatalf("jlink: %v\n%s", err, out)
	}
	tg := launch(t, exec.Command(filepath.Join(home, "bin", "java"), "-cp", classes(t), "Target"))
	tg.WaitLine("up")
	p, err := Inspect(tg.pid)
	if err != nil || p.Attachable {
		t.Errorf("%+v, %v", p, err)
	}
	vm := open(t, tg.pid)
	wantErr(t, vm.LoadAgent(t.Context(), classes(t)+"/agent.jar", ""), ErrNoInstrument, tg.pid)
	r, err := vm.Execute(deadline(t, jvmtest.Patience), "load", "instrument", "false", classes(t)+"/agent.jar")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d %q", r.Code, r.Text)
	wantErr(t, vm.agentError("agent.jar", r), ErrNoInstrument, tg.pid)
	tg.unharmed()
}

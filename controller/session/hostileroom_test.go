package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/room"
	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/jvmside"
)

const (
	targetUser  = 65534
	anotherUser = 65533
)

// A hostile process is one whose user is not to be trusted, in a mount namespace with a /tmp and a
// /dev/shm of its own; links from there to our files lead to ours if we follow them as root.
type hostile struct {
	t      *testing.T
	pid    int
	victim string // a folder of root's
}

// startHostile starts it with /tmp of the given mode and owner.
func startHostile(t *testing.T, mode string, owner int) *hostile {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("needs unshare")
	}
	h := &hostile{t: t, victim: t.TempDir()}
	for _, name := range []string{"agent.bin", "boot1.jar", "commands", "error", "kept"} {
		if err := os.WriteFile(filepath.Join(h.victim, name), []byte("root's"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf("mount -t tmpfs -o mode=%s,uid=%d tmpfs /tmp && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && "+
		"exec setpriv --reuid %d --regid %d --clear-groups sh -c 'echo up; exec sleep 1000'", mode, owner, targetUser, targetUser)
	cmd := exec.Command("unshare", "--mount", "sh", "-c", script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() //nolint:errcheck // it was killed
	})
	if n, err := out.Read(make([]byte, 10)); n == 0 {
		t.Skip("no mount namespace here: ", err)
	}
	h.pid = cmd.Process.Pid
	return h
}

// as runs a shell script in the process's mount namespace as a user.
func (h *hostile) as(uid uint32, script string) *exec.Cmd {
	cmd := exec.Command("nsenter", fmt.Sprintf("--mount=/proc/%d/ns/mnt", h.pid), "setpriv", fmt.Sprintf("--reuid=%d", uid), fmt.Sprintf("--regid=%d", uid), "--clear-groups", "sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (h *hostile) do(uid uint32, script string) {
	h.t.Helper()
	if out, err := h.as(uid, script).CombinedOutput(); err != nil {
		h.t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// intact fails the test unless root's files are as they were.
func (h *hostile) intact() {
	h.t.Helper()
	files, err := os.ReadDir(h.victim)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Join(h.victim, f.Name())
		var st unix.Stat_t
		b, err := os.ReadFile(name)
		if err = errors.Join(err, unix.Lstat(name, &st)); err != nil || string(b) != "root's" || st.Uid != 0 {
			h.t.Errorf("%s: %q of %d, %v", name, b, st.Uid, err)
		}
	}
	if len(files) != 5 {
		h.t.Errorf("root's folder has %d files, 5 before", len(files))
	}
}

// TestRoomReplaced: the target's user, who owns the room, puts a link to root's files in its place.
func TestRoomReplaced(t *testing.T) {
	h := startHostile(t, "1777", 0)
	bundle, err := jvmside.NewBundle()
	if err != nil {
		t.Fatal(err)
	}
	for _, running := range []bool{false, true} {
		r, err := room.New(h.pid, targetUser, targetUser, bundle)
		if err != nil {
			t.Fatal(err)
		}
		boot := filepath.Dir(r.Boot)
		h.do(targetUser, fmt.Sprintf("mv %s /tmp/moved; ln -s %s %s; mv %s /tmp/boot; ln -s %s %s; cp /tmp/moved/agent.bin /tmp/moved/mine; ln -s %s/kept /tmp/moved/error",
			r.Dir, h.victim, r.Dir, boot, h.victim, boot, h.victim))
		if text := r.AgentError(); text != "" {
			t.Errorf("a link was read: %q", text)
		}
		r.ForgetError()
		h.do(targetUser, "rm -f /tmp/moved/error; mkfifo /tmp/moved/error")
		if text := r.AgentError(); text != "" {
			t.Errorf("a FIFO was read: %q", text)
		}
		if err := r.OwnBoot(bundle.Boot); err != nil {
			t.Error(err)
		}
		r.Close(running)
		h.intact()
		h.do(targetUser, "rm -rf /tmp/moved /tmp/boot "+r.Dir+" "+boot)
	}
}

// TestRoomRaced does so all the time, in a /tmp that the target's user owns.
func TestRoomRaced(t *testing.T) {
	h := startHostile(t, "0777", targetUser)
	bundle, err := jvmside.NewBundle()
	if err != nil {
		t.Fatal(err)
	}
	// The target's user could do so; this process is only faster than a shell.
	stop, swaps := make(chan struct{}), make(chan int)
	go func() {
		n, tmp := 0, fmt.Sprintf("/proc/%d/root/tmp", h.pid)
		for ; ; n++ {
			select {
			case <-stop:
				swaps <- n
				return
			default:
			}
			files, _ := filepath.Glob(tmp + "/.rivulet-*")
			for _, f := range files {
				if os.Rename(f, fmt.Sprintf("%s/moved%d", tmp, n)) == nil {
					os.Symlink(h.victim, f)
					os.Lchown(f, targetUser, targetUser)
					os.RemoveAll(fmt.Sprintf("%s/moved%d", tmp, n))
				}
			}
		}
	}()
	made, refused := 0, 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		r, err := room.New(h.pid, targetUser, targetUser, bundle)
		if err != nil {
			refused++ // it is the target's own fault
			continue
		}
		made++
		time.Sleep(time.Duration(made%4) * time.Millisecond)
		r.Close(made%2 == 0)
	}
	close(stop)
	t.Logf("%d rooms, %d refused, %d attacks", made, refused, <-swaps)
	h.intact()
}

// TestRoomPlanted: another user has files with our names in /tmp. They are neither used nor a hindrance.
func TestRoomPlanted(t *testing.T) {
	h := startHostile(t, "1777", 0)
	bundle, err := jvmside.NewBundle()
	if err != nil {
		t.Fatal(err)
	}
	boot := fmt.Sprintf("/tmp/.rivulet-boot-%d", targetUser)
	for _, plant := range []string{
		"mkdir -m 777 %s; echo evil >%[1]s/boot1.jar", "ln -s " + h.victim + " %s", "mkfifo %s", "touch %s",
	} {
		h.do(anotherUser, fmt.Sprintf(plant, boot))
		h.do(anotherUser, fmt.Sprintf("ln -s %s /tmp/.rivulet-0123456789abcdef; touch -h -d '1 hour ago' /tmp/.rivulet-0123456789abcdef", h.victim))
		r, err := room.New(h.pid, targetUser, targetUser, bundle)
		if err != nil {
			t.Fatalf("%s: %v", plant, err)
		}
		if strings.HasPrefix(r.Boot, boot) {
			t.Errorf("%s: the boot jar is %s", plant, r.Boot)
		}
		for _, name := range []string{r.Dir, r.Boot, r.Dir + "/agent.bin", r.Dir + "/commands", r.Dir + "/bell", r.Dir + "/data.at", r.DataPath} {
			var st unix.Stat_t
			want := uint32(0o600)
			if name == r.Dir {
				want = 0o700
			}
			if err := unix.Lstat(fmt.Sprintf("/proc/%d/root%s", h.pid, name), &st); err != nil || st.Uid != targetUser || st.Gid != targetUser || st.Mode&0o7777 != want {
				t.Errorf("%s: %v, mode %o, of %d:%d", name, err, st.Mode, st.Uid, st.Gid)
			}
		}
		r.Close(false)
		for _, name := range []string{r.Dir, r.DataPath} {
			if _, err := os.Lstat(fmt.Sprintf("/proc/%d/root%s", h.pid, name)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is left: %v", name, err)
			}
		}
		h.intact()
		h.do(anotherUser, "rm -rf /tmp/.rivulet-*")
	}
}

// TestShmLink: the target's /dev/shm is a link that would lead out of its file system, to a tmpfs of ours.
func TestShmLink(t *testing.T) {
	h := startHostile(t, "1777", 0)
	ours, err := os.MkdirTemp("/dev/shm", "rivulet-test-")
	if err != nil {
		t.Skip("no tmpfs here: ", err)
	}
	defer os.RemoveAll(ours)
	h.do(0, "umount /dev/shm && mount -t tmpfs tmpfs /dev && ln -s "+ours+" /dev/shm")
	bundle, err := jvmside.NewBundle()
	if err != nil {
		t.Fatal(err)
	}
	r, err := room.New(h.pid, targetUser, targetUser, bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(false)
	if files, err := os.ReadDir(ours); err != nil || len(files) != 0 {
		t.Errorf("files outside of the target: %v, %v", files, err)
	}
	if _, err := os.Lstat(fmt.Sprintf("/proc/%d/root%s", h.pid, r.DataPath)); err != nil {
		t.Error(err)
	}
}

// TestFileTruncated: the target's user truncates the data file. The session ends with a reason, and this process lives.
func TestFileTruncated(t *testing.T) {
	s, err := newSession(Config{Memory: 32 << 20}, attach.Process{PID: os.Getpid()}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.running = func() bool { return true }
	s.start()
	if err := s.do(t.Context(), s.startTicker); err != nil {
		t.Fatal(err)
	}
	if err := s.room.Data.Truncate(0); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.ctx.Done():
	case <-time.After(5 * time.Minute):
		t.Fatal("the session goes on")
	}
	if err := context.Cause(s.ctx); !errors.Is(err, shm.ErrGone) {
		t.Errorf("ended for %v", err)
	}
	if err := s.Close(); err != nil && !errors.Is(err, shm.ErrGone) {
		t.Error(err)
	}
}

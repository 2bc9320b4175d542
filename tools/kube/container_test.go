package kube

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A container is a process, and what was said of it.
type container struct {
	cmd    *exec.Cmd
	init   int // its first process
	out    *output
	ended  chan struct{}
	code   int
	failed string // why there is none
	user   *int64
}

// output keeps what is written, and tells when a text has come.
type output struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// initVariable has this program enter a container's root instead of testing.
const initVariable = "RIVULET_TEST_INIT"

// rootScript makes a root of its own and starts what it is told to in it.
const rootScript = `set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755,size=300m root "$ROOT"
cd "$ROOT"
mkdir proc dev tmp
touch .container
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs -o mode=1777,noexec shm dev/shm
mount -t tmpfs -o $TMP tmp tmp
for d in $DIRS; do
  if [ -L $d ]; then cp -P $d "$ROOT$d"; else
    mkdir -p "$ROOT$d"
    mount --rbind $d "$ROOT$d"
  fi
done
[ -z "$COPY" ] || { mkdir -p usr/bin; cp "$COPY" usr/bin/rivulet; }
[ -z "$READONLY" ] || mount -o remount,ro root "$ROOT"
exec "$INIT" "$@"`

// enterRoot makes the root that rootScript has made the only one, as container runtimes do, and becomes the container's program.
func enterRoot(argv []string) error {
	err := errors.Join(syscall.Chdir(os.Getenv("ROOT")), syscall.PivotRoot(".", "."), syscall.Unmount(".", syscall.MNT_DETACH), syscall.Chdir("/"))
	if id, failed := strconv.Atoi(os.Getenv("ID")); failed == nil && err == nil {
		err = errors.Join(syscall.Setgroups(nil), syscall.Setgid(id), syscall.Setuid(id))
	}
	if err == nil && !filepath.IsAbs(argv[0]) {
		argv[0] = "/usr/bin/" + argv[0]
	}
	if err == nil {
		err = syscall.Exec(argv[0], argv, []string{"PATH=/usr/bin:/bin"})
	}
	return fmt.Errorf("%s: %w", argv[0], err)
}

// start starts a process in new namespaces; the one for processes is that of target, where there is one.
func (k *kubelet) start(p *corev1.Pod, spec *corev1.Container, target *container, c *container) error {
	root := filepath.Join(k.dir, p.Name+"-"+spec.Name)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	env := []string{"INIT=" + self, initVariable + "=1", "ROOT=" + root, "PATH=" + os.Getenv("PATH"), "TMP=mode=1777", "READONLY=", "COPY=", "ID="}
	switch spec.Image {
	case imageJava:
		env = append(env, "DIRS=/lib /lib64 /usr /etc /bin")
	case imageBare:
		env = append(env, "DIRS=/lib /lib64 /usr/lib /usr/lib64 /etc")
	case imageRivulet:
		env = append(env, "DIRS=", "COPY="+rivulet)
	}
	for _, e := range spec.Env {
		if e.Name == "TEST_TMP" {
			env = append(env, "TMP="+e.Value)
		}
	}
	if spec.Image != imageRivulet {
		env = append(env, "DIRS="+value(env, "DIRS")+" "+classes)
	}
	if s := spec.SecurityContext; s != nil {
		if s.ReadOnlyRootFilesystem != nil && *s.ReadOnlyRootFilesystem {
			env = append(env, "READONLY=1")
		}
		if c.user = s.RunAsUser; c.user != nil {
			env = append(env, fmt.Sprintf("ID=%d", *c.user))
		}
	}
	args := []string{"--mount", "--fork", "--kill-child"}
	command := append([]string{"sh", "-c", rootScript, "root"}, append(append([]string{}, spec.Command...), spec.Args...)...)
	if target == nil {
		args = append(args, "--pid")
		c.cmd = exec.Command("unshare", append(args, command...)...)
	} else {
		c.cmd = exec.Command("nsenter", append([]string{"--target", fmt.Sprint(target.init), "--pid", "unshare"}, append(args, command...)...)...)
	}
	c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = env, c.out, c.out
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = c.cmd.Wait()
		c.code = c.cmd.ProcessState.ExitCode()
		close(c.ended)
	}()
	for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(10 * time.Millisecond) {
		if c.init = inside(c.cmd.Process.Pid); c.init != 0 {
			return nil
		}
		select {
		case <-c.ended:
			return fmt.Errorf("ended with code %d: %s", c.code, c.out)
		default:
		}
	}
	return errors.New("not started in twenty seconds: " + c.out.String())
}

func value(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// inside is the innermost process below pid that has a container's root; those around it are in the same mounts, but not in the same processes.
func inside(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(b)) {
		var n int
		fmt.Sscan(child, &n)
		if found := inside(n); found != 0 {
			return found
		}
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/root/.container", pid)); err != nil {
		return 0
	}
	if name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil || strings.HasSuffix(name, "/unshare") {
		return 0
	}
	return pid
}

func (c *container) kill() {
	if c.init != 0 {
		syscall.Kill(c.init, syscall.SIGKILL)
	}
	if c.cmd != nil && c.cmd.Process != nil {
		syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		<-c.ended
	}
}

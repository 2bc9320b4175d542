//go:build fleet

package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A host is a namespace each for network, processes and mounts, on a bridge with the others.
type host struct {
	t    *testing.T
	name string
	ip   string
	init *exec.Cmd // first process, which waits for those that lost their parents

	mu     sync.Mutex
	daemon map[string]*daemon
}

// A daemon is a process of a host that is started again and again.
type daemon struct {
	name string
	argv []string
	log  string
	host *host // nil: of this machine itself

	mu  sync.Mutex
	cmd *exec.Cmd
	up  time.Time
}

func run(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, out)
	}
}

const bridge, prefix = "rvbr0", "10.77.0."

// hosts makes so many hosts, and a bridge that this machine is on, too, as 10.77.0.1.
func hosts(t *testing.T, n int) []*host {
	t.Helper()
	_ = exec.Command("ip", "link", "del", bridge).Run() // of a run that was killed
	run(t, "ip", "link", "add", bridge, "type", "bridge")
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", bridge).Run() })
	run(t, "ip", "addr", "add", prefix+"1/24", "dev", bridge)
	run(t, "ip", "link", "set", bridge, "up")
	var out []*host
	for i := range n {
		h := &host{t: t, name: fmt.Sprintf("host-%d", i+1), ip: fmt.Sprintf("%s%d", prefix, 11+i), daemon: map[string]*daemon{}}
		h.init = exec.Command("unshare", "-n", "-p", "-m", "-f", "--mount-proc", "bash", "-c", "mount -t tmpfs tmpfs /tmp; echo ready; while :; do sleep 1; done")
		h.init.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		ready, err := h.init.StdoutPipe()
		if err == nil {
			err = h.init.Start()
		}
		if err == nil {
			_, err = ready.Read(make([]byte, 16))
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = syscall.Kill(h.first(), syscall.SIGKILL) // the kernel ends all others of the namespace
			_ = h.init.Process.Kill()
			_ = h.init.Wait()
		})
		v := fmt.Sprintf("rvv%d", i)
		_ = exec.Command("ip", "link", "del", v).Run()
		run(t, "ip", "link", "add", v, "type", "veth", "peer", "name", v+"p")
		run(t, "ip", "link", "set", v, "master", bridge, "up")
		run(t, "ip", "link", "set", v+"p", "netns", fmt.Sprint(h.first()))
		for _, c := range []string{"ip link set lo up", "ip addr add " + h.ip + "/24 dev " + v + "p", "ip link set " + v + "p up"} {
			run(t, h.enter(strings.Fields(c)...)...)
		}
		out = append(out, h)
	}
	return out
}

// first is the host's process 1, as this machine sees it.
func (h *host) first() int { return child(h.init.Process.Pid) }

// child is the only child of a process; 0 if there is none.
func child(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	c := 0
	_, _ = fmt.Sscan(string(b), &c)
	return c
}

func (h *host) enter(argv ...string) []string {
	return append([]string{"nsenter", "-t", fmt.Sprint(h.first()), "-n", "-p", "-m", "--"}, argv...)
}

// start starts a daemon, or starts it again.
func (d *daemon) start() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	argv := d.argv
	if d.host != nil {
		argv = d.host.enter(argv...)
	}
	d.cmd = exec.Command(argv[0], argv[1:]...)
	d.cmd.Stdout, d.cmd.Stderr = log, log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	d.up = time.Now()
	return d.cmd.Start()
}

// kill ends the daemon's own process at once, and nothing that it has started.
func (d *daemon) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cmd == nil {
		return
	}
	pid := d.cmd.Process.Pid
	if d.host != nil {
		for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if c := child(pid); c > 0 {
				pid = c
				break
			}
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	_ = d.cmd.Wait()
	d.cmd = nil
}

func (d *daemon) running() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cmd != nil && syscall.Kill(d.cmd.Process.Pid, 0) == nil
}

// logs shows the ends of all logs of a folder.
func logs(t *testing.T, dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		t.Logf("%s:\n%s", filepath.Base(f), b[max(0, len(b)-2000):])
	}
}

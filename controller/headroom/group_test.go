package headroom

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/headroom/headroomtest"
)

// fake puts files in the place of /proc and of the control groups.
func fake(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	oldProc, oldMount := proc, mount
	proc, mount = filepath.Join(dir, "proc"), filepath.Join(dir, "groups")
	t.Cleanup(func() { proc, mount = oldProc, oldMount })
	if _, inside := files["inside"]; inside { // the container's own mount, as seen through its root
		if err := os.MkdirAll(filepath.Join(proc, "7/root", filepath.Dir(mount)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "container"), filepath.Join(proc, "7/root", mount)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		want    Memory
		limited bool
	}{
		"version 2": {map[string]string{
			"proc/7/cgroup": "0::/a/b\n", "groups/a/memory.max": "max\n", "groups/a/memory.current": "900\n", "groups/a/b/memory.max": "1000\n", "groups/a/b/memory.current": "500\n",
		}, Memory{500, 1000}, true},
		"a limit above": {map[string]string{
			"proc/7/cgroup": "0::/a/b\n", "groups/a/memory.max": "800\n", "groups/a/memory.current": "500\n", "groups/a/b/memory.max": "1000\n", "groups/a/b/memory.current": "400\n",
		}, Memory{300, 800}, true},
		"cached files": {map[string]string{
			"proc/7/cgroup": "0::/a\n", "groups/a/memory.max": "1000\n", "groups/a/memory.current": "990\n",
			"groups/a/memory.stat": "anon 300\nfile 690\nactive_file 200\ninactive_file 100\nshmem 390\n",
		}, Memory{310, 1000}, true},
		"in a container": {map[string]string{"proc/7/cgroup": "0::/\n", "groups/memory.max": "1000\n", "groups/memory.current": "100\n"}, Memory{900, 1000}, true},
		"in a container beside": {map[string]string{
			"proc/7/cgroup": "0::/../other\n", "groups/memory.max": "10\n", "groups/memory.current": "1\n", "container/memory.max": "1000\n", "container/memory.current": "100\n", "inside": "",
		}, Memory{900, 1000}, true},
		"version 1": {map[string]string{
			"proc/7/cgroup": "5:cpu,cpuacct:/x\n4:memory:/a\n0::/\n", "groups/memory/a/memory.limit_in_bytes": "1000\n", "groups/memory/a/memory.usage_in_bytes": "900\n",
			"groups/memory/a/memory.stat": "active_file 1\ntotal_inactive_file 50\ntotal_active_file 20\n",
		}, Memory{170, 1000}, true},
		"version 1 in a container": {map[string]string{
			"proc/7/cgroup": "4:memory:/kubepods/pod1/2\n", "groups/memory/memory.limit_in_bytes": "1000\n", "groups/memory/memory.usage_in_bytes": "100\n",
		}, Memory{900, 1000}, true},
		"version 1, no limit": {map[string]string{
			"proc/7/cgroup": "4:memory:/a\n", "groups/memory/a/memory.limit_in_bytes": "9223372036854771712\n", "groups/memory/a/memory.usage_in_bytes": "900\n",
		}, Memory{}, false},
		"no limit":   {map[string]string{"proc/7/cgroup": "0::/a\n", "groups/a/memory.max": "max\n", "groups/a/memory.current": "900\n"}, Memory{}, false},
		"no groups":  {map[string]string{"proc/7/cgroup": "0::/a\n"}, Memory{}, false},
		"no process": {map[string]string{"groups/memory.max": "1000\n"}, Memory{}, false},
		"no sense":   {map[string]string{"proc/7/cgroup": "\x00\n1\n0::/a\n", "groups/a/memory.max": "many\n", "groups/a/memory.current": "-\n"}, Memory{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			fake(t, c.files)
			if got, limited := Of(7); got != c.want || limited != c.limited {
				t.Errorf("%v, %v; want %v, %v", got, limited, c.want, c.limited)
			}
		})
	}
}

// TestOfProcess has a process in a real control group with a limit, and one without.
func TestOfProcess(t *testing.T) {
	const most = 100 << 20
	group := headroomtest.New(t, most)
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() //nolint:errcheck // it is killed
	defer cmd.Process.Kill()
	if m, limited := Of(cmd.Process.Pid); limited && m.Left <= most {
		t.Skip("this machine has less itself")
	}
	group.Add(t, cmd.Process.Pid)
	if m, limited := Of(cmd.Process.Pid); !limited || m.Limit != most || m.Left > most || m.Left < most/2 {
		t.Errorf("%v, %v", m, limited)
	}
}

// taker is what [TestMain] runs in place of the tests: "big" takes 150 MB and waits, "first" asks to be killed
// first, and takes more than there is.
const taker = "RIVULET_TAKES_MEMORY"

func TestMain(m *testing.M) {
	var all [][]byte
	take := func(mb int) {
		for range mb {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			all = append(all, b)
		}
	}
	switch os.Getenv(taker) {
	case "":
		os.Exit(m.Run())
	case "big":
		take(150)
		fmt.Println("READY")
		_, _ = os.Stdin.Read(make([]byte, 1))
	case "first":
		DieFirst()
		take(400)
	}
	fmt.Println(len(all), "MB")
}

// TestKilledFirst has the memory of a container run out: the kernel kills the process that has asked to be
// killed first, and not the larger one.
func TestKilledFirst(t *testing.T) {
	group := headroomtest.New(t, 220<<20)
	run := func(what string) *exec.Cmd {
		cmd := group.Command(os.Args[0])
		cmd.Env = append(os.Environ(), taker+"="+what, "GOGC=off")
		return cmd
	}
	big := run("big")
	in, err := big.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := big.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "READY" {
		t.Fatalf("the large process says %q", lines.Text())
	}
	switch text, err := run("first").CombinedOutput(); {
	case err == nil:
		t.Skip("memory does not run out here: this machine swaps")
	case err.Error() != "signal: killed":
		t.Errorf("the other one: %v: %s", err, text)
	}
	in.Close()
	if !lines.Scan() || lines.Text() != "150 MB" {
		t.Errorf("the large process says %q", lines.Text())
	}
	if err := big.Wait(); err != nil {
		t.Error("the large process:", err)
	}
}

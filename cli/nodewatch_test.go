package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestNodeWatch: a real node keeps samples of a real JVM all the time; the fleet has those of the time before it asked. The
// watcher ends with its node, even if that is killed, and the next node goes on with what was kept.
func TestNodeWatch(t *testing.T) {
	keys, hub := fleetOf(t)
	nodeKey, key := filepath.Join(hub, string(fleet.RoleNode)+".key"), keys(fleet.RoleSample)
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Watched.java": "public class Watched { static volatile double sink; static void work() { for (int i = 0; i < 100000; i++) sink = Math.sqrt(i); }" +
		" public static void main(String[] a) { System.out.println(\"ready\"); for (;;) work(); } }"})
	p := jvmtest.Start(t, jvmtest.Any(t), []string{"-Xmx64m"}, "Watched", nil, dir)
	p.WaitLine("ready")
	own := t.TempDir()
	var said string // the file of what the node said at last
	start := func() *exec.Cmd {
		t.Helper()
		cmd := exec.Command("rivulet", "node", "--key", nodeKey, "--dir", own, "--name", "n1", "--watch", fmt.Sprintf("pid=%d", p.PID()), "--watch-when", "cpu > 1% for 2s", "--watch-keep", "1m", "--watch-disk", "1M")
		said = filepath.Join(t.TempDir(), "said")
		log, err := os.Create(said)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		cmd.Stderr = log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	says := func() string {
		text, _ := os.ReadFile(said)
		return string(text)
	}
	last := ""
	until := func(what string, is func() bool) {
		t.Helper()
		for begun := time.Now(); !is(); time.Sleep(50 * time.Millisecond) {
			if time.Since(begun) > 3*time.Minute {
				t.Fatalf("%s\nthe command: %s\nthe node: %s", what, last, says())
			}
		}
	}
	type answer struct {
		Kind      string
		Sampling  struct{ Samples int64 }
		Processes []struct{ Host string }
		Flat      []struct{ Method string }
	}
	kept := func() (r answer) {
		t.Helper()
		until("no samples", func() bool {
			code, stdout, stderr := command("fleet", "sample", "--key", key, "--select", fmt.Sprintf("pid=%d", p.PID()), "--last", "1m", "--format", "json")
			r, last = answer{}, stdout+stderr
			return code == 0 && json.Unmarshal([]byte(stdout), &r) == nil && len(r.Flat) > 0
		})
		return r
	}
	node := start()
	r := kept()
	if r.Kind != "sample" || !strings.HasPrefix(r.Flat[0].Method, "Watched.work") || len(r.Processes) != 1 || r.Processes[0].Host != "n1" {
		t.Errorf("%+v", r)
	}
	until("no event", func() bool { return strings.Contains(says(), "cpu > 1% for 2s: ") })
	type event struct {
		Time       time.Time
		Node, Rule string
		What       string
		JVM        fleet.JVM
	}
	is := func(e event) bool {
		return e.Node == "n1" && e.Rule == "cpu > 1% for 2s" && e.JVM.PID == p.PID() && e.JVM.Main == "Watched" && e.JVM.Args == "" && !e.Time.IsZero() && e.What != ""
	}
	until("no event at the hub", func() bool {
		code, stdout, stderr := command("fleet", "events", "--key", key, "--select", "main=Watched", "--json")
		var list []event
		last = stdout + stderr
		return code == 0 && json.Unmarshal([]byte(stdout), &list) == nil && len(list) > 0 && is(list[0])
	})
	if code, stdout, stderr := command("fleet", "events", "--key", key, "--select", "main=Other"); code != 0 || stdout != "" || !strings.Contains(stderr, "no rule came true") {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
	follower := exec.Command("rivulet", "fleet", "events", "--key", key, "--follow", "--json")
	lines, err := follower.StdoutPipe()
	if err == nil {
		err = follower.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var first event
	if err := json.NewDecoder(lines).Decode(&first); err != nil || !is(first) {
		t.Errorf("%v: %+v", err, first)
	}
	_ = follower.Process.Signal(syscall.SIGINT)
	if err := follower.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
	code, stdout, stderr := command("fleet", "ps", "--key", key, "--answer", "5m", "--select", fmt.Sprintf("pid=%d", p.PID()), "--json")
	if code != 0 || !strings.Contains(stdout, `"watched": true`) {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
	// Its watcher ends with it, since it has nobody to tell any more.
	watchers := func() int {
		n := 0
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range all {
			b, _ := os.ReadFile(file)
			if strings.HasPrefix(string(b), "rivulet\x00watch\x00"+fmt.Sprint(p.PID())+"\x00") {
				n++
			}
		}
		return n
	}
	if n := watchers(); n != 1 {
		t.Errorf("%d watchers", n)
	}
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	node.Wait()
	until("the watcher is still there", func() bool { return watchers() == 0 })
	node = start()
	until("not watched again", func() bool { return strings.Contains(says(), "watching ") })
	kept()
	if err := node.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := node.Wait(); err != nil || watchers() != 0 {
		t.Errorf("%v, %d watchers: %s", err, watchers(), says())
	}
	if _, err := keptSamples(filepath.Join(t.TempDir(), "jobs", "x"), p.PID(), time.Minute, pcct.Options{}); err == nil || !strings.Contains(err.Error(), "rivulet node --watch") {
		t.Error(err)
	}
}

package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/kube"
)

// fakeCluster has pods whose containers do what a test says; what runs in them runs in this process.
type fakeCluster struct {
	pods     []kube.Pod
	machines map[string]*fake // by pod
	noShell  map[string]bool
	looks    string // what a shell says of a container

	mu  sync.Mutex
	did []string
}

func newCluster(pods ...string) *fakeCluster {
	c := &fakeCluster{machines: map[string]*fake{}, noShell: map[string]bool{}, looks: "arch x86_64\nwriter cat\nuser 0\nfolder /tmp\njvm 4711 0\njava\x00-jar\x00shop.jar\x00\x00\n"}
	for _, name := range pods {
		c.pods = append(c.pods, kube.Pod{Namespace: "shop", Name: name, Phase: "Running", Ready: true, Containers: []kube.Container{{Name: "app", Running: true}}})
		c.machines[name] = newFake()
	}
	return c
}

func (c *fakeCluster) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, what)
}

func (c *fakeCluster) Pods(context.Context, kube.Which) ([]kube.Pod, error) { return c.pods, nil }

func (c *fakeCluster) Pod(_ context.Context, _, name string) (*kube.Pod, error) {
	for _, p := range c.pods {
		if p.Name == name {
			return &p, nil
		}
	}
	return nil, &kube.Error{Check: kube.CheckMissing, Cause: "there is no pod " + name}
}

func (c *fakeCluster) AddEphemeral(context.Context, kube.Place, kube.Ephemeral) error { return nil }

func (c *fakeCluster) Exec(_ context.Context, at kube.Place, s kube.Streams, command ...string) error {
	switch script := strings.Join(command, " "); {
	case command[0] == "sh" && c.noShell[at.Pod]:
		return &kube.ExitError{Code: 127}
	case strings.Contains(script, "libjvm"):
		_, err := io.WriteString(s.Out, c.looks)
		return err
	case strings.Contains(script, "cat >"):
		n, err := io.Copy(io.Discard, s.In)
		c.note(fmt.Sprintf("%s:copy:%d", at.Pod, n))
		return err
	case strings.Contains(script, "rm -f"):
		c.note(at.Pod + ":remove")
		return nil
	case len(command) == 2 && command[1] == kube.WorkerName:
		c.note(at.Pod + ":work")
		a := &app{backend: c.machines[at.Pod], stdin: s.In, stdout: s.Out, stderr: s.Err}
		if code := a.run(command[1:]); code != 0 {
			return &kube.ExitError{Code: code}
		}
		return nil
	}
	return fmt.Errorf("unexpected: %q", command)
}

// run runs rivulet kube with a binary that is one by its first bytes.
func (c *fakeCluster) run(t *testing.T, args ...string) result {
	t.Helper()
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(b[16:], 2)
	binary.LittleEndian.PutUint16(b[18:], 62)
	binary.LittleEndian.PutUint32(b[20:], 1)
	name := filepath.Join(t.TempDir(), "rivulet")
	if err := os.WriteFile(name, b, 0o755); err != nil {
		t.Fatal(err)
	}
	if args[0] != "ps" {
		args = append(args, "--binary", name)
	}
	var out, errs bytes.Buffer
	a := &app{backend: newFake(), stdin: strings.NewReader(""), stdout: &out, stderr: &errs, cluster: func(kube.Config) (kube.Cluster, error) { return c, nil }}
	code := a.run(append([]string{"kube"}, args...))
	return result{code, out.String(), errs.String()}
}

func TestKubePs(t *testing.T) {
	t.Parallel()
	c := newCluster("orders-1", "orders-2", "orders-3")
	c.noShell["orders-2"] = true
	c.pods[2].Phase, c.pods[2].Containers[0].Running, c.pods[2].Containers[0].State = "Pending", false, "ImagePullBackOff: no such image"
	r := c.run(t, "ps", "deploy/orders")
	for _, want := range []string{"orders-1  app        yes      4711  0    shop.jar", "orders-2  app        yes      -", "has no shell", "orders-3  app        Pending  -", "no such image"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is missing:\n%s%s", want, r.stdout, r.stderr)
		}
	}
	r = c.run(t, "ps", "--json")
	var got kubePsJSON
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || len(got.Rows) != 3 || got.Rows[0].JVMs[0].Main != "shop.jar" || got.Rows[1].Error == "" || got.Kind != "kube" {
		t.Errorf("%v: %s", err, r.stdout)
	}
	if c.pods = nil; c.run(t, "ps").code != exitUsage {
		t.Error("no pods, and no word about it")
	}
}

// TestKubeProfile records in two pods by the real worker, each of whose JVMs is a fake.
func TestKubeProfile(t *testing.T) {
	t.Parallel()
	c := newCluster("orders-1", "orders-2", "orders-3")
	for name, m := range c.machines {
		done := name != "orders-3"
		m.onStart = func(f *fake) {
			if done {
				close(f.done)
			}
		}
	}
	c.pods[2].Phase = "Pending"
	r := c.run(t, "profile", "deploy/orders", "--root", "shop.Price.of", "--until-calls", "1", "--all", "--match", "user=anna", "--format", "json")
	if r.code != exitUsage {
		t.Fatalf("--all beside --match: %+v", r)
	}
	r = c.run(t, "profile", "deploy/orders", "--root", "shop.Price.of", "--until-calls", "1", "--match", "user=anna", "--format", "json", "--full-heap", "--force")
	var got struct {
		Calls     int64
		Processes []struct {
			Host  string
			PID   int
			Calls int64
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	if got.Calls != 2 || len(got.Processes) != 2 || got.Processes[1].Host != "orders-2" || got.Processes[1].PID != 4711 || got.Processes[1].Calls != 1 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(r.stderr, "pod orders-3 is left out: pod orders-3 does not run: Pending") || !strings.Contains(r.stderr, "recording in 2 JVMs") {
		t.Error(r.stderr)
	}
	if m := c.machines["orders-1"]; m.steps() != "attach start finish" || m.rec.UntilCalls != 1 || m.rec.Roots[0] != "shop.Price.of" || !m.fullHeap || !m.littleMemory {
		t.Errorf("%s: %+v, full heap: %v, little memory: %v", m.steps(), m.rec, m.fullHeap, m.littleMemory)
	}
	did := strings.Join(c.did, " ")
	for _, want := range []string{"orders-1:copy:64", "orders-1:work", "orders-1:remove", "orders-2:remove"} {
		if !strings.Contains(did, want) {
			t.Errorf("%s is missing: %s", want, did)
		}
	}
}

// TestKubeProfileFails names what can't be looked at.
func TestKubeProfileFails(t *testing.T) {
	t.Parallel()
	profile := func(c *fakeCluster, more ...string) result {
		for _, m := range c.machines {
			m.onStart = func(f *fake) { close(f.done) }
		}
		return c.run(t, append([]string{"profile", "deploy/orders", "--root", "shop.Price.of", "--until-calls", "1", "--pid", "4711"}, more...)...)
	}
	c := newCluster("orders-1", "orders-2")
	c.noShell["orders-2"] = true
	if r := profile(c); r.code != exitFailed || !strings.Contains(r.stderr, "orders-2: the container of pod orders-2 has no shell") || !strings.Contains(r.stdout, "shop.Price.of") {
		t.Errorf("one of two: %+v", r)
	}
	c = newCluster("orders-1")
	if r := c.run(t, "profile", "orders-1", "--root", "shop.Price.of", "--for", "1s"); r.code != exitFailed || !strings.Contains(r.stderr, "there are several JVMs in this container: 4711 /opt/shop/shop.jar, 4712") {
		t.Errorf("several: %+v", r)
	}
	if r := c.run(t, "profile", "orders-1", "--root", "shop.Price.of", "--for", "1s", "--pid", "9"); r.code != exitFailed || !strings.Contains(r.stderr, "none of this container's JVMs is meant") {
		t.Errorf("none of them: %+v", r)
	}
	if r := c.run(t, "profile", "--root", "shop.Price.of", "--for", "1s"); r.code != exitUsage || !strings.Contains(r.stderr, "which pods?") {
		t.Errorf("no target: %+v", r)
	}
	c.looks = "arch x86_64\nwriter cat\nuser 0\nfolder /tmp\n"
	if r := profile(c); r.code != exitFailed || !strings.Contains(r.stderr, "no container of pod orders-1 has a JVM") {
		t.Errorf("no JVM: %+v", r)
	}
	c.looks = "arch x86_64\nwriter cat\nuser 0\nlimit 400000000\nused 300000000\nfolder /tmp\njvm 4711 0\njava\x00\x00\n"
	if r := profile(c); r.code != exitFailed || !strings.Contains(r.stderr, "95 MB more memory") {
		t.Errorf("no room: %+v", r)
	}
	if r := profile(c, "--force"); r.code != 0 {
		t.Errorf("--force: %+v", r)
	}
	c.machines["orders-1"].attachErr = fmt.Errorf("attach is disabled")
	if r := profile(c, "--force"); r.code != exitFailed || !strings.Contains(r.stderr, "orders-1/4711: attach is disabled") {
		t.Errorf("no attach: %+v", r)
	}
}

// TestKubeLooks asks the JVMs of two pods for what is no recording.
func TestKubeLooks(t *testing.T) {
	t.Parallel()
	c := newCluster("orders-1", "orders-2")
	c.machines["orders-2"].checks = []doctor.Check{{Name: "attach", Status: doctor.Failure, Text: "attach is disabled", Fix: "start it without -XX:+DisableAttachMechanism"}}
	c.machines["orders-2"].extra = 1 << 20
	r := c.run(t, "heap", "deploy/orders", "--pid", "4711")
	if r.code != 0 || !strings.Contains(r.stdout, "orders-2/4711") || !strings.Contains(r.stdout, "in 2 JVMs") {
		t.Errorf("heap: %+v", r)
	}
	r = c.run(t, "locks", "deploy/orders", "--pid", "4711", "--json")
	var locks fleetLocksJSON
	if err := json.Unmarshal([]byte(r.stdout), &locks); err != nil || len(locks.Processes) != 2 || locks.Processes[0].Host != "orders-1" || r.code != exitFailed || locks.Processes[0].Error == "" { // 4711 is no process
		t.Errorf("locks: %v, %+v", err, r)
	}
	r = c.run(t, "sample", "deploy/orders", "--pid", "4711", "--for", "1s", "--json")
	var sampled struct{ Processes []struct{ Host string } }
	if err := json.Unmarshal([]byte(r.stdout), &sampled); err != nil || r.code != 0 || len(sampled.Processes) != 2 {
		t.Errorf("sample: %v, %+v", err, r)
	}
	c.pods = append(c.pods, kube.Pod{Namespace: "shop", Name: "orders-3", Phase: "Pending"})
	r = c.run(t, "doctor", "deploy/orders", "--pid", "4711", "--root", "shop.Price.of", "--json")
	var examined kubeDoctorJSON
	if err := json.Unmarshal([]byte(r.stdout), &examined); err != nil || r.code != exitFailed || examined.OK || len(examined.Pods) != 3 {
		t.Fatalf("doctor: %v, %+v", err, r)
	}
	for i, want := range []string{"place OK, memory OK", "place OK, memory OK, attach FAIL", "pod FAIL"} {
		var got []string
		for _, check := range examined.Pods[i].Checks {
			got = append(got, check.Name+" "+string(check.Status))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %v", examined.Pods[i].Pod, got)
		}
	}
	if did := c.machines["orders-1"].steps(); !strings.Contains(did, "doctor:shop.Price.of") {
		t.Error(did)
	}
	c.noShell["orders-1"] = true
	r = c.run(t, "doctor", "deploy/orders", "--pid", "4711")
	for _, want := range []string{"orders-1\nFAIL  shell        the container of pod orders-1 has no shell", "-> use an ephemeral container: --image IMAGE", "orders-2/4711", "-> start it without"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is missing: %s", want, r.stdout)
		}
	}
}

// TestKubeUsage refuses what makes no sense before anything is asked.
func TestKubeUsage(t *testing.T) {
	t.Parallel()
	c := newCluster("orders-1")
	for says, args := range map[string][]string{
		"give one of both":            {"sample", "x", "--image", "i", "--copy"},
		"--user is that of":           {"sample", "x", "--user", "5"},
		"how shall Rivulet come":      {"sample", "x", "--copy=false"},
		"give deploy/NAME":            {"heap", "node/x"},
		"--pods -1":                   {"heap", "x", "--pods", "-1"},
		"--root is missing":           {"profile", "x"},
		"are of one JVM":              {"profile", "x", "--root", "a.B.c", "--trace", "t"},
		"give a time above zero":      {"threads", "x", "--for", "-1s"},
		"one argument too many":       {"locks", "x", "y"},
		"x and -l app=a: give one":    {"doctor", "x", "-l", "app=a"},
		"--pid 0 is not a process id": {"doctor", "x", "--pid", "0"},
		"is no program for Linux":     {"heap", "x", "--binary", "kube_test.go"},
	} {
		var out, errs bytes.Buffer
		a := &app{backend: newFake(), stdin: strings.NewReader(""), stdout: &out, stderr: &errs, cluster: func(kube.Config) (kube.Cluster, error) { return c, nil }}
		if code := a.run(append([]string{"kube"}, args...)); code != exitUsage || !strings.Contains(errs.String(), says) {
			t.Errorf("%v: code %d, %s", args, code, &errs)
		}
	}
	if len(c.did) > 0 {
		t.Error(c.did)
	}
}

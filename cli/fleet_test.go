package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/hub"
	"github.com/rivulet-profiler/rivulet/controller/fleet/job"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
	"github.com/rivulet-profiler/rivulet/controller/fleet/node"
)

// fleetOf starts a hub, and nodes that have a fake machine each, with workers in this
// process. It returns files with keys, by role.
func fleetOf(t *testing.T, names ...string) (keys func(role fleet.Role) string, dir string) {
	t.Helper()
	dir = t.TempDir()
	h, err := hub.Open(t.Context(), hub.Config{
		Dir: dir, Listen: "127.0.0.1:0", Names: []string{"127.0.0.1"}, Limits: link.Limits{Disk: 64 << 20, Reports: 24 * time.Hour, Replicas: 1}, Say: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	keys = func(role fleet.Role) string {
		k, err := hub.AddUser(dir, "user-"+string(role), role, "")
		path := filepath.Join(dir, string(role)+".key")
		if err == nil {
			err = link.WriteKey(path, h.Key(k))
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	k, err := link.ReadKey(keys(fleet.RoleNode))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	working, interrupt := context.WithCancel(ctx)
	over := make(chan error, len(names))
	for _, name := range names {
		machine := newFake()
		if name == "web-3" {
			machine.extra = 1 << 20
		}
		a := &app{backend: machine, stdout: io.Discard, stderr: io.Discard}
		l, err := link.Dial(k, link.Options{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		c := node.Config{
			Name: name, Dir: t.TempDir(), Disk: 1 << 30, AtOnce: 2, Broker: l, Say: func(string) {},
			Interrupt: func(int) { interrupt() },
			JVMs: func(ctx context.Context) ([]fleet.JVM, error) {
				return a.fleetJVMs(ctx, map[string]string{"zone": "a"})
			},
			Start: func(d job.Dir) (<-chan struct{}, error) {
				exited := make(chan struct{})
				go func() {
					defer close(exited)
					w, err := job.Take(d)
					if err != nil {
						return
					}
					in := &interrupts{first: working, second: ctx}
					if err := a.work(in, w, string(d)); err != nil {
						t.Error(err)
					}
					w.Release()
				}()
				return exited, nil
			},
		}
		go func() {
			over <- node.Run(ctx, context.Background(), c)
			l.Close()
		}()
	}
	t.Cleanup(func() {
		interrupt()
		cancel()
		for range names {
			if err := <-over; err != nil {
				t.Error(err)
			}
		}
		h.Close()
	})
	return keys, dir
}

// TestFleet looks at JVMs of three nodes, which are fakes, by a real hub.
func TestFleet(t *testing.T) {
	t.Parallel()
	keys, _ := fleetOf(t, "web-1", "web-2", "web-3")
	key := keys(fleet.RoleRecord)
	f := newFake()
	waitForNodes(t, key, 3)
	r := f.run(t, "fleet", "ps", "--key", key, "--answer", "5m")
	if r.code != 0 || !strings.Contains(r.stdout, "web-2  4711  shop  ") || !strings.Contains(r.stdout, "not attachable: belongs to user bert") {
		t.Fatalf("%+v", r)
	}
	r = f.run(t, "fleet", "ps", "--key", key, "--answer", "5m", "--select", "node=web-3", "--json")
	var ps struct {
		Kind string
		JVMs []struct {
			Node string
			JVM  struct {
				PID    int
				App    string
				Labels map[string]string
			}
		}
		Nodes []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &ps); err != nil || ps.Kind != "fleet" || len(ps.JVMs) != 2 || ps.JVMs[0].JVM.Labels["zone"] != "a" || len(ps.Nodes) != 3 {
		t.Errorf("%v: %s", err, r.stdout)
	}
	r = f.run(t, "fleet", "profile", "--key", key, "--answer", "5m", "--select", "app=shop,zone=a", "--root", "shop.Price.of", "--for", "100ms", "--max-at-once", "34%", "--overhead", "2%", "--format", "json")
	var report struct {
		Calls     int64
		Processes []struct {
			Host  string
			PID   int
			Calls int64
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 || report.Calls != 3 || len(report.Processes) != 3 || report.Processes[1].Host != "web-2" || report.Processes[1].Calls != 1 {
		t.Fatalf("code %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
	}
	_, after, _ := strings.Cut(r.stderr, "run ")
	run, _, _ := strings.Cut(after, ":")
	r = f.run(t, "fleet", "collect", run, "--key", key)
	if r.code != 0 || !strings.Contains(r.stdout, "web-3/4711") {
		t.Errorf("%+v", r)
	}
	r = f.run(t, "fleet", "heap", "--key", key, "--answer", "5m", "--select", "app=shop", "--json")
	var heap struct {
		Kind    string
		Classes []struct {
			Class     string
			Bytes     int64 `json:"shallow_bytes"`
			Processes struct {
				Bytes []int64 `json:"shallow_bytes"`
			}
		}
		Outliers []struct{ Host, Class string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &heap); err != nil || r.code != 0 || heap.Classes[0].Bytes != 900+1<<20 || heap.Classes[0].Processes.Bytes[0] != 300 ||
		len(heap.Outliers) != 1 || heap.Outliers[0].Host != "web-3" || heap.Outliers[0].Class != "byte[]" {
		t.Errorf("%v: %+v", err, r)
	}
	if r = f.run(t, "fleet", "heap", "--key", key, "--answer", "5m", "--select", "app=shop"); r.code != 0 || !strings.Contains(r.stdout, "web-3/4711 has 1.00 MB of byte[], the median process 300 B") {
		t.Errorf("%+v", r)
	}
	r = f.run(t, "fleet", "runs", "--key", key)
	if r.code != 0 || !strings.Contains(r.stdout, run) || !strings.Contains(r.stdout, "shop.Price.of") {
		t.Errorf("%+v", r)
	}
	r = f.run(t, "fleet", "sample", "--key", key, "--answer", "5m", "--select", "app=shop", "--for", "100ms", "--format", "json")
	if r.code != 0 || strings.Count(r.stdout, `"host": "web-`) != 3 {
		t.Errorf("%+v", r)
	}
	var audit []fleet.Audit
	for deadline := time.Now().Add(5 * time.Minute); len(audit) < 24 && time.Now().Before(deadline); {
		r = f.run(t, "fleet", "audit", "--key", key, "--json")
		if err := json.Unmarshal([]byte(r.stdout), &audit); err != nil {
			t.Fatalf("%v: %+v", err, r)
		}
	}
	for _, a := range audit {
		if a.User != "user-record" || a.PID != 4711 || a.What != "accepted" && a.What != "ended" {
			t.Errorf("%+v", a)
		}
	}
	if len(audit) != 24 {
		t.Errorf("%d lines", len(audit))
	}
	r = f.run(t, "fleet", "profile", "--key", keys(fleet.RoleSample), "--root", "shop.Price.of", "--for", "1s")
	if r.code != 2 || !strings.Contains(r.stderr, "takes the role record") {
		t.Errorf("%+v", r)
	}
}

// TestFleetDiff compares two of three nodes with the third, which is the canary.
func TestFleetDiff(t *testing.T) {
	t.Parallel()
	keys, _ := fleetOf(t, "web-1", "web-2", "web-3")
	key := keys(fleet.RoleRecord)
	waitForNodes(t, key, 3)
	r := newFake().run(t, "fleet", "diff", "--key", key, "--answer", "5m", "--canary", "node=web-3", "--baseline", "app=shop", "--root", "shop.Price.of", "--for", "100ms", "--json")
	var d struct {
		Before, After struct {
			Invocations int64 `json:"root_invocations"`
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil || r.code != 0 || d.Before.Invocations != 2 || d.After.Invocations != 1 {
		t.Errorf("%v: %+v", err, r)
	}
	if r = newFake().run(t, "fleet", "diff", "--key", key, "--answer", "5m", "--canary", "app=shop", "--baseline", "app=shop", "--root", "shop.Price.of", "--for", "100ms"); r.code != 2 {
		t.Errorf("%+v", r)
	}
}

// TestFleetCompare compares three groups, of one node each.
func TestFleetCompare(t *testing.T) {
	t.Parallel()
	keys, _ := fleetOf(t, "web-1", "web-2", "web-3")
	key := keys(fleet.RoleRecord)
	waitForNodes(t, key, 3)
	args := []string{"fleet", "compare", "--key", key, "--answer", "5m", "--select", "app=shop", "--root", "shop.Price.of", "--for", "100ms"}
	r := newFake().run(t, append(args, "--by", "node", "--base", "web-2", "--json")...)
	var c struct {
		Kind, By, Base string
		Groups         []struct {
			Value      string
			JVMs       int
			RootCalls  int64    `json:"root_invocations"`
			PerRoot    *float64 `json:"calls_per_root"`
			Verdict    string
			Difference *struct {
				Kind          string
				Before, After struct{ File string }
			}
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &c); err != nil || r.code != 0 || c.Kind != "fleet_comparison" || c.By != "node" || c.Base != "web-2" || len(c.Groups) != 3 {
		t.Fatalf("%v: %+v", err, r)
	}
	for i, g := range c.Groups {
		base := g.Value == "web-2"
		if g.Value != fmt.Sprint("web-", i+1) || g.JVMs != 1 || g.RootCalls != 1 || g.PerRoot == nil || *g.PerRoot != 1 || (g.Difference == nil) != base || (g.Verdict == "") != base {
			t.Errorf("%+v", g)
		}
		if d := g.Difference; d != nil && (d.Kind != "difference" || d.Before.File != "node=web-2" || d.After.File != "node="+g.Value) {
			t.Errorf("%+v", d)
		}
	}
	r = newFake().run(t, append(args, "--by", "node")...)
	if r.code != 0 || !strings.Contains(r.stdout, "BESIDE web-1") || !strings.Contains(r.stdout, "node=web-3") || !strings.Contains(r.stdout, "what the others are compared with") {
		t.Errorf("%+v", r)
	}
	for flags, want := range map[string]string{
		"--by zone": "all 3 JVMs have a", "--by node --base web-9": "there are web-1, web-2, web-3", "": "--by says", "--by colour": "all 3 JVMs have (none)",
	} {
		if r = newFake().run(t, append(args, strings.Fields(flags)...)...); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", flags, r)
		}
	}
}

// waitForNodes waits until so many nodes answer.
func waitForNodes(t *testing.T, key string, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		if r := newFake().run(t, "fleet", "ps", "--key", key); strings.Count(r.stdout, " 4711 ") == n {
			return
		}
	}
	t.Fatalf("there are no %d nodes in a minute", n)
}

// TestFleetStops: a run ends by itself when the service says that it fares badly, and says why.
func TestFleetStops(t *testing.T) {
	t.Parallel()
	keys, _ := fleetOf(t, "web-1", "web-2", "web-3")
	key := keys(fleet.RoleRecord)
	waitForNodes(t, key, 3)
	var looks atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		value := "0.1"
		if looks.Add(1) > healthBefore+1 {
			value = "0.9"
		}
		_, _ = io.WriteString(w, "p99{uri=\"/orders\"} "+value+"\n")
	}))
	defer service.Close()
	args := []string{"fleet", "profile", "--key", key, "--answer", "5m", "--select", "app=shop", "--root", "shop.Price.of", "--for", "1m", "--max-at-once", "1", "--format", "json", "--health", service.URL}
	r := newFake().run(t, append(args, "--stop-when", `p99{uri="/orders"} > 1.5x for 0s`)...)
	if r.code != 1 || !strings.Contains(r.stderr, "0.9, before it was 0.1") || strings.Count(r.stderr, "not begun: ") < 2 || !strings.Contains(r.stdout, `"processes"`) {
		t.Errorf("%+v", r)
	}
	if r = newFake().run(t, append(args, "--stop-when", "nothing > 1")...); r.code != 1 || !strings.Contains(r.stderr, "says nothing of nothing") {
		t.Errorf("%+v", r)
	}
}

// TestHubKeys adds users to the folder of a hub, and takes them away.
func TestHubKeys(t *testing.T) {
	t.Parallel()
	_, dir := fleetOf(t)
	if err := link.WriteKey(filepath.Join(dir, "address.json"), &link.Key{URL: "tls://h:1", CA: "x"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "web-1.key")
	r := newFake().run(t, "hub", "key", "add", "web-1", "--role", "node", "--node", "web-1", "-o", file, "--dir", dir)
	k, err := link.ReadKey(file)
	if r.code != 0 || err != nil || k.Node != "web-1" || k.URL != "tls://h:1" || k.Role != fleet.RoleNode {
		t.Fatalf("%+v, %+v, %v", r, k, err)
	}
	if r = newFake().run(t, "hub", "key", "add", "web-1", "--role", "node", "-o", file+"2", "--dir", dir); r.code != 2 {
		t.Errorf("%+v", r)
	}
	if r = newFake().run(t, "hub", "key", "ls", "--dir", dir); !strings.Contains(r.stdout, "web-1") || strings.Contains(r.stdout, k.Token) {
		t.Errorf("%+v", r)
	}
	if r = newFake().run(t, "hub", "key", "rm", "web-1", "--dir", dir); r.code != 0 {
		t.Errorf("%+v", r)
	}
	if r = newFake().run(t, "hub", "key", "rm", "web-1", "--dir", dir); r.code != 2 {
		t.Errorf("%+v", r)
	}
}

// TestNodeUnit: the unit ends no recording with the node.
func TestNodeUnit(t *testing.T) {
	t.Parallel()
	if r := newFake().run(t, "node", "unit"); r.code != 0 || !strings.Contains(r.stdout, "KillMode=process") {
		t.Errorf("%+v", r)
	}
}

// TestNATSConfig writes keys once, and what a NATS server needs.
func TestNATSConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newFake().run(t, "hub", "nats-config", "--url", "nats://n1:4222", "--dir", dir)
	first, err := link.ReadKey(filepath.Join(dir, "setup.key"))
	if r.code != 0 || err != nil || !strings.Contains(r.stdout, `user: "admin"`) || strings.Contains(r.stdout, first.Token) {
		t.Fatalf("%+v, %v", r, err)
	}
	newFake().run(t, "hub", "nats-config", "--url", "nats://n1:4222", "--dir", dir)
	if second, err := link.ReadKey(filepath.Join(dir, "setup.key")); err != nil || second.Token != first.Token {
		t.Errorf("the keys have changed: %v", err)
	}
}

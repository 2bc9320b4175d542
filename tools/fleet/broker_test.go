//go:build fleet

package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A broker is what nodes and commands connect with.
type broker struct {
	servers []*daemon
	flags   []string // of nodes and commands
	nodeKey string
	userKey string
}

// embedded is rivulet hub, on this machine.
func embedded(t *testing.T, dir, rivulet string) *broker {
	hub := filepath.Join(dir, "hub")
	d := &daemon{name: "hub", log: filepath.Join(dir, "hub.log"), argv: []string{rivulet, "hub", "--dir", hub, "--listen", prefix + "1:4222", "--name", prefix + "1"}}
	startBroker(t, d)
	b := &broker{servers: []*daemon{d}, nodeKey: filepath.Join(hub, "keys/node.key"), userKey: filepath.Join(hub, "keys/admin.key")}
	wait(t, "the hub's keys", func() bool { _, err := os.Stat(b.userKey); return err == nil })
	return b
}

// cluster is three nats-servers, which know each other.
func cluster(t *testing.T, dir, rivulet string) *broker {
	nats := filepath.Join(dir, "nats-server")
	build := exec.Command("go", "build", "-o", nats, "github.com/nats-io/nats-server/v2")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var urls, routes []string
	for i := range 3 {
		urls = append(urls, fmt.Sprintf("nats://%s1:%d", prefix, 5001+i))
		routes = append(routes, fmt.Sprintf("nats://%s1:%d", prefix, 6001+i))
	}
	keys, url := filepath.Join(dir, "keys"), strings.Join(urls, ",")
	config, err := exec.Command(rivulet, "hub", "nats-config", "--url", url, "--dir", keys).Output()
	if err != nil {
		t.Fatal(err)
	}
	b := &broker{flags: []string{"--nats", url}, nodeKey: filepath.Join(keys, "node.key"), userKey: filepath.Join(keys, "admin.key")}
	for i := range 3 {
		file := filepath.Join(dir, fmt.Sprintf("nats-%d.conf", i))
		text := fmt.Sprintf("server_name: n%d\nlisten: %s1:%d\njetstream { store_dir: %q, max_file_store: 1G, sync_interval: always }\ncluster { name: c, listen: %s1:%d, routes: [%s] }\n%s",
			i, prefix, 5001+i, filepath.Join(dir, fmt.Sprintf("store-%d", i)), prefix, 6001+i, strings.Join(routes, ", "), config)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d := &daemon{name: fmt.Sprintf("nats-%d", i), log: filepath.Join(dir, fmt.Sprintf("nats-%d.log", i)), argv: []string{nats, "-c", file}}
		startBroker(t, d)
		b.servers = append(b.servers, d)
	}
	wait(t, "the cluster to be set up", func() bool {
		out, err := exec.Command(rivulet, "hub", "setup", "--nats", url, "--key", filepath.Join(keys, "setup.key"), "--disk", "512M").CombinedOutput()
		if err != nil {
			t.Logf("%s", out)
		}
		return err == nil
	})
	return b
}

func startBroker(t *testing.T, d *daemon) {
	if err := d.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.kill)
}

func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited two minutes for %s", what)
		}
	}
}

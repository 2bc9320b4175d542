// Package place says where a process runs and what people call it: its container, pod and
// service by its control groups, its host's name as it sees it, and its own name by what it
// was started with. It reads /proc and asks nobody.
//
// What can't be read stays empty; there are no errors. Any goroutine may use it at any time.
package place

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A Place is where a process runs.
type Place struct {
	Container string // id, 64 hex digits
	PodUID    string // of Kubernetes, with dashes
	Service   string // unit of systemd, without ".service"
	Hostname  string // in the process's own container; in Kubernetes the pod's name
	App       string // what the process calls itself; "" if it does not
	Labels    map[string]string
}

// Of looks at a process below a /proc. options are those that its JVM was started with.
func Of(proc string, pid int, options []string) Place {
	dir := filepath.Join(proc, strconv.Itoa(pid))
	p := parseCgroup(readSome(filepath.Join(dir, "cgroup")))
	if p.Container != "" {
		p.Hostname = strings.TrimSpace(string(readSome(filepath.Join(dir, "root/etc/hostname"))))
	}
	env := environ(readSome(filepath.Join(dir, "environ")))
	if p.Hostname == "" && p.PodUID != "" {
		p.Hostname = env["HOSTNAME"]
	}
	p.Labels = labels(env, options)
	p.App = appOf(p.Labels, env, options)
	return p
}

// mostRead bounds what is read of a file: the target's owner decides what stands there.
const mostRead = 256 << 10

func readSome(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil // a FIFO in the target's root would block
	}
	b, _ := io.ReadAll(io.LimitReader(f, mostRead))
	return b
}

var (
	// The last path of a control group that has an id: docker-ID.scope, cri-containerd-ID.scope,
	// crio-ID.scope, libpod-ID.scope, docker/ID, kubepods/.../ID.
	containerID = regexp.MustCompile(`(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?(?:/|$)`)
	podUID      = regexp.MustCompile(`pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})`)
	unitName    = regexp.MustCompile(`/([^/]+)\.service(?:/|$)`)
)

// parseCgroup reads /proc/PID/cgroup: lines "0::/path" of version 2, "4:memory:/path" of 1.
func parseCgroup(text []byte) (p Place) {
	for line := range bytes.Lines(text) {
		f := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(f) != 3 {
			continue
		}
		path := f[2]
		if m := containerID.FindAllStringSubmatch(path, -1); m != nil && p.Container == "" {
			p.Container = m[len(m)-1][1]
		}
		if m := podUID.FindStringSubmatch(path); m != nil && p.PodUID == "" {
			p.PodUID = strings.ReplaceAll(m[1], "_", "-")
		}
		if m := unitName.FindAllStringSubmatch(path, -1); m != nil && p.Service == "" {
			p.Service = m[len(m)-1][1]
		}
	}
	if p.Container != "" {
		p.Service = "" // the unit of the container's engine says nothing
	}
	return p
}

// environ has the variables that are looked at, and no other: others may be secrets.
func environ(text []byte) map[string]string {
	env := map[string]string{}
	for one := range bytes.SplitSeq(text, []byte{0}) {
		name, value, ok := strings.Cut(string(one), "=")
		if ok && (name == "HOSTNAME" || name == "OTEL_SERVICE_NAME" || name == "OTEL_RESOURCE_ATTRIBUTES" || name == "DD_SERVICE") {
			env[name] = value
		}
	}
	return env
}

// labels are the attributes that a process has for OpenTelemetry.
func labels(env map[string]string, options []string) map[string]string {
	out := map[string]string{}
	text := env["OTEL_RESOURCE_ATTRIBUTES"]
	if v, ok := property(options, "otel.resource.attributes"); ok {
		text = v
	}
	for one := range strings.SplitSeq(text, ",") {
		if k, v, ok := strings.Cut(one, "="); ok && strings.TrimSpace(k) != "" {
			out[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return out
}

func appOf(labels, env map[string]string, options []string) string {
	if v, ok := property(options, "otel.service.name"); ok {
		return v
	}
	if v := env["OTEL_SERVICE_NAME"]; v != "" {
		return v
	}
	if v := labels["service.name"]; v != "" {
		return v
	}
	if v, ok := property(options, "spring.application.name"); ok {
		return v
	}
	return env["DD_SERVICE"]
}

// property is the value of a -D option; the last one counts.
func property(options []string, name string) (value string, found bool) {
	for _, o := range options {
		if v, ok := strings.CutPrefix(o, "-D"+name+"="); ok {
			value, found = v, v != ""
		}
	}
	return value, found
}

package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/job"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
	"github.com/rivulet-profiler/rivulet/controller/fleet/node"
	"github.com/rivulet-profiler/rivulet/controller/fleet/place"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// nodeFlags say how a node runs.
type nodeFlags struct {
	link      linkFlags
	name, dir string
	disk      string
	atOnce    int
	labels    []string
	watch     nodeWatchFlags
}

const leastNodeDisk = 32 << 20

func (a *app) nodeCommand() *cobra.Command {
	f := nodeFlags{}
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Run on a host of a fleet: find its JVMs, carry out commands, bring results to the hub",
		Long: `Runs on each host of a fleet. It connects to the hub, or to a NATS cluster, and waits for commands
of rivulet fleet. It listens on no port, and does nothing to a JVM unless it is told to.

It finds all JVMs that this user may see, those in containers, too, and names each: by what it calls
itself (OTEL_SERVICE_NAME, -Dotel.service.name, -Dspring.application.name, DD_SERVICE), else its systemd
service, else its program. Container and pod are known from its cgroup.

Each command is kept in the node's folder until its result is with the hub, and carried out by a process
of its own. So a node can be killed or replaced at any time: recordings go on, and the next node of the
folder sends what came of them. Ctrl-C ends what is going on, sends the results and ends the node.

With --watch it samples JVMs all the time, as rivulet watch does, and keeps what came before an event:
rivulet fleet sample --last 5m has the samples of the time before somebody asked.

It needs root, or the user of the JVMs. With less than root: CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH to see and
attach to JVMs of other users, CAP_PERFMON to sample by perf events, CAP_SYS_NICE to let the JVM's compilers
go first.`,
		Example: `  rivulet node --key node.key
  rivulet node --hub tls://hub.example.com:4222 --name web-1 --label zone=a
  rivulet node --nats nats://n1:4222,nats://n2:4222 --key node.key
  rivulet node --watch main=* --watch-when 'cpu > 90% for 30s'
  rivulet node unit > /etc/systemd/system/rivulet-node.service`,
		Args: takes(0),
		RunE: func(*cobra.Command, []string) error { return a.runNode(&f) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.link.add(fs, nodeKeyFile)
	fs.StringVar(&f.name, "name", "", "`NAME` of this node, its own in the fleet (default: the host's)")
	fs.StringVar(&f.dir, "dir", stateDir("node"), "`FOLDER` of commands and results")
	fs.StringVar(&f.disk, "disk", "1G", "`SIZE` that the folder may grow to: a node that is full refuses commands")
	fs.IntVar(&f.atOnce, "at-once", 4, "`N` JVMs that are looked at at a time")
	fs.StringArrayVar(&f.labels, "label", nil, "`KEY=VALUE` that rivulet fleet --select can ask for, such as zone=a; may be repeated")
	f.watch.add(fs)
	cmd.AddCommand(a.nodeWorker(), a.nodeUnit())
	return cmd
}

func (a *app) runNode(f *nodeFlags) error {
	labels, err := parseLabels(f.labels)
	if err != nil {
		return err
	}
	disk, err := spec.ParseSize(f.disk)
	if err != nil || disk < leastNodeDisk {
		return usage("--disk %q: give a size such as 1G, 32M at the least", f.disk)
	}
	if f.atOnce < 1 {
		return usage("--at-once %d: give a number above zero", f.atOnce)
	}
	if err := f.watch.check(); err != nil {
		return err
	}
	k, err := f.link.read()
	if err != nil {
		return err
	}
	if k.Role != fleet.RoleNode {
		return usage("this key is of the role %s: a node needs one of the role node; rivulet hub key add makes it", k.Role)
	}
	name := f.name
	if name == "" {
		name = k.Node
	}
	if name == "" {
		if name, err = os.Hostname(); err != nil {
			return usage("this host has no name: give --name NAME")
		}
	}
	name = fleet.Token(name)
	if k.Node != "" && name != k.Node {
		return usage("--name %s: this key is for the node %s only", name, k.Node)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	in := watchInterrupts()
	defer in.stop()
	l, err := link.Dial(k, link.Options{Name: "node " + name, Wait: true, Say: a.stamped})
	if err != nil {
		return err
	}
	defer l.Close()
	version, _ := versionOf()
	a.stamped(fmt.Sprintf("node %s, its files are in %s", name, f.dir))
	jvms := func(ctx context.Context) ([]fleet.JVM, error) { return a.fleetJVMs(ctx, labels) }
	var events chan fleet.Event
	if len(f.watch.which) > 0 {
		events = make(chan fleet.Event, 64)
		w := &nodeWatch{nodeWatchFlags: &f.watch, self: self, name: name, root: filepath.Join(f.dir, node.WatchDir), jvms: jvms, say: a.stamped, events: events}
		list := jvms
		jvms = func(ctx context.Context) ([]fleet.JVM, error) {
			found, err := list(ctx)
			w.watched(found)
			return found, err
		}
		ended := make(chan struct{})
		go func() { defer close(ended); w.run(in.first) }()
		defer func() { <-ended }()
	}
	return node.Run(in.first, in.second, node.Config{
		Name: name, Version: version, Dir: f.dir, Disk: disk, AtOnce: f.atOnce, Lacks: lacks(), Broker: l, Say: a.stamped,
		JVMs: jvms, Events: events,
		Interrupt: func(pid int) { _ = syscall.Kill(pid, syscall.SIGINT) }, // it may have ended
		Start: func(d job.Dir) (<-chan struct{}, error) {
			return startWorker(self, d)
		},
	})
}

// parseLabels reads KEY=VALUE.
func parseLabels(texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range texts {
		key, value, ok := strings.Cut(t, "=")
		if !ok || key == "" {
			return nil, usage("--label %q: give KEY=VALUE", t)
		}
		out[key] = value
	}
	return out, nil
}

// startWorker starts a process that carries a job out and does not end with this one.
func startWorker(self string, d job.Dir) (<-chan struct{}, error) {
	log, err := d.Log()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(self, "node", workerName, string(d))
	cmd.Args[0] = "rivulet"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // what it leaves says how it went
		close(exited)
	}()
	return exited, nil
}

// fleetJVMs are the JVMs of this host as a fleet knows them.
func (a *app) fleetJVMs(ctx context.Context, labels map[string]string) ([]fleet.JVM, error) {
	found, err := a.backend.processes(ctx)
	out := []fleet.JVM{}
	for _, p := range found {
		out = append(out, fleetJVM(p, place.Of("/proc", p.PID, p.Options), labels))
	}
	return out, err
}

// mostArgs bounds what is told of a JVM's arguments.
const mostArgs = 200

// fleetJVM is a JVM at its place. labels are the node's: they hold where both say something.
func fleetJVM(p attach.Process, at place.Place, labels map[string]string) fleet.JVM {
	j := fleet.JVM{
		PID: p.PID, Start: p.Start(), Main: p.Main, Args: p.Args[:min(len(p.Args), mostArgs)], Java: p.JavaVersion, VM: p.VM, User: p.User,
		Started: p.Started.Truncate(time.Millisecond), Attachable: p.Attachable, Reason: p.Reason,
		App: cmp.Or(at.App, at.Service, programName(p.Main)), Hostname: at.Hostname, Container: at.Container, PodUID: at.PodUID, Service: at.Service,
		Labels: at.Labels,
	}
	if j.Labels == nil {
		j.Labels = map[string]string{}
	}
	maps.Copy(j.Labels, labels)
	return j
}

// programName is the last part of a main class's or jar's name.
func programName(main string) string {
	if strings.HasSuffix(main, ".jar") {
		return strings.TrimSuffix(path.Base(main), ".jar")
	}
	return main[strings.LastIndexAny(main, "./")+1:]
}

// lacks says which permissions this process has not, and what does not work so.
func lacks() []string {
	const sysPtrace, sysNice, dacReadSearch, perfmon, sysAdmin = 19, 23, 2, 38, 21
	has := capabilities()
	var out []string
	add := func(bit int, name, what string) {
		if has&(1<<bit) == 0 {
			out = append(out, name+": "+what)
		}
	}
	add(sysPtrace, "CAP_SYS_PTRACE", "JVMs of other users can't be attached to or sampled")
	add(dacReadSearch, "CAP_DAC_READ_SEARCH", "counters and files of other users' JVMs can't be read")
	if has&(1<<sysAdmin) == 0 {
		add(perfmon, "CAP_PERFMON", "samples are taken by stopping threads where perf events need it")
	}
	add(sysNice, "CAP_SYS_NICE", "the JVM's compilers are not given priority while it is instrumented")
	return out
}

// capabilities are the effective ones.
func capabilities() uint64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var n uint64
	for line := range strings.Lines(string(b)) {
		if _, err := fmt.Sscanf(line, "CapEff:\t%x", &n); err == nil {
			return n
		}
	}
	return n
}

func (a *app) nodeUnit() *cobra.Command {
	return &cobra.Command{
		Use:   "unit",
		Short: "Print a systemd unit for this host's node",
		Example: `  rivulet node --watch main=* --watch-when 'cpu > 90% for 30s'
  rivulet node unit > /etc/systemd/system/rivulet-node.service
  systemctl enable --now rivulet-node`,
		Args: takes(0),
		RunE: func(*cobra.Command, []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, unitText, self)
			return err
		},
	}
}

// unitText ends only the node's own process: recordings go on while it begins again.
const unitText = `[Unit]
Description=Rivulet node: profiles the JVMs of this host when it is told to
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=%s node --key /etc/rivulet/node.key --dir /var/lib/rivulet/node
StateDirectory=rivulet
Restart=always
RestartSec=2
# Recordings are processes of their own, which outlive a node that dies or is replaced.
KillMode=process
TimeoutStopSec=60
# It attaches to JVMs of all users, in all containers.
CapabilityBoundingSet=CAP_SYS_PTRACE CAP_DAC_READ_SEARCH CAP_DAC_OVERRIDE CAP_PERFMON CAP_SYS_NICE CAP_SETUID CAP_SETGID CAP_KILL CAP_SYS_CHROOT CAP_SYS_ADMIN CAP_CHOWN CAP_FOWNER
NoNewPrivileges=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictSUIDSGID=yes
MemoryMax=2G
CPUWeight=20

[Install]
WantedBy=multi-user.target
`

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/kube"
)

func (a *app) kubeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kube",
		Short: "Look at the JVMs of Kubernetes pods, without anything installed in the cluster",
		Long: `Commands for JVMs in the pods of a Kubernetes cluster. Nothing has to be installed there: this binary is copied into
each container through the API server, as kubectl cp does, started, and removed by the time it begins. With --image
an ephemeral container is added to each pod instead, as kubectl debug does: for containers without a shell, or with
a near memory limit. The cluster is that of the kubeconfig, as with kubectl.

TARGET is deploy/NAME, sts/NAME, ds/NAME, rs/NAME, job/NAME, svc/NAME, pod/NAME or the name of a pod; -l chooses pods by
labels instead. The commands have the options of those without kube, and look at the one JVM of each container
unless --pid, --match or --all say which.

This takes the right to get and list pods and the workload, and to create pods/exec; with --image also to patch
pods/ephemeralcontainers.`,
		Example: `  rivulet kube ps -n shop
  rivulet kube ps deploy/orders
  rivulet kube profile deploy/orders --root shop.orders.OrderService.process --for 10s
  rivulet kube profile -l app=orders --pods 3 --root shop.orders.OrderService.process --for 10s -o orders.rivulet
  rivulet kube sample deploy/orders --for 10s --image registry.example.com/rivulet:1.0
  rivulet kube doctor deploy/orders`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.kubePs(), a.kubeProfile(), a.kubeSample(), a.kubeThreads(), a.kubeLocks(), a.kubeHeap(), a.kubeDoctor())
	return cmd
}

// kubeFlags are what all commands of Kubernetes have.
type kubeFlags struct {
	config    kube.Config
	selector  string
	container string

	which kube.Which
}

const targetUse = "TARGET"

func (f *kubeFlags) add(fs *pflag.FlagSet) {
	fs.StringVarP(&f.config.Namespace, "namespace", "n", "", "`NAME` of the namespace; by default that of the context")
	fs.StringVar(&f.config.Context, "context", "", "`NAME` of a context of the kubeconfig; by default the current one")
	fs.StringVar(&f.config.File, "kubeconfig", "", "this `file` instead of $KUBECONFIG or ~/.kube/config")
	fs.StringVarP(&f.selector, "selector", "l", "", "pods with these `LABELS`, such as app=orders,tier!=web")
	fs.StringVar(&f.container, "container", "", "the container of this `NAME`; by default all with a JVM")
}

// check reads the target.
func (f *kubeFlags) check(args []string) error {
	f.which = kube.Which{Namespace: f.config.Namespace, Selector: f.selector}
	if len(args) == 0 {
		return nil
	}
	kind, name, err := kube.ParseTarget(args[0])
	if err != nil {
		return usage("%w", err)
	}
	if f.selector != "" && kind == "pods" {
		return usage("%s and -l %s: give one of both", args[0], f.selector)
	}
	f.which.Kind, f.which.Name = kind, name
	return nil
}

// needsTarget is for commands that do something to JVMs: not to all of a namespace by accident.
func (f *kubeFlags) needsTarget() error {
	if f.which.Kind == "" && f.which.Selector == "" {
		return usage("which pods? give %s, such as deploy/orders, or -l LABELS; rivulet kube ps lists them", targetUse)
	}
	return nil
}

// dial reads the kubeconfig.
func (a *app) dial(f *kubeFlags) (kube.Cluster, error) {
	version, _ := versionOf()
	f.config.Agent = "rivulet/" + version
	if a.cluster != nil {
		return a.cluster(f.config)
	}
	return kube.Connect(f.config)
}

// podsMeant are the pods of a target; there is one at least.
func podsMeant(ctx context.Context, c kube.Cluster, f *kubeFlags) ([]kube.Pod, error) {
	all, err := c.Pods(ctx, f.which)
	if err != nil {
		return nil, kubeUsage(err)
	}
	if len(all) == 0 {
		return nil, usage("there is no pod of %s: rivulet kube ps lists the pods, -n chooses the namespace", f.which.Text())
	}
	return all, nil
}

// kubeUsage makes errors about what does not exist the user's.
func kubeUsage(err error) error {
	var e *kube.Error
	if errors.As(err, &e) && (e.Check == kube.CheckMissing || e.Check == kube.CheckConfig) {
		return usage("%w", err)
	}
	return err
}

// kubePsJSON is what rivulet kube ps --json writes.
type kubePsJSON struct {
	Schema int           `json:"schema"`
	Kind   string        `json:"kind"` // "kube"
	Rows   []kubeRowJSON `json:"containers"`
}

type kubeRowJSON struct {
	Namespace string        `json:"namespace"`
	Pod       string        `json:"pod"`
	Container string        `json:"container"`
	Image     string        `json:"image"`
	Node      string        `json:"node"`
	Phase     string        `json:"phase"`
	Ready     bool          `json:"ready"`
	JVMs      []kubeJVMJSON `json:"jvms"`
	Error     string        `json:"error,omitempty"` // why nothing is known of it
}

type kubeJVMJSON struct {
	PID  int    `json:"pid"` // as the container sees it
	UID  int    `json:"uid"`
	Main string `json:"main"`
}

// looksAtOnce is how many containers are looked at at a time.
const looksAtOnce = 8

func (a *app) kubePs() *cobra.Command {
	var f kubeFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ps [" + targetUse + "]",
		Short: "List pods, their containers and the JVMs in them",
		Long: `Lists the pods of the namespace, or those of a target, their containers, and the JVMs in them. A shell of the container
looks for these, by kubectl's exec; nothing is copied. The JVMs of a container without a shell can't be listed.`,
		Example: `  rivulet kube ps -n shop
  rivulet kube ps deploy/orders
  rivulet kube ps -l app=orders --json`,
		Args: takes(0, targetUse),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			c, err := a.dial(&f)
			if err != nil {
				return kubeUsage(err)
			}
			in := watchInterrupts()
			defer in.stop()
			all, err := podsMeant(in.first, c, &f)
			if err != nil {
				return err
			}
			list := lookAtPods(in.first, c, all, f.container)
			if in.first.Err() != nil {
				return in.first.Err()
			}
			if asJSON {
				return writeJSON(a.stdout, list)
			}
			return writeRows(a.stdout, list.rows(), tableWidth(a.stdout))
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.add(fs)
	fs.BoolVar(&asJSON, "json", false, "write JSON: an object with containers, each with its JVMs")
	return cmd
}

// lookAtPods looks into all containers that run.
func lookAtPods(ctx context.Context, c kube.Cluster, all []kube.Pod, name string) *kubePsJSON {
	out := &kubePsJSON{Schema: export.Schema, Kind: "kube", Rows: []kubeRowJSON{}}
	var running []bool
	for _, p := range all {
		for _, k := range p.Containers {
			if name != "" && k.Name != name {
				continue
			}
			row := kubeRowJSON{Namespace: p.Namespace, Pod: p.Name, Container: k.Name, Image: k.Image, Node: p.Node, Phase: p.Phase, Ready: p.Ready, JVMs: []kubeJVMJSON{}}
			if !k.Running {
				row.Error = k.State
			}
			out.Rows = append(out.Rows, row)
			running = append(running, k.Running)
		}
	}
	var wg sync.WaitGroup
	room := make(chan struct{}, looksAtOnce)
	for i := range out.Rows {
		if !running[i] {
			continue
		}
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			r := &out.Rows[i]
			v, err := kube.Look(ctx, c, kube.Place{Namespace: r.Namespace, Pod: r.Pod, Container: r.Container}, nil)
			if err != nil {
				r.Error = err.Error()
				return
			}
			for _, p := range v.JVMs {
				r.JVMs = append(r.JVMs, kubeJVMJSON{p.PID, p.User, p.Main})
			}
		})
	}
	wg.Wait()
	return out
}

func (l *kubePsJSON) rows() [][]string {
	rows := [][]string{{"POD", "CONTAINER", "READY", "PID", "UID", "MAIN", ""}}
	for _, r := range l.Rows {
		ready := map[bool]string{true: "yes", false: "no"}[r.Ready]
		if r.Phase != "Running" {
			ready = r.Phase
		}
		if len(r.JVMs) == 0 {
			rows = append(rows, []string{r.Pod, r.Container, ready, "-", "-", "-", oneLine(r.Error)})
		}
		for _, j := range r.JVMs {
			rows = append(rows, []string{r.Pod, r.Container, ready, fmt.Sprint(j.PID), fmt.Sprint(j.UID), j.Main, ""})
		}
	}
	return rows
}

// kubeRunFlags are those of commands that do something to JVMs.
type kubeRunFlags struct {
	kubeFlags
	targets targetFlags
	pods    int
	copy    bool
	binary  string
	force   bool
	image   string
	user    int64

	userGiven bool
}

func (f *kubeRunFlags) add(fs *pflag.FlagSet) {
	f.kubeFlags.add(fs)
	fs.IntVar(&f.pods, "pods", 0, "look at `N` of the pods only, the ready ones first; 0 for all")
	fs.IntSliceVar(&f.targets.pids, "pid", nil, "process `PID`, as the container sees it; may be repeated")
	fs.StringArrayVar(&f.targets.match, "match", nil, "JVMs that `KEY=PATTERN` is true of: main, args, user, java or vm, with * and ?; repeated: all must be true")
	fs.BoolVar(&f.targets.all, "all", false, "all JVMs of each container")
	fs.BoolVar(&f.copy, "copy", true, "copy this binary into each container, where it is removed by the time it begins")
	fs.StringVar(&f.binary, "binary", "", "copy this `file` instead: a released binary for the containers' architecture")
	fs.BoolVar(&f.force, "force", false, "go on even where a container's memory limit is near")
	fs.StringVar(&f.image, "image", "", "add an ephemeral container of this `IMAGE` of Rivulet to each pod instead; it ends with the command")
	fs.Int64Var(&f.user, "user", 0, "user id (`UID`) of the ephemeral container; by default that of the JVM, where it can be told")
}

// check reads the target and looks at what can be wrong before anything is asked.
func (f *kubeRunFlags) check(cmd *cobra.Command, args []string) error {
	if err := f.kubeFlags.check(args); err != nil {
		return err
	}
	if f.pods < 0 {
		return usage("--pods %d: give a number of pods, or 0 for all", f.pods)
	}
	changed := cmd.Flags().Changed
	f.userGiven = changed("user")
	switch {
	case f.image != "" && changed("copy") && f.copy:
		return usage("--copy and --image: give one of both")
	case f.image != "" && (f.binary != "" || f.force):
		return usage("--binary and --force are for copying; --image has a binary of its own")
	case f.image == "" && f.userGiven:
		return usage("--user is that of an ephemeral container: give --image with it")
	case f.image == "" && !f.copy:
		return usage("--copy=false: how shall Rivulet come to the pods? give --image IMAGE")
	case f.user < 0:
		return usage("--user %d is no user id", f.user)
	}
	for _, pid := range f.targets.pids {
		if pid <= 0 {
			return usage("--pid %d is not a process id; rivulet kube ps lists the JVMs and theirs", pid)
		}
	}
	if f.targets.all && len(f.targets.match) > 0 {
		return usage("--all takes every JVM: leave out --match, or --all")
	}
	if _, err := parseMatch(f.targets.match); err != nil {
		return err
	}
	return f.needsTarget()
}

// roomInPod is how much memory the limit of a container must leave: for the copy, which lies in memory where /tmp does, for the process, and for
// what grows in the JVM meanwhile.
const roomInPod = 256 << 20

// pullPatience is how long the image of an ephemeral container may take to come.
const pullPatience = 3 * time.Minute

// way is how Rivulet comes to the containers.
func (f *kubeRunFlags) way() (kube.Way, error) {
	if f.image != "" {
		w := &kube.Debugging{Image: f.image, Pull: pullPatience}
		if f.userGiven {
			w.User = &f.user
		}
		return w, nil
	}
	name := f.binary
	if name == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("which binary is to be copied? %w; give --binary FILE", err)
		}
		name = self
	}
	b, err := kube.OpenBinary(name)
	if err != nil {
		return nil, usage("%w", err)
	}
	w := &kube.Copying{Binary: b, Room: roomInPod + b.Size}
	if f.force {
		w.Room = 0
	}
	return w, nil
}

// shownPods is up to how many pods progress names each.
const shownPods = 4

// states is how far each container is.
type states struct {
	mu    sync.Mutex
	names []string
	of    map[string]string
}

func (s *states) set(name, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.of[name]; !known {
		s.names = append(s.names, name)
	}
	s.of[name] = state
}

// text names each of few, and counts many.
func (s *states) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var parts []string
	if len(s.names) <= shownPods {
		for _, n := range s.names {
			parts = append(parts, n+" "+s.of[n])
		}
		return cmp.Or(strings.Join(parts, ", "), "looking for pods")
	}
	count := map[string]int{}
	var order []string
	for _, n := range s.names {
		state, _, _ := strings.Cut(s.of[n], " ")
		if count[state]++; count[state] == 1 {
			order = append(order, state)
		}
	}
	for _, state := range order {
		parts = append(parts, fmt.Sprintf("%d %s", count[state], state))
	}
	return fmt.Sprintf("of %d: %s", len(s.names), strings.Join(parts, ", "))
}

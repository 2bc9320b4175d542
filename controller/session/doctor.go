package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/priority"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/jvmside"
)

// A Status is how a check has ended.
type Status string

// Statuses. Skipped is what could not be looked at because of a failure before.
const (
	OK      Status = "OK"
	Warning Status = "WARN"
	Failure Status = "FAIL"
	Skipped Status = "SKIP"
)

// A Check is one thing that can stand in the way of profiling.
type Check struct {
	Name   string `json:"check"`
	Status Status `json:"status"`
	Text   string `json:"text"`          // what was found
	Fix    string `json:"fix,omitempty"` // the way out
}

// A doctor collects checks.
type doctor struct {
	ctx    context.Context
	cfg    Config
	pid    int
	proc   attach.Process
	vm     *attach.VM
	checks []Check
}

// Doctor looks for everything that stands in the way of profiling a process
// and, where a root is given, that root. For the process it asks the JVM to open
// its attach listener, which stays, and makes and removes files in the target's
// /tmp and tmpfs. Only for a root that nothing before has ruled out is the agent
// loaded; it lists classes, reads their files and leaves: nothing is redefined.
// Failures are checks, not errors.
func Doctor(ctx context.Context, pid int, root string, cfg Config) []Check {
	d := &doctor{ctx: ctx, cfg: cfg, pid: pid}
	d.cfg.Look, d.cfg.Warn = true, nil
	if d.process() {
		d.version()
		d.container()
		d.listener()
		d.agents()
		d.busy()
		d.room()
		d.neighbours()
		d.measures()
	}
	if root != "" {
		d.root(root)
	}
	return d.checks
}

func (d *doctor) add(name string, status Status, fix, format string, args ...any) {
	d.checks = append(d.checks, Check{name, status, fmt.Sprintf(format, args...), fix})
}

func (d *doctor) failed() bool {
	for _, c := range d.checks {
		if c.Status == Failure {
			return true
		}
	}
	return false
}

// fail notes an error, with its way out apart if it has one.
func (d *doctor) fail(name string, err error) {
	var e *attach.Error
	if !errors.As(err, &e) {
		d.add(name, Failure, "", "%s", err)
		return
	}
	text := e.Cause
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	d.add(name, Failure, e.Fix, "%s", text)
}

// process says what it is; false if no more can be told.
func (d *doctor) process() bool {
	p, err := attach.Inspect(d.pid)
	if err != nil {
		d.fail("process", err)
		return false
	}
	d.proc = p
	if errors.Is(p.Err, attach.ErrOtherUser) {
		d.fail("permission", p.Err)
		return false
	}
	for _, kind := range []error{attach.ErrOpenJ9, attach.ErrNotJVM, attach.ErrStopped, attach.ErrExited} {
		if errors.Is(p.Err, kind) {
			d.fail("process", p.Err)
			return false
		}
	}
	d.add("process", OK, "", "%s, up %s", p.Main, time.Since(p.Started).Round(time.Second))
	d.add("permission", OK, "", "belongs to %s, and you may attach", p.User)
	return true
}

func (d *doctor) version() {
	switch v, text := d.proc.Major(), fmt.Sprintf("Java %s, %s", d.proc.JavaVersion, d.proc.VM); {
	case v == 0:
		d.add("java", Warning, "", "the version can't be told from outside")
	case v < 8:
		d.add("java", Failure, "run the program on Java 8 or later", "%s is too old", text)
	case v < 17:
		d.add("java", Warning, "keep the subgraph small, or hide parts of it with --exclude",
			"%s: each class that is redefined costs all threads some 1.6 ms; and the JVM would lose parameters' names, which Rivulet puts back", text)
	case v < 19:
		d.add("java", OK, "", "%s (it would lose parameters' names at a redefinition; Rivulet puts them back)", text)
	case v > 25:
		d.add("java", Warning, "", "%s is newer than what Rivulet is tested on (8 to 25)", text)
	default:
		d.add("java", OK, "", "%s", text)
	}
}

func (d *doctor) container() {
	if d.proc.NSPID != 0 && d.proc.NSPID != d.pid {
		d.add("container", OK, "", "it is in a container, as process %d; Rivulet works through /proc/%d/root", d.proc.NSPID, d.pid)
	}
}

// listener asks the JVM to listen.
func (d *doctor) listener() {
	for _, kind := range []error{attach.ErrAttachDisabled, attach.ErrStarting} {
		if errors.Is(d.proc.Err, kind) {
			d.fail("attach", d.proc.Err)
			return
		}
	}
	vm, err := attach.Open(d.ctx, d.pid)
	if err != nil {
		d.fail("attach", err)
		return
	}
	d.vm = vm
	d.add("attach", OK, "", "the JVM listens")
}

// agents tells whether the agent can be loaded, and what the JVM says then.
func (d *doctor) agents() {
	switch {
	case errors.Is(d.proc.Err, attach.ErrNoInstrument), errors.Is(d.proc.Err, attach.ErrAgentsDisabled):
		d.fail("agents", d.proc.Err)
		return
	case d.vm == nil:
		d.add("agents", Skipped, "", "nobody can be asked")
		return
	}
	switch warns, err := d.vm.DynamicAgentWarning(d.ctx); {
	case err != nil:
		d.fail("agents", err)
	case warns:
		d.add("agents", Warning, "start it with -XX:+EnableDynamicAgentLoading on its command line",
			"the JVM prints a four-line warning on its stderr when an agent is loaded (JDK 21 and later)")
	default:
		d.add("agents", OK, "", "an agent can be loaded")
	}
}

// busy tells whether another session is on.
func (d *doctor) busy() {
	r := &room{pid: d.pid}
	if err := r.reserve(); err != nil {
		d.add("session", Failure, "end the other one first (Ctrl-C there)", "another controller works on this JVM")
		return
	}
	r.close(false)
	if err := waitForOther(d.ctx, d.pid); err != nil {
		d.add("session", Failure, "if its controller is gone, restart the JVM: the agent can't leave, which is a bug worth reporting", "the agent of another session is in this JVM and does not leave")
		return
	}
	d.add("session", OK, "", "no other session is on")
}

// leastRoom is what a recording wants of the tmpfs, in bytes: less holds some
// hundred thousand contexts and no more.
const leastRoom = 64 << 20

// room makes the files of a session, and removes them.
func (d *doctor) room() {
	bundle, err := jvmside.NewBundle()
	if err != nil {
		d.fail("files", err)
		return
	}
	r, err := newRoom(d.pid, d.proc.UID, d.proc.GID, bundle)
	if err != nil {
		fix := "give it a writable /tmp and a tmpfs, such as /dev/shm, with room"
		d.add("files", Failure, fix, "%s", err)
		return
	}
	defer r.close(false)
	var fs unix.Statfs_t
	err = unix.Fstatfs(int(r.data.Fd()), &fs)
	free := int64(fs.Bavail) * fs.Bsize
	switch {
	case err != nil:
		d.fail("files", err)
	case free < leastRoom:
		d.add("files", Warning, "enlarge it (docker run --shm-size 1g), or record with a small --memory",
			"the tmpfs at %s has %d MB left: large trees won't fit", r.dataPath[:strings.LastIndexByte(r.dataPath, '/')], free>>20)
	default:
		d.add("files", OK, "", "/tmp is writable, and the tmpfs at %s has %d MB left", r.dataPath[:strings.LastIndexByte(r.dataPath, '/')], free>>20)
	}
}

// libraries of agents that are loaded by name or path while the JVM runs.
var libraries = map[string]string{"libjdwp": "a debugger's agent", "libasyncProfiler": "async-profiler", "libprofilerinterface": "VisualVM's profiler"}

// neighbours names other agents, as far as options and mapped libraries tell.
func (d *doctor) neighbours() {
	var found []string
	for _, o := range d.proc.Options {
		for _, prefix := range []string{"-javaagent:", "-agentpath:", "-agentlib:", "-Xrunjdwp"} {
			if strings.HasPrefix(o, prefix) {
				found = append(found, o)
			}
		}
	}
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", d.pid)) // Inspect could read it
	for lib, what := range libraries {
		if strings.Contains(string(maps), "/"+lib) && !strings.Contains(strings.Join(found, " "), strings.TrimPrefix(lib, "lib")) {
			found = append(found, what)
		}
	}
	if len(found) == 0 {
		d.add("neighbours", OK, "", "no other agent is to be seen")
		return
	}
	d.add("neighbours", Warning, "if classes are refused, or figures look odd, try without them",
		"other agents are loaded (%s); their changes of classes stay, and their code in these is part of the profile", someOf(found))
}

// measures tells whether the figures will be as good as they can.
func (d *doctor) measures() {
	c, err := attach.OpenCounters(d.pid)
	if err != nil {
		d.add("counters", Warning, "don't start it with -XX:-UsePerfData", "the JVM keeps no counters: the report can't say how long threads were paused")
	} else {
		c.Close()
		d.add("counters", OK, "", "pauses can be measured")
	}
	switch v, err := vmstructs.Read(d.pid); {
	case err == nil:
		d.add("invoked", OK, "", "the JVM says which methods it has invoked (%d), by which Scheme C looks ahead", v.Len())
	case errors.Is(err, os.ErrPermission):
		d.add("invoked", Warning, "run Rivulet as root, or allow it by sysctl kernel.yama.ptrace_scope=0; or take --scheme A if the program's cores are busy",
			"the JVM's memory may not be read, so Scheme C does not know which methods it has invoked, and threads wait more often")
	default:
		d.add("invoked", OK, "", "the JVM doesn't say which methods it has invoked: Scheme C goes by the code alone")
	}
	if err := priority.Allowed(); err != nil {
		d.add("priority", Warning, "run Rivulet as root, or with CAP_SYS_NICE (docker: --cap-add SYS_NICE)",
			"the JVM's compiler may not be given precedence: where all cores are busy, the program is slow for longer after each redefinition")
	} else {
		d.add("priority", OK, "", "the JVM's compiler may be given precedence when there is much to compile again")
	}
	if n := runtime.NumCPU(); n < 2 {
		d.add("cores", Warning, "use --clock precise", "there is %d core: the tick clock would have to share it with the program", n)
	}
}

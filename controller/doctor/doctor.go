// Package doctor finds out what stands in the way of profiling a JVM, or a root
// in it, and says for each obstacle what to do about it.
//
// It stands on attach, for what can be seen from outside, and on session for
// what only a session would find out. An examination that found nothing is no
// promise: a recording may still meet classes that the JVM refuses to redefine.
// [Examine] may be called concurrently for different processes; two at once for
// the same one may find each other.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/headroom"
	"github.com/rivulet-profiler/rivulet/controller/priority"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
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

// An examination collects checks.
type examination struct {
	ctx    context.Context
	cfg    session.Config
	pid    int
	proc   attach.Process
	vm     *attach.VM
	checks []Check
	header string // of the memory shared with the JVM, while a root was looked at
}

// Examine looks for everything that stands in the way of profiling a process
// and, where a root is given, that root. For the process it asks the JVM to open
// its attach listener, which stays, and makes and removes files in the target's
// /tmp and tmpfs. Only for a root that nothing before has ruled out is the agent
// loaded; it lists classes, reads their files and leaves: nothing is redefined.
// Failures are checks, not errors.
func Examine(ctx context.Context, pid int, root string, cfg session.Config) []Check {
	e := &examination{ctx: ctx, cfg: cfg, pid: pid}
	e.examine(root)
	return e.checks
}

func (e *examination) examine(root string) {
	e.cfg.Look, e.cfg.Warn = true, nil
	if e.process() && e.ownMemory() {
		e.version()
		e.container()
		e.listener()
		e.agents()
		e.busy()
		e.files()
		e.memory()
		e.heap()
		e.neighbours()
		e.measures()
		e.sampling()
	}
	if root != "" {
		e.root(root)
	}
}

func (e *examination) add(name string, status Status, fix, format string, args ...any) {
	e.checks = append(e.checks, Check{name, status, fmt.Sprintf(format, args...), fix})
}

func (e *examination) failed() bool {
	for _, c := range e.checks {
		if c.Status == Failure {
			return true
		}
	}
	return false
}

// fail notes an error, with its way out apart if it has one.
func (e *examination) fail(name string, err error) {
	var a *attach.Error
	if !errors.As(err, &a) {
		e.add(name, Failure, "", "%s", err)
		return
	}
	text := a.Cause
	if a.Err != nil {
		text += ": " + a.Err.Error()
	}
	e.add(name, Failure, a.Fix, "%s", text)
}

// process says what it is; false if no more can be told.
func (e *examination) process() bool {
	p, err := attach.Inspect(e.pid)
	if err != nil {
		e.fail("process", err)
		return false
	}
	e.proc = p
	if errors.Is(p.Err, attach.ErrOtherUser) {
		e.fail("permission", p.Err)
		return false
	}
	for _, kind := range []error{attach.ErrOpenJ9, attach.ErrNotJVM, attach.ErrStopped, attach.ErrExited} {
		if errors.Is(p.Err, kind) {
			e.fail("process", p.Err)
			return false
		}
	}
	e.add("process", OK, "", "%s, up %s", p.Main, time.Since(p.Started).Round(time.Second))
	e.add("permission", OK, "", "belongs to %s, and you may attach", p.User)
	return true
}

func (e *examination) version() {
	switch v, text := e.proc.Major(), fmt.Sprintf("Java %s, %s", e.proc.JavaVersion, e.proc.VM); {
	case v == 0:
		e.add("java", Warning, "", "the version can't be told from outside")
	case v < 8:
		e.add("java", Failure, "run the program on Java 8 or later", "%s is too old", text)
	case v < 17:
		e.add("java", Warning, "keep the subgraph small, or hide parts of it with --exclude",
			"%s: each class that is redefined costs all threads some 1.6 ms; and the JVM would lose parameters' names, which Rivulet puts back", text)
	case v < 19:
		e.add("java", OK, "", "%s (it would lose parameters' names at a redefinition; Rivulet puts them back)", text)
	case v > 25:
		e.add("java", Warning, "", "%s is newer than what Rivulet is tested on (8 to 25)", text)
	default:
		e.add("java", OK, "", "%s", text)
	}
}

func (e *examination) container() {
	if e.proc.NSPID != 0 && e.proc.NSPID != e.pid {
		e.add("container", OK, "", "it is in a container, as process %d; Rivulet works through /proc/%d/root", e.proc.NSPID, e.pid)
	}
}

// listener asks the JVM to listen.
func (e *examination) listener() {
	for _, kind := range []error{attach.ErrAttachDisabled, attach.ErrStarting} {
		if errors.Is(e.proc.Err, kind) {
			e.fail("attach", e.proc.Err)
			return
		}
	}
	vm, err := attach.Open(e.ctx, e.pid)
	if err != nil {
		e.fail("attach", err)
		return
	}
	e.vm = vm
	e.add("attach", OK, "", "the JVM listens")
}

// agents tells whether the agent can be loaded, and what the JVM says then.
func (e *examination) agents() {
	switch {
	case errors.Is(e.proc.Err, attach.ErrNoInstrument), errors.Is(e.proc.Err, attach.ErrAgentsDisabled):
		e.fail("agents", e.proc.Err)
		return
	case e.vm == nil:
		e.add("agents", Skipped, "", "nobody can be asked")
		return
	}
	switch warns, err := e.vm.DynamicAgentWarning(e.ctx); {
	case err != nil:
		e.fail("agents", err)
	case session.Managed(e.ctx, e.vm):
		e.add("agents", Warning, "add to its policy file, unless it is there: "+session.Grant,
			"the program runs under a security manager: if its policy grants Rivulet's agent nothing, recordings are refused")
	case e.proc.NativeAccessWarning():
		e.add("agents", Warning, "start it with -XX:+EnableDynamicAgentLoading --add-modules java.instrument on its command line",
			"the JVM may print two warnings on its stderr when an agent is loaded: that this happened (JDK 21 and later), and that java.instrument calls a restricted method (JDK 24 and later, where the main class is in a module)")
	case warns:
		e.add("agents", Warning, "start it with -XX:+EnableDynamicAgentLoading on its command line",
			"the JVM prints a four-line warning on its stderr when an agent is loaded (JDK 21 and later)")
	default:
		e.add("agents", OK, "", "an agent can be loaded")
	}
}

// busy tells whether another session is on.
func (e *examination) busy() {
	switch err := session.CheckFree(e.ctx, e.pid); {
	case errors.Is(err, session.ErrAgentStays):
		e.add("session", Failure, "if its controller is gone, restart the JVM: the agent can't leave, which is a bug worth reporting", "%s", err)
	case errors.Is(err, session.ErrBusy):
		e.add("session", Failure, "end the other one first (Ctrl-C there)", "another controller works on this JVM")
	case err != nil:
		e.fail("session", err)
	default:
		e.add("session", OK, "", "no other session is on")
	}
}

// leastRoom is what a recording wants of the tmpfs, in bytes: less holds some
// hundred thousand contexts and no more.
const leastRoom = 64 << 20

// files tells whether the files of a session can be made in the target.
func (e *examination) files() {
	switch dir, free, err := session.CheckFiles(e.proc); {
	case err != nil:
		e.add("files", Failure, "give it a writable /tmp and a tmpfs, such as /dev/shm, with room", "%s", err)
	case free < leastRoom:
		e.add("files", Warning, "enlarge it (docker run --shm-size 1g), or record with a small --memory",
			"the tmpfs at %s has %d MB left: large trees won't fit", dir, free>>20)
	default:
		e.add("files", OK, "", "/tmp is writable, and the tmpfs at %s has %d MB left", dir, free>>20)
	}
	if tmp, err := attach.OpenFolder(e.pid, "/tmp"); err == nil { // else CheckFiles has said so
		if tmp.Loose() {
			e.add("tmp", Warning, "chmod +t /tmp there, if anybody else has access to it",
				"/tmp is writable by others and has no sticky bit: another user could put a file of theirs in the place of the agent")
		}
		tmp.Close()
	}
}

// leastMemory is what a JVM should be able to take beside what it has, in bytes: for the agent, the classes' new
// versions and compiling them again. Small targets take 10 to 20 MB.
const leastMemory = 64 << 20

// memory tells whether a limit is so near that the kernel may kill the target.
func (e *examination) memory() {
	switch m, limited := headroom.Of(e.pid); {
	case limited && m.Left < leastMemory:
		e.add("memory", Warning, "raise the limit of its container for the time of the recording, or record a small subgraph",
			"its control group may take %d MB more: redefined classes and their compiled code take some, and the kernel kills a process that takes too much", max(m.Left, 0)>>20)
	case limited:
		e.add("memory", OK, "", "its control group may take %d MB more", m.Left>>20)
	}
}

// ownMemory tells whether Rivulet's own container has what a session takes here. If not, the other checks are left out: they
// take some, too.
func (e *examination) ownMemory() bool {
	counters, err := attach.Counters(e.pid)
	if err != nil {
		return true // measures says so
	}
	need, left, ok := headroom.Enough(attach.LoadedClasses(counters))
	if ok = ok || e.cfg.LittleMemory; !ok {
		e.add("own memory", Failure, "raise that limit, or run Rivulet outside of the container (rivulet kube --image adds one to a pod); nothing is attached to without --little-memory",
			"to analyse its classes takes some %d MB here, and the container that Rivulet runs in has %d MB left until its limit; nothing else was looked at", need>>20, max(left, 0)>>20)
	}
	return ok
}

// libraries of agents that are loaded by name or path while the JVM runs.
var libraries = map[string]string{"libjdwp": "a debugger's agent", "libasyncProfiler": "async-profiler", "libprofilerinterface": "VisualVM's profiler"}

// neighbours names other agents, as far as options and mapped libraries tell.
func (e *examination) neighbours() {
	var found []string
	for _, o := range e.proc.Options {
		for _, prefix := range []string{"-javaagent:", "-agentpath:", "-agentlib:", "-Xrunjdwp"} {
			if strings.HasPrefix(o, prefix) {
				found = append(found, o)
			}
		}
	}
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", e.pid)) // Inspect could read it
	for lib, what := range libraries {
		if strings.Contains(string(maps), "/"+lib) && !strings.Contains(strings.Join(found, " "), strings.TrimPrefix(lib, "lib")) {
			found = append(found, what)
		}
	}
	if strings.Contains(string(maps), "/libjdwp.") {
		e.add("debugger", Warning, "set them again after the recording",
			"a debugger may be connected: the JVM clears its breakpoints in each class that is redefined, whoever does it (JVMTI, RedefineClasses)")
	}
	if len(found) == 0 {
		e.add("neighbours", OK, "", "no other agent is to be seen")
		return
	}
	e.add("neighbours", Warning, "if classes are refused, or figures look odd, try without them",
		"other agents are loaded (%s); their changes of classes stay, and their code in these is part of the profile", someOf(found))
}

// measures tells whether the figures will be as good as they can.
func (e *examination) measures() {
	c, err := attach.OpenCounters(e.pid)
	if err != nil {
		e.add("counters", Warning, "don't start it with -XX:-UsePerfData", "the JVM keeps no counters: the report can't say how long threads were paused")
	} else {
		c.Close()
		e.add("counters", OK, "", "pauses can be measured")
	}
	e.flush()
	switch _, err := vmstructs.Observe(e.pid); {
	case err == nil:
		e.add("observed", OK, "", "the JVM's memory tells which methods are active: with Scheme D no thread waits")
	case errors.Is(err, os.ErrPermission):
		e.add("observed", Warning, "run Rivulet as root, or allow it by sysctl kernel.yama.ptrace_scope=0",
			"the JVM's memory may not be read: Scheme D, in which no thread waits, can't be had")
	default:
		e.add("observed", OK, "", "Scheme D can't be had: %v", err)
	}
	switch v, err := vmstructs.Read(e.pid); {
	case err == nil:
		e.add("invoked", OK, "", "the JVM says which methods it has invoked (%d), by which Scheme C looks ahead", v.Len())
	case errors.Is(err, os.ErrPermission):
		e.add("invoked", Warning, "run Rivulet as root, or allow it by sysctl kernel.yama.ptrace_scope=0; or take --scheme A if the program's cores are busy",
			"the JVM's memory may not be read, so Scheme C does not know which methods it has invoked, and threads wait more often")
	default:
		e.add("invoked", OK, "", "the JVM doesn't say which methods it has invoked: Scheme C goes by the code alone")
	}
	if err := priority.Allowed(); err != nil {
		e.add("priority", Warning, "run Rivulet as root, or with CAP_SYS_NICE (docker: --cap-add SYS_NICE)",
			"the JVM's compiler may not be given precedence: where all cores are busy, the program is slow for longer after each redefinition")
	} else {
		e.add("priority", OK, "", "the JVM's compiler may be given precedence when there is much to compile again")
	}
	if n := runtime.NumCPU(); n < 2 {
		e.add("cores", Warning, "use --clock precise", "there is %d core: the tick clock would have to share it with the program", n)
	}
}

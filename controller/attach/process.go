package attach

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is one JVM as seen from outside, at one moment.
type Process struct {
	PID         int       `json:"pid"`
	NSPID       int       `json:"nspid"` // its pid as it sees itself; differs in containers
	UID         uint32    `json:"uid"`   // effective
	GID         uint32    `json:"gid"`   // effective
	User        string    `json:"user"`  // our name for UID, or its number
	JavaVersion string    `json:"java"`  // "17.0.15", "1.8.0_504"; "" if unknown
	VM          string    `json:"vm"`    // "OpenJDK 64-Bit Server VM"
	VMVersion   string    `json:"vm_version"`
	Main        string    `json:"main"` // main class, module/class, jar or program
	Args        string    `json:"args"` // what follows Main
	Options     []string  `json:"options"`
	Started     time.Time `json:"started"`
	Attachable  bool      `json:"attachable"`       // a Java agent could be loaded
	Prepared    bool      `json:"prepared"`         // started with an agent: the first redefinition does not throw away all compiled code
	Restoring   *float64  `json:"winding_down"`     // Rivulet's agent restores classes by itself, and has done this share of them, 0 to 1; nil where it does not
	Reason      string    `json:"reason,omitempty"` // why not, with the way out
	Err         error     `json:"-"`                // the same as an *Error, or nil

	start     uint64 // identity together with PID
	hotspot   bool
	known     bool  // Options are complete
	initEnd   int64 // sun.rt.createVmEndTime; 0 while the JVM is starting or if unknown
	perf      bool  // has readable counters
	caught    bool  // SIGQUIT has a handler
	noSignals bool  // -Xrs
}

// Start is when the process began, in clock ticks since the machine booted: with PID it
// tells processes apart.
func (p Process) Start() uint64 { return p.start }

// Major is the Java feature release, 8 for "1.8.0_504"; 0 if unknown.
func (p Process) Major() int {
	v := strings.TrimPrefix(p.JavaVersion, "1.")
	end := strings.IndexFunc(v, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(v)
	}
	n, _ := strconv.Atoi(v[:end])
	return n
}

// Inspect describes one JVM. What hinders attaching is told in the result; the
// error is for processes that can't be described: ErrNoProcess, ErrNotJVM,
// ErrExited, or ErrOtherUser if nobody but its owner can say what it is.
func Inspect(pid int) (Process, error) {
	if pid <= 0 {
		return Process{PID: pid}, &Error{PID: pid, Kind: ErrNoProcess, Cause: "not a process id", Fix: "see rivulet ps"}
	}
	st, err := readStatus(pid)
	if err != nil {
		return Process{PID: pid}, err
	}
	p := Process{
		PID: pid, NSPID: st.nspid, UID: st.uid, GID: st.gid, User: userName(st.uid),
		Started: time.Now().Add(-age(st.start)).Truncate(10 * time.Millisecond),
		start:   st.start, caught: st.catchesQuit(),
	}
	if share, is := Restoring(pid); is {
		p.Restoring = &share
	}
	if st.state == 'Z' || st.state == 'X' {
		return p, checkRuns(pid, st)
	}
	l, err := readLayout(pid)
	switch {
	case errors.Is(err, os.ErrPermission):
		if !looksLikeJava(pid, st) {
			return p, otherUser(p, err)
		}
		p.Main = path.Base(st.name)
		c := readCommand(pid, 0)
		if c.main != "" {
			p.Main, p.Args = c.main, strings.Join(c.args, " ")
			p.mask()
		}
		p.fail(otherUser(p, err))
		return p, nil
	case err != nil:
		return p, err
	}
	if err := p.describe(l, st); err != nil {
		return p, err
	}
	p.fail(p.diagnose(l, st))
	p.mask()
	p.Attachable = p.Err == nil
	return p, nil
}

// describe fills in what the JVM is, from its counters where it has them.
func (p *Process) describe(l layout, st status) error {
	perf, perfErr := readPerf(p.PID, l.perf)
	str := func(name string) string { s, _ := perf[name].(string); return s }
	p.perf = perfErr == nil
	p.VM, p.VMVersion = str("java.property.java.vm.name"), str("java.property.java.vm.version")
	p.JavaVersion = str("java.property.java.version")
	p.initEnd, _ = perf["sun.rt.createVmEndTime"].(int64)
	p.hotspot = !l.openJ9 && (l.libjvm.path != "" || p.perf) && !strings.Contains(p.VM, "Substrate")
	if !p.hotspot && !l.openJ9 && p.VM == "" && !l.launcher && !launches(p.PID) {
		what := "is not a JVM"
		if l.empty {
			what = "is just exiting, or a kernel thread"
		}
		return &Error{PID: p.PID, Kind: ErrNotJVM, Cause: fmt.Sprintf("%s (%s)", what, st.name), Fix: "see rivulet ps; for a start script give the pid of its java process"}
	}
	if p.JavaVersion == "" {
		p.JavaVersion = releaseVersion(p.PID, l.libjvm.path)
	}
	c := readCommand(p.PID, p.Major())
	p.Main, p.Args, p.Options = c.main, strings.Join(c.args, " "), c.options
	// An embedding program gives options that its command line doesn't show.
	p.known = l.launcher && len(readStrings(p.PID, "cmdline")) > 0
	if o, ok := perfOptions(perf); ok {
		p.Options, p.known = o, true
	}
	if cmd := str("sun.rt.javaCommand"); cmd != "" {
		p.Main, p.Args = splitJavaCommand(cmd, c.main)
	}
	if p.Main == "" {
		p.Main = st.name
	}
	p.noSignals = jvmOptions(p.Options).reducesSignals()
	p.Prepared = jvmOptions(p.Options).hasAgent()
	if caps := str("sun.rt.jvmCapabilities"); caps != "" && caps[0] == '0' {
		p.Options = append(p.Options, "-XX:+DisableAttachMechanism") // its own word
	}
	return nil
}

// diagnose returns why no agent can be loaded, or nil.
func (p *Process) diagnose(l layout, st status) error {
	o := jvmOptions(p.Options)
	disabled, _ := o.flag("DisableAttachMechanism")
	agents, set := o.flag("EnableDynamicAgentLoading")
	switch err := checkRuns(p.PID, st); {
	case l.openJ9:
		return &Error{PID: p.PID, Kind: ErrOpenJ9, Cause: "is an OpenJ9 JVM, whose attach protocol Rivulet doesn't speak", Fix: "run the program on a HotSpot JDK (OpenJDK, Temurin, Corretto, ...)"}
	case strings.Contains(p.VM, "Substrate"):
		return &Error{PID: p.PID, Kind: ErrNotJVM, Cause: "is a GraalVM native image, which has no bytecode to profile", Fix: "run the program on a HotSpot JDK"}
	case err != nil:
		return err
	case disabled:
		return &Error{PID: p.PID, Kind: ErrAttachDisabled, Cause: "attach is disabled by -XX:+DisableAttachMechanism", Fix: "restart the JVM without that flag (it may also come from JAVA_TOOL_OPTIONS or JDK_JAVA_OPTIONS), or use rivulet run"}
	case !mayAttach(*p):
		return otherUser(*p, nil)
	case !p.hotspot:
		return &Error{PID: p.PID, Kind: ErrStarting, Cause: "is starting; its JVM is not loaded yet", Fix: "try again in a moment"}
	case set && !agents:
		return agentsDisabled(p.PID)
	case missingInstrument(p.PID, l.libjvm):
		return noInstrument(p.PID, nil)
	}
	return nil
}

func (p *Process) fail(err error) {
	var e *Error
	if err == nil {
		return
	}
	p.Err, p.Reason = err, err.Error()
	if errors.As(err, &e) {
		p.Reason = e.Reason()
	}
}

func agentsDisabled(pid int) error {
	return &Error{PID: pid, Kind: ErrAgentsDisabled, Cause: "agents can't be loaded into it (-XX:-EnableDynamicAgentLoading)", Fix: "restart the JVM with -XX:+EnableDynamicAgentLoading, or use rivulet run"}
}

func noInstrument(pid int, err error) error {
	return &Error{PID: pid, Kind: ErrNoInstrument, Err: err, Cause: "its Java runtime has no java.instrument module", Fix: "build the runtime with jlink --add-modules java.instrument"}
}

// mayAttach reports whether HotSpot will accept us: it wants its own effective
// user and group, or root. Root takes them on.
func mayAttach(p Process) bool {
	return unix.Geteuid() == 0 || uint32(unix.Geteuid()) == p.UID && uint32(unix.Getegid()) == p.GID
}

func otherUser(p Process, err error) error {
	e := &Error{PID: p.PID, Kind: ErrOtherUser, Err: err}
	me := uint32(unix.Geteuid())
	switch {
	case me == 0:
		e.Cause, e.Fix = "root lacks the permission to inspect it", "grant CAP_SYS_PTRACE, CAP_SETUID and CAP_SETGID"
	case me != p.UID:
		e.Cause, e.Fix = fmt.Sprintf("belongs to user %s, you are %s", p.User, userName(me)), "run as root (sudo)"
		if p.UID != 0 {
			e.Fix = fmt.Sprintf("run as %s (sudo -u %s)", p.User, p.User)
		}
	case uint32(unix.Getegid()) != p.GID:
		e.Cause, e.Fix = fmt.Sprintf("runs with group %d, you have group %d", p.GID, unix.Getegid()), "switch with newgrp, or run as root (sudo)"
	default:
		e.Cause, e.Fix = "is yours but has more privileges than you, as in a container", "run as root (sudo)"
	}
	return e
}

func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// looksLikeJava guesses about a process whose maps are closed to us.
func looksLikeJava(pid int, st status) bool {
	argv := readStrings(pid, "cmdline")
	return st.name == "java" || len(argv) > 0 && path.Base(argv[0]) == "java"
}

// launches reports whether the program is java itself, just after exec.
func launches(pid int) bool {
	exe, _ := os.Readlink(procFile(pid, "exe"))
	return path.Base(strings.TrimSuffix(exe, " (deleted)")) == "java"
}

// releaseVersion reads JAVA_VERSION from the runtime's release file, which lies
// two (lib/server) to five (jre/lib/amd64/server) directories above libjvm.so.
func releaseVersion(pid int, libjvm string) string {
	dir := path.Dir(libjvm)
	for range 5 {
		dir = path.Dir(dir)
		if len(dir) <= 1 {
			break
		}
		for line := range strings.Lines(readTargetText(pid, dir+"/release")) {
			if v, ok := strings.CutPrefix(line, "JAVA_VERSION="); ok {
				return strings.Trim(v, "\"\r\n")
			}
		}
	}
	if strings.HasPrefix(path.Base(path.Dir(path.Dir(path.Dir(path.Dir(libjvm))))), "jre") {
		return "1.8" // JDK 8 alone has jre/lib/amd64/server
	}
	return ""
}

// missingInstrument reports whether the runtime lacks libinstrument.so, one
// directory above libjvm.so. If the JDK was replaced meanwhile, or anything is
// unclear, it does not.
func missingInstrument(pid int, libjvm mapping) bool {
	if libjvm.path == "" || libjvm.deleted {
		return false
	}
	f, err := openTarget(pid, path.Join(path.Dir(path.Dir(libjvm.path)), "libinstrument.so"), unix.O_PATH)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, os.ErrNotExist)
}

// splitJavaCommand splits sun.rt.javaCommand, "main args", whose jar may have
// blanks in its path; the command line then says where it ends.
func splitJavaCommand(cmd, hint string) (main, args string) {
	if hint != "" && strings.HasPrefix(cmd, hint) && (len(cmd) == len(hint) || cmd[len(hint)] == ' ') {
		return hint, strings.TrimPrefix(cmd[len(hint):], " ")
	}
	main, args, _ = strings.Cut(cmd, " ")
	return main, args
}

package attach

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Result codes of the instrument library (JPLISAgent, InvocationAdapter.c).
const (
	agentBadJar   = 100 // JNI_ERR path: no such jar or no Agent-Class in it
	agentNoClass  = 101 // jar not on the class path
	agentNoMemory = -4  // JNI_ENOMEM
)

// AgentStartError is the Code of an [*Error] of [VM.LoadAgent] whose agent class was not found, or whose agentmain is
// missing or threw an exception.
const AgentStartError = 102

// LoadAgent loads a Java agent and runs its agentmain with the given options,
// on the listener's thread: it returns when agentmain has. The jar is a path
// in the target's mount namespace and must be readable by the target's user.
func (vm *VM) LoadAgent(ctx context.Context, jar, options string) error {
	p := vm.proc
	if !path.IsAbs(jar) || strings.Contains(jar, "=") {
		return &Error{PID: p.PID, Kind: ErrRejected, Cause: fmt.Sprintf("agent path %q isn't absolute or contains '='", jar), Fix: "use another path"}
	}
	if onlyAgents(p.Err) {
		return p.Err
	}
	arg := jar
	if options != "" {
		arg += "=" + options
	}
	r, err := vm.Execute(ctx, "load", "instrument", "false", arg)
	if err != nil {
		return err
	}
	return vm.agentError(jar, r)
}

// agentError decodes the result of load instrument. If the library was called
// at all, the text is its result: "0" on JDK 8, "return code: 0" later.
// Otherwise it is the failure, with a code of -1, or from JDK 21 on even 0.
func (vm *VM) agentError(jar string, r Reply) error {
	p := vm.proc
	text := strings.TrimSpace(r.Text)
	code, err := strconv.Atoi(strings.TrimPrefix(text, "return code: "))
	if err == nil && r.Code == 0 {
		if code == 0 {
			return nil
		}
		e := &Error{PID: p.PID, Kind: ErrRejected, Code: code, Cause: fmt.Sprintf("loading agent %s failed with code %d", jar, code), Fix: "see the target's standard error"}
		switch code {
		case agentBadJar:
			e.Cause = fmt.Sprintf("agent jar %s is missing, unreadable for user %s or has no Agent-Class", jar, p.User)
			e.Fix = "check that the file exists as the target sees it"
		case agentNoClass:
			e.Cause = fmt.Sprintf("agent jar %s can't be added to the class path", jar)
		case AgentStartError:
			e.Cause = fmt.Sprintf("agentmain in %s is missing or threw an exception", jar)
		case agentNoMemory:
			e.Cause, e.Fix = "the JVM has no memory for the agent", "give it more heap or native memory"
		}
		return e
	}
	switch {
	case strings.Contains(text, "Dynamic agent loading is not enabled"):
		return agentsDisabled(p.PID)
	case strings.Contains(text, "Module java.instrument"), strings.Contains(text, "instrument was not loaded"), p.noInstrument():
		return noInstrument(p.PID, errors.New(oneLine(text)))
	}
	if text == "" {
		text = "no message"
	}
	return &Error{PID: p.PID, Kind: ErrRejected, Code: r.Code, Cause: fmt.Sprintf("the JVM refused agent %s: %s", jar, oneLine(text)), Fix: "see the target's standard error"}
}

func (p Process) noInstrument() bool {
	l, err := readLayout(p.PID)
	return err == nil && missingInstrument(p.PID, l.libjvm)
}

// oneLine folds the lines of a message.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// A Flag is a VM flag as jcmd VM.flags -all prints it.
type Flag struct {
	Type   string // "bool", "intx", "ccstr"
	Value  string
	Kind   string // "product", "manageable", ...
	Origin string // "default", "command line", "environment", "ergonomic"; "" on JDK 8
}

// Flags returns all flags of the JVM by name.
func (vm *VM) Flags(ctx context.Context) (map[string]Flag, error) {
	r, err := vm.command(ctx, "jcmd", "VM.flags -all")
	if err != nil {
		return nil, err
	}
	flags := map[string]Flag{}
	for line := range strings.Lines(r) {
		if name, f, ok := parseFlag(line); ok {
			flags[name] = f
		}
	}
	return flags, nil
}

// parseFlag reads "  bool UseG1GC  = true  {product} {ergonomic}"; JDK 8 has
// ":=" for changed values and no origin.
func parseFlag(line string) (string, Flag, bool) {
	head, tail, ok := strings.Cut(line, "= ")
	f := strings.Fields(strings.TrimSuffix(head, ":"))
	if !ok || len(f) != 2 {
		return "", Flag{}, false
	}
	value, attrs := tail, ""
	if i := strings.Index(tail, " {"); i >= 0 {
		value, attrs = tail[:i], tail[i:]
	}
	flag := Flag{Type: f[0], Value: strings.TrimSpace(value)}
	for i, a := range strings.Split(attrs, "{") {
		a, _, _ = strings.Cut(a, "}")
		switch i {
		case 1:
			flag.Kind = a
		case 2:
			flag.Origin = a
		}
	}
	return f[1], flag, true
}

// DynamicAgentWarning reports whether LoadAgent will make the target print a
// warning of four lines on its standard error. JDK 21 and later do so on every
// load unless the flag stands on the command line itself (JDK_JAVA_OPTIONS
// included); from JAVA_TOOL_OPTIONS or a flags file it doesn't count. The error
// matches ErrAgentsDisabled if agents can't be loaded at all.
func (vm *VM) DynamicAgentWarning(ctx context.Context) (bool, error) {
	flags, err := vm.Flags(ctx)
	if err != nil {
		return false, err
	}
	f, ok := flags["EnableDynamicAgentLoading"] // since JDK 9
	if ok && f.Value == "false" {
		return false, agentsDisabled(vm.proc.PID)
	}
	return ok && vm.proc.Major() >= 21 && f.Origin != "command line", nil
}

// nativeAccessFrom is the first JDK that warns of native code that is loaded without leave (JEP 472).
const nativeAccessFrom = 24

// NativeAccessWarning reports whether LoadAgent may make the target print five lines on its standard error that
// java.instrument calls a restricted method: from JDK 24 on, where the main class is in a module and nothing
// says that java.instrument is to be there from the start.
func (p *Process) NativeAccessWarning() bool {
	module, class, ok := strings.Cut(p.Main, "/")
	if p.Major() < nativeAccessFrom || !ok || module == "" || strings.HasSuffix(class, ".jar") {
		return false
	}
	for i, o := range p.Options {
		modules, there := strings.CutPrefix(o, "--add-modules=")
		if o == "--add-modules" && i+1 < len(p.Options) {
			modules, there = p.Options[i+1], true
		}
		if strings.HasPrefix(o, "-javaagent:") || there && (strings.Contains(modules, "java.instrument") || strings.Contains(modules, "ALL-")) {
			return false
		}
	}
	return true
}

// ThreadDump returns the stacks of all threads, with locks.
func (vm *VM) ThreadDump(ctx context.Context) (string, error) {
	return vm.command(ctx, "threaddump", "-l")
}

// command executes a command whose failure has a code.
func (vm *VM) command(ctx context.Context, cmd string, args ...string) (string, error) {
	r, err := vm.Execute(ctx, cmd, args...)
	if err == nil && r.Code != 0 {
		err = &Error{PID: vm.proc.PID, Kind: ErrRejected, Code: r.Code, Cause: fmt.Sprintf("the JVM refused %s %s: %s", cmd, strings.Join(args, " "), oneLine(r.Text))}
	}
	return r.Text, err
}

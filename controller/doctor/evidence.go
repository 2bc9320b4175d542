package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// Evidence is what a bug report needs to know of a process, its JVM and the machine. It has no
// arguments of the program, no environment, no values of its system properties and no options of
// agents, since secrets are there. It has names: of the main class, of the user, of files and, where
// a root was looked at, of classes and methods.
type Evidence struct {
	Checks []Check
	Files  []EvidenceFile
}

// An EvidenceFile is a part of it.
type EvidenceFile struct{ Name, What, Text string }

// Gather examines a process, as [Examine] does, and gathers evidence.
func Gather(ctx context.Context, pid int, root string, cfg session.Config) *Evidence {
	e := &examination{ctx: ctx, cfg: cfg, pid: pid}
	e.examine(root)
	out := &Evidence{Checks: e.checks}
	for i, c := range out.Checks {
		out.Checks[i].Text, out.Checks[i].Fix = WithoutSecrets(c.Text), WithoutSecrets(c.Fix)
	}
	add := func(name, what, text string) {
		if text != "" {
			out.Files = append(out.Files, EvidenceFile{name, what, text})
		}
	}
	add("target.json", "the process, as rivulet ps --json has it", e.target())
	add("status.txt", "what the kernel says of the process", e.status())
	add("flags.txt", "the JVM's flags that are not as by default", e.flags())
	add("counters.txt", "the JVM's performance counters", e.counters())
	add("machine.txt", "the machine, and what this process may do there", e.machine())
	add("header.txt", "text form of the header of the memory that is shared with the JVM, while a root was looked at", e.header)
	return out
}

// agentOptions are those of agents, and commands that a JVM runs.
var agentOptions = regexp.MustCompile(`(-javaagent:[^=\s,)]+=|-agentpath:[^=\s,)]+=|-agentlib:[^=\s,)]+=|-Xrun\w+:|-XX:On\w+=)[^,)]*`)

// properties are those of the program; what the JDK's own are set to tells how it works.
var properties = regexp.MustCompile(`-D([^=\s]+)=\S*`)

// WithoutSecrets puts [attach.Masked] for what may be a secret in a text that has parts of a
// command line: the options of agents, and values of system properties except the JDK's.
func WithoutSecrets(text string) string {
	text = agentOptions.ReplaceAllString(text, "${1}"+attach.Masked)
	return properties.ReplaceAllStringFunc(text, func(p string) string {
		name, _, _ := strings.Cut(p, "=")
		for _, own := range []string{"-Djava.", "-Djdk.", "-Dsun."} {
			if strings.HasPrefix(name, own) && !strings.Contains(strings.ToLower(name), "pass") {
				return p
			}
		}
		return name + "=" + attach.Masked
	})
}

// target is the process without the program's own arguments.
func (e *examination) target() string {
	p := e.proc
	if p.PID == 0 {
		return ""
	}
	if p.Args != "" {
		p.Args = attach.Masked
	}
	options := make([]string, len(p.Options))
	for i, o := range p.Options {
		switch {
		case strings.HasPrefix(o, "-D"):
			if name, _, ok := strings.Cut(WithoutSecrets(o), "="); ok && !strings.HasPrefix(o, "-Djava.") && !strings.HasPrefix(o, "-Djdk.") && !strings.HasPrefix(o, "-Dsun.") {
				options[i] = name + "=" + attach.Masked // a value may have spaces
				continue
			}
			options[i] = WithoutSecrets(o)
		case strings.HasPrefix(o, "-"):
			for _, prefix := range []string{"-javaagent:", "-agentpath:", "-agentlib:", "-XX:On"} {
				if name, _, ok := strings.Cut(o, "="); ok && strings.HasPrefix(o, prefix) {
					o = name + "=" + attach.Masked
				}
			}
			options[i] = o
		case i > 0 && strings.Contains(p.Options[i-1], "=") || i > 0 && options[i-1] == attach.Masked:
			options[i] = attach.Masked // the rest of a value with spaces
		default: // a value of the option before
			options[i] = o
		}
	}
	p.Options = options
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	if enc.Encode(p) != nil { // it has texts and numbers only
		return ""
	}
	return b.String()
}

// status has the lines that tell limits, and of what kind of container it is in.
func (e *examination) status() string {
	var b strings.Builder
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.pid)) // it may have ended
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, ":")
		if slices.Contains([]string{"State", "NSpid", "Uid", "Gid", "VmPeak", "VmSize", "VmHWM", "VmRSS", "Threads", "SigCgt", "CapEff", "NoNewPrivs", "Seccomp", "Cpus_allowed_list"}, name) {
			b.WriteString(line)
		}
	}
	limits, _ := os.ReadFile(fmt.Sprintf("/proc/%d/limits", e.pid))
	b.Write(limits)
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		d, err := attach.OpenFolder(e.pid, dir)
		if err != nil {
			fmt.Fprintf(&b, "%s: %v\n", dir, err)
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", dir, d.FileSystem())
		d.Close()
	}
	return b.String()
}

func (e *examination) flags() string {
	if e.vm == nil {
		return ""
	}
	flags, err := e.vm.Flags(e.ctx)
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		f := flags[name]
		if f.Origin == "default" {
			continue
		}
		if strings.HasPrefix(name, "On") && f.Value != "" {
			f.Value = attach.Masked // a command
		}
		fmt.Fprintf(&b, "%s %s = %s %s %s\n", f.Type, name, f.Value, f.Kind, f.Origin)
	}
	return b.String()
}

// counters are the numbers, and the texts that say something of the JVM alone.
func (e *examination) counters() string {
	all, err := attach.Counters(e.pid)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch v := all[name].(type) {
		case int64:
			fmt.Fprintf(&b, "%s = %d\n", name, v)
		case string:
			if strings.HasPrefix(name, "sun.gc.") || strings.HasPrefix(name, "java.property.java.vm.") || strings.HasPrefix(name, "sun.cls.") {
				fmt.Fprintf(&b, "%s = %q\n", name, v)
			}
		}
	}
	return b.String()
}

// machine has no names: not the host's, not the network's.
func (e *examination) machine() string {
	var b strings.Builder
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		fmt.Fprintf(&b, "kernel: %s %s\n", unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:]))
	}
	fmt.Fprintf(&b, "cores: %d\nuid: %d\n", runtime.NumCPU(), os.Geteuid())
	for _, name := range []string{
		"/proc/sys/kernel/perf_event_paranoid", "/proc/sys/kernel/yama/ptrace_scope", "/proc/sys/kernel/kptr_restrict", "/proc/sys/fs/protected_symlinks",
		"/proc/sys/fs/protected_fifos", "/proc/sys/vm/overcommit_memory", "/sys/kernel/mm/transparent_hugepage/shmem_enabled", "/proc/loadavg", "/proc/version_signature",
	} {
		if text, err := os.ReadFile(name); err == nil {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.TrimSpace(string(text)))
		}
	}
	self, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(self)) {
		if strings.HasPrefix(line, "CapEff") || strings.HasPrefix(line, "Seccomp:") || strings.HasPrefix(line, "NoNewPrivs") {
			b.WriteString("this process: " + line)
		}
	}
	memory, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(memory)) {
		if strings.HasPrefix(line, "MemTotal") || strings.HasPrefix(line, "MemAvailable") {
			b.WriteString(line)
		}
	}
	return b.String()
}

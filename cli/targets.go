package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// targetFlags choose JVMs of this machine; a command takes pids as arguments beside them.
type targetFlags struct {
	pids  []int
	match []string
	all   bool
}

func (f *targetFlags) add(fs *pflag.FlagSet) {
	f.addSome(fs)
	fs.BoolVar(&f.all, "all", false, "all JVMs of this machine that can be attached to")
}

// addSome is for commands whose --all means something else.
func (f *targetFlags) addSome(fs *pflag.FlagSet) {
	fs.IntSliceVar(&f.pids, "pid", nil, "process `PID`; may be repeated, for several JVMs at once")
	fs.StringArrayVar(&f.match, "match", nil, "all JVMs that `KEY=PATTERN` is true of: main, args, user, java or vm, with * and ?, such as 'main=*Order*'; repeated: all must be true")
}

// targetsUse is how the arguments are shown in help.
const targetsUse = "PID..."

// matchKeys are what --match looks at.
var matchKeys = map[string]func(attach.Process) string{
	"main": func(p attach.Process) string { return p.Main },
	"args": func(p attach.Process) string { return p.Args },
	"user": func(p attach.Process) string { return p.User },
	"java": func(p attach.Process) string { return p.JavaVersion },
	"vm":   func(p attach.Process) string { return p.VM },
}

// A matcher tells whether a JVM is one that --match means.
type matcher func(attach.Process) bool

func parseMatch(rules []string) (matcher, error) {
	var all []matcher
	for _, rule := range rules {
		key, pattern, ok := strings.Cut(rule, "=")
		of := matchKeys[key]
		if !ok || of == nil || pattern == "" {
			return nil, usage("--match %q: give KEY=PATTERN, where KEY is main, args, user, java or vm", rule)
		}
		is := wildcard(pattern)
		all = append(all, func(p attach.Process) bool { return is(of(p)) })
	}
	return func(p attach.Process) bool {
		for _, m := range all {
			if !m(p) {
				return false
			}
		}
		return true
	}, nil
}

// choose finds the JVMs that arguments and flags mean, each once, in order. One pid is
// not looked at: the command says what is wrong with it.
func (f *targetFlags) choose(ctx context.Context, b backend, args []string) ([]int, error) {
	var pids []int
	seen := map[int]bool{}
	add := func(pid int) {
		if !seen[pid] {
			seen[pid] = true
			pids = append(pids, pid)
		}
	}
	for _, arg := range args {
		pid, err := parsePID(arg)
		if err != nil {
			return nil, err
		}
		add(pid)
	}
	for _, pid := range f.pids {
		if pid <= 0 {
			return nil, usage("--pid %d is not a process id; rivulet ps lists the JVMs and theirs", pid)
		}
		add(pid)
	}
	if f.all && len(f.match) > 0 {
		return nil, usage("--all takes every JVM: leave out --match, or --all")
	}
	if f.all || len(f.match) > 0 {
		is, err := parseMatch(f.match)
		if err != nil {
			return nil, err
		}
		found, err := b.processes(ctx)
		if err != nil {
			return nil, err
		}
		none := true
		for _, p := range found {
			if is(p) && (p.Attachable || !f.all) {
				none = false
				add(p.PID)
			}
		}
		if none && len(pids) == 0 {
			return nil, usage("no JVM is meant by %s: rivulet ps lists them", f.text())
		}
	}
	if len(pids) == 0 {
		return nil, usage("PID is missing: give one or several, --match or --all; rivulet ps lists the JVMs")
	}
	return pids, nil
}

// text is what was asked for.
func (f *targetFlags) text() string {
	if f.all {
		return "--all"
	}
	return "--match " + strings.Join(f.match, " --match ")
}

// nameTargets says what a process is, for parts of a report.
func (a *app) nameTargets(ctx context.Context, pids []int) []export.ProcessReport {
	parts := make([]export.ProcessReport, len(pids))
	for i, pid := range pids {
		parts[i].Target = export.Target{PID: pid}
		if p, err := a.backend.inspect(ctx, pid); err == nil {
			parts[i].Target = export.Target{PID: pid, Java: p.JavaVersion, VM: p.VM, Main: p.Main}
		}
	}
	return parts
}

// partly is the failure of some of several processes. What the single errors are of
// has no say in the exit code.
type partly struct{ error }

// putTogether is the report of several processes. The error names those of which there
// is none, or in whose report something is missing; the report is of the others then,
// nil if there is none.
func (a *app) putTogether(parts []export.ProcessReport) (*export.Report, error) {
	var first error
	failed := 0
	for _, p := range parts {
		if p.Err == nil {
			continue
		}
		if failed++; first == nil {
			first = p.Err
		}
		a.say("%s", oneLine(export.Named(p.Target.PID, p.Err.Error())))
	}
	r := export.MergeProcesses(parts)
	switch {
	case failed == 0:
		return r, nil
	case r == nil:
		return nil, fmt.Errorf("none of %d processes could be looked at; the first: %w", len(parts), first)
	}
	return r, partly{fmt.Errorf("%d of %d processes failed, the report is of the others; the first: %w", failed, len(parts), first)}
}

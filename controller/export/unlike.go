package export

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// An Unlike is one thing that makes two recordings unlike each other.
type Unlike struct {
	Kind  string `json:"kind"`  // "roots", "unfinished", "program", "java", "scheme", "clock", "filter", "recording", "cold"
	Text  string `json:"text"`  // a sentence that says what it is, and what follows
	Grave bool   `json:"grave"` // their times can't be compared at all
}

// Kinds of [Unlike].
const (
	UnlikeRoots      = "roots"
	UnlikeUnfinished = "unfinished"
	UnlikeProgram    = "program"
	UnlikeJava       = "java"
	UnlikeScheme     = "scheme"
	UnlikeClock      = "clock"
	UnlikeFilter     = "filter"
	UnlikeRecording  = "recording"
	UnlikeCold       = "cold"
)

const (
	// For each root invocation that is still running, so many have to have ended: what
	// the one has taken so far is less than a twentieth then.
	endedForEachOpen = 20
	// warm is how long code takes to be compiled well after classes were instrumented,
	// which throws away compiled code.
	warm = 10 * time.Second
)

// UnlikeOf lists what makes two recordings unlike, the gravest first; nil if nothing does.
func UnlikeOf(before, after *Report) (out []Unlike) {
	add := func(kind string, grave bool, format string, args ...any) {
		out = append(out, Unlike{kind, fmt.Sprintf(format, args...), grave})
	}
	sampled := before.Sampling != nil || after.Sampling != nil
	if !sampled {
		only := [2][]string{rootsOnlyOf(before, after), rootsOnlyOf(after, before)}
		switch common := len(before.Roots) > len(only[0]); {
		case !common && len(before.Roots) > 0 && len(after.Roots) > 0:
			add(UnlikeRoots, true, "They have no root in common: %s before, %s after. Their times can't be compared.", rootList(before.Roots), rootList(after.Roots))
		case len(only[0]) > 0:
			add(UnlikeRoots, false, "Only the recording before has the root %s.", rootList(only[0]))
		case len(only[1]) > 0:
			add(UnlikeRoots, false, "Only the recording after has the root %s.", rootList(only[1]))
		}
		for i, r := range []*Report{before, after} {
			f := r.figures()
			if f.open > 0 && f.invocations-f.open < endedForEachOpen*f.open {
				add(UnlikeUnfinished, true, "%s has %s still running, and %d ended: what an unfinished one has taken so far says nothing about whole ones. Record until they have returned (--until-calls), or choose a root that returns more often.",
					[]string{"The recording before", "The recording after"}[i], Plural(f.open, "root call", "root calls"), f.invocations-f.open)
			}
		}
	}
	if a, b := program(before), program(after); a != b && before.Target.Main != "" && after.Target.Main != "" {
		add(UnlikeProgram, false, "They are of different programs: %s before, %s after.", Clean(a), Clean(b))
	}
	if a, b := java(before), java(after); a != b && before.Target.Java != "" && after.Target.Java != "" {
		add(UnlikeJava, false, "They ran on different JVMs: %s before, %s after.", Clean(a), Clean(b))
	}
	if sampled {
		return out
	}
	if before.Scheme != after.Scheme {
		add(UnlikeScheme, false, "Instrumented differently: %s before, %s after. What runs before a method is instrumented is not recorded alike.", SchemeName(before.Scheme), SchemeName(after.Scheme))
	}
	if before.Clock != after.Clock {
		add(UnlikeClock, false, "Timed differently: %s before, %s after. Times of short methods differ by that alone.", ClockName(before.Clock), ClockName(after.Clock))
	}
	if a, b := rules(before), rules(after); a != b {
		add(UnlikeFilter, false, "Their filters differ: %s before, %s after. The time of a method without probes is its caller's.", a, b)
	}
	var other []string
	for what, differs := range map[string]bool{
		"recursion":                        before.Fold != after.Fold,
		"whether probes are inlined":       before.Called != after.Called,
		"whether the overhead is removed":  (before.Calibration == nil) != (after.Calibration == nil),
		"what is counted beside calls":     metricNames(before) != metricNames(after),
		"whether invocations were sampled": (before.Seen > 0) != (after.Seen > 0),
	} {
		if differs {
			other = append(other, what)
		}
	}
	if slices.Sort(other); len(other) > 0 {
		add(UnlikeRecording, false, "They were recorded with different options: %s.", strings.Join(other, ", "))
	}
	for i, r := range []*Report{before, after} {
		if cold := r.Warmed + r.Time; r.Redefinition.Classes > 0 && cold < warm && r.Time > 0 {
			add(UnlikeCold, false, "The recording %s ended %s after its classes were instrumented: code is compiled anew then, so much of it ran cold. Record longer, or ignore the beginning (--warmup 10s).",
				[]string{"before", "after"}[i], Duration(int64(cold)))
		}
	}
	slices.SortStableFunc(out, func(a, b Unlike) int {
		switch {
		case a.Grave == b.Grave:
			return 0
		case a.Grave:
			return -1
		}
		return 1
	})
	return out
}

// Grave tells whether times can't be compared at all.
func Grave(unlike []Unlike) bool {
	return slices.ContainsFunc(unlike, func(u Unlike) bool { return u.Grave })
}

// rootsOnlyOf are roots that another recording doesn't have.
func rootsOnlyOf(r, other *Report) (out []string) {
	for _, root := range r.Roots {
		if !slices.Contains(other.Roots, root) {
			out = append(out, root)
		}
	}
	return out
}

// rootList names some roots.
func rootList(roots []string) string {
	const most = 3
	var names []string
	for _, r := range roots[:min(most, len(roots))] {
		name, _, _ := strings.Cut(r, "(")
		names = append(names, Clean(name))
	}
	text := strings.Join(names, ", ")
	if n := len(roots) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// program is the main class, or the name of the jar without the folder and the version.
func program(r *Report) string {
	main, _, _ := strings.Cut(r.Target.Main, " ")
	if !strings.HasSuffix(main, ".jar") {
		return main
	}
	name := strings.TrimSuffix(path.Base(main), ".jar")
	for i := 1; i < len(name)-1; i++ {
		if name[i] == '-' && name[i+1] >= '0' && name[i+1] <= '9' {
			return name[:i] + ".jar"
		}
	}
	return name + ".jar"
}

func java(r *Report) string { return strings.TrimSpace(r.Target.Java + " " + r.Target.VM) }

func rules(r *Report) string {
	if r.Filter == nil || len(r.Filter.Rules) == 0 {
		return "none"
	}
	return Clean(strings.Join(r.Filter.Rules, " "))
}

func metricNames(r *Report) string {
	var names []string
	for _, m := range r.metrics().All() {
		names = append(names, m.Name)
	}
	return strings.Join(names, " ")
}

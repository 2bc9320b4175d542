package spec

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// An Option is a row of the table from which flags, JSON and the commands of scripts are
// made.
type Option struct {
	Name   string   // of the flag, "until-calls"
	Field  string   // in JSON, "until_calls"
	Values []string // what there is; nil where more than a few texts make sense
	Arg    string   // what a value looks like, "TIME"
	Help   string   // what it does, with the flag's argument in backquotes
	Short  string   // the same in a few words

	kind  kind
	get   func(r *Recording) string
	set   func(r *Recording, value string) error
	list  func(r *Recording) []string // of lists
	clear func(r *Recording)          // of lists
}

// A kind is how an option is written in JSON.
type kind int

const (
	text kind = iota
	number
	flag
	list
)

// Options are all options of a recording, except Stream, which is a file of the command
// line's.
var Options = []*Option{
	{
		Name: "root", Field: "roots", kind: list, Arg: "METHOD",
		Help:  "method to start from, `CLASS.METHOD[(DESC)RET]`, or a pattern of such; may be repeated",
		Short: "methods to start from",
		list:  func(r *Recording) []string { return r.Roots },
		clear: func(r *Recording) { r.Roots = nil },
		set:   (*Recording).AddRoot,
	},
	{
		Name: "scheme", Field: "scheme", Values: append([]string{SchemeAuto}, Schemes...), Arg: "auto|A|B|C|D",
		Help:  "`auto`: D where it can be had, else C or A; D: observe, instrument what is active, watch the rest, nobody waits; C: instrument what is called next, when it is called first, looking ahead; B: the same without a look ahead; A: all that is reachable at once",
		Short: "who gets probes, and when",
		get:   func(r *Recording) string { return r.Scheme },
		set: func(r *Recording, v string) error {
			if r.Scheme = strings.ToUpper(v); strings.EqualFold(v, SchemeAuto) {
				r.Scheme = SchemeAuto
			}
			return nil
		},
	},
	{
		Name: "observe", Field: "observe", Arg: "TIME",
		Help:  "with scheme D: how long the target is observed before it is instrumented, `TIME` such as 5s",
		Short: "how long the target is observed before it is instrumented",
		get:   func(r *Recording) string { return duration(r.Observe) },
		set: func(r *Recording, v string) error {
			d, err := time.ParseDuration(v)
			if err != nil || d < 0 || d > mostObserve {
				return wrong("observe", v, "give a time such as 5s, of at most %v", mostObserve)
			}
			r.Observe = d
			return nil
		},
	},
	{
		Name: "patience", Field: "patience", Arg: "TIME|auto",
		Help:  "how long a root call waits for probes in all, `TIME` such as 50ms; what has none by then is recorded late. auto: 100ms in a JVM that listens on a port, and with scheme D; else 10s at a time, so that counts are exact from the first call on",
		Short: "how long a root call waits for probes in all; auto: 100ms in a server, else 10s at a time",
		get:   (*Recording).patience,
		set:   (*Recording).setPatience,
	},
	{
		Name: "clock", Field: "clock", Values: []string{"tick", "precise"}, Arg: "tick|precise",
		Help:  "`tick`: low overhead, a clock kept by Rivulet, some nanoseconds a call; precise: exact timing, slow, System.nanoTime, some fifty",
		Short: "how calls are timed: tick with low overhead, precise exactly but slowly",
		get:   func(r *Recording) string { return r.Clock },
		set:   func(r *Recording, v string) error { r.Clock = v; return nil },
	},
	{
		Name: "until-calls", Field: "until_calls", kind: number, Arg: "N",
		Help:  "record until the roots have returned `N` times, over all threads; with --for, whichever is first",
		Short: "end recordings when the roots have returned N times; 0 for never",
		get:   func(r *Recording) string { return strconv.FormatInt(r.UntilCalls, 10) },
		set: func(r *Recording, v string) (err error) {
			r.UntilCalls, err = parseNumber("until-calls", v)
			return err
		},
	},
	{
		Name: "every", Field: "every", kind: number, Arg: "N",
		Help:  "record one of `N` root calls, a random one of each N in a row; probes of the others do nothing",
		Short: "record one of N root calls; 1 for each",
		get:   func(r *Recording) string { return strconv.FormatInt(max(r.Every, 1), 10) },
		set: func(r *Recording, v string) error {
			n, err := parseNumber("every", v)
			if err == nil && (n < 1 || n > mostEvery) {
				err = wrongNumber("every", n, "give a number from 1 to %d", mostEvery)
			}
			if err == nil {
				r.Every = n
			}
			return err
		},
	},
	{
		Name: "share", Field: "share", Arg: "PERCENT",
		Help:  "record this share of the root calls, such as `5%`: --every 20",
		Short: "the share of the root calls that is recorded, such as 5%",
		get:   func(r *Recording) string { return strconv.FormatFloat(100/float64(max(r.Every, 1)), 'g', 6, 64) + "%" },
		set: func(r *Recording, v string) error {
			p, err := strconv.ParseFloat(strings.TrimSuffix(v, "%"), 64)
			if err != nil || !strings.HasSuffix(v, "%") || !(p >= 100.0/mostEvery && p <= 100) {
				return wrong("share", v, "give a share from %g%% to 100%%, such as 5%%", 100.0/mostEvery)
			}
			r.Every = int64(math.Round(100 / p))
			return nil
		},
	},
	{
		Name: "overhead", Field: "overhead", Arg: "PERCENT",
		Help:  "hold the program's slow-down within this budget, such as `5%`: record fewer root calls, then less of them; the report says what is missing",
		Short: "hold the program's slow-down within this budget, such as 5%; 0% for any",
		get:   func(r *Recording) string { return strconv.FormatFloat(100*r.Overhead, 'g', 6, 64) + "%" },
		set: func(r *Recording, v string) error {
			p, err := strconv.ParseFloat(strings.TrimSuffix(v, "%"), 64)
			if err != nil || !strings.HasSuffix(v, "%") || !(p >= leastOverhead || p == 0) || p > mostOverhead {
				return wrong("overhead", v, "give a budget from %g%% to %g%%, such as 5%%, or 0%% for none", leastOverhead, mostOverhead)
			}
			r.Overhead = p / 100
			return nil
		},
	},
	{
		Name: "wait", Field: "wait", kind: flag, Arg: "on|off",
		Help:  "wait for the root even if no class loader can find its class yet",
		Short: "wait for roots whose class nobody knows",
		get:   func(r *Recording) string { return onOff(r.Wait) },
		set:   func(r *Recording, v string) (err error) { r.Wait, err = parseFlag("wait", v); return err },
	},
	{
		Name: "filter", Field: "filter", kind: list, Arg: "RULE",
		Help:  "`RULE`: --include PATTERN, --exclude PATTERN or --jdk; the last that matches a method decides",
		Short: "what gets probes",
		list:  func(r *Recording) []string { return r.Filter.Strings() },
		clear: func(r *Recording) { r.Filter = filter.Set{} },
		set: func(r *Recording, v string) error {
			if err := r.Filter.Parse(v); err != nil {
				return wrong("filter", v, "%v; patterns are com.acme.*, com.acme.**, com.acme.Foo, com.acme.Foo.get*", err)
			}
			return nil
		},
	},
	{
		Name: "agents", Field: "agents", kind: flag, Arg: "on|off",
		Help:  "the code of agents that the JVM was started with gets probes, too",
		Short: "the code of agents that the JVM was started with gets probes, too",
		get:   func(r *Recording) string { return onOff(r.Agents) },
		set:   func(r *Recording, v string) (err error) { r.Agents, err = parseFlag("agents", v); return err },
	},
	{
		Name: "mode", Field: "modes", kind: list, Arg: "PATTERN=MODE",
		Help:  "`PATTERN=MODE`: record the methods that match off, counted, tick or precise, as in com.acme.util.*=counted; may be repeated",
		Short: "record the methods that match off, counted, tick or precise; the last rule that matches holds",
		clear: func(r *Recording) { r.Modes = nil },
		list: func(r *Recording) (out []string) {
			for _, m := range r.Modes {
				out = append(out, m.String())
			}
			return out
		},
		set: func(r *Recording, v string) error {
			m, err := ParseModeRule(v)
			if err == nil {
				r.Modes = append(slices.Clip(r.Modes), m)
			}
			return err
		},
	},
	{
		Name: "leaves", Field: "leaves", Values: []string{LeavesCounted, LeavesTimed}, Arg: "counted|timed",
		Help:  "`counted`: short methods that call nothing are only counted, and their time goes to their callers; timed: as all others",
		Short: "short methods that call nothing are only counted, or timed as all others",
		get:   func(r *Recording) string { return r.Leaves },
		set:   func(r *Recording, v string) error { r.Leaves = v; return nil },
	},
	{
		Name: "cpu", Field: "cpu", kind: flag, Arg: "on|off",
		Help:  "tell computing from waiting: sample how long threads are on a core, at no cost to the target but a thread dump now and then",
		Short: "tell computing from waiting",
		get:   func(r *Recording) string { return onOff(r.CPU) },
		set:   func(r *Recording, v string) (err error) { r.CPU, err = parseFlag("cpu", v); return err },
	},
	{
		Name: "count", Field: "count", kind: list, Arg: strings.Join(metricNames(), "|"), Values: metricNames(),
		Help:  "count what else each call path does, too: " + metricHelp(),
		Short: "count what else each call path does, too",
		list:  func(r *Recording) []string { return r.Count },
		clear: func(r *Recording) { r.Count = nil },
		set: func(r *Recording, v string) error {
			if _, ok := metric.Asked(v); !ok {
				return wrong("count", v, "there is only %s", enumerate(metricNames()))
			}
			if !slices.Contains(r.Count, v) {
				r.Count = append(slices.Clip(r.Count), v)
			}
			return nil
		},
	},
	{
		Name: "follow", Field: "follow", kind: flag, Arg: "on|off",
		Help:  "follow async tasks: show what they do on other threads below the method that submitted them: threads, executors, fork/join, completable futures, timers",
		Short: "follow async tasks: show what they do on other threads below the method that submitted them",
		get:   func(r *Recording) string { return onOff(r.Follow) },
		set:   func(r *Recording, v string) (err error) { r.Follow, err = parseFlag("follow", v); return err },
	},
	{
		Name: "natives", Field: "natives", Values: []string{NativesOff, NativesOn, NativesAll}, Arg: "off|on|all",
		Help:  "record native methods where they are called; `all`: also what the JVM may replace by code of its own, such as Math.max; off: neither",
		Short: "record native methods where they are called; all: also what the JVM may replace",
		get:   func(r *Recording) string { return r.Natives },
		set:   func(r *Recording, v string) error { r.Natives = v; return nil },
	},
	{
		Name: "recursion", Field: "recursion", Values: []string{"expand", "fold"}, Arg: "expand|fold",
		Help:  "`expand`: a node for each level; fold: a method that is on the path already goes on in its node",
		Short: "a node for each level of recursion, or one for all",
		get: func(r *Recording) string {
			if r.Fold {
				return "fold"
			}
			return "expand"
		},
		set: func(r *Recording, v string) error { r.Fold = v == "fold"; return nil },
	},
	{
		Name: "probes", Field: "probes", Values: []string{ProbesAuto, ProbesInlined, ProbesCalled}, Arg: "auto|inlined|called",
		Help:  "`auto`: the target's compiler inlines the probes, but not where a thousand methods and more are within reach, or most of what is called is not loaded yet; inlined; called",
		Short: "whether the target's compiler inlines the probes",
		get:   func(r *Recording) string { return r.Probes },
		set:   func(r *Recording, v string) error { r.Probes = v; return nil },
	},
	{
		Name: "events", Field: "events", kind: flag, Arg: "on|off",
		Help:  "record the begin and end of each invocation, too",
		Short: "record the begin and end of each invocation, too",
		get:   func(r *Recording) string { return onOff(r.Events) },
		set:   func(r *Recording, v string) (err error) { r.Events, err = parseFlag("events", v); return err },
	},
	{
		Name: "roottimes", Field: "root_times", Values: []string{"on", "off"}, Arg: "on|off",
		Help:  "`on`: tell how long root calls took: percentiles, a histogram, and when the slowest ones were; off: one comparison and two additions less for each root call",
		Short: "tell how long root calls took, and when the slowest ones were",
		get:   func(r *Recording) string { return r.RootTimes },
		set:   func(r *Recording, v string) error { r.RootTimes = v; return nil },
	},
	{
		Name: "slowest", Field: "slowest", kind: number, Arg: "N",
		Help:  "show the `N` slowest root calls with trees of their own, with --follow also what their ends waited for; implies --record events",
		Short: "keep the N slowest root calls with trees of their own; 0 for none",
		get:   func(r *Recording) string { return strconv.Itoa(r.Slowest) },
		set: func(r *Recording, v string) error {
			n, err := parseNumber("slowest", v)
			if err == nil && n > event.MostSlowest {
				err = wrongNumber("slowest", n, "give a number from 1 to %d, or 0 for none", event.MostSlowest)
			}
			if err == nil {
				r.Slowest, r.Over = int(n), 0 // which says of which they are
			}
			return err
		},
	},
	{
		Name: "over", Field: "over", Arg: "TIME",
		Help:  "with --slowest, only those that took longer than this `time`, such as 50ms",
		Short: "with slowest: only those that took longer than this; 0 for all",
		get:   func(r *Recording) string { return duration(r.Over) },
		set: func(r *Recording, v string) error {
			d, err := time.ParseDuration(v)
			if err != nil || d < 0 {
				return wrong("over", v, "give a time such as 50ms, or 0 for all")
			}
			r.Over = d
			return nil
		},
	},
	{
		Name: "timeline", Field: "timeline", kind: flag, Arg: "on|off",
		Help:  "keep a timeline of threads' calls; implies --record events",
		Short: "keep a timeline of threads' calls",
		get:   func(r *Recording) string { return onOff(r.Timeline > 0) },
		set: func(r *Recording, v string) error {
			on, err := parseFlag("timeline", v)
			if err == nil {
				r.Timeline = 0
				if on {
					r.Timeline = event.DefaultSlices
				}
			}
			return err
		},
	},
	{
		Name: "warmup", Field: "warmup", Arg: "TIME|N",
		Help:  "ignore the first `5s`, or root calls (500), so that code is compiled again when it counts",
		Short: "ignore the first TIME, or N root calls; 0 for none",
		get:   (*Recording).warmup,
		set:   (*Recording).setWarmup,
	},
	{
		Name: "memory", Field: "memory", kind: number, Arg: "SIZE",
		Help:  "memory limit for the tree, in the target's tmpfs: `size` such as 512M (default 1G, taken as it is needed)",
		Short: "memory limit for the tree, such as 512M; 0 for the default",
		get:   func(r *Recording) string { return strconv.FormatInt(r.Memory, 10) },
		set: func(r *Recording, v string) error {
			n, err := ParseSize(v)
			if v == "0" {
				n, err = 0, nil
			}
			if err != nil {
				return wrong("memory", v, "%v", err)
			}
			r.Memory = n
			return nil
		},
	},
}

// metricNames are the metrics that a recording has only if it is asked for them.
func metricNames() (names []string) {
	for _, m := range metric.Countings {
		names = append(names, m.Name)
	}
	return names
}

// metricHelp says what they are.
func metricHelp() string {
	var list []string
	for _, m := range metric.Countings {
		list = append(list, "`"+m.Name+"`, "+m.Doc)
	}
	return strings.Join(list, "; ")
}

// Find is the option of a name; nil if there is none.
func Find(name string) *Option {
	for _, o := range Options {
		if o.Name == name {
			return o
		}
	}
	return nil
}

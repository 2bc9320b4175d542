package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// recordFlags are the flags that profile and run have in common.
type recordFlags struct {
	roots      []string
	rootless   bool // roots may be chosen later
	scheme     string
	clock      string
	recursion  string
	modes      []string
	rules      []session.ModeRule
	warmup     warmup
	cpu        bool
	follow     bool
	natives    string
	probes     string
	leaves     string
	record     string
	slowest    int
	over       time.Duration
	trace      string
	timeline   *output
	stream     string
	streamed   *output
	length     time.Duration
	untilCalls int64
	format     string
	file       string
	top        int
	depth      int
	depthGiven bool
	memory     size
	wait       bool
	ui         bool
	listen     string
	snapshots  string
	filter     filter.Set
}

func (f *recordFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringArrayVar(&f.roots, "root", nil, "method to start from, `CLASS.METHOD[(DESC)RET]`, or a pattern of such; may be repeated")
	f.addFilters(fs)
	fs.StringVar(&f.scheme, "scheme", session.DefaultScheme, "`C`: instrument what is called next, when it is called first, looking ahead; B: the same without a look ahead; A: all that is reachable at once")
	fs.StringVar(&f.clock, "clock", "tick", "`tick`: a clock kept by Rivulet, some nanoseconds a call; precise: System.nanoTime, some fifty")
	fs.StringVar(&f.recursion, "recursion", "expand", "`expand`: a node for each level; fold: a method that is on the path already goes on in its node")
	fs.StringArrayVar(&f.modes, "mode", nil, "`PATTERN=MODE`: record the methods that match off, counted, tick or precise, as in com.acme.util.*=counted; may be repeated")
	fs.BoolVar(&f.cpu, "cpu", false, "tell computing from waiting: sample how long threads are on a core, at no cost to the target but a thread dump now and then")
	fs.BoolVar(&f.follow, "follow", false, "show what tasks do on other threads below the method that handed them over: threads, executors, fork/join, completable futures, timers")
	fs.StringVar(&f.natives, "natives", "on", "record native methods where they are called; `all`: also what the JVM may replace by code of its own, such as Math.max; off: neither")
	f.addProbes(fs)
	fs.StringVar(&f.record, "record", "tree", "`tree`: a calling context tree; events: each invocation's begin and end, too")
	fs.IntVar(&f.slowest, "slowest", 0, "show the `N` slowest root invocations with trees of their own, with --follow also what their ends waited for; implies --record events")
	fs.DurationVar(&f.over, "over", 0, "with --slowest, only those that took longer than this `time`, such as 50ms")
	fs.StringVar(&f.trace, "trace", "", "write a timeline of threads' calls to this `file`, in the Chrome trace-event format (Perfetto, speedscope); implies --record events")
	fs.StringVar(&f.stream, "stream", "", "write the recording's first million events to this `file`, a line each, as for a bug report; implies --record events")
	fs.Var(&f.warmup, "warmup", "forget the first `5s`, or root invocations (500), so that code is compiled again when it counts")
	fs.DurationVar(&f.length, "for", 0, "record for this `time`, such as 10s (default: until Ctrl-C)")
	fs.Int64Var(&f.untilCalls, "until-calls", 0, "record until the roots have returned `N` times, over all threads; with --for, whichever is first")
	fs.StringVar(&f.format, "format", "", "`text`, or "+strings.Join(export.FormatNames()[1:], ", ")+"; by default what the name of the output file says")
	fs.StringVarP(&f.file, "output", "o", "", "write the report to this `file`")
	fs.IntVar(&f.top, "top", export.DefaultTop, "`N` hot methods in the text report; 0 for all")
	fs.IntVar(&f.depth, "depth", export.DefaultDepth, "`N` levels of the tree in the report; 0 for all (json: all unless given)")
	fs.Var(&f.memory, "memory", "`size` of the room for trees in the target's tmpfs, such as 512M (default 1G, taken as it is needed)")
}

// addProbes adds --probes and --leaves.
func (f *recordFlags) addProbes(fs *pflag.FlagSet) {
	fs.StringVar(&f.probes, "probes", session.ProbesAuto, "`auto`: the target's compiler inlines the probes, but not where a thousand methods and more are within reach, or most of what is called is not loaded yet; inlined; called")
	fs.StringVar(&f.leaves, "leaves", session.LeavesCounted, "`counted`: short methods that call nothing are only counted, and their time is their callers'; timed: as all others")
}

// check looks at everything that can be wrong before a target is touched.
func (f *recordFlags) check(cmd *cobra.Command) error {
	if len(f.roots) == 0 && !f.rootless {
		return usage("--root is missing: which method shall be profiled? %s", rootGrammar)
	}
	var roots []string
	for _, r := range f.roots {
		parsed, err := parseRoot(r)
		if err != nil {
			return err
		}
		if !slices.Contains(roots, parsed) {
			roots = append(roots, parsed)
		}
	}
	f.roots = roots
	f.scheme = strings.ToUpper(f.scheme)
	for _, c := range []struct {
		flag, value string
		known       []string
	}{
		{"--scheme", f.scheme, []string{"A", "B", "C"}},
		{"--clock", f.clock, []string{"tick", "precise"}},
		{"--recursion", f.recursion, []string{"expand", "fold"}},
		{"--natives", f.natives, []string{session.NativesOff, session.NativesOn, session.NativesAll}},
		{"--probes", cmp.Or(f.probes, session.ProbesAuto), []string{session.ProbesAuto, session.ProbesInlined, session.ProbesCalled}},
		{"--leaves", cmp.Or(f.leaves, session.LeavesCounted), []string{session.LeavesCounted, session.LeavesTimed}},
		{"--record", cmp.Or(f.record, "tree"), []string{"tree", "events"}}, // "rivulet time" has none
	} {
		if !slices.Contains(c.known, c.value) {
			return usage("%s %q: there is only %s", c.flag, c.value, enumerate(c.known))
		}
	}
	if err := checkFormat(f.format); err != nil {
		return err
	}
	for _, m := range f.modes {
		rule, err := session.ParseModeRule(m)
		if err != nil {
			return usage("--mode %q: %w; give PATTERN=MODE, such as com.acme.util.*=counted", m, err)
		}
		f.rules = append(f.rules, rule)
	}
	if f.hasEvents() {
		for i, rule := range f.rules {
			if rule.Mode == "counted" {
				return usage("--mode %q: with events there are off, tick and precise, since an event without its time can't be placed; or leave out --record events, --slowest, --trace and --stream", f.modes[i])
			}
		}
	}
	changed := cmd.Flags().Changed
	f.depthGiven = changed("depth")
	switch {
	case changed("for") && f.length <= 0:
		return usage("--for %v: give a time above zero, such as 10s", f.length)
	case changed("until-calls") && f.untilCalls <= 0:
		return usage("--until-calls %d: give a number above zero", f.untilCalls)
	case changed("slowest") && (f.slowest <= 0 || f.slowest > event.MostSlowest):
		return usage("--slowest %d: give a number from 1 to %d", f.slowest, event.MostSlowest)
	case changed("over") && (f.over <= 0 || f.slowest == 0):
		return usage("--over %v: it says which invocations --slowest N shows; give both, and a time above zero, such as 50ms", f.over)
	case f.recursion == "fold" && f.hasEvents():
		return usage("--recursion fold: events are of single invocations, which folding does not tell apart; leave it out, or --record events, --slowest, --trace and --stream")
	case f.top < 0:
		return usage("--top %d: give a number of methods, or 0 for all", f.top)
	case f.depth < 0:
		return usage("--depth %d: give a number of levels, or 0 for all", f.depth)
	}
	return nil
}

// checkPlain is for what has only two forms.
func (f *recordFlags) checkPlain() error {
	if !slices.Contains([]string{"", "text", "json"}, f.format) {
		return usage("--format %q: there is only text and json", f.format)
	}
	return nil
}

// enumerate lists what there is: "A, B and C".
func enumerate(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// hasEvents reports whether any flag wants events.
func (f *recordFlags) hasEvents() bool {
	return f.record == "events" || f.slowest > 0 || f.trace != "" || f.stream != ""
}

func (f *recordFlags) recording() session.Recording {
	slices, words := 0, 0
	if f.trace != "" {
		slices = event.DefaultSlices
	}
	if f.stream != "" {
		words = event.DefaultDump
	}
	return session.Recording{
		Events: f.record == "events", Slowest: f.slowest, Over: f.over, Timeline: slices, Stream: words,
		Roots: f.roots, Scheme: f.scheme, Clock: f.clock, UntilCalls: f.untilCalls, Wait: f.wait, Filter: f.filter,
		Fold: f.recursion == "fold", Modes: f.rules, CPU: f.cpu, Follow: f.follow, Natives: f.natives, Probes: f.probes, Leaves: f.leaves, Warmup: f.warmup.length, WarmupCalls: f.warmup.calls,
	}
}

// report writes r in the form that the flags ask for.
func (f *recordFlags) report(r *export.Report, o *output) error {
	options := export.FormatOptions{Text: export.TextOptions{Top: f.top, Depth: f.depth}}
	if f.depthGiven {
		options.JSON.Depth = f.depth
	}
	return writeReport(r, o, f.format, options)
}

// openMore makes sure that the timeline and the stream can be written, where they
// are asked for. What it has opened has to be discarded, whatever it returns.
func (f *recordFlags) openMore(w io.Writer) (err error) {
	if f.trace != "" {
		f.timeline, err = openFlag("--trace", f.trace, w)
	}
	if f.stream != "" && err == nil {
		f.streamed, err = openFlag("--stream", f.stream, w)
	}
	return err
}

func (f *recordFlags) discardMore() {
	for _, o := range []*output{f.timeline, f.streamed} {
		if o != nil {
			o.discard()
		}
	}
}

// warm sees the warm-up through. A recording that ends in it, or is ended by the
// user, is reported all the same.
func (f *recordFlags) warm(s attached, m *meter, ends ...context.Context) error {
	if f.warmup == (warmup{}) {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, end := range ends {
		defer context.AfterFunc(end, cancel)()
	}
	err := s.Warm(ctx)
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil:
		m.say("the warm-up is over; recording")
	}
	return err
}

// errInterrupted is Ctrl-C before there was anything to report.
var errInterrupted = errors.New("interrupted before the recording began; the target is as it was")

// arm starts the recording; when it can't, the session is closed.
func arm(in *interrupts, s attached, m *meter, r session.Recording) error {
	return armBy(in, s, m, func(ctx context.Context) error { return s.Start(ctx, r) })
}

func armBy(in *interrupts, s attached, m *meter, start func(context.Context) error) error {
	err := start(in.first)
	if err == nil {
		return nil
	}
	m.fix("detaching")
	if closing := s.Close(); closing != nil && !errors.Is(closing, err) {
		err = fmt.Errorf("%w (and detaching failed: %w)", err, closing)
	}
	return interrupted(in, err)
}

// interrupted tells errors that the user made with Ctrl-C from others.
func interrupted(in *interrupts, err error) error {
	if in.first.Err() != nil && errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}

// diagnoseAfter is how long a root may stay uncalled before somebody looks
// why, which costs the target a thread dump.
const diagnoseAfter = 3 * time.Second

// await waits for the end of an armed recording: by itself, by time, or when
// one of the contexts is done.
func await(s attached, m *meter, length time.Duration, ends ...context.Context) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, end := range ends {
		defer context.AfterFunc(end, cancel)()
	}
	over := deadline(length)
	look := time.After(diagnoseAfter)
	for {
		select {
		case <-ctx.Done():
			return
		case <-over:
			return
		case <-s.Done():
			return
		case <-look:
			if text := s.Diagnose(ctx); text != "" {
				m.say(text)
			}
		}
	}
}

// finish ends the recording. A target that doesn't let go is waited for until
// the second Ctrl-C.
func finish(in *interrupts, s attached, m *meter) (*export.Report, error) {
	r, notes, err := finishBy(in, s, m, s.Finish)
	if r != nil {
		r.Notes = append(r.Notes, notes...)
	}
	return r, err
}

// finishBy ends whatever was on by end. The notes say why nothing was recorded,
// where that is known.
func finishBy[R any](in *interrupts, s attached, m *meter, end func(context.Context) (R, error)) (r R, notes []string, err error) {
	select {
	case <-s.Done():
	default:
		if why := s.Diagnose(in.second); why != "" { // "" if the root was called
			notes = strings.Split(why, "\n")
		}
	}
	m.fix("detaching")
	r, err = end(in.second)
	m.stop()
	if err != nil && in.second.Err() != nil {
		err = fmt.Errorf("stopped without waiting for the target, which restores itself: %w", err)
	}
	return r, notes, err
}

// deadline is a channel for the end of a recording of a given length; nil,
// which never delivers, for one without.
func deadline(length time.Duration) <-chan time.Time {
	if length <= 0 {
		return nil
	}
	return time.After(length)
}

// A warmup is a time or a number of root invocations.
type warmup struct {
	length time.Duration
	calls  int64
}

func (w *warmup) Type() string { return "5s" }

func (w *warmup) String() string {
	switch {
	case w.calls > 0:
		return strconv.FormatInt(w.calls, 10)
	case w.length > 0:
		return w.length.String()
	}
	return ""
}

func (w *warmup) Set(text string) error {
	*w = warmup{}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		w.calls = n
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("give a time such as 5s or a number of root invocations such as 500")
	}
	w.length = d
	return nil
}

// A size is a number of bytes with K, M or G.
type size int64

func (s *size) Type() string { return "size" }

func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

func (s *size) Set(text string) error {
	number, shift := strings.TrimSuffix(strings.ToUpper(text), "B"), 0
	for i, unit := range []string{"K", "M", "G"} {
		if n, ok := strings.CutSuffix(number, unit); ok {
			number, shift = n, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64>>shift {
		return errors.New("give a size such as 512M")
	}
	*s = size(n << shift)
	return nil
}

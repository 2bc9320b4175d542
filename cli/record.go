package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// recordFlags are the flags that profile and run have in common.
type recordFlags struct {
	rec        spec.Recording
	rootless   bool // roots may be chosen later
	auto       bool // one is chosen by samples
	record     string
	trace      string
	timeline   *output
	stream     string
	streamed   *output
	length     time.Duration
	beside     besideRate // how threads are sampled beside the recording
	format     string
	file       string
	top        int
	depth      int
	depthGiven bool
	ui         bool
	listen     string
	snapshots  string
	agents     agentFlags
	restore    string // one of the restore constants
	app        appFlags
	yes        bool // nobody is asked
}

// newRecordFlags has the defaults of all options.
func newRecordFlags() *recordFlags { return &recordFlags{rec: spec.Default()} }

func (f *recordFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	f.addOptions(fs, "root")
	f.addFilters(fs)
	f.addOptions(fs, "scheme", "observe", "patience", "every", "share", "overhead", "agents", "clock", "recursion", "mode", "cpu", "count", "follow", "natives", "probes", "leaves", "roottimes")
	fs.StringVar(&f.record, "record", "tree", "`tree`: a calling context tree; events: each invocation's begin and end, too")
	f.addOptions(fs, "slowest", "over")
	fs.StringVar(&f.trace, "trace", "", "write a timeline of threads' calls to this `file`, in the Chrome trace-event format (Perfetto, speedscope); implies --record events")
	fs.StringVar(&f.stream, "stream", "", "write the recording's first million events to this `file`, a line each, as for a bug report; implies --record events")
	f.addOptions(fs, "warmup")
	fs.DurationVar(&f.length, "for", 0, "record for this `time`, such as 10s (default: until Ctrl-C)")
	f.addOptions(fs, "until-calls")
	fs.StringVar(&f.format, "format", "", "`text`, or "+strings.Join(export.FormatNames()[1:], ", ")+"; by default what the name of the output file says")
	fs.StringVarP(&f.file, "output", "o", "", "write the report to this `file`")
	fs.IntVar(&f.top, "top", export.DefaultTop, "`N` hot methods in the text report; 0 for all")
	fs.IntVar(&f.depth, "depth", export.DefaultDepth, "`N` levels of the tree in the report; 0 for all (json: all unless given)")
	f.app.add(fs)
	f.addOptions(fs, "memory")
	f.agents.add(fs)
}

// check looks at everything that can be wrong before a target is touched.
func (f *recordFlags) check(cmd *cobra.Command) error {
	if f.auto && len(f.rec.Roots) > 0 {
		return usage("--root auto chooses one: leave out the other roots, or auto")
	}
	if len(f.rec.Roots) == 0 && !f.rootless && !f.auto {
		return usage("--root is missing: which method shall be profiled? %s", spec.RootForm)
	}
	if known := []string{"tree", "events"}; !slices.Contains(known, cmp.Or(f.record, "tree")) { // "rivulet time" has none
		return usage("--record %q: there is only %s", f.record, enumerate(known))
	}
	if err := checkFormat(f.format); err != nil {
		return err
	}
	f.rec.Events = f.rec.Events || f.record == "events"
	if f.trace != "" {
		f.rec.Timeline = event.DefaultSlices
	}
	if f.stream != "" {
		f.rec.Stream = event.DefaultDump
	}
	changed := cmd.Flags().Changed
	f.depthGiven = changed("depth")
	switch {
	case changed("for") && f.length <= 0:
		return usage("--for %v: give a time above zero, such as 10s", f.length)
	case changed("until-calls") && f.rec.UntilCalls <= 0:
		return usage("--until-calls %d: give a number above zero", f.rec.UntilCalls)
	case changed("slowest") && f.rec.Slowest <= 0:
		return usage("--slowest %d: give a number from 1 to %d", f.rec.Slowest, event.MostSlowest)
	case changed("over") && f.rec.Over <= 0:
		return usage("--over %v: give a time above zero, such as 50ms", f.rec.Over)
	case f.top < 0:
		return usage("--top %d: give a number of methods, or 0 for all", f.top)
	case f.depth < 0:
		return usage("--depth %d: give a number of levels, or 0 for all", f.depth)
	}
	if err := f.rec.ValidateOptions(); err != nil {
		return usage("--%w", err)
	}
	if err := f.app.check(); err != nil {
		return err
	}
	return f.agents.read(&f.rec)
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

// report writes r in the form that the flags ask for.
func (f *recordFlags) report(r *export.Report, o *output) error {
	options := export.FormatOptions{Text: export.TextOptions{Top: f.top, Depth: f.depth, Frameworks: f.app.frameworks()}}
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
	if !f.rec.HasWarmup() {
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
		m.say("what is ignored first is over; recording")
	}
	return err
}

// errInterrupted is Ctrl-C before there was anything to report.
var errInterrupted = errors.New("interrupted before the recording began; the target is as it was")

// arm starts the recording; when it can't, the session is closed.
func arm(in *interrupts, s attached, m *meter, r spec.Recording) error {
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
	if in.first.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, session.ErrJarStays) {
		return fmt.Errorf("interrupted before the recording began: %w", err)
	}
	return errInterrupted
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

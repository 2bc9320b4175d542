package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// jfrFlags say what is read of a recording of Flight Recorder.
type jfrFlags struct {
	viewFlags
	asJSON  bool
	events  []string
	samples bool
	lines   bool
	memory  string
	length  time.Duration
	keep    string

	bytes int64 // memory
}

func (a *app) jfr() *cobra.Command {
	var f jfrFlags
	cmd := &cobra.Command{
		Use:   "jfr FILE|PID",
		Short: "Read a recording of JDK Flight Recorder: what is in it, its events as JSON, its samples as a report",
		Long: `Reads a file that JDK Flight Recorder has written (JDK 8u262 and later), and shows which events
it has. --events writes them as JSON, in the form of the JDK's jfr print --json. --samples makes a
report of the samples of running threads: view, diff, merge and the page take it.

A file that a JVM from JDK 14 on is still writing, in its repository below /tmp, is read as far as
it was flushed.

Of a running JVM, given by its process id, what --events or --samples name is recorded
for a time, and nothing else; then the recording is stopped and removed. That loads Flight Recorder
into a JVM that has not used it yet, and costs something: rivulet sample and rivulet locks look
from outside.`,
		Example: `  rivulet jfr recording.jfr
  rivulet jfr recording.jfr --events 'jdk.GC*' -o events.json
  rivulet jfr recording.jfr --samples
  rivulet jfr recording.jfr --samples -o monday.rivulet && rivulet view monday.rivulet --ui
  rivulet jfr 4711 --for 30s --events jdk.SocketRead,jdk.FileRead
  rivulet jfr 4711 --for 30s --samples --keep recording.jfr`,
		Args: takes(1, "FILE|PID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, running := 0, false
			if n, err := strconv.Atoi(args[0]); err == nil && n > 0 {
				if _, err := os.Lstat(args[0]); err != nil {
					pid, running = n, true
				}
			}
			if err := f.check(cmd, running); err != nil {
				return err
			}
			return a.with(f.file, a.stdout, func(in *interrupts, out *output) error {
				err := error(nil)
				if running {
					err = a.jfrOfProcess(in, out, pid, &f)
				} else {
					err = a.jfrOfFile(in.first, out, args[0], &f)
				}
				return interrupted(in, err)
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringSliceVar(&f.events, "events", nil, "write the events of these `NAMES` as JSON; * and ? stand for any text in files, * alone for all events")
	fs.BoolVar(&f.samples, "samples", false, "make a report of the samples of running threads")
	fs.BoolVar(&f.lines, "lines", false, "with --samples, count source lines of the innermost frames, for JSON")
	fs.BoolVar(&f.asJSON, "json", false, "write JSON")
	f.add(cmd)
	fs.StringVar(&f.memory, "max-memory", "", "`SIZE` that the constant pools of a chunk may take, such as 1G (default 256M)")
	fs.DurationVar(&f.length, "for", 10*time.Second, "record a running JVM for this `time`")
	fs.StringVar(&f.keep, "keep", "", "keep the recording of a running JVM in this `FILE`")
	return cmd
}

func (f *jfrFlags) check(cmd *cobra.Command, running bool) error {
	changed := cmd.Flags().Changed
	switch {
	case f.samples && f.events != nil:
		return usage("--samples makes a report, --events writes single events: give one of them")
	case f.events != nil && f.format != "" && f.format != "json":
		return usage("--events writes JSON; leave --format %s out", f.format)
	case !f.samples && f.events == nil && f.format != "" && f.format != "json" && f.format != "text":
		return usage("--format %s is a report's: give --samples with it", f.format)
	case !f.samples && f.lines:
		return usage("--lines goes with --samples")
	case f.asJSON && f.format != "" && f.format != "json":
		return usage("--json and --format %s contradict each other; give one of them", f.format)
	case running && !f.samples && f.events == nil:
		return usage("say what the JVM is to record: --samples, or --events NAMES")
	case !running && (changed("for") || changed("keep")):
		return usage("--for and --keep are for running JVMs; give a process id, rivulet ps lists them")
	case running && f.length <= 0:
		return usage("--for %v: give a time above zero, such as 10s", f.length)
	}
	if f.asJSON {
		f.format = "json"
	}
	for _, name := range f.events {
		if running && strings.ContainsAny(name, "*?") {
			return usage("--events %s: a running JVM is asked for events by their whole names, such as jdk.SocketRead", name)
		}
		if _, err := path.Match(name, ""); err != nil {
			return usage("--events %s: %w", name, err)
		}
	}
	if f.memory != "" {
		n, err := spec.ParseSize(f.memory)
		if err != nil || n < 1<<20 {
			return usage("--max-memory %s: give a size such as 1G, 1M at the least", f.memory)
		}
		f.bytes = n
	}
	if f.samples {
		return f.viewFlags.check()
	}
	return nil
}

func (a *app) jfrOfFile(ctx context.Context, out *output, name string, f *jfrFlags) error {
	file, err := os.Open(name)
	if err != nil {
		return usage("%w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return usage("%s: not a regular file", name)
	}
	return a.readRecording(ctx, out, file, info.Size(), name, export.Target{}, f)
}

// readRecording writes what is asked for of a recording. What comes before damage is shown,
// and the damage is the error.
func (a *app) readRecording(ctx context.Context, out *output, file io.ReaderAt, size int64, name string, target export.Target, f *jfrFlags) error {
	open := func() *jfr.Reader { return jfr.NewReader(file, size, jfr.Options{Memory: f.bytes}) }
	if f.events != nil {
		return out.write(func(w io.Writer) error { return writeEvents(ctx, w, open(), f.events) })
	}
	s, damage := jfr.Summarize(ctx, open())
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case damage != nil && s.Chunks == 0 && (errors.Is(damage, jfr.ErrNotJFR) || errors.Is(damage, jfr.ErrVersion)):
		return usage("%s: %w", name, damage)
	case damage != nil && s.Chunks == 0:
		return fmt.Errorf("%s: %w", name, damage)
	}
	if !f.samples {
		err := out.write(func(w io.Writer) error {
			return writeSummary(w, s, name, f.format == "json" || strings.HasSuffix(f.file, ".json"), f.top, damage)
		})
		return errors.Join(err, damage)
	}
	r, err := samplesOf(ctx, open(), s, target, f.lines)
	if r == nil {
		return err
	}
	if damage != nil {
		r.Notes = append(r.Notes, "The recording is not whole: "+damage.Error())
	}
	writing := writeReport(r, out, f.format, export.FormatOptions{Text: export.TextOptions{Top: f.top, Depth: f.depth, Sort: f.sort, Frameworks: f.app.frameworks()}})
	return errors.Join(damage, writing)
}

// writeEvents writes the events whose names match.
func writeEvents(ctx context.Context, w io.Writer, r *jfr.Reader, names []string) error {
	b := bufio.NewWriterSize(w, 1<<16)
	j := jfr.NewJSONWriter(b)
	err := jfr.Each(ctx, r, func(t *jfr.Type) bool {
		return slices.ContainsFunc(names, func(p string) bool { ok, _ := path.Match(p, t.Name); return ok })
	}, j.Event)
	return errors.Join(err, j.End(), b.Flush())
}

// samplesOf makes a report of a recording's samples.
func samplesOf(ctx context.Context, r *jfr.Reader, s *jfr.Summary, target export.Target, lines bool) (*export.Report, error) {
	event := jfr.ExecutionSample
	if s.Count(jfr.CPUTimeSample) > 0 {
		event = jfr.CPUTimeSample
	}
	if s.Count(event) == 0 {
		return nil, usage("there are no samples in it: %s has to be among the recording's events", event)
	}
	period := s.Period(event)
	var notes []string
	if period <= 0 {
		period = usualPeriod
		if event == jfr.ExecutionSample {
			notes = append(notes, fmt.Sprintf("The recording doesn't say how often samples were taken: %v is taken for it.", period))
		}
	}
	if target.PID == 0 {
		target.PID, target.Main = int(s.PID), maskLine(s.Arguments)
		target.VM = s.JVM
	}
	c := collect.New(target, pcct.Options{Lines: lines})
	var stacks jfr.Stacks
	err := jfr.Each(ctx, r, func(t *jfr.Type) bool { return t.Name == event }, func(e *jfr.Event) error {
		if one, ok := stacks.Sample(e, period); ok {
			c.Add([]stack.Stack{one})
		}
		return nil
	})
	if c.Samples() == 0 {
		return nil, errors.Join(errors.New("no sample has a stack trace"), err)
	}
	out := c.Report(collect.Source{Name: jfrName, Event: event, Mode: export.CPUMode, Hz: 1 / period.Seconds()}, "recorded")
	out.Time = time.Duration(s.Duration)
	out.Sampling.Seconds = out.Time.Seconds()
	out.Notes = append(out.Notes, notes...)
	return out, nil // the summary has met the damage already
}

// usualPeriod is how often the JDK's default settings sample.
const usualPeriod = 20 * time.Millisecond

// jfrOfProcess has a JVM record, and reads it.
func (a *app) jfrOfProcess(in *interrupts, out *output, pid int, f *jfrFlags) error {
	names := f.events
	if f.samples {
		names = []string{jfr.ExecutionSample}
	}
	var settings []attach.EventSetting
	for _, name := range names {
		settings = append(settings, attach.EventSetting{Event: name, Settings: settingsOf(name)})
	}
	if f.keep != "" {
		if _, err := os.Lstat(f.keep); err == nil {
			return usage("--keep %s: the file exists; choose another name", f.keep)
		}
	}
	r, vm, err := a.record(in, pid, settings, f.length)
	defer func() {
		if err := r.Remove(context.WithoutCancel(in.first)); err != nil {
			a.say("the recording could not be removed: %v", err)
		}
	}()
	if err != nil {
		return err
	}
	if f.keep != "" {
		if err := copyTo(f.keep, io.NewSectionReader(r.File, 0, r.Size)); err != nil {
			return err
		}
		a.say("recording kept in %s", f.keep)
	}
	p := vm.Process()
	return a.readRecording(in.second, out, r.File, r.Size, "the recording", export.Target{PID: pid, Java: p.JavaVersion, VM: p.VM, Main: p.Main}, f)
}

// record has a JVM record for a time, or until it is interrupted. The recording must be removed,
// also after an error; it may be nil then.
func (a *app) record(in *interrupts, pid int, settings []attach.EventSetting, length time.Duration) (*attach.Recording, *attach.VM, error) {
	vm, err := attach.Open(in.first, pid)
	if err != nil {
		return nil, nil, err
	}
	// Once it is begun, an interrupt ends it in order.
	r, err := vm.StartRecording(in.second, settings, length)
	if err != nil {
		return nil, vm, err
	}
	m := a.startSteps()
	defer m.stop()
	m.set("recording", 0, 0)
	select {
	case <-in.first.Done():
	case <-time.After(length):
	}
	m.stop()
	return r, vm, r.Stop(in.second)
}

// settingsOf are an event's settings: everything that happens, and for what is looked at
// again and again, how often. An event ignores the settings that it hasn't.
func settingsOf(event string) map[string]string {
	period := "1 s"
	if event == jfr.ExecutionSample || event == "jdk.NativeMethodSample" {
		period = fmt.Sprintf("%d ms", usualPeriod.Milliseconds())
	}
	return map[string]string{"threshold": "0 ms", "stackTrace": "true", "period": period}
}

func copyTo(name string, from io.Reader) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return usage("--keep: %w", err)
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

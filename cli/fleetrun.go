package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// runFlags are those of commands that do something to JVMs of a fleet.
type runFlags struct {
	fleetFlags
	atMost string
	late   time.Duration
	health healthFlags
}

func (f *runFlags) add(fs *pflag.FlagSet) {
	f.fleetFlags.add(fs)
	fs.StringVar(&f.atMost, "max-at-once", "100%", "how many JVMs are looked at at a time, a `NUMBER` or a share of those that are selected, such as 5%; as many nodes as possible take part")
	fs.DurationVar(&f.late, "late", time.Minute, "how long a node may be away before its JVMs are given up, a `time`; their results are kept all the same")
	f.health.add(fs)
}

func (f *runFlags) check() error {
	if f.late <= 0 {
		return usage("--late %v: give a time above zero", f.late)
	}
	if _, err := fleet.ParseAtMost(f.atMost, 1); err != nil {
		return usage("--max-at-once %w", err)
	}
	return errors.Join(f.health.check(), f.fleetFlags.check())
}

// patience is what a result may take beyond its length, when its node is there all the
// time: attaching, instrumenting, detaching.
const patience = 2 * time.Minute

// runFleet does the same to all JVMs that are selected, and puts the reports together. The
// error of JVMs that failed is a [partly]; the report is of the others then.
func (a *app) runFleet(in *interrupts, f *runFlags, role fleet.Role, c fleet.Command) (*export.Report, error) {
	out, err := a.answers(in, f, role, c)
	if err != nil {
		return nil, err
	}
	r, err := a.mergeFleet(out)
	return r, stopped(out, err)
}

// stopped adds why an operation ended early, which is a failure.
func stopped(out *fleet.Outcome, err error) error {
	if out.Stopped == "" || out.Stopped == fleet.ByHand {
		return err
	}
	return errors.Join(partly{fmt.Errorf("stopped: %s", out.Stopped)}, err)
}

// operate carries out one command for many JVMs, while the service's health allows it.
func (a *app) operate(in *interrupts, l *link.Link, f *runFlags, targets []fleet.Found, c fleet.Command) (*fleet.Outcome, error) {
	atMost, err := fleet.ParseAtMost(f.atMost, len(targets))
	if err != nil {
		return nil, usage("--max-at-once %w", err)
	}
	ctx, cancel := context.WithCancel(in.first)
	defer cancel()
	bad, err := a.watchHealth(ctx, &f.health)
	if err != nil {
		return nil, err
	}
	o := &fleet.Operation{
		Run: fleet.NewRun(time.Now()), Command: c, Targets: fleet.Spread(targets), AtMost: atMost, Begin: f.late, Patience: patience, Stop: bad,
	}
	saving, end := context.WithTimeout(in.first, f.late)
	defer end()
	if err := l.SaveRun(saving, &fleet.Run{Schema: fleet.Schema, Run: o.Run, User: l.Key.User, Begun: time.Now().UTC(), Command: c, Targets: targets}); err != nil {
		return nil, err
	}
	a.say("run %s: %s of %s", o.Run, export.Plural(int64(len(targets)), "JVM", "JVMs"), export.Plural(int64(nodesOf(targets)), "node", "nodes"))
	return a.carryFleet(in, l, o)
}

func nodesOf(targets []fleet.Found) int {
	names := map[string]bool{}
	for _, t := range targets {
		names[t.Node] = true
	}
	return len(names)
}

// selected are the JVMs that a selection means. Those that can't be attached to, and nodes that do
// not answer, are named.
func (a *app) selected(ctx context.Context, l *link.Link, f *fleetFlags, which fleet.Selection) ([]fleet.Found, error) {
	here, away, err := nodes(ctx, l, f.wait)
	if err != nil {
		return nil, err
	}
	for _, n := range away {
		if jvms := found([]fleet.Node{n}, which); len(jvms) > 0 {
			a.say("node %s does not answer since %s: its %s will be missing", n.Name, n.Seen.Local().Format(time.TimeOnly), export.Plural(int64(len(jvms)), "JVM", "JVMs"))
		}
	}
	var out []fleet.Found
	for _, t := range found(here, which) {
		if !t.JVM.Attachable {
			a.say("%s/%d is left out: %s", t.Node, t.JVM.PID, oneLine(t.JVM.Reason))
			continue
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		if len(here) == 0 {
			return nil, errors.New("no node answers: rivulet node must run on the hosts, with a key of this hub")
		}
		return nil, usage("no JVM of %s is meant: rivulet fleet ps lists them", export.Plural(int64(len(here)), "node", "nodes"))
	}
	return out, nil
}

// carryFleet carries an operation out and shows how far it is. The first Ctrl-C stops it
// and waits for what there is, the second does not wait.
func (a *app) carryFleet(in *interrupts, l *link.Link, o *fleet.Operation) (*fleet.Outcome, error) {
	var mu sync.Mutex
	var state fleet.State
	m := a.meter(func() session.Progress {
		mu.Lock()
		defer mu.Unlock()
		return session.Progress{Phase: stateText(&state)}
	})
	defer m.stop()
	o.Tell = func(s fleet.State) {
		mu.Lock()
		before := state
		state = s
		mu.Unlock()
		if a.progress != nil {
			a.progress(stateText(&s), 0, 0)
		}
		if s.Stopped != before.Stopped {
			m.say(fmt.Sprintf("stopping: %s; %d of %d JVMs were begun", s.Stopped, s.Sent, s.Targets))
		}
		if o.Command.Do == fleet.DoProfile && s.Recording == s.Targets && before.Recording != s.Recording {
			m.say(fmt.Sprintf("recording in all %d JVMs", s.Targets))
		}
	}
	o.Result = func(r *fleet.Result) {
		if r.Error != "" {
			m.say(fmt.Sprintf("%s/%d: %s", r.JVM.Name(r.Target.Node), r.Target.PID, oneLine(r.Error)))
		}
	}
	type ended struct {
		out *fleet.Outcome
		err error
	}
	done := make(chan ended, 1)
	go func() {
		out, err := o.Do(in.first, l)
		done <- ended{out, err}
	}()
	select {
	case e := <-done:
		m.stop()
		return e.out, e.err
	case <-in.second.Done():
		return nil, fmt.Errorf("not waited for: rivulet fleet collect %s fetches the results later", o.Run)
	}
}

func stateText(s *fleet.State) string {
	if s.Targets == 0 {
		return "sending commands"
	}
	text := fmt.Sprintf("%d of %d JVMs done", s.Ended+s.Failed, s.Targets)
	if s.Recording > 0 {
		text += fmt.Sprintf(", recording in %d", s.Recording)
	}
	return text
}

// mergeFleet puts the reports of an outcome together.
func (a *app) mergeFleet(out *fleet.Outcome) (*export.Report, error) {
	for _, l := range out.Lost {
		p := export.Process{Host: l.JVM.Name(l.Target.Node), PID: l.Target.PID}
		a.say("%s: %s", p.Name(), oneLine(l.Why))
	}
	failed, first := len(out.Lost), ""
	for _, l := range out.Lost {
		first = cmp.Or(first, l.Why)
	}
	for _, r := range out.Results {
		if r.Error != "" {
			failed++
			first = cmp.Or(first, r.Error)
		}
	}
	r := fleet.Merge(out.Results, out.Lost)
	all := len(out.Results) + len(out.Lost)
	switch {
	case r == nil:
		return nil, fmt.Errorf("none of %d JVMs could be looked at; the first: %s", all, first)
	case failed > 0:
		return r, partly{fmt.Errorf("%d of %d JVMs failed or have ended early; the first: %s", failed, all, first)}
	}
	return r, nil
}

func (a *app) fleetProfile() *cobra.Command {
	var f runFlags
	rec := newRecordFlags()
	cmd := &cobra.Command{
		Use:   "profile --root CLASS.METHOD[(DESC)RET] --for TIME",
		Short: "Record the same root in JVMs of many hosts, and merge the trees",
		Long: `Records what a root method calls in all JVMs that --select means, and puts the reports together:
those of one program in one tree, with figures of each process (processes in JSON, by host and pid). Counts are
exact: each result counts once, however often it comes.

--max-at-once bounds how many JVMs are instrumented at a time; the others follow. --overhead bounds the
slow-down of each. With --health and --stop-when the run ends by itself when the service fares badly. A JVM that fails is named, the report is of the others, and the exit code 1.

Ctrl-C ends the recordings early and reports what there is. Nodes may go and come back meanwhile: what a node
has recorded it sends when it is back, and rivulet fleet collect RUN fetches it.

` + filterHelp,
		Example: `  rivulet fleet profile --root shop.orders.OrderService.process --select app=orders --for 10s
  rivulet fleet profile --root shop.Front.serve --select app=shop --max-at-once 5% --overhead 2% --for 30s
  rivulet fleet profile --root shop.Front.serve --select app=shop --for 30s --max-at-once 5% \
      --health http://shop/metrics --stop-when 'http_p99_seconds > 1.5x for 10s' --stop-when 'errors > 1%'
  rivulet fleet profile --root 'shop.**.*Service.find*' --select zone=a,app!=batch --for 10s -o a.rivulet`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch err := errors.Join(rec.check(cmd), f.check()); {
			case err != nil:
				return err
			case rec.length <= 0:
				return usage("--for is missing: how long shall each JVM be recorded?")
			case rec.trace != "" || rec.stream != "" || len(rec.agents.sources) > 0:
				return usage("--trace, --stream and --agent are of one JVM")
			}
			return a.with(rec.file, a.stdout, func(in *interrupts, out *output) error {
				if _, err := out.format(rec.format); err != nil {
					return err
				}
				r, err := a.runFleet(in, &f, fleet.RoleRecord, fleet.Command{Do: fleet.DoProfile, Recording: &rec.rec, Seconds: rec.length.Seconds(), FullHeap: a.fullHeap})
				return a.deliver(r, err, rec, out)
			})
		},
	}
	rec.add(cmd)
	rec.addOptions(cmd.Flags(), "wait")
	f.add(cmd.Flags())
	return cmd
}

func (a *app) fleetSample() *cobra.Command {
	var f runFlags
	var s sampleFlags
	var v viewFlags
	var length, last time.Duration
	cmd := &cobra.Command{
		Use:   "sample --for TIME|--last TIME",
		Short: "Sample JVMs of many hosts, and merge the trees",
		Long: `Samples all JVMs that --select means from outside, as rivulet sample does, and puts the reports
together: those of one program in one tree, with figures of each process.

With --last it takes the samples that nodes have kept, of the time before: of nodes that run with --watch.`,
		Example: `  rivulet fleet sample --select app=orders --for 10s
  rivulet fleet sample --select app=orders --last 5m     # what happened just now
  rivulet fleet sample --select zone=a --wall --for 30s -o a.rivulet`,
		Args: takes(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := s.options(cmd)
			if err := errors.Join(err, v.check(), checkLength(cmd, length), f.check()); err != nil {
				return err
			}
			changed := cmd.Flags().Changed
			switch {
			case changed("last") && last <= 0:
				return usage("--last %v: give a time above zero, such as 5m", last)
			case last > 0 && length > 0:
				return usage("--for samples now, --last has what was sampled before: give one of them")
			case last > 0 && slices.ContainsFunc([]string{"hz", "wall", "threads", "native", "inlined", "source"}, changed):
				return usage("--last has samples as rivulet node --watch has taken them: leave out how to sample")
			case last > 0:
				length = keptWithin
			case length <= 0:
				return usage("--for is missing: how long shall each JVM be sampled? --last has what was sampled before")
			}
			how := &fleet.Sample{Hz: s.hz, Wall: s.wall, Threads: s.threads, Native: s.native, Inlined: s.inlined, Source: o.sampler.Source, Frames: s.frames, Lines: s.lines, Last: last}
			return a.reportFleet(&v, func(in *interrupts) (*export.Report, error) {
				return a.runFleet(in, &f, fleet.RoleSample, fleet.Command{Do: fleet.DoSample, Sample: how, Seconds: length.Seconds()})
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.DurationVar(&length, "for", 0, "sample for this `time`, such as 10s")
	fs.DurationVar(&last, "last", 0, "in place of --for: the samples of the last `time` that nodes with --watch have kept")
	f.add(fs)
	s.add(fs)
	fs.IntVar(&s.frames, "frames", 0, "look at the innermost `N` frames of a stack only; 0 for all")
	fs.BoolVar(&s.lines, "lines", false, "count source lines of the innermost frames, for JSON")
	v.add(cmd)
	return cmd
}

// keptWithin is how long a node may take to read samples that it has kept.
const keptWithin = 30 * time.Second

// reportFleet writes the report that make makes. An error beside it is told afterwards.
func (a *app) reportFleet(v *viewFlags, make func(in *interrupts) (*export.Report, error)) error {
	return a.with(v.file, a.stdout, func(in *interrupts, out *output) error {
		if _, err := out.format(v.format); err != nil {
			return err
		}
		r, err := make(in)
		if r == nil {
			return err
		}
		options := export.FormatOptions{Text: export.TextOptions{Top: v.top, Depth: v.depth, Sort: v.sort, Frameworks: v.app.frameworks()}, Weight: v.weight}
		if writing := writeReport(r, out, v.format, options); writing != nil {
			return errors.Join(err, writing)
		}
		if out.path != "" {
			a.say("report written to %s", out.path)
		}
		return err
	})
}

func (a *app) fleetCollect() *cobra.Command {
	var f fleetFlags
	var v viewFlags
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "collect RUN",
		Short: "Fetch the results of a run again, or those that came late, and merge them",
		Example: `  rivulet fleet runs
  rivulet fleet collect 20260102-150405-a1b2c3 -o orders.rivulet`,
		Args: takes(1, "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.wait = time.Second
			if err := errors.Join(f.check(), v.check()); err != nil {
				return err
			}
			return a.reportFleet(&v, func(in *interrupts) (*export.Report, error) {
				l, err := f.dial(fleet.RoleSample)
				if err != nil {
					return nil, err
				}
				defer l.Close()
				runs, err := l.Runs(in.first, args[0])
				if err != nil {
					return nil, err
				}
				if len(runs) == 0 {
					return nil, usage("the hub has no run %q: rivulet fleet runs lists those that it keeps", args[0])
				}
				out, err := fleet.Collect(in.first, l, runs[0], wait)
				if err != nil {
					return nil, err
				}
				return a.mergeFleet(out)
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	f.link.add(fs, personKeyFile)
	fs.DurationVar(&wait, "wait", 3*time.Second, "wait for missing results as long as this `time`")
	v.add(cmd)
	return cmd
}

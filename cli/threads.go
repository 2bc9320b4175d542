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

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// threadsJSON is the JSON form of rivulet threads.
type threadsJSON struct {
	Schema    int                `json:"schema"`
	Kind      string             `json:"kind"` // "threads"
	PID       int                `json:"pid"`
	Seconds   float64            `json:"seconds"` // over which cpu_share is taken; 0 if it is not
	Source    string             `json:"source"`  // "outside" or "threaddump"
	Why       string             `json:"why"`     // "" if it is the usual one, or was asked for
	Threads   []threadJSON       `json:"threads"`
	Timeline  *threads.Timeline  `json:"timeline,omitempty"` // with --timeline
	Virtual   virtualJSON        `json:"virtual"`
	Groups    []threads.Group    `json:"groups"` // of platform threads
	Notes     []string           `json:"notes"`
	Deadlocks []threads.Deadlock `json:"deadlocks"`
}

// virtualJSON are virtual threads, summed up by stack.
type virtualJSON struct {
	Count  int             `json:"count"`
	Groups []threads.Group `json:"groups"`
}

type threadJSON struct {
	threads.Thread
	CPU   int64   `json:"cpu_ns"`    // since the thread started; -1 if unknown
	Share float64 `json:"cpu_share"` // of a core, in the time that --for gave
}

func (a *app) threads() *cobra.Command {
	var asJSON, stacks, virtual, timeline bool
	var length time.Duration
	var hz int
	var file, source string
	var targets targetFlags
	cmd := &cobra.Command{
		Use:   "threads " + targetsUse,
		Short: "Show the threads of a JVM: state, CPU time, what they wait for, alike stacks, deadlocks",
		Long: `Shows each thread of a JVM with its state, CPU time, what it waits for and who holds that, groups of threads
with the same stack, and deadlocks, of monitors and of the locks of java.util.concurrent.

All of it is read from outside, as --source outside does: the JVM does nothing for it and need not answer. A thread
that runs Java code is stopped for some 20 us to read its stack. Where virtual threads are in use, or the
collector moves objects while threads run (ZGC, Shenandoah), or the JVM's memory may not be read, the JVM is asked for a
thread dump instead (--source threaddump), for which all threads stand still for some milliseconds.

Of virtual threads (JDK 21 and later) there may be very many: they are summed up by stack. The JVM writes
them into a private folder of its /tmp, which is removed, while they go on running.

With --timeline it looks ten times a second, less often where thread dumps would take more than 5 % of the time unless
--hz says how often, and shows the states of each thread in the course
of time: R on a core, r runnable without one (in native code, or waiting for a core), B blocked at a monitor,
w waiting, t waiting with a time limit or sleeping.`,
		Example: `  rivulet threads 4711
  rivulet threads 4711 --for 2s          # and who uses the processors
  rivulet threads 4711 --timeline        # states of each thread in the course of 10 s
  rivulet threads 4711 --timeline --for 1m --hz 5
  rivulet threads 4711 --stacks
  rivulet threads 4711 --json
  rivulet threads --match 'main=*Order*' # the threads of all, alike ones put together`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			pids, err := targets.choose(cmd.Context(), a.backend, args)
			switch {
			case err != nil:
				return err
			case checkLookSource(source) != nil:
				return checkLookSource(source)
			case cmd.Flags().Changed("for") && length <= 0:
				return usage("--for %v: give a time above zero, such as 2s", length)
			case cmd.Flags().Changed("hz") && !timeline:
				return usage("--hz says how often --timeline looks; give both")
			case hz < 1 || hz > mostLockDumps:
				return usage("--hz %d: give a number from 1 to %d", hz, mostLockDumps)
			case timeline && len(pids) > 1:
				return usage("--timeline is of one JVM; %d are meant", len(pids))
			case timeline && length == 0:
				length = usualTimeline
			}
			return a.with(file, a.stdout, func(in *interrupts, out *output) error {
				if len(pids) > 1 {
					all, failed := a.threadsOfSeveral(in.first, pids, length, lookHow{source, virtual})
					return errors.Join(out.write(func(w io.Writer) error {
						if asJSON || strings.HasSuffix(file, ".json") {
							return writeJSON(w, all)
						}
						return all.write(w, stacks, tableWidth(out.w))
					}), failed)
				}
				pid := pids[0]
				j, err := a.lookAtThreads(in, pid, length, lookHow{source, virtual}, timeline, &dumpPace{hz: hz, strict: cmd.Flags().Changed("hz")})
				if err != nil {
					return interrupted(in, err)
				}
				if asJSON || strings.HasSuffix(file, ".json") {
					return out.write(func(w io.Writer) error { return writeJSON(w, j) })
				}
				return out.write(func(w io.Writer) error { return writeThreads(w, j, stacks, tableWidth(out.w)) })
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	targets.add(fs)
	fs.DurationVar(&length, "for", 0, "show the share of a core that each thread uses in this `time`, such as 2s")
	fs.BoolVar(&timeline, "timeline", false, "show the states of each thread in the course of --for (default 10s)")
	fs.IntVar(&hz, "hz", usualLockDumps, fmt.Sprintf("with --timeline, look `N` times a second, 1 to %d, however long thread dumps take", mostLockDumps))
	fs.StringVar(&source, "source", autoSource, lookSourceHelp)
	fs.BoolVar(&stacks, "stacks", false, "show the stack of each group whole")
	fs.BoolVar(&virtual, "virtual", true, "virtual threads, too, where the JVM has them")
	fs.BoolVar(&asJSON, "json", false, "write JSON: threads, groups and deadlocks")
	fs.StringVarP(&file, "output", "o", "", "write to this `file`; JSON if its name ends so")
	return cmd
}

// A look is what a JVM said of its threads.
type look struct {
	all       []threadJSON
	virtual   []threads.Thread
	deadlocks []threads.Deadlock
	notes     []string
	source    string
	why       string
}

// lookHow says from where threads are looked at, and whether virtual ones are wanted.
type lookHow struct {
	source  string
	virtual bool
}

// lookThreads reads what threads do, the processors' time of each, and virtual threads where the JVM tells of them.
func lookThreads(ctx context.Context, pid int, length time.Duration, how lookHow) (*look, error) {
	return lookThreadsAfter(ctx, pid, how, length > 0, func(onlooker) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(length):
			return nil
		}
	})
}

// lookThreadsAfter is lookThreads after a time that passes in a function. With timed it tells the share of the
// processors that each thread used meanwhile.
func lookThreadsAfter(ctx context.Context, pid int, how lookHow, timed bool, pass func(onlooker) error) (*look, error) {
	o, err := onlook(ctx, pid, how)
	if err != nil {
		return nil, err
	}
	defer o.close()
	var before map[int]time.Duration
	begun := time.Now()
	if timed {
		if before, err = attach.ThreadTimes(pid); err != nil {
			return nil, err
		}
		if err := pass(o); err != nil {
			return nil, err
		}
	}
	length := time.Since(begun)
	times, err := attach.ThreadTimes(pid)
	if err != nil {
		return nil, err
	}
	platform, err := o.threads(ctx)
	if err != nil {
		return nil, err
	}
	l := &look{all: []threadJSON{}, notes: []string{}}
	l.source, l.why = o.source()
	if l.deadlocks, err = surely(ctx, o, platform); err != nil {
		return nil, err
	}
	if l.source == outsideName {
		platform = append(platform, jvmThreads(pid, platform, times)...)
	}
	for _, t := range platform {
		j := threadJSON{Thread: t, CPU: int64(t.CPU)}
		now, ok := times[t.NID]
		if ok && t.CPU < 0 {
			j.CPU = int64(now)
		}
		if was, began := before[t.NID]; ok && began && timed {
			j.Share = (now - was).Seconds() / length.Seconds()
		}
		l.all = append(l.all, j)
	}
	slices.SortStableFunc(l.all, func(a, b threadJSON) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.CPU, a.CPU))
	})
	if l.why != "" {
		l.notes = append(l.notes, byDumpsSince+l.why)
	}
	if d, ok := o.(*byDumps); ok && how.virtual && d.vm.Process().Major() >= 21 {
		return l, l.addVirtual(ctx, d.vm, d.vm.Process().Major())
	}
	return l, nil
}

// locksOfVirtual is the JDK from which on dumps say what virtual threads hold.
const locksOfVirtual = 25

func (l *look) addVirtual(ctx context.Context, vm *attach.VM, major int) error {
	first, err := virtualThreads(ctx, vm)
	if err != nil {
		return err
	}
	platform := map[int64]bool{}
	for _, t := range l.all {
		platform[t.ID] = true
	}
	for _, t := range first {
		if t.Virtual || major < locksOfVirtual && !platform[t.ID] {
			l.virtual = append(l.virtual, t)
		}
	}
	if major < locksOfVirtual {
		l.notes = append(l.notes, fmt.Sprintf("what virtual threads hold and wait for is told from JDK %d on: deadlocks of theirs are not found", locksOfVirtual))
		return nil
	}
	found := withVirtual(threads.Deadlocks(first), first)
	if len(found) == 0 {
		return nil
	}
	second, err := virtualThreads(ctx, vm)
	if err != nil {
		return err
	}
	l.deadlocks = append(l.deadlocks, threads.Confirmed(found, threads.Deadlocks(second))...)
	return nil
}

func virtualThreads(ctx context.Context, vm *attach.VM) ([]threads.Thread, error) {
	text, err := vm.JSONThreadDump(ctx)
	if err != nil {
		return nil, err
	}
	return threads.ParseJSON(text)
}

// withVirtual are the deadlocks that virtual threads have a part in.
func withVirtual(all []threads.Deadlock, of []threads.Thread) []threads.Deadlock {
	virtual := map[string]bool{}
	for _, t := range of {
		if t.Virtual {
			virtual[t.Name] = true
		}
	}
	return slices.DeleteFunc(all, func(d threads.Deadlock) bool {
		return !slices.ContainsFunc(d.Threads, func(t threads.Locked) bool { return virtual[t.Thread] })
	})
}

func newThreadsJSON(pid int, length time.Duration, l *look) *threadsJSON {
	var plain []threads.Thread
	for _, t := range l.all {
		plain = append(plain, t.Thread)
	}
	return &threadsJSON{
		Schema: export.Schema, Kind: "threads", PID: pid, Seconds: length.Seconds(), Source: l.source, Why: l.why, Threads: l.all, Notes: l.notes,
		Virtual: virtualJSON{len(l.virtual), threads.Groups(l.virtual)}, Groups: threads.Groups(plain), Deadlocks: l.deadlocks,
	}
}

func writeThreads(w io.Writer, j *threadsJSON, stacks bool, width int) error {
	var b strings.Builder
	writeDeadlocks(&b, j.Deadlocks)
	owner := map[string]string{}
	for _, t := range j.Threads {
		for _, l := range t.Holds {
			owner[l.Address] = t.Name
		}
	}
	rows := [][]string{{"THREAD", "STATE", "CPU", "WAITS FOR", "AT"}}
	if j.Seconds > 0 {
		rows[0][2] = "CPU NOW"
	}
	if j.Timeline != nil {
		b.WriteString(writeTimeline(j.Timeline, width))
	}
	if j.Timeline == nil { // which has these threads
		b.WriteString(table(append(rows, threadRows(j, owner)...), width))
	}
	for _, g := range j.Groups {
		if len(g.Threads) > 1 {
			writeGroup(&b, g, "thread", stacks)
		}
	}
	if j.Virtual.Count > 0 {
		fmt.Fprintf(&b, "\n%s\n", export.Plural(int64(j.Virtual.Count), "virtual thread", "virtual threads"))
		for _, g := range j.Virtual.Groups[:min(len(j.Virtual.Groups), export.DefaultTop)] {
			writeGroup(&b, g, "virtual thread", stacks)
		}
	}
	for _, n := range j.Notes {
		fmt.Fprintf(&b, "\n%s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// threadRows are the lines of platform threads; owner has who holds a lock.
func threadRows(j *threadsJSON, owner map[string]string) (rows [][]string) {
	for _, t := range j.Threads {
		if t.State == "" {
			continue // the JVM's own
		}
		cpu := "?"
		switch {
		case j.Seconds > 0:
			cpu = fmt.Sprintf("%.0f %%", 100*t.Share)
		case t.CPU >= 0:
			cpu = export.Duration(t.CPU)
		}
		state := strings.ToLower(strings.ReplaceAll(t.State, "_", " "))
		waits := ""
		if t.WaitFor != nil {
			waits = t.WaitFor.Class
			if o, ok := owner[t.WaitFor.Address]; ok && o != t.Name {
				waits += " of " + o
			}
		}
		at := ""
		if len(t.Stack) > 0 {
			at = t.Stack[0]
		}
		rows = append(rows, []string{t.Name, state, cpu, waits, at})
	}
	return rows
}

func writeGroup(b *strings.Builder, g threads.Group, what string, stacks bool) {
	state := strings.ToLower(strings.ReplaceAll(g.State, "_", " "))
	fmt.Fprintf(b, "\n%s %s at the same place: %s\n", export.Plural(int64(len(g.Threads)), what, what+"s"), state, export.Clean(someNames(g.Threads)))
	shown := g.Stack
	if !stacks {
		shown = shown[:min(len(shown), 8)]
	}
	writeStack(b, shown)
	if more := len(g.Stack) - len(shown); more > 0 {
		fmt.Fprintf(b, "    ... %d more; --stacks shows all\n", more)
	}
}

// someNames names a few threads.
func someNames(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:few], ", ") + ", ..."
}

func writeStack(b *strings.Builder, stack []string) {
	for _, f := range stack {
		fmt.Fprintf(b, "    at %s\n", export.Clean(f))
	}
}

func writeDeadlocks(b *strings.Builder, all []threads.Deadlock) {
	for _, d := range all {
		fmt.Fprintf(b, "deadlock of %s\n", export.Plural(int64(len(d.Threads)), "thread", "threads"))
		for i, t := range d.Threads {
			next := d.Threads[(i+1)%len(d.Threads)]
			fmt.Fprintf(b, "  %s waits for %s of %s, and holds %s\n", export.Clean(t.Thread), export.Clean(t.WaitsFor), export.Clean(next.Thread), export.Clean(t.Holds))
			writeStack(b, t.Stack)
		}
		b.WriteString("\n")
	}
}

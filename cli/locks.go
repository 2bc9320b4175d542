package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/locks"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// locksJSON is the JSON form of rivulet locks.
type locksJSON struct {
	Schema    int                `json:"schema"`
	Kind      string             `json:"kind"` // "locks"
	PID       int                `json:"pid"`
	Seconds   float64            `json:"seconds"` // over which contention was looked at; 0 if it was not
	Exact     bool               `json:"exact"`   // each wait is counted
	Source    string             `json:"source"`  // from where deadlocks and, unless exact, contention were seen: "outside" or "threaddump"
	Why       string             `json:"why"`     // "" if it is the usual one, or was asked for
	Locks     []locks.Row        `json:"locks"`
	Notes     []string           `json:"notes"`
	Deadlocks []threads.Deadlock `json:"deadlocks"` // null if the JVM exited before they were looked for
}

type locksFlags struct {
	format    string
	file      string
	source    string
	asJSON    bool
	virtual   bool
	exact     bool
	length    time.Duration
	hz        int
	strict    bool // hz holds, however long dumps take
	threshold time.Duration
	top       int
}

const (
	usualLockDumps = 10 // a second
	mostLockDumps  = 100
	usualLockHz    = 20 // from outside
	mostLockHz     = 1000
)

func (a *app) locks() *cobra.Command {
	var f locksFlags
	var targets targetFlags
	cmd := &cobra.Command{
		Use:   "locks " + targetsUse,
		Short: "Find deadlocks in a JVM, and with --for who waits for whom at which lock",
		Long: `Finds deadlocks of a JVM, of monitors and of the exclusive locks of java.util.concurrent, each with the stacks of its
threads; of virtual threads on JDK 25 and later. With --for it also says who waits for whom, by lock, context of
the waiter and context of the owner: times are estimates with an error, counts are lower bounds.

It reads the JVM from outside, twenty times a second with --for: nothing stops, and the JVM need not answer. Where
virtual threads are in use, or the collector moves objects while threads run (ZGC, Shenandoah), or the JVM's memory may
not be read, it asks for thread dumps instead (--source threaddump), for which all threads stand still for some
milliseconds each: ten a second, fewer where they would take more than 5 % of the time, unless --hz says how many.

With --exact each wait is counted and timed by JDK Flight Recorder, those of --threshold or longer. That
loads Flight Recorder into a JVM that has not used it yet, which on JDK 8 to 21 throws away compiled
code once. The owner's context is known where it had to wait for the monitor, too.`,
		Example: `  rivulet locks 4711
  rivulet locks 4711 --for 10s
  rivulet locks 4711 --for 10s --exact --threshold 1ms
  rivulet locks 4711 --for 10s --json -o locks.json
  rivulet locks --all                                  # deadlocks of any JVM of this machine
  rivulet locks --match 'main=*Order*' --for 10s       # put together`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			pids, err := targets.choose(cmd.Context(), a.backend, args)
			if err == nil {
				err = f.check(cmd)
			}
			if err != nil {
				return err
			}
			return a.with(f.file, a.stdout, func(in *interrupts, out *output) error {
				if len(pids) > 1 {
					return a.locksOfSeveral(in, out, pids, &f)
				}
				j, err := a.findLocks(in, pids[0], &f)
				if err != nil {
					return interrupted(in, err)
				}
				if f.format == "json" {
					return out.write(func(w io.Writer) error { return writeJSON(w, j) })
				}
				return out.write(func(w io.Writer) error { return writeLocks(w, j, f.top) })
			})
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	targets.add(fs)
	fs.DurationVar(&f.length, "for", 0, "look who waits for whom for this `time`, such as 10s")
	fs.IntVar(&f.hz, "hz", 0, lockHzHelp)
	fs.StringVar(&f.source, "source", autoSource, lookSourceHelp)
	fs.BoolVar(&f.exact, "exact", false, "count and time each wait by JDK Flight Recorder")
	fs.DurationVar(&f.threshold, "threshold", 0, "with --exact, only waits of this `time` or longer")
	fs.IntVar(&f.top, "top", export.DefaultTop, "`N` rows in the text; 0 for all")
	fs.StringVar(&f.format, "format", "text", "`text` or json")
	fs.BoolVar(&f.asJSON, "json", false, "short for --format json")
	fs.StringVarP(&f.file, "output", "o", "", "write to this `file`; JSON if its name ends so")
	fs.BoolVar(&f.virtual, "virtual", true, "deadlocks of virtual threads, too: JDK 25 and later tell what they hold")
	return cmd
}

func (f *locksFlags) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	switch {
	case f.format != "text" && f.format != "json":
		return usage("--format %q: there is only text and json", f.format)
	case f.asJSON && changed("format") && f.format != "json":
		return usage("--json and --format %s contradict each other; give one of them", f.format)
	case changed("for") && f.length <= 0:
		return usage("--for %v: give a time above zero, such as 10s", f.length)
	case f.length == 0 && (f.exact || changed("hz")):
		return usage("--exact and --hz say how to look who waits: give a time with --for")
	case f.exact && changed("hz"):
		return usage("--hz says how often to look; --exact counts each wait")
	case changed("hz") && (f.hz < 1 || f.hz > mostLockHz || f.hz > mostLockDumps && f.source == dumpsName):
		return usage("--hz %d: give a number from 1 to %d, of thread dumps to %d", f.hz, mostLockHz, mostLockDumps)
	case changed("threshold") && (!f.exact || f.threshold < 0):
		return usage("--threshold goes with --exact, and is a time such as 1ms")
	}
	if err := checkLookSource(f.source); err != nil {
		return err
	}
	f.strict = changed("hz")
	if f.asJSON || !changed("format") && strings.HasSuffix(f.file, ".json") {
		f.format = "json"
	}
	return nil
}

// asked is how many dumps a second somebody has asked for; 0 is nobody.
func (f *locksFlags) asked() int {
	if f.strict {
		return f.hz
	}
	return 0
}

const noContention = "contention was not looked at; give a time with --for"

func (a *app) findLocks(in *interrupts, pid int, f *locksFlags) (*locksJSON, error) {
	j := &locksJSON{Schema: export.Schema, Kind: "locks", PID: pid, Exact: f.exact, Locks: []locks.Row{}, Notes: []string{}}
	var err error
	switch begun := time.Now(); {
	case f.length == 0:
		j.Notes = append(j.Notes, noContention)
	case f.exact:
		err = a.exactLocks(in, pid, f, j)
	default:
		err = a.seenLocks(in, pid, f, j)
		j.Seconds = time.Since(begun).Seconds()
	}
	if errors.Is(err, attach.ErrExited) && len(j.Notes) > 0 {
		return j, nil // what is known so far, which says so
	}
	if err != nil {
		return nil, err
	}
	// After an interrupt there is still the report to come.
	l, err := lookThreads(in.second, pid, 0, lookHow{f.source, f.virtual})
	if err != nil {
		return nil, err
	}
	j.Notes = append(j.Notes, l.notes...)
	j.Deadlocks = append([]threads.Deadlock{}, l.deadlocks...)
	if j.Source == "" {
		if j.Source, j.Why = l.source, l.why; l.why != "" {
			j.Notes = append(j.Notes, byDumpsSince+l.why)
		}
	}
	return j, nil
}

// exactLocks has the JVM record each wait.
func (a *app) exactLocks(in *interrupts, pid int, f *locksFlags, j *locksJSON) error {
	threshold := fmt.Sprintf("%d ns", f.threshold.Nanoseconds())
	settings := []attach.EventSetting{}
	for _, name := range []string{locks.MonitorEnter, locks.ThreadPark} {
		settings = append(settings, attach.EventSetting{Event: name, Settings: map[string]string{"threshold": threshold, "stackTrace": "true"}})
	}
	begun := time.Now()
	r, vm, err := a.record(in, pid, settings, f.length)
	defer func() {
		if err := r.Remove(context.WithoutCancel(in.first)); err != nil {
			a.say("the recording could not be removed: %v", err)
		}
	}()
	if err != nil {
		return err
	}
	j.Seconds = time.Since(begun).Seconds()
	t, lost, err := locks.Events(in.second, jfr.NewReader(r.File, r.Size, jfr.Options{}), begun.UnixNano(), time.Now().UnixNano())
	if err != nil {
		return err
	}
	j.Locks = t.Rows()
	j.Notes = append(j.Notes, fmt.Sprintf("by Flight Recorder: waits of %v or longer; an entry that gets its lock by spinning is no wait; of java.util.concurrent each parking counts", f.threshold))
	if lost > 0 {
		j.Notes = append(j.Notes, fmt.Sprintf("%d events are left out for want of room: give a --threshold", lost))
		j.Exact = false
	}
	if vm.Process().Major() >= 21 {
		j.Notes = append(j.Notes, "Flight Recorder tells of virtual threads only while they are pinned to their carrier; thread dumps see all of them")
	}
	return nil
}

func writeLocks(w io.Writer, j *locksJSON, top int) error {
	var b strings.Builder
	writeDeadlocks(&b, j.Deadlocks)
	if len(j.Deadlocks) == 0 && j.Deadlocks != nil {
		b.WriteString("no deadlock\n")
	}
	if j.Seconds > 0 {
		total := int64(0)
		for _, r := range j.Locks {
			total += r.Blocked
		}
		fmt.Fprintf(&b, "\nwaiting for locks: %s in %.1f s\n", export.Duration(total), j.Seconds)
		rows := [][]string{{"WAITED", "ERROR", "WAITS", "LOCK", "WAITER", "OWNER"}}
		shown := j.Locks
		if top > 0 && len(shown) > top {
			shown = shown[:top]
		}
		for _, r := range shown {
			off, owner := "", r.Owner
			if r.Error > 0 {
				off = "±" + export.Duration(r.Error)
			}
			if owner == "" && r.OwnerThread != "" {
				owner = "thread " + r.OwnerThread
			}
			rows = append(rows, []string{export.Duration(r.Blocked), off, fmt.Sprint(r.Count), r.Class + " " + r.Instance, r.Waiter, owner})
		}
		if len(j.Locks) > 0 {
			b.WriteString("\n" + table(rows, tableWidth(w)))
		}
		if more := len(j.Locks) - len(shown); more > 0 {
			fmt.Fprintf(&b, "... %d more; --top 0 shows all\n", more)
		}
	}
	for _, n := range j.Notes {
		if n != noContention { // there is --help
			fmt.Fprintf(&b, "\n%s\n", n)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/controller/watch"
)

// watchFlags say what is watched, and what is kept.
type watchFlags struct {
	rules    []watch.Rule
	when     []string
	keep     time.Duration
	disk     string
	bytes    int64
	dir      string
	before   time.Duration
	after    time.Duration
	again    time.Duration
	captures int
	then     string
	length   time.Duration // of the recording that follows
	limit    time.Duration // of all
	asJSON   bool
}

const (
	watchHz     = 19 // keeps no step with a program's own timers
	thenProfile = "profile"
	leastDisk   = 1 << 20
	usualBefore = 2 * time.Minute
)

func (a *app) watchCommand() *cobra.Command {
	var s sampleFlags
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch PID",
		Short: "Sample a JVM for hours, keep the last of it, and keep what came before an event",
		Long: `Samples a JVM from outside, 19 times a second, and keeps the samples of the last hour on disk,
in bounded room. Nothing is loaded into the JVM, and nothing stays in it, except where a rule or
--then says so below, and where sampling from outside is not possible: then the JVM's Flight
Recorder samples, or thread dumps are taken (--source). "rivulet watch show" makes a report of any piece of that time, in all forms.

Rules say when the minutes before are kept as a capture. Each can be given several times:

` + watch.Forms + `

A rule is averaged over its time (10s unless it says another). One on samples holds where it is
beyond chance. What came true is told in a line, and again only after it was untrue.

With --then profile, the root that the rule names, or else the one that the samples suggest, is then
recorded exactly for some seconds, as by rivulet profile.

It ends by Ctrl-C, or with the JVM. Begun again for the same process it goes on with what was
kept. What was kept of a JVM that has ended stays for a week.`,
		Example: `  rivulet watch 4711
  rivulet watch 4711 --when 'cpu > 80% for 10s' --when deadlock
  rivulet watch 4711 --when 'share(shop.**) doubled' --then profile
  rivulet watch 4711 --wall --keep 8h --disk 1G
  rivulet watch ls
  rivulet watch show 4711 --last 5m -o flame.html`,
		Args: takes(1, "PID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := parsePID(args[0])
			if err != nil {
				return err
			}
			o, err := s.options(cmd)
			if err := errors.Join(err, f.check(cmd)); err != nil {
				return err
			}
			if s.hz == 0 {
				o.sampler.Hz = watchHz
			}
			return a.watch(pid, o, &f)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringArrayVar(&f.when, "when", nil, "keep what came before this `RULE` came true")
	fs.DurationVar(&f.keep, "keep", time.Hour, "keep samples for this `time`")
	fs.StringVar(&f.disk, "disk", "256M", "`SIZE` on disk at the most; a quarter of it for captures")
	fs.StringVar(&f.dir, "dir", "", "`DIR` to keep them in (default: one for the process below ~/.local/state/rivulet/watch)")
	fs.DurationVar(&f.before, "before", usualBefore, "`time` before an event that a capture has")
	fs.DurationVar(&f.after, "after", 5*time.Second, "and after it")
	fs.DurationVar(&f.again, "again", 5*time.Minute, "say nothing of a rule for this `time` after it came true")
	fs.IntVar(&f.captures, "captures", 20, "keep the newest `N` captures")
	fs.StringVar(&f.then, "then", "", "after an event `profile`: record the root exactly that the rule or the samples name")
	fs.DurationVar(&f.length, "then-for", 10*time.Second, "record for this `time`, with --then profile")
	fs.DurationVar(&f.limit, "for", 0, "watch for this `time` (default: until Ctrl-C)")
	s.add(fs)
	fs.Lookup("hz").Usage = fmt.Sprintf("`N` samples a second of a thread's time, 1 to %d (default %d)", mostHz, watchHz)
	fs.BoolVar(&f.asJSON, "json", false, "write a line of JSON for each event")
	cmd.AddCommand(a.watchList(), a.watchShow())
	return cmd
}

func (f *watchFlags) check(cmd *cobra.Command) error {
	for _, text := range f.when {
		r, err := watch.ParseRule(text)
		if err != nil {
			return usage("--when %w", err)
		}
		f.rules = append(f.rules, r)
	}
	var err error
	if f.bytes, err = spec.ParseSize(f.disk); err != nil || f.bytes < leastDisk {
		return usage("--disk %q: give a size such as 256M, 1M at the least", f.disk)
	}
	switch {
	case f.keep < 10*time.Second || f.keep > 1000*time.Hour:
		return usage("--keep %v: give a time from 10s to 1000h", f.keep)
	case f.before < 0 || f.before > f.keep:
		return usage("--before %v: give a time up to that of --keep, %v", f.before, f.keep)
	case f.after < 0 || f.after > 10*time.Minute:
		return usage("--after %v: give a time up to 10m", f.after)
	case f.again < 0:
		return usage("--again %v: give a time", f.again)
	case f.captures < 1:
		return usage("--captures %d: give a number above zero", f.captures)
	case f.then != "" && f.then != thenProfile:
		return usage("--then %q: there is only %s", f.then, thenProfile)
	case f.then != "" && len(f.rules) == 0:
		return usage("--then %s: after which event? Give a rule with --when", f.then)
	case f.then == "" && cmd.Flags().Changed("then-for"):
		return usage("--then-for is for --then profile: give that, too")
	case f.length <= 0:
		return usage("--then-for %v: give a time above zero, such as 10s", f.length)
	}
	return checkLength(cmd, f.limit)
}

// folderOf is where a process's samples are kept.
func (f *watchFlags) folderOf(pid int) (path, root string, err error) {
	if f.dir != "" {
		return f.dir, "", nil
	}
	if root, err = watch.Root(); err != nil {
		return "", "", err
	}
	name, err := watch.NameOf(pid)
	return filepath.Join(root, name), root, err
}

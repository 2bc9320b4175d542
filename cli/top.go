package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/cli/top"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
)

// topFlags say how the table is shown.
type topFlags struct {
	every  time.Duration
	looks  int
	rows   int
	sort   string
	thread bool
	json   bool
}

func (a *app) topCommand() *cobra.Command {
	var f sampleFlags
	var t topFlags
	cmd := &cobra.Command{
		Use:   "top PID",
		Short: "Show which methods of a running JVM take the time, live",
		Long: `Samples a JVM from outside and shows which methods take the time, anew each two
seconds: shares of one core over these seconds, and activations that were met. On a
terminal the table stays in place, with keys to sort it, to see threads, the hottest calls, a flame graph, and the callers of a method; elsewhere one
table follows another. Nothing is loaded into the JVM, unless --source jfr is given or nothing
else is possible.`,
		Example: `  rivulet top 4711
  rivulet top 4711 --by total --every 5s
  rivulet top 4711 --looks 3 --by-thread | cat
  rivulet top 4711 --looks 1 --json
  rivulet top 4711 --source jfr`,
		Args: takes(1, "PID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			begun := time.Now()
			pid, err := parsePID(args[0])
			if err != nil {
				return err
			}
			o, err := f.options(cmd)
			if err := errors.Join(err, t.check()); err != nil {
				return err
			}
			return a.top(pid, o, &t, begun)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.DurationVar(&t.every, "every", 2*time.Second, "a look each `time`")
	fs.IntVar(&t.looks, "looks", 0, "end after `N` looks; 0: never")
	fs.IntVar(&t.rows, "rows", 20, "`N` rows of the table where it is not on a terminal")
	fs.StringVar(&t.sort, "by", "self", "methods by `KEY`: "+enumerate(top.Sorts))
	fs.BoolVar(&t.thread, "by-thread", false, "list threads instead of methods, where it is not on a terminal")
	f.add(fs)
	fs.BoolVar(&t.json, "json", false, "write a line of JSON for each look")
	return cmd
}

func (t *topFlags) check() error {
	switch {
	case t.every < 100*time.Millisecond:
		return usage("--every %v: give a time of 100ms at least", t.every)
	case t.looks < 0 || t.rows < 1:
		return usage("--looks %d --rows %d: give numbers above zero", t.looks, t.rows)
	case !slices.Contains(top.Sorts, t.sort):
		return usage("--by %q: there is only %s", t.sort, enumerate(top.Sorts))
	}
	return nil
}

// top samples until Ctrl-C, the last look, or the target's end.
func (a *app) top(pid int, o sampleOptions, t *topFlags, begun time.Time) error {
	in := watchInterrupts()
	defer in.stop()
	s, err := a.sample(in.first, pid, o, begun)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(in.first)
	defer cancel()
	over := make(chan struct{})
	var failed error
	go func() {
		defer close(over)
		_, failed = s.run(ctx)
	}()
	st, target := s.source.Stats(), s.report("").Target
	title := fmt.Sprintf("%s (pid %d, Java %s)  %s", target.Main, pid, target.Java, howSampled(&st))
	var w collect.Window
	look := func() collect.View { return s.collector.Look(&w) }
	if isTerminal(a.stdout) && isTerminal(a.stdin) && !t.json && t.looks == 0 {
		err = top.Run(ctx, export.Clean(title), t.every, s.collector, over, a.stdin, a.stdout)
	} else {
		err = a.looks(ctx, t, export.Clean(title), look, over)
	}
	cancel()
	<-over
	return errors.Join(err, failed)
}

// looks writes one look after another.
func (a *app) looks(ctx context.Context, t *topFlags, title string, look func() collect.View, over <-chan struct{}) error {
	tick := time.NewTicker(t.every)
	defer tick.Stop()
	for n := 1; ; n++ {
		last := n == t.looks
		select {
		case <-tick.C:
		case <-ctx.Done():
			last = true
		case <-over:
			last = true
		}
		v := look()
		if v.Samples > 0 || ctx.Err() == nil { // not an empty one because of Ctrl-C
			if err := a.writeLook(&v, t, title); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

func (a *app) writeLook(v *collect.View, t *topFlags, title string) error {
	if t.json {
		return writeLine(a.stdout, lookJSON(v, t.rows))
	}
	width := 0
	if isTerminal(a.stdout) {
		width = columns(a.stdout)
	}
	lines := top.Table(v, top.Options{Title: title, Sort: t.sort, Rows: t.rows, Width: width, Threads: t.thread})
	_, err := io.WriteString(a.stdout, strings.Join(lines, "\n")+"\n\n")
	return err
}

type jsonLook struct {
	Seconds float64          `json:"seconds"`
	Samples int64            `json:"samples"`
	Time    int64            `json:"time_ns"` // that the samples stand for
	Ran     int64            `json:"ran_ns"`  // of it on a core
	Methods []jsonLookMethod `json:"methods"`
	Threads []jsonLookThread `json:"threads"`
}

type jsonLookMethod struct {
	Method       string `json:"method"`
	SelfSamples  int64  `json:"self_samples"`
	TotalSamples int64  `json:"total_samples"`
	Self         int64  `json:"self_ns"`
	Total        int64  `json:"total_ns"`
	Entries      int64  `json:"entries"`
}

type jsonLookThread struct {
	Thread  string `json:"thread"`
	ID      int    `json:"thread_id"`
	Samples int64  `json:"samples"`
	Time    int64  `json:"time_ns"`
	Ran     int64  `json:"ran_ns"`
}

func lookJSON(v *collect.View, rows int) jsonLook {
	out := jsonLook{Seconds: thousandths(v.Took.Seconds()), Samples: v.Samples, Time: v.Time, Ran: v.Ran, Methods: []jsonLookMethod{}, Threads: []jsonLookThread{}}
	for _, m := range v.Methods[:min(rows, len(v.Methods))] {
		out.Methods = append(out.Methods, jsonLookMethod{m.Method.Name, m.Self, m.Total, m.SelfTime, m.TotalTime, m.Entries})
	}
	for _, t := range v.Threads[:min(rows, len(v.Threads))] {
		out.Threads = append(out.Threads, jsonLookThread{t.Name, t.ID, t.Samples, t.Time, t.Ran})
	}
	return out
}

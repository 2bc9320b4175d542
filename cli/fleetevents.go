package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

func (a *app) fleetEvents() *cobra.Command {
	var f fleetFlags
	var asJSON, follow bool
	since := time.Hour
	cmd := &cobra.Command{
		Use:   "events",
		Short: "List which rules came true in JVMs that nodes watch",
		Long: `Lists what nodes have seen that run with --watch and --watch-when: which rule came true in which JVM, and
what was measured. The samples of the time before it are still with the node:

  rivulet fleet sample --select node=web-1,pid=2518 --last 5m`,
		Example: `  rivulet fleet events
  rivulet fleet events --since 24h --select app=orders --json
  rivulet fleet events --follow`,
		Args: takes(0),
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if since <= 0 {
				return usage("--since %v: give a time above zero, such as 1h", since)
			}
			l, err := f.dial(fleet.RoleSample)
			if err != nil {
				return err
			}
			defer l.Close()
			in := watchInterrupts()
			defer in.stop()
			from := time.Now().Add(-since)
			if follow {
				return a.followEvents(in.first, func(take func(*fleet.Event)) error { return l.Events(in.first, from, true, take) }, &f, asJSON)
			}
			events, err := f.events(in.first, l, from)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.stdout, events)
			}
			if len(events) == 0 {
				a.say("no rule came true in the last %v: nodes watch with --watch and --watch-when", since)
				return nil
			}
			rows := [][]string{{"TIME", "NODE", "PID", "APP", "RULE", "WHAT"}}
			for _, e := range events {
				rows = append(rows, eventRow(e))
			}
			return writeRows(a.stdout, rows, tableWidth(a.stdout))
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.DurationVar(&since, "since", since, "of the last `time`")
	fs.BoolVar(&follow, "follow", false, "go on with events that come, a line each, until Ctrl-C")
	fs.BoolVar(&asJSON, "json", false, "write JSON: a list of objects with time, node, jvm, rule, what and method; with --follow an object on each line")
	fs.StringArrayVar(&f.choose, "select", nil, "of JVMs that `RULES` are true of, such as app=orders,zone!=b; may be repeated: all must be true")
	f.link.add(fs, personKeyFile)
	f.wait = time.Second
	return cmd
}

// events are those of selected JVMs since a time, in the order of their times.
func (f *fleetFlags) events(ctx context.Context, l *link.Link, since time.Time) ([]*fleet.Event, error) {
	out := []*fleet.Event{}
	err := l.Events(ctx, since, false, func(e *fleet.Event) {
		if f.selection.Has(e.Node, &e.JVM) {
			out = append(out, e)
		}
	})
	slices.SortStableFunc(out, func(a, b *fleet.Event) int { return a.Time.Compare(b.Time) })
	return out, err
}

// followEvents writes events as they come, until ctx is done or nobody reads any more.
func (a *app) followEvents(ctx context.Context, events func(take func(*fleet.Event)) error, f *fleetFlags, asJSON bool) error {
	failed := make(chan error, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- events(func(e *fleet.Event) {
			if !f.selection.Has(e.Node, &e.JVM) {
				return
			}
			var err error
			if asJSON {
				err = writeLine(a.stdout, e)
			} else {
				r := eventRow(e)
				_, err = fmt.Fprintf(a.stdout, "%s  %s  pid %s %s  %s: %s\n", r[0], r[1], r[2], r[3], r[4], r[5])
			}
			if err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}()
	select {
	case err := <-failed:
		return err
	case err := <-ended:
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
}

// eventRow is the line of an event in a table. What a node says is not trusted.
func eventRow(e *fleet.Event) []string {
	clean := func(s string) string { return oneLine(export.Clean(s)) }
	return []string{e.Time.Local().Format(time.DateTime), e.Node, fmt.Sprint(e.JVM.PID), clean(e.JVM.App), clean(e.Rule), clean(e.What)}
}

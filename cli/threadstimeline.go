package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// usualTimeline is how long threads are looked at.
const usualTimeline = 10 * time.Second

// lookAtThreads is what rivulet threads tells of one JVM.
func (a *app) lookAtThreads(in *interrupts, pid int, length time.Duration, how lookHow, timeline bool, pace *dumpPace) (*threadsJSON, error) {
	if !timeline {
		l, err := lookThreads(in.first, pid, length, how)
		if err != nil {
			return nil, err
		}
		return newThreadsJSON(pid, length, l), nil
	}
	states := &threads.Timeline{}
	begun := time.Now()
	l, err := lookThreadsAfter(in.second, pid, how, true, func(o onlooker) error {
		err := a.watchStates(in, o, pid, states, length, pace)
		length = time.Since(begun)
		return err
	})
	if err != nil {
		return nil, err
	}
	states.Sort()
	j := newThreadsJSON(pid, length, l)
	j.Timeline = states
	j.Notes = append(j.Notes, fmt.Sprintf("states at %s: what begins and ends between two is not seen", export.Plural(int64(len(states.Moments)), "moment", "moments")))
	if n := pace.note(); n != "" {
		j.Notes = append(j.Notes, n)
	}
	return j, nil
}

// watchStates looks until the time is over or the user ends it.
func (a *app) watchStates(in *interrupts, o onlooker, pid int, states *threads.Timeline, length time.Duration, pace *dumpPace) error {
	m := a.startSteps()
	defer m.stop()
	ctx, cancel := context.WithTimeout(in.first, length)
	defer cancel()
	for next := time.Now(); ; {
		m.set("looking what threads do: "+export.Plural(int64(len(states.Moments)), "moment", "moments"), 0, 0)
		select {
		case <-ctx.Done():
			switch {
			case len(states.Moments) > 0:
				return nil
			case in.first.Err() != nil:
				return context.Cause(in.first)
			}
		case <-time.After(time.Until(next)):
		}
		begun := time.Now()
		used, err := attach.ThreadTimes(pid)
		if err == nil {
			var all []threads.Thread
			if all, err = o.threads(in.second); err == nil {
				now := time.Now()
				states.Add(now, all, used)
				stopped := now.Sub(begun)
				if name, _ := o.source(); name == outsideName {
					stopped = 0
				}
				next = now.Add(pace.rest(stopped))
				continue
			}
		}
		if d, ok := o.(*byDumps); ok {
			if gone := d.vm.Alive(); errors.Is(gone, attach.ErrExited) {
				return gone
			}
		}
		return err
	}
}

// mostStates is how wide the states of a thread are written, in columns.
const mostStates = 60

// writeTimeline writes a line for each thread.
func writeTimeline(l *threads.Timeline, width int) string {
	rows := [][]string{{"THREAD", "STATES", "ON A CORE", "BLOCKED", "MOST OFTEN AT"}}
	for i := range l.Tracks {
		t := &l.Tracks[i]
		at := ""
		if len(t.Places) > 0 {
			at = t.Places[0].Method
		}
		rows = append(rows, []string{export.Clean(t.Thread), "[" + squeezed(t.States, mostStates) + "]", share(t, string(threads.Running)), share(t, string(threads.Blocked)), export.Clean(at)})
	}
	return fmt.Sprintf("%.1f s; R on a core, r runnable, B blocked, w waiting, t waiting with a limit\n\n", float64(l.Moments[len(l.Moments)-1])/1e9) + table(rows, width)
}

func share(t *threads.Track, letters string) string {
	if s := t.Share(letters); s > 0 {
		return fmt.Sprintf("%.0f %%", 100*s)
	}
	return ""
}

// squeezed has a letter for several moments where there are more than columns: the one that most of them have.
func squeezed(states string, columns int) string {
	if len(states) <= columns {
		return states
	}
	var b strings.Builder
	for i := range columns {
		part := states[i*len(states)/columns : (i+1)*len(states)/columns]
		best := part[0]
		for k := range len(part) {
			if strings.Count(part, part[k:k+1]) > strings.Count(part, string(best)) {
				best = part[k]
			}
		}
		b.WriteByte(best)
	}
	return b.String()
}

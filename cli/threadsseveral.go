package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// processThreads is what one of several JVMs said of its threads.
type processThreads struct {
	Host  string `json:"host,omitempty"` // the pod; "" of this machine
	Main  string `json:"main"`
	PID   int    `json:"pid"`
	Error string `json:"error,omitempty"`
	*threadsJSON
}

// severalThreads is the JSON form of rivulet threads of several JVMs.
type severalThreads struct {
	Schema    int              `json:"schema"`
	Kind      string           `json:"kind"` // "threads"
	Processes []processThreads `json:"processes"`
	Groups    []programGroup   `json:"groups"` // of platform threads of all processes of a program
}

// A programGroup are threads of one program at the same place, as "PID THREAD".
type programGroup struct {
	Main string `json:"main"`
	threads.Group
}

// threadsOfSeveral asks several JVMs at the same time. The error says how many failed.
func (a *app) threadsOfSeveral(ctx context.Context, pids []int, length time.Duration, how lookHow) (*severalThreads, error) {
	parts := a.nameTargets(ctx, pids)
	out := &severalThreads{Schema: export.Schema, Kind: "threads", Processes: make([]processThreads, len(pids)), Groups: []programGroup{}}
	each(parts, func(i int, p *export.ProcessReport) {
		at := &out.Processes[i]
		at.Main, at.PID = p.Target.Main, p.Target.PID
		l, err := lookThreads(ctx, p.Target.PID, length, how)
		if p.Err = err; err != nil {
			at.Error = err.Error()
			return
		}
		at.threadsJSON = newThreadsJSON(p.Target.PID, length, l)
	})
	failed := 0
	var first error
	for i, p := range out.Processes {
		if p.threadsJSON == nil {
			if failed++; first == nil {
				first = parts[i].Err
			}
			a.say("%s", oneLine(export.Named(p.PID, p.Error)))
		}
	}
	out.group()
	if failed > 0 {
		return out, partly{fmt.Errorf("%d of %d processes failed; the first: %w", failed, len(pids), first)}
	}
	return out, nil
}

// group puts alike stacks of all processes of a program together.
func (s *severalThreads) group() {
	byMain := map[string][]threads.Thread{}
	var mains []string
	for _, p := range s.Processes {
		if p.threadsJSON == nil {
			continue
		}
		if byMain[p.Main] == nil {
			mains = append(mains, p.Main)
		}
		for _, t := range p.Threads {
			t.Name = fmt.Sprintf("%d %s", p.PID, t.Name)
			if p.Host != "" {
				t.Name = p.Host + "/" + t.Name
			}
			byMain[p.Main] = append(byMain[p.Main], t.Thread)
		}
	}
	for _, main := range mains {
		for _, g := range threads.Groups(byMain[main]) {
			s.Groups = append(s.Groups, programGroup{main, g})
		}
	}
}

// write is the text form: what all have in common first, then each process.
func (s *severalThreads) write(w io.Writer, stacks bool, width int) error {
	var b strings.Builder
	last := ""
	for _, g := range s.Groups {
		if len(g.Threads) < 2 {
			continue
		}
		if g.Main != last {
			last = g.Main
			fmt.Fprintf(&b, "\nAll processes of %s\n", export.Clean(g.Main))
		}
		writeGroup(&b, g.Group, "thread", stacks)
	}
	for _, p := range s.Processes {
		name := export.Process{Host: p.Host, PID: p.PID}
		fmt.Fprintf(&b, "\n%s, %s\n", export.Clean(name.Name()), export.Clean(p.Main))
		switch {
		case p.threadsJSON == nil:
			fmt.Fprintf(&b, "failed: %s\n", oneLine(p.Error))
		default:
			one := *p.threadsJSON
			one.Groups = nil // those of all are above
			if err := writeThreads(&b, &one, stacks, width); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
	return err
}

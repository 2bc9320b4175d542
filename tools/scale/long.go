package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"strconv"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
	"github.com/rivulet-profiler/rivulet/tools/internal/load"
)

var minutes = flag.Float64("minutes", 60, "how `long` the server is recorded")

const (
	connections = 4
	warmUp      = time.Minute
	anew        = time.Minute // the load keeps all answers, so it is begun anew
	look        = time.Second
)

// measureLong records a server under load for a long time.
func measureLong(k *bench.Kit, page *bench.Page) error {
	page.Table("A server for an hour", fmt.Sprintf("The shop is asked by %d connections in a closed loop, %v to warm up, and recorded below the method that serves all requests, with the default scheme. "+
		"Root calls must be as many as requests, except for those under way when the load is begun anew, which is each minute, and those of a second. MB resident, of each process's own and of the file that both share: after a quarter of the time, at the end, and the most. "+
		"The run fails where one of them has grown by more than a quarter and 16 MB since.", connections, warmUp),
		"JDK", "minutes", "answers", "root calls", "calls", "lost", "target MB, after a quarter", "at the end", "most", "controller MB, after a quarter", "at the end", "most", "shared MB, after a quarter", "at the end", "controller, % of a core", "report s")
	for _, j := range k.JDKs {
		if j.Version < bench.ShopJDK {
			continue
		}
		if err := long(k, page, j); err != nil {
			page.Failed(fmt.Sprintf("JDK %d, a server for %.3g minutes", j.Version, *minutes), err)
		}
	}
	return nil
}

// A growth is a figure in the course of time.
type growth struct{ early, end, most float64 }

func (g *growth) take(v float64, early bool) {
	g.end, g.most = v, max(g.most, v)
	if early {
		g.early = v
	}
}

// flat returns an error if it grew by more than a quarter and 16 MB.
func (g *growth) flat(what string) error {
	if g.end > g.early*1.25+16 {
		return fmt.Errorf("%s: %.1f MB after a quarter of the time, %.1f at the end", what, g.early, g.end)
	}
	return nil
}

func long(k *bench.Kit, page *bench.Page, j jdk.JDK) (err error) {
	s, err := k.Serve(j, 0)
	if err != nil {
		return err
	}
	defer s.Stop(&err)
	l := load.Start(s.URL, connections, load.Shop)
	defer func() { l.Stop() }()
	time.Sleep(warmUp)
	rec, err := k.Record(s.PID, "--root", bench.ShopWhole, "--depth", "3")
	if err != nil {
		return err
	}
	defer rec.Kill()
	var target, controller, shared growth
	own := strconv.Itoa(rec.Cmd.Process.Pid)
	whole := time.Duration(*minutes * float64(time.Minute))
	begun, since, said := time.Now(), l.Now(), time.Now()
	var answers, cut int64 // cut: requests that may have been under way when a load ended, or the recording
	count := func() error {
		l.Stop()
		all := l.Between(since, l.Now())
		answers, cut = answers+int64(len(all)), cut+connections
		return all.Failed()
	}
	for time.Since(begun) < whole {
		time.Sleep(look)
		of, err := bench.Resident(s.PID)
		ours, err2 := bench.Resident(own)
		if err := errors.Join(err, err2); err != nil {
			return fmt.Errorf("%w: %s", err, rec.Err.All())
		}
		early := time.Since(begun) < whole/4
		target.take(of.Own, early)
		shared.take(of.Shared, early)
		controller.take(ours.Own, early)
		if l.Now() > anew {
			if err := count(); err != nil {
				return err
			}
			l, since = load.Start(s.URL, connections, load.Shop), 0
		}
		if time.Since(said) > 5*time.Minute {
			said = time.Now()
			log.Printf("JDK %d, after %.0f minutes: target %.0f MB, controller %.1f MB, shared %.1f MB, %d answers", j.Version, time.Since(begun).Minutes(), of.Own, ours.Own, of.Shared, answers)
		}
	}
	used, err := bench.CPU(own)
	if err != nil {
		return err
	}
	share := used / time.Since(begun).Seconds()
	if err := count(); err != nil {
		return err
	}
	took, err := rec.End()
	if err != nil {
		return err
	}
	r, err := rec.Read()
	if err != nil {
		return err
	}
	page.Row(j.Version, fmt.Sprintf("%.3g", *minutes), answers, r.Invocations, r.Calls, r.Lost, target.early, target.end, target.most, controller.early, controller.end, controller.most, shared.early, shared.end, 100*share, took.Seconds())
	err = errors.Join(target.flat("target"), controller.flat("controller"), shared.flat("shared"))
	second := answers / int64(whole/time.Second) // between the recording's beginning and the first look at the clock
	if d := r.Invocations + r.Lost - answers; d < -connections || d > cut+second {
		err = errors.Join(err, fmt.Errorf("%d answers, but %d root calls and %d lost", answers, r.Invocations, r.Lost))
	}
	return err
}

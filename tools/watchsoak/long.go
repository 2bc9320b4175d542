package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
	"github.com/rivulet-profiler/rivulet/tools/internal/load"
)

var (
	hz    = flag.Int("hz", usual, "samples a `second` of a thread's time in the long run")
	pause = flag.Duration("pause", 0, "each connection waits for this `time` before each request of the long run")
)

// usual is how many samples a second of a thread's time "rivulet watch" takes if nobody says otherwise.
const usual = 19

// longs watches a server without a break, and writes how the watcher's memory went.
func longs(k *bench.Kit, page *bench.Page) error {
	page.Table("For long", fmt.Sprintf("The shop is asked by %d connections, and watched without a break. The watcher keeps %v in at most 4 MB. "+
		"Hours' worth: the time in which the usual %d samples a second are as many. Memory: resident, its own, at the end of each quarter of the time.", connections, keep, usual),
		"JDK", "minutes", "samples a second", "hours' worth", "pause ms", "answers", "watcher, % of a core", "MB after a minute", "a quarter", "a half", "three quarters", "at the end", "most", "disk, most KB")
	for _, j := range k.JDKs {
		if j.Version < bench.ShopJDK {
			continue
		}
		if err := watchLong(k, page, j, time.Duration(*minutes*float64(time.Minute))); err != nil {
			return fmt.Errorf("JDK %d: %w", j.Version, err)
		}
	}
	return nil
}

func watchLong(k *bench.Kit, page *bench.Page, j jdk.JDK, long time.Duration) (err error) {
	s, err := k.Serve(j, 0)
	if err != nil {
		return err
	}
	defer s.Stop(&err)
	begin := func() *load.Load {
		return load.Start(s.URL, connections, func(r *rand.Rand) string {
			time.Sleep(*pause)
			return load.Shop(r)
		})
	}
	l := begin()
	defer func() { l.Stop() }()
	answers := 0
	r, err := unbroken(k, s.PID, filepath.Join(k.Temp, "longkept"), long, func(time.Duration) error {
		now := l.Now()
		if now < time.Minute {
			return nil
		}
		a := l.Between(0, now)
		answers += len(a)
		l.Stop() // it keeps all answers
		l = begin()
		return a.Failed()
	}, append(sources(), "--hz", strconv.Itoa(*hz))...)
	if err == nil && len(r.memory) < 4 {
		err = errors.New("-minutes: too short to look at the quarters")
	}
	if err != nil {
		return err
	}
	row := []any{
		j.Version, fmt.Sprintf("%.3g", *minutes), *hz, fmt.Sprintf("%.1f", *minutes/60*float64(*hz)/usual), pause.Milliseconds(), answers,
		fmt.Sprintf("%.2f", 100*r.share), fmt.Sprintf("%.1f", r.early),
	}
	for q := 1; q <= 4; q++ {
		row = append(row, fmt.Sprintf("%.1f", r.memory[len(r.memory)*q/4-1]))
	}
	page.Row(append(row, fmt.Sprintf("%.1f", r.most), r.disk>>10)...)
	return nil
}

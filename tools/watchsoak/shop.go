package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
	"github.com/rivulet-profiler/rivulet/tools/internal/load"
)

const (
	connections = 8
	surge       = time.Minute
)

func shops(k *bench.Kit, page *bench.Page) error {
	warm, turns := time.Minute, 20
	if k.Short {
		warm, turns = 10*time.Second, 2
	}
	page.Table("A server under load", fmt.Sprintf("The shop is asked by %d connections in a closed loop, %v to warm up. Then %d turns of %v with the watcher, each between two without. "+
		"Requests: the rate in a turn by the mean of the two beside it, median, least and most; the middle half is where half of the turns lie. Processor time: the server's for a request, likewise. "+
		"Then the watcher runs without a break, keeps %v in at most 4 MB, and after half of the time four more connections ask for sums over all orders, for %v.", connections, warm, turns, turn, keep, surge),
		"JDK", "source|", "requests, ratio", "middle half|", "least", "most", "processor time, ratio", "minutes", "watcher, % of a core", "MB after a minute", "at the end", "most", "disk, most KB", "found after s", "capture has s before")
	for _, j := range k.JDKs {
		if j.Version < bench.ShopJDK {
			continue
		}
		if err := shop(k, page, j, warm, turns); err != nil {
			return fmt.Errorf("JDK %d, shop: %w", j.Version, err)
		}
	}
	return nil
}

// A rate is what the server did in a turn.
type rate struct{ requests, cpu float64 } // a second; seconds for a request

func shop(k *bench.Kit, page *bench.Page, j jdk.JDK, warm time.Duration, turns int) (err error) {
	s, err := k.Serve(j, 0)
	if err != nil {
		return err
	}
	defer s.Stop(&err)
	l := load.Start(s.URL, connections, load.Shop)
	defer func() { l.Stop() }()
	time.Sleep(warm)
	pass := func() (r rate, err error) {
		used, err := bench.CPU(s.PID)
		if err != nil {
			return r, err
		}
		from := l.Now()
		time.Sleep(turn)
		to := l.Now()
		after, err := bench.CPU(s.PID)
		answers := l.Between(from, to)
		n := float64(len(answers))
		return rate{n / (to - from).Seconds(), (after - used) / n}, errors.Join(err, answers.Failed())
	}
	var requests, times []float64
	before, err := pass()
	if err != nil {
		return err
	}
	for i := range turns {
		log.Printf("JDK %d, shop, turn %d of %d", j.Version, i+1, turns)
		w, err := watch(k, s.PID, filepath.Join(k.Temp, "shopturns"), append(sources(), "--for", (turn+2*time.Second).String())...)
		if err != nil {
			return err
		}
		with, err := pass()
		if err := errors.Join(err, w.Wait()); err != nil {
			return fmt.Errorf("rivulet watch: %w: %s", err, w.Err.All())
		}
		after, err := pass()
		if err != nil {
			return err
		}
		requests = append(requests, 2*with.requests/(before.requests+after.requests))
		times = append(times, 2*with.cpu/(before.cpu+after.cpu))
		before = after
	}
	slices.Sort(requests)
	row := []any{
		j.Version, cmp.Or(*by, "usual"), fmt.Sprintf("%.4f", bench.Median(requests)), fmt.Sprintf("%.4f to %.4f", requests[len(requests)/4], requests[len(requests)*3/4]),
		fmt.Sprintf("%.4f", requests[0]), fmt.Sprintf("%.4f", requests[len(requests)-1]), fmt.Sprintf("%.4f", bench.Median(times)),
	}
	if *minutes == 0 {
		page.Row(append(row, "-", "-", "-", "-", "-", "-", "-", "-")...)
		return nil
	}
	l.Stop() // it keeps all answers
	l = load.Start(s.URL, connections, load.Shop)
	r, err := runShop(k, s, &l, time.Duration(*minutes*float64(time.Minute)))
	if err != nil {
		page.Failed(fmt.Sprintf("JDK %d, the run without a break", j.Version), err)
	}
	page.Row(append(row, fmt.Sprintf("%.3g", *minutes), fmt.Sprintf("%.2f", 100*r.share), fmt.Sprintf("%.1f", r.early), fmt.Sprintf("%.1f", r.end), fmt.Sprintf("%.1f", r.most), r.disk>>10,
		fmt.Sprintf("%.1f", r.found.Seconds()), fmt.Sprintf("%.0f", r.before.Seconds()))...)
	return nil
}

// sources are the flags that say by what is watched.
func sources() []string {
	if *by == "" {
		return nil
	}
	return []string{"--source", *by}
}

// sums asks for figures of all orders, as nobody else does.
func sums(*rand.Rand) string { return "/shop/do/stat" }

// runShop watches without a break. The load is begun anew each minute, since it keeps all answers.
func runShop(k *bench.Kit, s *bench.Server, l **load.Load, long time.Duration) (r result, err error) {
	const method = "shop.Shop.stat"
	const rule = "share(" + method + ") > 5%"
	var more *load.Load
	var from time.Time
	defer func() {
		if more != nil {
			more.Stop()
		}
	}()
	dir := filepath.Join(k.Temp, "shopkept")
	r, err = unbroken(k, s.PID, dir, long, func(since time.Duration) error {
		if since > long/2 && from.IsZero() {
			from = time.Now()
			more = load.Start(s.URL, 4, sums)
		}
		if more != nil && time.Since(from) > surge {
			more.Stop()
			more = nil
		}
		if now := (*l).Now(); now > time.Minute {
			failed := (*l).Between(0, now).Failed()
			(*l).Stop()
			*l = load.Start(s.URL, connections, load.Shop)
			return failed
		}
		return nil
	}, append(sources(), "--when", rule)...)
	if err != nil {
		return r, err
	}
	return r, captured(k, dir, from, method, &r)
}

// captured reads the one capture of a run: when it was found, what it names, and how much it has of the time before.
func captured(k *bench.Kit, dir string, changed time.Time, method string, r *result) error {
	files, err := filepath.Glob(filepath.Join(dir, "captures", "*", "event.json"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("%d captures of one event", len(files))
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	var c struct {
		Wall  int64 `json:"wall_ns"`
		From  int64 `json:"from_ns"`
		Event struct {
			At     int64 `json:"at_ns"`
			Method string
		}
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	if c.Event.Method != method {
		return fmt.Errorf("the event names %s: %s", c.Event.Method, b)
	}
	r.found, r.before = time.Unix(0, c.Wall).Sub(changed), time.Duration(c.Event.At-c.From)
	out, err := exec.Command(k.Rivulet, "watch", "show", dir, "--capture", "last", "--json").Output()
	if err != nil || !strings.Contains(string(out), method[:strings.LastIndexByte(method, '.')]) {
		return errors.New("the capture has no samples of the event")
	}
	return nil
}

package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// The roots in the shop, a server under load (bench/shop.sh).
const (
	ShopWhole   = "shop.FrontController.service"
	ShopPartial = "shop.ItemAction.execute"
)

// ShopJDK is the first version of the JDK that runs the shop.
const ShopJDK = 11

// A ShopRun is what a server showed beside another one that nothing records.
// Rates are in requests a second. The shop's data grows while it is served, and
// the machine is fast and slow by turns, so what counts is the one by the other.
type ShopRun struct {
	Bare, During float64 // what it would have answered without a recording, and what it did
	After        float64 // a bare one's rate by this one's, after the recording
	Requests     float64 // while the recording lasted
	Report       *Report
	Armed        float64 // from the command until it recorded, in ms, under load
}

// shopTurns says how often each of two servers is loaded, in turns, for what.
type shopTurns struct {
	seconds                             int
	warm, before, reveal, during, after int
}

// Shop starts two servers, and loads them in turns all the time: to warm them
// up, before, during and after a recording of one of them with these flags.
// What the recording begins with, which reveals the subgraph, isn't measured,
// nor is what follows its end. Another recording before it is armed under a
// load, and ends at once.
func (k *Kit) Shop(j jdk.JDK, flags ...string) (run *ShopRun, err error) {
	mine, err := k.Serve(j, 0)
	if err != nil {
		return nil, err
	}
	defer mine.Stop(&err)
	other, err := k.Serve(j, 1)
	if err != nil {
		return nil, err
	}
	defer other.Stop(&err)
	t := shopTurns{5, 9, 4, 12, 6, 4}
	if k.Short {
		t = shopTurns{4, 2, 2, 2, 1, 1}
	}
	run = &ShopRun{}
	served := 0.0 // by the one that is recorded
	// turns returns the medians of the recorded one's rate, and of the bare one's by it.
	turns := func(times int) (rate, by float64, err error) {
		var rates, ratios []float64
		for range times {
			own, n, err := mine.load(t.seconds)
			if err != nil {
				return 0, 0, err
			}
			bare, _, err := other.load(t.seconds)
			if err != nil {
				return 0, 0, err
			}
			served += n
			rates, ratios = append(rates, own), append(ratios, bare/own)
		}
		return Median(rates), Median(ratios), nil
	}
	if _, _, err := turns(t.warm); err != nil {
		return nil, err
	}
	_, alike, err := turns(t.before)
	if err != nil {
		return nil, err
	}
	flags = append([]string{"--depth", "1"}, flags...)
	if run.Armed, err = k.armedUnderLoad(mine, flags); err != nil {
		return nil, err
	}
	rec, err := k.Record(mine.PID, flags...)
	if err != nil {
		return nil, err
	}
	defer rec.Kill()
	before := served
	if _, _, err := turns(t.reveal); err != nil {
		return nil, err
	}
	var by float64
	if run.During, by, err = turns(t.during); err != nil {
		return nil, err
	}
	run.Bare, run.Requests = run.During*by/alike, served-before
	if run.Report, err = rec.Stop(); err != nil {
		return nil, err
	}
	if _, _, err := turns(t.warm); err != nil {
		return nil, err
	}
	_, by, err = turns(t.after)
	run.After = by / alike
	return run, err
}

// armedUnderLoad is how long it takes from the command until it records, in ms.
func (k *Kit) armedUnderLoad(s *Server, flags []string) (float64, error) {
	loaded := make(chan error, 1)
	go func() {
		_, _, err := s.load(5)
		loaded <- err
	}()
	time.Sleep(time.Second)
	rec, err := k.Record(s.PID, flags...)
	if err != nil {
		return 0, errors.Join(err, <-loaded)
	}
	defer rec.Kill()
	_, err = rec.End()
	return float64(rec.Armed.Microseconds()) / 1e3, errors.Join(err, <-loaded)
}

// A Server is a running shop.
type Server struct {
	PID, URL string
	kit      *Kit
	jdk      jdk.JDK
	env      []string
}

// Serve starts the n-th shop, which has a folder and a port of its own, in a JVM with these options.
func (k *Kit) Serve(j jdk.JDK, n int, options ...string) (s *Server, err error) {
	port := strconv.Itoa(18080 + n)
	s = &Server{URL: "http://127.0.0.1:" + port, kit: k, jdk: j}
	if n > 0 {
		dir, err := k.shopCopy(n)
		if err != nil {
			return nil, err
		}
		s.env = []string{"RIVULET_BENCH=" + dir}
	}
	s.env = append(s.env, "PORT="+port, "JOPTS="+strings.Join(options, " "))
	if b, err := s.script("start").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("shop.sh start: %w: %s (another run's? \"shop.sh stop\" ends it)", err, b)
	}
	pid, err := s.script("pid").Output()
	if err != nil {
		s.Stop(&err)
		return nil, err
	}
	s.PID = strings.TrimSpace(string(pid))
	return s, nil
}

// Stop ends it. What went wrong is added to err.
func (s *Server) Stop(err *error) {
	*err = errors.Join(*err, s.script("stop").Run())
}

// shopCopy makes a folder of bench programs whose shop is a copy.
func (k *Kit) shopCopy(n int) (string, error) {
	dir := filepath.Join(k.Temp, "shop"+strconv.Itoa(n))
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	all, err := os.ReadDir(jdk.Bench())
	if err != nil {
		return "", err
	}
	for _, e := range all {
		from, to := filepath.Join(jdk.Bench(), e.Name()), filepath.Join(dir, e.Name())
		if e.Name() != "shop" {
			err = os.Symlink(from, to)
		} else if err = os.CopyFS(to, os.DirFS(from)); err == nil {
			err = os.RemoveAll(filepath.Join(to, "pid")) // another server's
		}
		if err != nil {
			return "", err
		}
	}
	return dir, nil
}

func (s *Server) script(args ...string) *exec.Cmd {
	cmd := s.kit.Script(s.jdk, "shop.sh", args...)
	cmd.Env = append(cmd.Env, s.env...)
	return cmd
}

// Load is load without its figures.
func (s *Server) Load(seconds int) error {
	_, _, err := s.load(seconds)
	return err
}

// load has eight connections ask for some seconds.
func (s *Server) load(seconds int) (rate, requests float64, err error) {
	b, err := s.script("load", strconv.Itoa(seconds), "8").CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("shop.sh load: %w: %s", err, b)
	}
	return shopRate(string(b))
}

var (
	rates   = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	answers = regexp.MustCompile(`(\d+) requests in`)
	failed  = regexp.MustCompile(`Non-2xx.*`)
)

// shopRate reads what wrk says of a load.
func shopRate(text string) (rate, requests float64, err error) {
	r, n := rates.FindStringSubmatch(text), answers.FindStringSubmatch(text)
	if r == nil || n == nil {
		return 0, 0, fmt.Errorf("wrk says no rate: %s", text)
	}
	if bad := failed.FindString(text); bad != "" {
		return 0, 0, fmt.Errorf("requests failed: %s", bad)
	}
	if rate, err = strconv.ParseFloat(r[1], 64); err != nil {
		return 0, 0, err
	}
	requests, err = strconv.ParseFloat(n[1], 64)
	return rate, requests, err
}

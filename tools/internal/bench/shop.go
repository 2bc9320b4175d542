package bench

import (
	"errors"
	"fmt"
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

// A ShopRun is what one server showed. Rates are in requests a second.
type ShopRun struct {
	Before, During, After float64
	Requests              float64 // while the recording lasted
	Report                *Report // nil of a bare run
	Armed                 float64 // from the command until it recorded, in ms, under load
}

// Shop starts the server, warms it up, and loads it three times: before,
// during and after a recording with these flags; none records nothing. The
// recording begins with a load that is not measured, which reveals the
// subgraph; the load after it follows one, too. Another recording before it is
// armed under a load, and ends at once.
func (k *Kit) Shop(j jdk.JDK, flags ...string) (run *ShopRun, err error) {
	if b, err := k.Script(j, "shop.sh", "start").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("shop.sh start: %w: %s (another run's? \"shop.sh stop\" ends it)", err, b)
	}
	defer func() {
		err = errors.Join(err, k.Script(j, "shop.sh", "stop").Run())
	}()
	warm, length := 60, 10
	if k.Short {
		warm, length = 8, 4
	}
	load := func(seconds int) (rate, requests float64, err error) {
		b, err := k.Script(j, "shop.sh", "load", strconv.Itoa(seconds), "8").CombinedOutput()
		if err != nil {
			return 0, 0, fmt.Errorf("shop.sh load: %w: %s", err, b)
		}
		return shopRate(string(b))
	}
	if _, _, err := load(warm); err != nil {
		return nil, err
	}
	run = &ShopRun{}
	if run.Before, _, err = load(length); err != nil {
		return nil, err
	}
	var rec *Recording
	if len(flags) > 0 {
		pid, err := k.Script(j, "shop.sh", "pid").Output()
		if err != nil {
			return nil, err
		}
		target, flags := strings.TrimSpace(string(pid)), append([]string{"--depth", "1"}, flags...)
		loaded := make(chan error, 1)
		go func() {
			_, _, err := load(5)
			loaded <- err
		}()
		time.Sleep(time.Second)
		run.Armed, err = k.armed(target, flags)
		if err = errors.Join(err, <-loaded); err != nil {
			return nil, err
		}
		if rec, err = k.Record(target, flags...); err != nil {
			return nil, err
		}
		defer rec.Kill()
	}
	_, reveal, err := load(warm)
	if err != nil {
		return nil, err
	}
	if run.During, run.Requests, err = load(length); err != nil {
		return nil, err
	}
	run.Requests += reveal
	if rec != nil {
		if run.Report, err = rec.Stop(); err != nil {
			return nil, err
		}
	}
	if _, _, err := load(warm); err != nil {
		return nil, err
	}
	run.After, _, err = load(length)
	return run, err
}

// armed is how long it takes from the command until it records, in ms.
func (k *Kit) armed(pid string, flags []string) (float64, error) {
	rec, err := k.Record(pid, flags...)
	if err != nil {
		return 0, err
	}
	defer rec.Kill()
	_, err = rec.End()
	return float64(rec.Armed.Microseconds()) / 1e3, err
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

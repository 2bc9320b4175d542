// Command looks measures what looking at the threads and locks of a busy server costs it: the shop in a closed loop
// of eight connections, windows in which somebody looks in turn with windows in which nobody does. It writes
// docs/figures/looks.md. Run it from the repository's root by "go tool task bench:looks".
package main

import (
	"fmt"
	"log"
	"os/exec"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
	"github.com/rivulet-profiler/rivulet/tools/internal/load"
)

func main() { bench.Main(3, "looks.md", measure) }

const connections = 8

// ways are how it is looked, for as long as a window.
var ways = []struct {
	name string
	args []string
}{
	{"locks from outside at 20 Hz", []string{"locks"}},
	{"locks from outside at 50 Hz", []string{"locks", "--hz", "50"}},
	{"locks from outside at 200 Hz", []string{"locks", "--hz", "200"}},
	{"locks from outside at 500 Hz", []string{"locks", "--hz", "500"}},
	{"locks by thread dumps for 5 % of the time", []string{"locks", "--source", "threaddump"}},
	{"locks by ten thread dumps a second", []string{"locks", "--source", "threaddump", "--hz", "10"}},
	{"threads --timeline from outside at 10 Hz", []string{"threads", "--timeline"}},
	{"threads --timeline by thread dumps for 5 % of the time", []string{"threads", "--timeline", "--source", "threaddump"}},
	{"locks --exact for the first time", []string{"locks", "--exact"}},
	{"locks --exact again", []string{"locks", "--exact"}},
}

func measure(k *bench.Kit) (*bench.Page, error) {
	warm, window := 30*time.Second, 10*time.Second
	if k.Short {
		warm, window = 10*time.Second, 4*time.Second
	}
	page := k.NewPage("bench:looks", "Looking at a busy server", "What looking at threads and locks costs a server under load.")
	page.Table("Requests and the longest answer", fmt.Sprintf("The shop is asked by eight connections in a closed loop, %v to warm up. Then windows of %v in which somebody looks, in turn with ones in which nobody does. "+
		"Requests: the rate in a window in %% of the mean of the two beside it, median, least and most. Longest: the longest answer in any window, and in any of those beside them. Looker: processor time of `rivulet` in %% of a core.", warm, window),
		"JDK|", "way|", "requests %", "least", "most", "longest ms", "longest beside ms", "looker %")
	for _, j := range k.JDKs {
		if j.Version < bench.ShopJDK {
			continue
		}
		log.Printf("JDK %d", j.Version)
		if err := serve(k, j, page, warm, window); err != nil {
			page.Failed(fmt.Sprintf("JDK %d", j.Version), err)
		}
	}
	return page, nil
}

func serve(k *bench.Kit, j jdk.JDK, page *bench.Page, warm, window time.Duration) (err error) {
	s, err := k.Serve(j, 0)
	if err != nil {
		return err
	}
	defer s.Stop(&err)
	l := load.Start(s.URL, connections, load.Shop)
	defer l.Stop()
	time.Sleep(warm)
	for _, w := range ways {
		if !k.Wants(w.name) {
			continue
		}
		reps := k.Reps
		if strings.HasSuffix(w.name, "for the first time") {
			reps = 1
		}
		var shares []float64
		var longest, beside time.Duration
		var used time.Duration
		before, took := pass(l, window, nil)
		beside = took
		for range reps {
			var cpu time.Duration
			looked, took := pass(l, window, func() error {
				cmd := exec.Command(k.Rivulet, append([]string{w.args[0], s.PID, "--for", (window - 500*time.Millisecond).String(), "--json"}, w.args[1:]...)...)
				out, err := cmd.CombinedOutput()
				if err != nil {
					return fmt.Errorf("%w: %s", err, out)
				}
				cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				return nil
			})
			if looked < 0 {
				return fmt.Errorf("%s failed", w.name)
			}
			longest, used = max(longest, took), used+cpu
			after, took := pass(l, window, nil)
			beside = max(beside, took)
			shares = append(shares, 100*looked/((before+after)/2))
			before = after
		}
		least, most := shares[0], shares[0]
		for _, v := range shares {
			least, most = min(least, v), max(most, v)
		}
		page.Row(j.Version, w.name, bench.Median(shares), least, most, ms(longest), ms(beside), 100*used.Seconds()/(window.Seconds()*float64(reps)))
	}
	return l.Between(0, l.Now()).Failed()
}

// pass lets a window pass, in which something is done, and returns the answers a second, less than 0 if that failed, and
// the longest answer.
func pass(l *load.Load, window time.Duration, do func() error) (rate float64, longest time.Duration) {
	from := l.Now()
	if do != nil {
		if err := do(); err != nil {
			log.Print(err)
			return -1, 0
		}
	}
	if left := window - (l.Now() - from); left > 0 {
		time.Sleep(left)
	}
	to := l.Now()
	a := l.Between(from, to)
	return float64(len(a)) / (to - from).Seconds(), a.Took(1)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

const (
	slowestKept = 20
	connections = 8
	revealing   = 40 * time.Second // of the load, before what is recorded counts
)

// shop records the shop under load for some minutes: whether the slowest
// requests are those that the load found slow, and whether memory stays flat.
func shop(k *bench.Kit, page *bench.Page) (err error) {
	pid, url, stop, err := openShop(k, k.JDKs[0], connections)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	log.Print("warming the shop up")
	if err := forAWhile(10*time.Second, func(stop <-chan struct{}) error { _, err := loadShop(url, connections, stop); return err }); err != nil {
		return err
	}
	rec, err := k.Record(pid, "--root", bench.ShopWhole, "--scheme", "C", "--warmup", revealing.String(), "--slowest", strconv.Itoa(slowestKept))
	if err != nil {
		return err
	}
	defer rec.Kill()
	length := time.Duration(*minutes * float64(time.Minute))
	log.Printf("recording for %v", length)
	var all []request
	var memory []memories
	if err := forAWhile(length+revealing, func(stop <-chan struct{}) error {
		watched := make(chan []memories, 1)
		go func() { watched <- watch(rec.Cmd, pid, stop) }()
		var err error
		all, err = loadShop(url, connections, stop)
		memory = <-watched
		return err
	}); err != nil {
		return err
	}
	if _, err := rec.End(); err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(k.Temp, "report.json"))
	if err != nil {
		return err
	}
	slowest, r, err := invocations(b)
	if err != nil {
		return err
	}
	before := r.Events.Began
	all = slices.DeleteFunc(all, func(r request) bool { return r.begin < before })
	m := matched(slowest, all)
	page.Table("The shop under load", fmt.Sprintf("Tomcat, JSPs and H2 (root %s), %d connections that ask as fast as they are answered, each request timed by the load itself; recorded with --slowest %d for %v, after %v that reveal the subgraph. "+
		"An invocation agrees if it lies, on the same clock, within a request of its kind (its tree names the action) that no other has. "+
		"Of the load's slowest requests those are not among the slowest invocations that waited outside of the root: for a thread of the server, or for their answer to be read.",
		bench.ShopWhole, connections, slowestKept, length, revealing), "requests", "root calls", "calls", "Mwords", "waited %", "dropped", "invocations kept", "agree", "of the load's slowest", "longer than its invocation by ms, median")
	page.Row(len(all), whole(float64(r.Invocations)), whole(float64(r.Calls)), float64(r.Events.Words)/1e6, 100*r.Events.Share, whole(float64(r.Events.Dropped+r.Events.Muted)),
		len(slowest), m.found, m.among, m.beside/1e6)
	page.Text("Memory meanwhile, in MB, the most in each tenth of the time: of rivulet its own, and of the data file what it has touched; of the target its own, of which 512 MB and more are its heap and the orders in it, and the data file. That grows while rings do, of which there is a bounded number.")
	page.Header("tenth", "rivulet", "data file, rivulet", "target", "data file, target")
	for i := range 10 {
		var most memories
		for _, v := range memory[i*len(memory)/10 : (i+1)*len(memory)/10] {
			for c := range v {
				most[c].Own, most[c].Shared = max(most[c].Own, v[c].Own), max(most[c].Shared, v[c].Shared)
			}
		}
		page.Row(i+1, most[0].Own, most[0].Shared, most[1].Own, most[1].Shared)
	}
	return nil
}

// openShop starts the shop with so many threads.
func openShop(k *bench.Kit, j jdk.JDK, threads int) (pid, url string, stop func() error, err error) {
	port := "18080"
	if p := os.Getenv("PORT"); p != "" {
		port = p
	}
	start := k.Script(j, "shop.sh", "start")
	start.Env = append(start.Env, "TH="+strconv.Itoa(threads))
	if b, err := start.CombinedOutput(); err != nil {
		return "", "", nil, fmt.Errorf("shop.sh start: %w: %s (another run's? \"shop.sh stop\" ends it)", err, b)
	}
	stop = k.Script(j, "shop.sh", "stop").Run
	out, err := k.Script(j, "shop.sh", "pid").Output()
	if err != nil {
		return "", "", nil, errors.Join(err, stop())
	}
	return strings.TrimSpace(string(out)), "http://127.0.0.1:" + port + "/shop/do/", stop, nil
}

// memories are the controller's and the target's.
type memories [2]bench.Memory

// watch looks at both processes' memory until stop is closed.
func watch(controller *exec.Cmd, target string, stop <-chan struct{}) (out []memories) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		var m memories
		var err error
		if m[0], err = bench.Resident(strconv.Itoa(controller.Process.Pid)); err == nil {
			if m[1], err = bench.Resident(target); err == nil {
				out = append(out, m)
			}
		}
		select {
		case <-tick.C:
		case <-stop:
			return out
		}
	}
}

// forAWhile lets work go on until the time is over.
func forAWhile(length time.Duration, work func(stop <-chan struct{}) error) error {
	stop := make(chan struct{})
	timer := time.AfterFunc(length, func() { close(stop) })
	defer timer.Stop()
	return work(stop)
}

var action = regexp.MustCompile(`^shop\.(\w+)Action\.execute\(`)

// A soaked is what is read of the shop's report.
type soaked struct {
	report
	Invocations int64 `json:"root_invocations"`
}

// invocations reads the slowest ones of a report, on the clock of the load.
func invocations(b []byte) ([]invocation, *soaked, error) {
	var r struct {
		soaked
		Slowest struct {
			Invocations []struct {
				Start     int64 `json:"start_ns"`
				Took      int64 `json:"took_ns"`
				Suspended int64 `json:"suspended_ns"`
				Tree      *bench.Node
			}
		}
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, nil, err
	}
	if r.Events == nil || r.Events.Began == 0 {
		return nil, nil, errors.New("the report says nothing of events")
	}
	var out []invocation
	for _, i := range r.Slowest.Invocations {
		v := invocation{begin: r.Events.Began + i.Start, took: i.Took}
		v.end = v.begin + i.Took + i.Suspended
		if i.Tree != nil {
			v.kind = kindOf(i.Tree)
		}
		out = append(out, v)
	}
	return out, &r.soaked, nil
}

// kindOf is the action in a request's tree: "order" of shop.OrderAction.
func kindOf(n *bench.Node) string {
	if m := action.FindStringSubmatch(n.Method); m != nil {
		return strings.ToLower(m[1])
	}
	for _, c := range n.Children {
		if kind := kindOf(c); kind != "" {
			return kind
		}
	}
	return ""
}

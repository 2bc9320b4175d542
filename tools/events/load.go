package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A request is one that the load has made, on CLOCK_MONOTONIC in ns, which is
// what System.nanoTime reads on Linux.
type request struct {
	kind       string
	begin, end int64
}

func (r request) took() int64 { return r.end - r.begin }

func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return t.Nano()
}

// order is the shop's mix: 25 % browse, 30 % item, 25 % cart, 15 % order, 5 %
// history, of a hundred users, as shop/load.lua has it.
func order(random func(int) int) (kind, path string) {
	x, u := random(100), random(100)
	switch {
	case x < 25:
		return "browse", fmt.Sprintf("browse?c=%d&p=%d", random(40), random(5))
	case x < 55:
		return "item", fmt.Sprintf("item?id=%d", random(4000))
	case x < 80:
		return "cart", fmt.Sprintf("cart?u=%d&id=%d", u, random(4000))
	case x < 95:
		return "order", fmt.Sprintf("order?u=%d", u)
	}
	return "history", fmt.Sprintf("history?u=%d", u)
}

// loadShop asks the shop as fast as it answers, on so many connections, until
// stop is closed, and returns what it asked in the order of the answers.
func loadShop(url string, connections int, stop <-chan struct{}) ([]request, error) {
	var mu sync.Mutex
	var all []request
	var failed error
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}, Timeout: 5 * time.Minute} // the first ones wait for hundreds of reveals
	defer client.CloseIdleConnections()
	for c := range connections {
		wg.Add(1)
		go func() {
			defer wg.Done()
			seed := uint64(c+1) * 7919
			random := func(n int) int {
				seed = (seed*1103515245 + 12345) % (1 << 31)
				return int(seed>>16) % n
			}
			for {
				select {
				case <-stop:
					return
				default:
				}
				kind, path := order(random)
				r := request{kind: kind, begin: monotonic()}
				err := get(client, url+path)
				r.end = monotonic()
				mu.Lock()
				if err != nil && failed == nil {
					failed = err
				}
				over := failed != nil
				if !over {
					all = append(all, r)
				}
				mu.Unlock()
				if over {
					return
				}
			}
		}()
	}
	wg.Wait()
	return all, failed
}

func get(client *http.Client, url string) error {
	r, err := client.Get(url)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, r.Status)
	}
	return nil
}

// An invocation is one of the report's slowest, on the same clock.
type invocation struct {
	kind        string
	begin, took int64 // took without what the profiler made it wait
	end         int64
}

// A match says how well the slowest invocations agree with the load's own
// times.
type match struct {
	found  int     // invocations that lie within a request of their kind that no other has
	among  int     // of the load's slowest requests, as many as there are invocations, how many have one
	beside float64 // median of what such a request took beyond its invocation, in ns
}

// matched looks for each invocation's request: the shortest of its kind that
// holds it.
func matched(slowest []invocation, all []request) (m match) {
	var beside []float64
	used := map[int]bool{}
	for _, i := range slowest {
		best := -1
		for k, r := range all {
			if r.kind == i.kind && r.begin <= i.begin && i.end <= r.end && !used[k] && (best < 0 || r.took() < all[best].took()) {
				best = k
			}
		}
		if best < 0 {
			continue
		}
		used[best] = true
		m.found++
		beside = append(beside, float64(all[best].took()-(i.end-i.begin)))
	}
	order := make([]int, len(all))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return int(all[b].took() - all[a].took()) })
	for _, k := range order[:min(len(slowest), len(order))] {
		if used[k] {
			m.among++
		}
	}
	if len(beside) > 0 {
		slices.Sort(beside)
		m.beside = beside[len(beside)/2]
	}
	return m
}

// Package load is a closed-loop load generator with a latency record: so many
// connections, each of which asks again as soon as it was answered.
//
// A [Load] may be used by several goroutines at once.
package load

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"slices"
	"sync"
	"time"
)

// patience is how long a request may take. One that takes longer has failed.
const patience = 2 * time.Minute

// An Answer is a request that ended, in time since the load began.
type Answer struct {
	End, Took time.Duration
	Failed    bool // no answer, or another status than 200
}

// A Load runs until it is stopped.
type Load struct {
	began  time.Time
	cancel context.CancelFunc
	wait   sync.WaitGroup
	mu     sync.Mutex
	all    []Answer
}

// Start begins a load of so many connections. next returns the path of a request;
// each connection has a source of its own, with its number as seed.
func Start(base string, connections int, next func(*rand.Rand) string) *Load {
	ctx, cancel := context.WithCancel(context.Background())
	l := &Load{began: time.Now(), cancel: cancel}
	for c := range connections {
		l.wait.Go(func() { l.ask(ctx, base, rand.New(rand.NewSource(int64(c))), next) })
	}
	return l
}

// ask asks until the load is stopped. A request that is on then does not count.
func (l *Load) ask(ctx context.Context, base string, r *rand.Rand, next func(*rand.Rand) string) {
	transport := &http.Transport{MaxIdleConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: patience}
	for {
		begin := time.Now()
		ok := get(ctx, client, base+next(r))
		if ctx.Err() != nil {
			return
		}
		end := time.Now()
		l.mu.Lock()
		l.all = append(l.all, Answer{end.Sub(l.began), end.Sub(begin), !ok})
		l.mu.Unlock()
	}
}

func get(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

// Now is the time since the load began.
func (l *Load) Now() time.Duration { return time.Since(l.began) }

// Stop ends the load.
func (l *Load) Stop() {
	l.cancel()
	l.wait.Wait()
}

// Between are the answers that ended in a stretch of time, in order.
func (l *Load) Between(from, to time.Duration) Answers {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out Answers
	for _, a := range l.all {
		if a.End >= from && a.End < to {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b Answer) int { return int(a.End - b.End) })
	return out
}

// Answers are of a stretch of time, in the order in which they ended.
type Answers []Answer

// Rates are the answers a second of each second from a time on.
func (a Answers) Rates(from time.Duration, seconds int) []float64 {
	out := make([]float64, seconds)
	for _, x := range a {
		if i := int((x.End - from) / time.Second); x.End >= from && i < seconds {
			out[i]++
		}
	}
	return out
}

// Gap is the longest time within a stretch in which no answer ended.
func (a Answers) Gap(from, to time.Duration) time.Duration {
	last, longest := from, time.Duration(0)
	for _, x := range a {
		longest = max(longest, x.End-last)
		last = x.End
	}
	return max(longest, to-last)
}

// Took is the time below which a share of the answers lies, 1 for the longest; 0 of none.
func (a Answers) Took(share float64) time.Duration {
	if len(a) == 0 {
		return 0
	}
	var took []time.Duration
	for _, x := range a {
		took = append(took, x.Took)
	}
	slices.Sort(took)
	return took[min(int(share*float64(len(took))), len(took)-1)]
}

// Failed is an error that says how many requests failed, nil of none.
func (a Answers) Failed() error {
	n := 0
	for _, x := range a {
		if x.Failed {
			n++
		}
	}
	if n > 0 {
		return fmt.Errorf("%d of %d requests failed", n, len(a))
	}
	return nil
}

// Lost is the service that was lost, in seconds: the sum of 1 - share of the rate before, over all seconds.
func Lost(rates []float64, before float64) (seconds float64) {
	for _, r := range rates {
		seconds += 1 - r/before
	}
	return seconds
}

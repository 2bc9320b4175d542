package servers

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A request is one that the load has made.
type request struct {
	due  time.Time
	took time.Duration // from then on, time without a free connection included
	err  error         // no answer, or a wrong one
}

// A load is an open loop: requests are due at a fixed rate. If the server does not
// answer, they wait for one of a bounded number of connections.
type load struct {
	url         string
	rate        int // requests a second
	connections int
	patience    time.Duration // for one answer
	check       func(i int, answer string) error
	path        func(i int) string

	mu      sync.Mutex
	pending map[int]time.Time // due, not answered
	all     []request
}

// run sends requests until stop is closed and all of them are answered.
func (l *load) run(stop <-chan struct{}) {
	client := &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: l.connections, MaxConnsPerHost: l.connections},
		Timeout:   l.patience,
	}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	defer wg.Wait()
	begin := time.Now()
	for i := 0; ; i++ {
		due := begin.Add(time.Duration(i) * time.Second / time.Duration(l.rate))
		select {
		case <-stop:
			return
		case <-time.After(time.Until(due)):
		}
		l.mu.Lock()
		if l.pending == nil {
			l.pending = map[int]time.Time{}
		}
		l.pending[i] = due
		l.mu.Unlock()
		wg.Go(func() {
			err := l.ask(client, i)
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.pending, i)
			l.all = append(l.all, request{due, time.Since(due), err})
		})
	}
}

func (l *load) ask(client *http.Client, i int) error {
	r, err := client.Get(l.url + l.path(i))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", r.Status, text)
	}
	return l.check(i, string(text))
}

// hanging returns for how long the longest request has been waiting for its answer,
// and how many have for longer than a limit.
func (l *load) hanging(limit time.Duration) (longest time.Duration, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, due := range l.pending {
		d := time.Since(due)
		longest = max(longest, d)
		if d > limit {
			n++
		}
	}
	return longest, n
}

// requests returns those that have been answered, in the order in which they were due.
func (l *load) requests() []request {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Clone(l.all)
	slices.SortFunc(all, func(a, b request) int { return a.due.Compare(b.due) })
	return all
}

// latencies are those of the requests that were due in a span of time.
type latencies struct {
	n            int
	p50, p99     time.Duration
	longest      time.Duration
	over, second int // longer than 250 ms, than 1 s
}

func measure(all []request, from, to time.Time) (l latencies) {
	var took []time.Duration
	for _, r := range all {
		if r.due.Before(from) || !r.due.Before(to) {
			continue
		}
		took = append(took, r.took)
		if r.took > 250*time.Millisecond {
			l.over++
		}
		if r.took > time.Second {
			l.second++
		}
	}
	if len(took) == 0 {
		return l
	}
	slices.SortFunc(took, cmp.Compare[time.Duration])
	l.n, l.longest = len(took), took[len(took)-1]
	l.p50, l.p99 = took[len(took)/2], took[(len(took)*99+99)/100-1]
	return l
}

func (l latencies) String() string {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.0f", float64(d)/1e6) }
	return strings.Join([]string{fmt.Sprint(l.n), ms(l.p50), ms(l.p99), ms(l.longest), fmt.Sprint(l.over), fmt.Sprint(l.second)}, "/")
}

package servers

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestOpenLoop has a server that stops for a while: every request that was due
// meanwhile must show it, also those for which there was no connection.
func TestOpenLoop(t *testing.T) {
	const stall = 600 * time.Millisecond
	gate := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-gate
		fmt.Fprint(w, r.URL.Query().Get("i"))
	}))
	defer server.Close()
	l := &load{
		url: server.URL, rate: 50, connections: 4, patience: 10 * time.Second,
		path: func(i int) string { return fmt.Sprintf("/?i=%d", i) },
		check: func(i int, answer string) error {
			if answer != fmt.Sprint(i) {
				return fmt.Errorf("%d: %q", i, answer)
			}
			return nil
		},
	}
	begin := time.Now()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { l.run(stop); close(done) }()
	time.Sleep(stall)
	if longest, n := l.hanging(stall / 3); longest < stall/2 || n < 10 {
		t.Errorf("%d requests hang, the longest for %v", n, longest)
	}
	close(gate)
	close(stop)
	<-done
	got := measure(l.requests(), begin, time.Now())
	if got.n < 20 || got.over < got.n/3 || got.longest < stall {
		t.Errorf("requests/p50/p99/longest/over 250 ms/over 1 s: %v", got)
	}
	for _, r := range l.requests() {
		if r.err != nil {
			t.Error(r.err)
		}
	}
}

func TestMeasure(t *testing.T) {
	at := time.Unix(1000, 0)
	var all []request
	for i := range 100 {
		all = append(all, request{at.Add(time.Duration(i) * time.Second), time.Duration(i+1) * 20 * time.Millisecond, errors.New("wrong")})
	}
	got := measure(all, at, at.Add(100*time.Second))
	want := latencies{100, 1020 * time.Millisecond, 1980 * time.Millisecond, 2 * time.Second, 88, 50}
	if got != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
	if got := measure(all, at.Add(10*time.Second), at.Add(20*time.Second)); got.n != 10 || got.longest != 400*time.Millisecond {
		t.Errorf("%+v", got)
	}
	if got := measure(nil, at, at); got != (latencies{}) {
		t.Errorf("%+v", got)
	}
}

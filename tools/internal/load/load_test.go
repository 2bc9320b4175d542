package load

import (
	"math/rand"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	var asked atomic.Int64
	enough := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case r.URL.Path != "/a":
			t.Errorf("asked for %s", r.URL.Path)
		case n == 10:
			w.WriteHeader(http.StatusInternalServerError)
		case n == 100:
			close(enough)
		}
	}))
	defer srv.Close()
	l := Start(srv.URL, 3, func(*rand.Rand) string { return "/a" })
	<-enough
	l.Stop()
	all := l.Between(0, l.Now())
	if n := int64(len(all)); n < 97 || n > asked.Load() {
		t.Errorf("%d answers of %d requests by 3 connections", n, asked.Load())
	}
	if err := all.Failed(); err == nil || err.Error() == "" {
		t.Errorf("failed: %v, want one request", err)
	}
}

func TestAnswers(t *testing.T) {
	ms := time.Millisecond
	a := Answers{{End: 1100 * ms, Took: 10 * ms}, {End: 1900 * ms, Took: 20 * ms}, {End: 3000 * ms, Took: 90 * ms}}
	rates := a.Rates(time.Second, 3)
	if rates[0] != 2 || rates[1] != 0 || rates[2] != 1 {
		t.Errorf("rates %v", rates)
	}
	if lost := Lost(rates, 2); lost != 1.5 {
		t.Errorf("lost %v s", lost)
	}
	if gap := a.Gap(time.Second, 4*time.Second); gap != 1100*ms {
		t.Errorf("gap %v", gap)
	}
	if gap := a.Gap(0, 3*time.Second); gap != 1100*ms {
		t.Errorf("gap %v, want that before the first answer", gap)
	}
	if p := a.Took(0.5); p != 20*ms {
		t.Errorf("median %v", p)
	}
	if p := a.Took(1); p != 90*ms {
		t.Errorf("longest %v", p)
	}
	if (Answers{}).Took(1) != 0 || (Answers{}).Failed() != nil {
		t.Error("no answers")
	}
}

package cli

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/fleet/health"
)

// healthFlags say when a run ends by itself.
type healthFlags struct {
	url   string
	texts []string
	rules []*health.Rule
}

func (f *healthFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.url, "health", "", "`URL` that says how the service fares: metrics as OpenMetrics or Prometheus write them, a query of Prometheus' API, or any page")
	fs.StringArrayVar(&f.texts, "stop-when", nil, "with --health: end the run when this `RULE` holds, such as 'latency > 200ms', 'errors > 1%', 'http_p99{uri=\"/a\"} > 1.5x for 10s', 'rate(errors_total) > 5'; may be repeated")
}

func (f *healthFlags) check() error {
	f.rules = nil
	for _, text := range f.texts {
		r, err := health.ParseRule(text)
		if err != nil {
			return usage("--stop-when %w", err)
		}
		f.rules = append(f.rules, r)
	}
	switch u, err := url.Parse(f.url); {
	case f.url == "" && len(f.rules) > 0:
		return usage("--stop-when needs --health: where does the service say how it fares?")
	case f.url == "":
		return nil
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		return usage("--health %q: give an address that begins with http:// or https://", f.url)
	case len(f.rules) == 0:
		return usage("--health needs --stop-when: what is bad?")
	}
	return nil
}

const (
	healthEvery  = time.Second
	healthBefore = 4       // looks before the run
	mostHealth   = 8 << 20 // bytes of an answer
)

// watchHealth looks how a service fares, and delivers once why the run is to end. The error
// says that the service says nothing, or fares badly already. The channel is nil without
// rules.
func (a *app) watchHealth(ctx context.Context, f *healthFlags) (<-chan string, error) {
	if len(f.rules) == 0 {
		return nil, nil
	}
	client := &http.Client{Timeout: 5 * time.Second}
	m := health.NewMonitor(f.rules)
	tick := time.NewTicker(healthEvery)
	a.say("looking for %d s how %s fares", healthBefore-1, f.url)
	for i := range healthBefore {
		if i > 0 {
			select {
			case <-ctx.Done():
				tick.Stop()
				return nil, errInterrupted
			case <-tick.C:
			}
		}
		m.Before(lookAt(ctx, client, f.url))
	}
	if err := m.Begin(); err != nil {
		tick.Stop()
		return nil, err
	}
	out := make(chan string, 1)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if why := m.Look(lookAt(ctx, client, f.url)); why != "" && ctx.Err() == nil {
				out <- why
				return
			}
		}
	}()
	return out, nil
}

// lookAt asks a service how it fares.
func lookAt(ctx context.Context, client *http.Client, address string) health.Look {
	l := health.Look{Time: time.Now(), Failed: true}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return l
	}
	answer, err := client.Do(request)
	if err != nil {
		return l
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, mostHealth))
	l.Latency = time.Since(l.Time)
	l.Time = l.Time.Add(l.Latency)
	l.Failed = err != nil || answer.StatusCode >= http.StatusBadRequest
	l.Body = string(b)
	return l
}

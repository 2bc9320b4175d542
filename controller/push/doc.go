// Package push sends finished reports to servers that keep profiles: as OTLP
// profiles (OpenTelemetry protocol, signal "profiles", v1development of its
// version 1.11) and to Pyroscope (its push API, with pprof inside).
//
// Both forms are made of the report's pprof form, so that names, labels, values
// and periods are the same everywhere. What a server gets is a function of the
// report and the [Origin]; equal ones give equal bytes.
//
// A request is repeated when the server is away, overloaded (429) or broken (5xx).
// So a report may arrive twice; an OTLP profile has an id made of its content,
// by which a receiver may notice. Redirects are not followed: headers may hold a password.
//
// Errors of sending wrap [ErrRefused] if the server has got the report and not taken it, and
// those of the network or the context otherwise.
//
// A [Client] may be used by several goroutines at a time.
package push

import (
	"bytes"
	"fmt"
	"time"

	"github.com/google/pprof/profile"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// An Origin says what a report is of, where the report itself doesn't know.
type Origin struct {
	Service string            // name of the service, "orders"
	Host    string            // "" leaves it out
	Labels  map[string]string // further ones, "env": "prod"
	Ended   time.Time         // when the recording ended
}

// profileOf is the report's pprof form with its place in time.
func profileOf(r *export.Report, o Origin) (*profile.Profile, error) {
	var b bytes.Buffer
	if err := r.Pprof(&b); err != nil {
		return nil, err
	}
	p, err := profile.Parse(&b)
	if err != nil {
		return nil, fmt.Errorf("pprof: %w", err)
	}
	p.TimeNanos = o.Ended.Add(-r.Time).UnixNano()
	return p, nil
}

// Package health says when a service fares so badly that what is done to it is to end.
//
// A service's health is what it says at a URL: metrics in the text form of OpenMetrics or
// Prometheus, or the answer of Prometheus' query API, whose first value is called "value".
// Two figures are of the request itself: "latency", in seconds, and "errors", the share of
// the last ten requests that failed. A [Rule] compares a figure with a limit, or with what
// it was before.
//
// Errors about rules are plain texts for people. Values are for one goroutine at a time.
package health

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Rule is a limit that a figure must not be above, or below.
type Rule struct {
	Text   string
	name   string // of the metric; latency and errors are of the request
	labels map[string]string
	rate   bool    // its growth in a second
	below  bool    // bad if below
	limit  float64 // of the figure, or with times of what it was before
	times  bool
	hold   time.Duration // for so long
}

// usualHold is how long a figure must be bad, unless a rule says otherwise.
const usualHold = 3 * time.Second

var (
	ruleForm  = regexp.MustCompile(`^\s*(rate\()?\s*([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{[^}]*\})?\s*(\))?\s*([<>])\s*(\S+)(?:\s+for\s+(\S+))?\s*$`)
	labelForm = regexp.MustCompile(`^\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"([^"]*)"\s*$`)
)

// ParseRule reads a rule such as 'latency > 200ms', 'errors > 1%', 'http_p99{uri="/orders"} > 1.5x for 10s',
// 'rate(http_errors_total) > 5'. The error says what makes no sense.
func ParseRule(text string) (*Rule, error) {
	m := ruleForm.FindStringSubmatch(text)
	if m == nil || (m[1] == "") != (m[4] == "") {
		return nil, fmt.Errorf("%q: give FIGURE > LIMIT, such as 'latency > 200ms', 'errors > 1%%', 'rate(http_errors_total) > 1.5x for 10s'", text)
	}
	r := &Rule{Text: strings.TrimSpace(text), name: m[2], rate: m[1] != "", below: m[5] == "<", hold: usualHold, labels: map[string]string{}}
	for one := range strings.SplitSeq(strings.Trim(m[3], "{}"), ",") {
		if strings.TrimSpace(one) == "" {
			continue
		}
		l := labelForm.FindStringSubmatch(one)
		if l == nil {
			return nil, fmt.Errorf("%q: a label is NAME=\"VALUE\", not %s", text, one)
		}
		r.labels[l[1]] = l[2]
	}
	var err error
	switch limit := m[6]; {
	case strings.HasSuffix(limit, "x"):
		r.times = true
		r.limit, err = strconv.ParseFloat(strings.TrimSuffix(limit, "x"), 64)
	case strings.HasSuffix(limit, "%"):
		r.limit, err = strconv.ParseFloat(strings.TrimSuffix(limit, "%"), 64)
		r.limit /= 100
	default:
		if r.limit, err = strconv.ParseFloat(limit, 64); err != nil {
			var d time.Duration
			d, err = time.ParseDuration(limit)
			r.limit = d.Seconds()
		}
	}
	if err != nil || math.IsNaN(r.limit) || math.IsInf(r.limit, 0) || r.limit < 0 {
		return nil, fmt.Errorf("%q: the limit is a number, a time such as 200ms, a share such as 1%%, or such as 1.5x what it was before", text)
	}
	if m[7] != "" {
		if r.hold, err = time.ParseDuration(m[7]); err != nil || r.hold < 0 {
			return nil, fmt.Errorf("%q: after for comes a time such as 10s", text)
		}
	}
	return r, nil
}

// Compares tells whether the rule needs to know what was before.
func (r *Rule) Compares() bool { return r.times }

// A Look is one request for a service's health.
type Look struct {
	Time    time.Time
	Latency time.Duration
	Failed  bool   // no answer, or one that says that the service fails
	Body    string // of the answer
}

// figure is the rule's figure in an answer; ok is false if there is none.
func (r *Rule) figure(body string) (sum float64, ok bool) {
	if value, is := queryValue(body); is {
		return value, r.name == "value"
	}
	for line := range strings.Lines(body) {
		rest, found := strings.CutPrefix(line, r.name)
		if !found || rest == "" || rest[0] != '{' && rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		labels := ""
		if rest[0] == '{' {
			end := strings.LastIndexByte(rest, '}')
			if end < 0 {
				continue
			}
			labels, rest = rest[1:end], rest[end+1:]
		}
		fields := strings.Fields(rest)
		if len(fields) == 0 || !r.has(labels) {
			continue
		}
		if v, err := strconv.ParseFloat(fields[0], 64); err == nil && !math.IsNaN(v) {
			sum, ok = sum+v, true
		}
	}
	return sum, ok
}

// has tells whether a series' labels are those that the rule wants.
func (r *Rule) has(labels string) bool {
	for name, value := range r.labels {
		want := name + `="` + value + `"`
		i := strings.Index(labels, want)
		if i < 0 || i > 0 && labels[i-1] != ',' && labels[i-1] != ' ' {
			return false
		}
	}
	return true
}

// queryValue is the first value of an answer of Prometheus' query API.
func queryValue(body string) (float64, bool) {
	if !strings.HasPrefix(strings.TrimSpace(body), "{") {
		return 0, false
	}
	var a struct {
		Data struct {
			Result []struct{ Value []json.RawMessage }
		}
	}
	if json.Unmarshal([]byte(body), &a) != nil || len(a.Data.Result) == 0 || len(a.Data.Result[0].Value) != 2 {
		return 0, false
	}
	var text string
	if json.Unmarshal(a.Data.Result[0].Value[1], &text) != nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// A Monitor watches a service by rules.
type Monitor struct {
	states []*state
	recent []bool // requests that failed, of the last ones
	lost   time.Time
}

type state struct {
	*Rule
	last   float64 // of a rate
	lastAt time.Time
	before []float64
	usual  float64
	bad    time.Time // since when; zero if it is not
}

// remember is of how many requests the share of errors is.
const remember = 10

// MostLost is how long a service may say nothing.
const MostLost = 10 * time.Second

// NewMonitor watches by these rules.
func NewMonitor(rules []*Rule) *Monitor {
	m := &Monitor{}
	for _, r := range rules {
		m.states = append(m.states, &state{Rule: r})
	}
	return m
}

// Before takes a look before anything is done to the service: what is usual.
func (m *Monitor) Before(l Look) {
	for _, s := range m.states {
		if v, ok := m.value(s, l); ok {
			s.before = append(s.before, v)
		}
	}
}

// Begin says that looks are after something is done from now on. The error names a rule
// whose figure there is not, or that would hold already.
func (m *Monitor) Begin() error {
	for _, s := range m.states {
		if len(s.before) == 0 {
			return fmt.Errorf("the service says nothing of %s, which %q is about", s.name, s.Text)
		}
		sum := 0.0
		for _, v := range s.before {
			sum += v
		}
		s.usual = sum / float64(len(s.before))
		if last := s.before[len(s.before)-1]; s.isBad(s.usual) && s.isBad(last) {
			return fmt.Errorf("%q holds before anything is done: it is %s", s.Text, number(last))
		}
	}
	return nil
}

// value is a rule's figure at a look.
func (m *Monitor) value(s *state, l Look) (float64, bool) {
	switch s.name {
	case "latency":
		return l.Latency.Seconds(), !l.Failed
	case "errors":
		m.note(s, l)
		n := 0
		for _, failed := range m.recent {
			if failed {
				n++
			}
		}
		return float64(n) / float64(len(m.recent)), true
	}
	v, ok := s.figure(l.Body)
	if !ok || l.Failed || !s.rate {
		return v, ok && !l.Failed
	}
	last, at := s.last, s.lastAt
	s.last, s.lastAt = v, l.Time
	if at.IsZero() || !l.Time.After(at) || v < last { // the first, or the service began again
		return 0, false
	}
	return (v - last) / l.Time.Sub(at).Seconds(), true
}

// note remembers a request once, however many rules ask for errors.
func (m *Monitor) note(s *state, l Look) {
	for _, first := range m.states {
		if first.name == "errors" {
			if first != s {
				return
			}
			break
		}
	}
	m.recent = append(m.recent, l.Failed)
	m.recent = m.recent[max(0, len(m.recent)-remember):]
}

func (s *state) isBad(v float64) bool {
	limit := s.limit
	if s.times {
		limit *= s.usual
	}
	if s.below {
		return v < limit
	}
	return v > limit
}

// Look takes a look, and says why what is done is to end; "" if it is not.
func (m *Monitor) Look(l Look) string {
	if l.Failed && m.lost.IsZero() {
		m.lost = l.Time
	} else if !l.Failed {
		m.lost = time.Time{}
	}
	if !m.lost.IsZero() && l.Time.Sub(m.lost) >= MostLost {
		return fmt.Sprintf("the service has not said for %v how it is", MostLost)
	}
	for _, s := range m.states {
		v, ok := m.value(s, l)
		switch {
		case !ok:
			continue
		case !s.isBad(v):
			s.bad = time.Time{}
		case s.bad.IsZero():
			s.bad = l.Time
		}
		if !s.bad.IsZero() && l.Time.Sub(s.bad) >= s.hold {
			usual := ""
			if s.times {
				usual = ", before it was " + number(s.usual)
			}
			return fmt.Sprintf("%s: it is %s%s", s.Text, number(v), usual)
		}
	}
	return ""
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

package servers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// counts are how often the server has called its own methods, by pkg.Class.method.
type counts map[string]int64

// parseCounts reads lines of a method and a number.
func parseCounts(text string) (counts, error) {
	c := counts{}
	for line := range strings.Lines(text) {
		method, n, _ := strings.Cut(strings.TrimSpace(line), " ")
		calls, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		c[method] = calls
	}
	return c, nil
}

// A report is what the test reads of one of Rivulet's.
type report struct {
	Scheme       string
	Calls        int64
	Roots        int64 `json:"root_invocations"`
	Open         int64 `json:"open_invocations"`
	Exact        *bool
	Gaps         []gap
	Late         []struct{ Method string }
	Notes        []string
	Seconds      float64
	Methods      struct{ Instrumented, Called int }
	Redefinition struct {
		Batches, Classes int
		LongestWait      *float64 `json:"longest_wait_ms"`
		LongestPause     *float64 `json:"longest_pause_ms"`
		Pauses           *float64 `json:"total_pause_ms"`
		Analysis         *float64 `json:"analysis_ms"`
	}
	Incomplete, Uncounted, Lost int64
	Threads                     []struct {
		Suspended int64 `json:"suspended_ns"`
	}
	Flat []struct {
		Method string
		Calls  int64
	}
}

// A gap is a reason for which calls may be missing.
type gap struct {
	Reason string
	Count  int
	Where  []string
}

// wrong compares a report with what the server has counted of itself: each root
// invocation makes the same calls. Of those that had not ended a part may be there.
func (r *report) wrong(own counts, root string) (lines []string) {
	n := own[root]
	if n == 0 {
		return []string{"the server has counted no call of " + root}
	}
	calls := map[string]int64{}
	for _, f := range r.Flat {
		name, _, _ := strings.Cut(f.Method, "(")
		calls[name] += f.Calls
	}
	late := map[string]bool{} // these may lack calls, and no others
	for _, l := range r.Late {
		name, _, _ := strings.Cut(l.Method, "(")
		late[name] = true
	}
	for _, m := range slices.Sorted(maps.Keys(own)) {
		if own[m]%n != 0 {
			lines = append(lines, fmt.Sprintf("%s: the server counted %d calls in %d requests, which are not all alike", m, own[m], n))
			continue
		}
		per := own[m] / n
		if got := calls[m]; got > per*r.Roots || !late[m] && got < per*(r.Roots-r.Open) {
			lines = append(lines, fmt.Sprintf("%s: %d calls in %d root calls (%d open), expected %d", m, got, r.Roots, r.Open, per*r.Roots))
		}
	}
	return lines
}

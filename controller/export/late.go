package export

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Late is a method that was recorded from some moment on only: it was asleep when the
// recording began, or within reach of such a method (scheme.Watcher), or a thread's patience
// ran out before it had probes.
type Late struct {
	Method string
	After  time.Duration // from the beginning of the recording until its probes were in force
	Calls  int64         // invocations before, in the whole program; -1 where the JVM did not count them
}

type jsonLate struct {
	Method string  `json:"method"`
	After  float64 `json:"after_ms"`
	Calls  *int64  `json:"calls_before"`
}

// MarshalJSON writes unknown calls as null.
func (l Late) MarshalJSON() ([]byte, error) {
	j := jsonLate{Method: l.Method, After: milliseconds(l.After), Calls: &l.Calls}
	if l.Calls < 0 {
		j.Calls = nil
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Late) UnmarshalJSON(b []byte) error {
	var j jsonLate
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*l = Late{Method: j.Method, After: fromMS(j.After), Calls: -1}
	if j.Calls != nil {
		l.Calls = *j.Calls
	}
	return nil
}

// mostLate is how many late methods a text report names.
const mostLate = 10

// late lists methods that were recorded late, the first ones first.
func (t *textWriter) late() {
	all := slices.Clone(t.report.Late)
	slices.SortStableFunc(all, func(a, b Late) int { return cmp.Compare(a.After, b.After) })
	for _, l := range all[:min(len(all), mostLate)] {
		t.printf("  late: %s, after %s", Clean(l.Method), Duration(int64(l.After)))
		if l.Calls > 0 {
			t.printf(" and %s in the whole program", Plural(l.Calls, "call", "calls"))
		}
		t.text("\n")
	}
	if more := len(all) - mostLate; more > 0 {
		t.printf("  late: %s more\n", Count(int64(more)))
	}
}

// mergeLate puts together what several reports have; nil where one of them does not say.
func mergeLate(reports []*Report) []Late {
	out := []Late{}
	at := map[string]int{}
	for _, r := range reports {
		if r.Late == nil {
			return nil
		}
		for _, l := range r.Late {
			i, ok := at[l.Method]
			if !ok {
				at[l.Method] = len(out)
				out = append(out, l)
				continue
			}
			out[i].After, out[i].Calls = max(out[i].After, l.After), max(out[i].Calls, l.Calls)
		}
	}
	return out
}

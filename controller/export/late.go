package export

import (
	"encoding/json"
	"time"
)

// Late is a method that was recorded from some moment on only: it was asleep when the
// recording began, or within reach of such a method (scheme.Watcher).
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

package session

import (
	"errors"
	"testing"
	"time"
)

func TestAgentPrefix(t *testing.T) {
	for class, want := range map[string]string{
		"io.opentelemetry.javaagent.OpenTelemetryAgent": "io/opentelemetry/javaagent/",
		"org.jacoco.agent.rt.internal_aeaf9ab.PreMain":  "org/jacoco/agent/rt/",
		"rivulet.prepared.Prepared":                     "rivulet/prepared/",
		"agent.Main":                                    "",
		"Main":                                          "",
		"":                                              "",
	} {
		if got := agentPrefix(class); got != want {
			t.Errorf("%s: %q, want %q", class, got, want)
		}
	}
}

// TestSuited is the rule by which Scheme D is taken where that is left open.
func TestSuited(t *testing.T) {
	for _, test := range []struct {
		active bool
		calls  int64
		large  bool
		want   bool
	}{
		{false, 0, false, false},
		{false, 0, true, false},
		{true, FewCalls - 1, false, false},
		{true, FewCalls - 1, true, true},
		{true, FewCalls, false, true},
	} {
		err := suited(test.active, test.calls, test.large)
		if (err == nil) != test.want || errors.Is(err, errIdle) == test.active {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestHurried has batches as large as a pause allows: large where it is mostly a fixed time.
func TestHurried(t *testing.T) {
	for _, test := range []struct {
		java         int
		fixed, class time.Duration
		least, most  int // classes in a batch in the end
	}{
		{21, 80 * time.Millisecond, 20 * time.Microsecond, mostBatch, mostBatch},
		{21, 5 * time.Millisecond, 600 * time.Microsecond, 150, 250},
		{11, 2 * time.Millisecond, 1600 * time.Microsecond, 50, 80},
	} {
		p := hurried(test.java)
		for i := range 40 {
			n := p.size
			if i%3 == 2 {
				n = max(1, n/3) // what was left of a plan
			}
			p.note(n, test.fixed+time.Duration(n)*test.class)
		}
		if p.size < test.least || p.size > test.most {
			t.Errorf("%+v: %d classes", test, p.size)
		}
	}
}

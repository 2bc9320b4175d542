package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
)

// TestProgressLine names each phase, with how much of it is done and the time to go where
// that is known.
func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		p    session.Progress
		want string
	}{
		{session.Progress{Phase: "reading class files", Done: 500, Of: 2000}, "reading class files 4.0 s  500 of 2,000 classes, 12.0 s to go"},
		{session.Progress{Phase: "analysing"}, "analysing 4.0 s"},
		{session.Progress{Phase: "instrumenting", Of: 1200, Classes: 9, Instrumented: 3}, "instrumenting 4.0 s  0 of 1,200 classes"},
		{session.Progress{Phase: "instrumenting", Done: 1200, Of: 1200}, "instrumenting 4.0 s  1,200 of 1,200 classes"},
		{session.Progress{Phase: "recording", Classes: 9, Instrumented: 3, Called: 2, Calls: 7}, "recording 4.0 s  9 classes, 3 methods instrumented, 2 called, 7 calls (5/s)"},
	} {
		if got := progressLine(c.p, 4*time.Second, 5); got != c.want {
			t.Errorf("%+v:\n got %q\nwant %q", c.p, got, c.want)
		}
	}
}

// TestMeterNext looks again soon although a session that is at work took long to answer.
func TestMeterNext(t *testing.T) {
	for _, c := range []struct{ took, want time.Duration }{
		{time.Millisecond, meterLook}, {60 * time.Millisecond, 1200 * time.Millisecond}, {time.Second, meterPause},
	} {
		if got := meterNext(meterLook, c.took); got != c.want {
			t.Errorf("after %v: in %v, expected %v", c.took, got, c.want)
		}
	}
}

// TestMeterStages writes a line for each phase that lasts into a file.
func TestMeterStages(t *testing.T) {
	var out strings.Builder
	p := session.Progress{Phase: "reading class files", Done: 1, Of: 3, Since: time.Now().Add(-2 * time.Second)}
	m := &meter{w: &out, source: func() session.Progress { return p }, lastAt: time.Now()}
	m.show()
	p = session.Progress{Phase: "analysing", Since: time.Now()} // too short to be told
	m.show()
	p = session.Progress{Phase: "instrumenting", Done: 10, Of: 40, Since: time.Now().Add(-3 * time.Second)}
	m.show()
	m.show() // not again so soon
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "rivulet: reading class files 2.") || !strings.HasSuffix(lines[0], "1 of 3 classes, 4.0 s to go") ||
		!strings.HasPrefix(lines[1], "rivulet: instrumenting 3.") || !strings.HasSuffix(lines[1], "10 of 40 classes, 9.0 s to go") {
		t.Errorf("lines %q", lines)
	}
}

package session_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestSlowTimes wants the slowest root calls in a recording that did not ask for them: which
// they are, on which thread and how they ended.
func TestSlowTimes(t *testing.T) {
	j := jvmtest.Any(t)
	dir := sources(t, "Slow")
	for _, off := range []bool{false, true} {
		p := program(t, j, dir, "Slow", nil, "60")
		s := attached(t, p)
		rec := session.Recording{Roots: []string{"t.Slow.work"}, Natives: session.NativesOff}
		if off {
			rec.RootTimes = "off"
		}
		start(t, s, rec)
		p.Send("go")
		p.WaitLine("OK")
		r := stopped(t, s)
		if off {
			if r.Slowest != nil || r.History.Times != nil || !strings.Contains(r.History.Why, "off") {
				t.Errorf("not wanted, but there: %+v, %+v", r.Slowest, r.History)
			}
			continue
		}
		if r.Slowest == nil || !r.Slowest.TimesOnly || len(r.Slowest.Invocations) < 5 || len(r.Slowest.Invocations) > r.Slowest.Asked || r.Slowest.Of != r.History.Times.Count {
			t.Fatalf("%+v", r.Slowest)
		}
		var got []string
		found := map[string]bool{}
		last := int64(time.Hour)
		for _, i := range r.Slowest.Invocations {
			if i.Took > last || i.Took < 0 || i.Start < 0 || time.Duration(i.Start+i.Took) > r.Time+time.Second {
				t.Errorf("%+v, after one that took %d", i, last)
			}
			last = i.Took
			if m := r.Method(i.Tree().Method); m.Name != "t.Slow.work(I)V" {
				t.Errorf("root %q", m.Name)
			}
			got = append(got, fmt.Sprintf("%s %v %v", i.Thread.Name, time.Duration(i.Took), i.Thrown))
			for _, limit := range []time.Duration{300 * time.Millisecond, 350 * time.Millisecond} {
				if time.Duration(i.Took) >= limit {
					found[fmt.Sprintf("%s %v %v", i.Thread.Name, limit, i.Thrown)] = true
				}
			}
		}
		for _, want := range []string{"a 350ms false", "b 350ms false", "a 300ms true", "b 300ms true"} { // it sleeps so long at least
			if !found[want] {
				t.Errorf("no %q in %s", want, got)
			}
		}
		back := saved(t, r)
		if !back.Slowest.TimesOnly || len(back.Slowest.Invocations) != len(r.Slowest.Invocations) {
			t.Errorf("as read again: %+v", back.Slowest)
		}
	}
}

// saved is a report as it is read from its JSON form.
func saved(t *testing.T, r *export.Report) *export.Report {
	t.Helper()
	var b strings.Builder
	if err := r.JSON(&b, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	back, err := export.ReadJSON(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

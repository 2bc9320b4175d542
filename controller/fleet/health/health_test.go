package health_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/fleet/health"
)

func rules(t *testing.T, texts ...string) (out []*health.Rule) {
	t.Helper()
	for _, text := range texts {
		r, err := health.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func TestParseRule(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "latency", "latency > x", "latency >", "rate(a > 1", "a) > 1", "a{b} > 1", "a > -1", "a > 1 for x", "a > NaN", "a == 1"} {
		if _, err := health.ParseRule(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// TestLook goes through looks a second apart: after how many a rule ends what is done.
func TestLook(t *testing.T) {
	t.Parallel()
	ok := func(body string) health.Look { return health.Look{Latency: 10 * time.Millisecond, Body: body} }
	metrics := "# TYPE p99 gauge\np99{uri=\"/a\",q=\"1\"} 0.1\np99{uri=\"/b\"} 5\nerrs_total 7\nerrs_total_other 1000\n"
	for name, c := range map[string]struct {
		rule    string
		before  health.Look
		after   []health.Look
		want    int // looks until it ends; -1 never
		because string
	}{
		"latency":          {"latency > 200ms", ok(""), []health.Look{{Latency: time.Second}}, 4, "it is 1"},
		"latency is fine":  {"latency > 200ms", ok(""), []health.Look{ok("")}, -1, ""},
		"at once":          {"latency > 200ms for 0s", ok(""), []health.Look{{Latency: time.Second}}, 1, ""},
		"a moment only":    {"latency > 200ms for 2s", ok(""), []health.Look{{Latency: time.Second}, ok("")}, -1, ""},
		"errors":           {"errors > 20% for 0s", ok(""), []health.Look{{Failed: true}}, 1, "it is 0.5"},
		"labels":           {`p99{uri="/a"} > 0.2 for 0s`, ok(metrics), []health.Look{ok("p99{uri=\"/a\"} 0.15\np99{uri=\"/b\"} 9"), ok("p99{uri=\"/a\"} 0.25")}, 2, "0.25"},
		"compared":         {`p99{uri="/a"} > 1.5x for 0s`, ok(metrics), []health.Look{ok("p99{uri=\"/a\"} 0.14"), ok("p99{uri=\"/a\"} 0.16")}, 2, "before it was 0.1"},
		"rate":             {"rate(errs_total) > 5 for 0s", ok(metrics), []health.Look{ok("errs_total 12"), ok("errs_total 15"), ok("errs_total 25")}, 3, "it is 10"},
		"below":            {"up < 1 for 0s", ok("up 1"), []health.Look{ok("up 0")}, 1, ""},
		"prometheus":       {"value > 3 for 0s", ok(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1.5,"2"]}]}}`), []health.Look{ok(`{"data":{"result":[{"value":[1.5,"4"]}]}}`)}, 1, "it is 4"},
		"says nothing":     {"latency > 200ms", ok(""), []health.Look{{Failed: true}}, 11, "has not said"},
		"a metric is lost": {"up < 1 for 0s", ok("up 1"), []health.Look{ok("")}, -1, ""},
	} {
		m := health.NewMonitor(rules(t, c.rule))
		now := time.Now()
		at := func(l health.Look) health.Look {
			now = now.Add(time.Second)
			l.Time = now
			return l
		}
		m.Before(at(c.before))
		if strings.HasPrefix(c.rule, "rate") { // takes two
			next := at(c.before)
			m.Before(next)
		}
		if err := m.Begin(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, why := -1, ""
		for i := range 20 {
			if why = m.Look(at(c.after[min(i, len(c.after)-1)])); why != "" {
				got = i + 1
				break
			}
		}
		if got != c.want || !strings.Contains(why, c.because) {
			t.Errorf("%s: ended at %d, %q, not at %d", name, got, why, c.want)
		}
	}
	m := health.NewMonitor(rules(t, "latency > 1ms"))
	m.Before(ok(""))
	if err := m.Begin(); err == nil || !strings.Contains(err.Error(), "before anything is done") {
		t.Error(err)
	}
	m = health.NewMonitor(rules(t, "nothing > 1"))
	m.Before(ok(metrics))
	if err := m.Begin(); err == nil || !strings.Contains(err.Error(), "says nothing of nothing") {
		t.Error(err)
	}
}

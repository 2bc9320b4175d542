package export_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// schemeRun makes a scheme's run of 100 root invocations.
func schemeRun(name string, root, stopped time.Duration, instrumented int) export.SchemeRun {
	return export.SchemeRun{
		Scheme: name, Armed: time.Second, Time: 10 * time.Second, Ended: "stopped", Calls: 1000, Invocations: 100, Exact: true,
		Instrumented: instrumented, Called: 50, Measured: 100*root - stopped, Suspended: stopped,
		Redefinition: export.Redefinition{Batches: 3, Classes: 9, Time: time.Second},
	}
}

const ms = time.Millisecond

func TestAdvice(t *testing.T) {
	bare := &export.BareRoot{Invocations: 100, Total: 100 * 10 * ms}
	none := schemeRun("B", 12*ms, 0, 60)
	none.Invocations = 0
	lossy := schemeRun("C", 12*ms, 0, 60)
	lossy.Exact = false
	wait := 900 * ms
	waits := schemeRun("B", 10*ms, 100*ms, 60)
	waits.Redefinition.LongestWait = &wait
	for _, test := range []struct {
		name string
		runs []export.SchemeRun
		want []string // what the sentence has, in order
	}{
		{"nothing", nil, []string{"Nothing was compared."}},
		{"never called", []export.SchemeRun{none}, []string{"No advice: B recorded no invocation."}},
		{"overhead", []export.SchemeRun{schemeRun("A", 20*ms, 0, 60), schemeRun("B", 30*ms, 0, 60), schemeRun("C", 12*ms, 0, 60)}, []string{"Use C: with C it slows the program least", "A 2.00 times, B 3.00 times, C 1.20 times"}},
		{"tie, then stops", []export.SchemeRun{schemeRun("A", 12*ms, 30*ms, 60), schemeRun("B", 12*ms, 200*ms, 60)}, []string{"Use A: A and B slow the program about equally", "with A the target's threads are stopped for the shortest time", "A 30.0 ms, B 200 ms"}},
		{"tie, then useless", []export.SchemeRun{schemeRun("A", 12*ms, 0, 5000), schemeRun("B", 12*ms, 0, 60)}, []string{"Use B:", "fewest probes are in methods that are never called (A 4,950, B 10)"}},
		{"all alike", []export.SchemeRun{schemeRun("A", 12*ms, 0, 60), schemeRun("B", 12*ms, 0, 60)}, []string{"Use B: ", "between A and B the figures don't decide."}},
		{"lossy", []export.SchemeRun{schemeRun("A", 12*ms, 0, 60), lossy}, []string{"Use A: C did not record every call."}},
		{"single", []export.SchemeRun{schemeRun("A", 12*ms, 0, 60)}, []string{"Use A, the only one that was tried."}},
		{"a long wait", []export.SchemeRun{schemeRun("A", 30*ms, 0, 60), waits}, []string{"Use B", "If no thread may stop for long, use A: the longest stop of a thread was 0 ns, with B 900 ms."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &export.Comparison{Root: bare, Runs: test.runs}
			rest := c.Advice()
			for _, want := range test.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("no %q in %q", want, c.Advice())
				}
				rest = after
			}
		})
	}
}

// TestComparison reads what was written, and wants only figures in the text that
// were measured.
func TestComparison(t *testing.T) {
	whole := 3 * time.Second
	c := &export.Comparison{
		Target: export.Target{PID: 4711, Java: "17.0.15", Main: "shop.Main"}, Clock: "tick", Roots: []string{"shop.Main.loop()V"},
		Notes: []string{"A note."}, Root: &export.BareRoot{Invocations: 100, Total: time.Second},
		Runs: []export.SchemeRun{schemeRun("A", 20*ms, 0, 60), schemeRun("C", 12*ms, 30*ms, 70)},
	}
	var b bytes.Buffer
	if err := c.JSON(&b); err != nil {
		t.Fatal(err)
	}
	got, err := export.ReadComparison(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	text := func() string {
		var s strings.Builder
		if err := c.Text(&s, export.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		return s.String()
	}
	live := text()
	for _, want := range []string{"20.0 ms", "100.0 %", "calls a second", "note: A note."} {
		if !strings.Contains(live, want) {
			t.Errorf("no %q in\n%s", want, live)
		}
	}
	for _, none := range []string{"longest pause", "charged", "time of the program", "\x1b"} {
		if strings.Contains(live, none) {
			t.Errorf("%q in\n%s", none, live)
		}
	}
	c.Command, c.Whole, c.Runs[0].Whole = []string{"java", "shop.Main"}, &whole, &whole
	if s := text(); !strings.Contains(s, "time of the program") || strings.Contains(s, "calls a second") || !strings.Contains(s, "33.3 %") {
		t.Error(s)
	}
	for _, bad := range []string{"", "{}", `{"schema":1,"kind":"timing"}`, `{"schema":2,"kind":"comparison"}`} {
		if c, err := export.ReadComparison(strings.NewReader(bad)); err == nil || c != nil {
			t.Errorf("%q: %v, %v", bad, c, err)
		}
	}
}

package session_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

var lambdaNumber = regexp.MustCompile(`(lambda\$\w+)\$\d+`)

// edges are the calls in a report's trees by the methods of node and parent, with
// "~" before what was handed over; lambdas lack their numbers. Constructors and
// natives are left out.
func edges(r *export.Report, roots []*cct.Node) map[string]int64 {
	out := map[string]int64{}
	name := func(n *cct.Node) string {
		text := lambdaNumber.ReplaceAllString(short(r, n.Method), "$1")
		if n.Async() != nil {
			text = "~" + text
		}
		return text
	}
	for n := range cct.All(cct.Merge(roots)) {
		for _, c := range n.Children {
			if to := name(c); !strings.HasSuffix(to, "<init>") && !strings.HasPrefix(to, "java.lang.Thread.") {
				out[name(n)+" > "+to] += c.Calls
			}
		}
	}
	return out
}

// wanted are the lines "// WANT how: edge calls" of a source file.
func wanted(t *testing.T, file, how string) map[string]int64 {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		if edge, ok := strings.CutPrefix(strings.TrimSpace(line), "// WANT "+how+": "); ok {
			at := strings.LastIndexByte(edge, ' ')
			if out[edge[:at]], err = strconv.ParseInt(edge[at+1:], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// TestFollowOpened has a class that tasks go through opened, too.
func TestFollowOpened(t *testing.T) {
	t.Parallel()
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, sources(t, "Follow"), "Follow", nil, "timer", "4")
		s := attached(t, p)
		rec := session.Recording{Roots: []string{"t.Follow.root"}, Follow: true, UntilCalls: 1}
		if err := rec.Filter.Add("java.util.Timer", true); err != nil {
			t.Fatal(err)
		}
		start(t, s, rec)
		p.Send("go")
		p.WaitLine("OK")
		r := finish(t, s)
		got := edges(r, r.Tree.Roots())
		for _, edge := range []string{"Follow.timer > java.util.Timer.schedule", "java.util.Timer.schedule > java.util.Timer.sched"} {
			if got[edge] != 2 {
				t.Errorf("%s: %d calls, want 2", edge, got[edge])
			}
		}
		if n := got["java.util.Timer.sched > ~java.util.TimerThread.mainLoop"]; n != 5 || len(r.Notes) > 0 {
			t.Errorf("%d executions, want 5; notes %q; %v", n, r.Notes, got)
		}
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}, 8, 17, 25)
}

// TestFollow hands tasks over by each mechanism: every execution is below the
// method that handed it over, as often as it was; and the program sees its own
// tasks and nothing else.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Follow")
	mechanisms := []string{"thread", "pool", "scheduled", "future", "forkjoin", "timer", "oldtimer", "nested", "seen"}
	trees := map[int]int{17: 100, 25: 100} // how many slowest root calls have trees, by JDK
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		hows := mechanisms
		if j.Version >= 21 {
			hows = append(hows[:len(hows):len(hows)], "virtual")
		}
		p := program(t, j, dir, "Follow", []string{"-Djava.util.concurrent.ForkJoinPool.common.parallelism=3"}, strings.Join(hows, ","), "8")
		s := attached(t, p)
		start(t, s, session.Recording{
			Roots: []string{"t.Follow.root"}, Follow: true, UntilCalls: int64(len(hows)),
			Slowest: trees[j.Version], Timeline: map[int]int{11: 1 << 16, 17: 1 << 16}[j.Version],
		})
		p.Send("go")
		p.WaitLine("OK")
		r := finish(t, s)
		want := map[string]int64{}
		for _, how := range hows {
			for edge, n := range wanted(t, "testdata/Follow.java", how) {
				want[edge] += n
			}
		}
		same(t, edges(r, r.Tree.Roots()), want)
		if k := r.Tree; k.Unfollowed+k.Detached+k.Bad+k.Lost > 0 || len(r.Notes) > 0 {
			t.Errorf("%d unfollowed, %d detached, %d damaged, %d lost; notes %q", k.Unfollowed, k.Detached, k.Bad, k.Lost, r.Notes)
		}
		if e := r.Events; e != nil && (e.Differ == nil || *e.Differ != 0 || e.Bad != 0) {
			t.Errorf("events and tree differ: %+v", e)
		}
		if trees[j.Version] > 0 { // all of them
			var roots []*cct.Node
			for _, i := range r.Slowest.Invocations {
				roots = append(roots, i.Thread.Roots...)
			}
			same(t, edges(r, roots), want)
		}
		if r.Timeline != nil {
			checkHops(t, r, want)
		}
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}, 8, 11, 17, 21, 25)
}

// checkHops wants a hop on the timeline for each execution, and those with both
// ends in slices in the trace.
func checkHops(t *testing.T, r *export.Report, want map[string]int64) {
	t.Helper()
	got, executions := map[string]int64{}, map[string]int64{}
	name := func(method int32) string { return lambdaNumber.ReplaceAllString(short(r, method), "$1") }
	long := 0
	for _, h := range r.Timeline.Hops {
		got[name(h.By)+" > ~"+name(h.Method)]++
		if h.Took > 10_000 { // a tick came meanwhile
			long++
		}
	}
	for edge, n := range want {
		if strings.Contains(edge, "> ~") {
			executions[edge] = n
		}
	}
	same(t, got, executions)
	var trace strings.Builder
	if err := r.Trace(&trace); err != nil {
		t.Fatal(err)
	}
	if _, names := readTrace(t, trace.String()); names["task"] == 0 || names["task"] < long {
		t.Errorf("%d tasks in the trace of %d that took a tick", names["task"], long)
	}
	for id, th := range r.Timeline.Threads {
		if th.Name == "" && !th.Virtual {
			t.Errorf("thread %d has no name", id)
		}
	}
}

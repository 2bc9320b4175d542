package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// tried is a comparison of so many of A, B and C.
func tried(n int) *export.Comparison {
	c := &export.Comparison{
		Target: export.Target{PID: 4711, Main: "shop.Main"}, Clock: "tick", Roots: []string{"shop.Price.of(I)J"},
		Root: &export.BareRoot{Invocations: 100, Total: 100 * time.Millisecond},
	}
	for i := range n {
		c.Runs = append(c.Runs, export.SchemeRun{
			Scheme: string(rune('A' + i)), Time: time.Second, Calls: 600, Invocations: 100, Exact: true, Instrumented: 9 + 90*((i+1)%3), Called: 6,
			Measured: 120 * time.Millisecond,
		})
	}
	return c
}

func (s *Server) phase(t *testing.T, want string) live.State {
	t.Helper()
	for over := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		state := s.live.State()
		if state.Phase == want {
			return state
		}
		if time.Now().After(over) {
			t.Fatalf("still %s, not %s", state.Phase, want)
		}
	}
}

// TestCompareSchemes compares by REST: what is told on the way is part of the
// state, and the result is kept, saved and opened again.
func TestCompareSchemes(t *testing.T) {
	f := fakejvm.New()
	goOn := make(chan struct{})
	var asked live.Trial
	f.Comparing = func(_ context.Context, tr live.Trial, tell live.TrialProgress) (*export.Comparison, error) {
		asked = tr
		tell.Step("timing the roots alone")
		tell.Step("timing the roots alone")
		tell.Partial(tried(0))
		tell.Step("recording by scheme A")
		<-goOn
		return tried(3), nil
	}
	dir := t.TempDir()
	s, end := keepingBy(t, f, dir)
	for _, step := range []struct {
		body string
		code int
		has  string
	}{
		{`{"roots":["a.B.c"]}`, 409, "can't compare schemes while idle"},
		{`{"roots":[]}`, 400, "no root given"},
		{`{"roots":["a.B.c"],"schemes":["A","E"]}`, 400, "there are A, B, C and D"},
		{`{"roots":["a.B.c"],"schemes":["A","A"]}`, 400, "give each once"},
		{`{"roots":["a.B.c"],"seconds":-1}`, 400, "give a number up to 3600"},
		{`{"roots":["a.B.c"],"slowest":5}`, 400, "does not record that"},
		{`{"roots":["a.B.c"],"colour":5}`, 400, "unknown field"},
	} {
		if code, text := s.call(t, "compare", step.body); code != step.code || !strings.Contains(text, step.has) {
			t.Errorf("%s: %d %s", step.body, code, text)
		}
	}
	s.call(t, "attach", `{"pid":4711}`)
	answer := make(chan string)
	go func() {
		_, text := s.call(t, "compare", `{"roots":["shop.Price.of"],"filter":["--exclude shop.log.**"],"clock":"precise"}`)
		answer <- text
	}()
	var now *live.TrialState
	for over := time.Now().Add(5 * time.Minute); now == nil || now.Step < 3; now = s.live.State().Comparing {
		if time.Now().After(over) {
			t.Fatalf("%+v", now)
		}
		time.Sleep(time.Millisecond)
	}
	if now.Steps != 6 || now.Seconds != 10 || now.Doing != "recording by scheme A" || !strings.Contains(string(now.Sofar), `"mean_ns": 1000000`) {
		t.Errorf("on the way: %+v", now)
	}
	for _, path := range []string{"start", "attach", "detach", "compare"} {
		body := map[string]string{"start": `{"roots":["a.B.c"]}`, "attach": `{"pid":1}`, "compare": `{"roots":["a.B.c"]}`}[path]
		if body == "" {
			body = "{}"
		}
		if code, text := s.call(t, path, body); code != 409 || !strings.Contains(text, "under way") {
			t.Errorf("%s meanwhile: %d %s", path, code, text)
		}
	}
	close(goOn)
	var got struct {
		Snapshot   int64
		Comparison struct {
			Kind, Advice string
			Schemes      []struct{ Scheme string }
		}
	}
	if text := <-answer; json.Unmarshal([]byte(text), &got) != nil || got.Snapshot != 1 || got.Comparison.Kind != "comparison" || len(got.Comparison.Schemes) != 3 ||
		!strings.HasPrefix(got.Comparison.Advice, "Use C") {
		t.Error("the answer:", text)
	}
	if asked.Recording.Clock != "precise" || asked.Recording.Filter.Strings()[0] != "--exclude shop.log.**" || f.Steps() != "[attach close compare 4711 [A B C D]]" {
		t.Errorf("%+v, %s", asked, f.Steps())
	}
	state := s.phase(t, live.Stopped)
	if k := state.Snapshots[0]; state.Compared != 1 || state.Comparing != nil || k.Kind != "comparison" || k.Scheme != "A B C" || k.Calls != 1800 || k.File == "" {
		t.Errorf("%+v", state)
	}
	// The next recording begins from there.
	if code, text := s.call(t, "start", `{"roots":["a.B.c"]}`); code != 200 {
		t.Error(code, text)
	}
	if code, text := s.call(t, "compare", `{"roots":["a.B.c"]}`); code != 409 || !strings.Contains(text, "can't compare schemes while recording") {
		t.Error(code, text)
	}
	s.call(t, "stop", "{}")
	if code, text := s.call(t, "compare?before=1&after=2", ""); code != 400 || !strings.Contains(text, "no recording") {
		t.Error(code, text)
	}
	_, saved := s.call(t, "report?source=1", "")
	if code, text := s.call(t, "report?source=1&format=text", ""); code != 200 || !strings.Contains(text, "methods instrumented") {
		t.Error(code, text)
	}
	if code, text := s.call(t, "report?source=1&format=pprof", ""); code != 400 || !strings.Contains(text, "json and text") {
		t.Error(code, text)
	}
	s.call(t, "rename", `{"id":1,"name":"which one"}`)
	end()

	s, end = keepingBy(t, f, dir)
	defer end()
	list := s.live.State().Snapshots
	at := slices.IndexFunc(list, func(k live.SnapshotInfo) bool { return k.Kind == "comparison" }) // both may be of one millisecond
	if len(list) != 2 || at < 0 || list[at].Name != "which one" {
		t.Fatalf("after a restart: %+v", list)
	}
	id := list[at].ID
	if code, text := s.call(t, fmt.Sprintf("report?source=%d", id), ""); code != 200 || text != saved {
		t.Errorf("%d: %s, it was %s", code, text, saved)
	}
	if view := s.live.View(&live.Query{Source: id}); view.Frame != 0 {
		t.Error("a comparison has a tree")
	}
	req, err := http.NewRequest("POST", "http://"+s.Address()+"/api/open?name=again.json", strings.NewReader(saved))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var opened live.SnapshotInfo
	if err := json.NewDecoder(resp.Body).Decode(&opened); err != nil || opened.Kind != "comparison" || opened.ID != 3 || opened.File != "" {
		t.Errorf("%+v, %v", opened, err)
	}
	if code, text := s.call(t, "report?source=3", ""); code != 200 || text != saved {
		t.Errorf("opened: %d %s", code, text)
	}
	if code, _ := s.call(t, "delete", `{"id":1}`); code != 200 {
		t.Error(code)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) != 1 {
		t.Errorf("files %q, %v", files, err)
	}
}

// TestCompareEnds ends comparisons in all the ways there are: each leaves the
// session as it can be used, and keeps what there is.
func TestCompareEnds(t *testing.T) {
	untilEnded := func(n int) func(context.Context, live.Trial, live.TrialProgress) (*export.Comparison, error) {
		return func(ctx context.Context, _ live.Trial, tell live.TrialProgress) (*export.Comparison, error) {
			tell.Step("recording")
			<-ctx.Done()
			if n == 0 {
				return nil, ctx.Err()
			}
			return tried(n), ctx.Err()
		}
	}
	fails := func(c *export.Comparison, err error) func(context.Context, live.Trial, live.TrialProgress) (*export.Comparison, error) {
		return func(context.Context, live.Trial, live.TrialProgress) (*export.Comparison, error) { return c, err }
	}
	for _, test := range []struct {
		name    string
		compare func(context.Context, live.Trial, live.TrialProgress) (*export.Comparison, error)
		stop    bool
		code    int
		has     string
		phase   string
		kept    int
	}{
		{"a root that is none", fails(nil, fmt.Errorf("%w: no class a.B", live.ErrInput)), false, 422, "no class a.B", live.Attached, 0},
		{"another session", fails(nil, errors.New("another Rivulet session is active in this JVM")), false, 422, "another Rivulet session", live.Attached, 0},
		{"in the middle", fails(tried(2), errors.New("scheme C: the target has exited")), false, 422, "the target has exited", live.Stopped, 1},
		{"ended at once", untilEnded(0), true, 200, `"snapshot":0`, live.Attached, 0},
		{"ended after a scheme", untilEnded(1), true, 200, "It was ended before all schemes had been tried.", live.Stopped, 1},
	} {
		f := fakejvm.New()
		f.Comparing = test.compare
		s := running(t, f)
		s.call(t, "attach", `{"pid":4711}`)
		type answer struct {
			code int
			text string
		}
		got := make(chan answer)
		go func() {
			code, text := s.call(t, "compare", `{"roots":["a.B.c"]}`)
			got <- answer{code, text}
		}()
		if test.stop {
			s.phase(t, live.Comparing)
			if code, text := s.call(t, "stop", "{}"); code != 200 || strings.Contains(text, `"phase":"comparing"`) {
				t.Errorf("%s: stop: %d %s", test.name, code, text)
			}
		}
		a := <-got
		state := s.live.State()
		if a.code != test.code || !strings.Contains(a.text, test.has) || state.Phase != test.phase || len(state.Snapshots) != test.kept {
			t.Errorf("%s: %d %s; then %s with %d snapshots", test.name, a.code, a.text, state.Phase, len(state.Snapshots))
		}
	}
	// What was recorded before can still be looked at.
	f := fakejvm.New()
	f.Comparing = fails(nil, errors.New("another Rivulet session is active in this JVM"))
	s := running(t, f)
	s.call(t, "attach", `{"pid":4711}`)
	s.call(t, "start", `{"roots":["a.B.c"]}`)
	s.call(t, "stop", "{}")
	if code, text := s.call(t, "compare", `{"roots":["x.Y.z"]}`); code != 422 || !strings.Contains(text, "another Rivulet session") {
		t.Error(code, text)
	}
	if state := s.live.State(); state.Phase != live.Stopped || state.Figures == nil || state.Recording.Roots[0] != "a.B.c" {
		t.Errorf("%+v", state)
	}
	// A server that ends leaves the target.
	f = fakejvm.New()
	f.Comparing = untilEnded(0)
	s, end := keepingBy(t, f, "")
	s.call(t, "attach", `{"pid":4711}`)
	begun := make(chan struct{})
	go func() {
		close(begun)
		_, _ = s.live.CompareSchemes(context.Background(), live.Trial{Recording: spec.Recording{Roots: []string{"a.B.c"}}, Schemes: []string{"B"}})
	}()
	<-begun
	s.phase(t, live.Comparing)
	end()
	if f.Steps() != "[attach close compare 4711 [B]]" {
		t.Error(f.Steps())
	}
}

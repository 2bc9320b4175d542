package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// TestTimeline asks for parts of a timeline, live, of the last recording and of
// a snapshot, and for what there is none of.
func TestTimeline(t *testing.T) {
	get := func(s *Server, path string, to any) int {
		t.Helper()
		req, err := http.NewRequest("GET", "http://"+s.Address()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.secret)
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if err := json.NewDecoder(r.Body).Decode(to); err != nil {
			t.Fatal(err)
		}
		return r.StatusCode
	}
	for _, has := range []bool{true, false} {
		f := fakejvm.New()
		b := live.Backend(f)
		if has {
			b = fakejvm.Timed{JVM: f}
		}
		s, err := Listen("127.0.0.1:0", Config{Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ran := make(chan error, 1)
		go func() { ran <- s.Run(ctx, context.Background()) }()
		l := s.Live()
		if err := l.Attach(ctx, 4711, live.AttachOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := l.Start(ctx, spec.Recording{Roots: []string{"shop.C1.m1"}, Timeline: map[bool]int{true: 1}[has]}); err != nil {
			t.Fatal(err)
		}
		for _, state := range []string{"live", "stopped"} {
			if state == "stopped" {
				if err := l.Stop(ctx); err != nil {
					t.Fatal(err)
				}
			}
			var p live.TimelineView
			status := get(s, "/api/timeline?from=100&to=199&limit=3", &p)
			if !has {
				if status != http.StatusNotFound {
					t.Errorf("%s, without one: %d", state, status)
				}
				continue
			}
			if status != 200 || len(p.Slices) != 3 || len(p.Threads) != 2 || p.End != 2000 || p.Missing != 3 || len(p.Marks) != 1 || p.Marks[0].Kind != "gc" {
				t.Errorf("%s: %d %+v", state, status, p)
			}
			if first := p.Slices[0]; first[1] != 0 || first[5] != event.SliceRoot|event.SliceOpen || p.Methods[first[2]][0] != "p1.C1.m1()V" {
				t.Errorf("%s: %+v", state, p)
			}
			hop, task := p.Hops[0], p.Slices[2]
			if len(p.Hops) != 1 || p.HopsLeft != 7 || hop[0] != 0 || hop[1] != 1 || p.Methods[hop[2]][0] != "p1.C1.m1()V" || hop[3] != 102 || hop[4] != 1 || hop[5] != 0 || hop[6] != task[2] || hop[7] != 150 || hop[8] != 5 || task[5] != event.SliceTask || task[0] != 1 {
				t.Errorf("%s: hops %+v of %+v", state, p.Hops, p)
			}
			var few live.TimelineView
			if get(s, "/api/timeline?limit=1", &few); len(few.Slices) != 1 || few.Left != 16 || few.Least != 20 {
				t.Errorf("%s, one of all: %+v", state, few)
			}
		}
		if has {
			var p live.TimelineView
			if status := get(s, "/api/timeline?source=1&thread=1", &p); status != 200 || len(p.Slices) != 12 || p.Slices[2][2] != -1 {
				t.Errorf("of the snapshot: %d %+v", status, p)
			}
		}
		var e struct{ Error string }
		for path, want := range map[string]int{"source=99": 404, "from=x": 400, "from=-1": 400, "from=5&to=4": 400} {
			if status := get(s, "/api/timeline?"+path, &e); status != want || e.Error == "" {
				t.Errorf("%s: %d %q", path, status, e.Error)
			}
		}
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}
}

// TestTimelineKept saves a recording that is on and one that has ended, and wants
// their timelines back from their files when the server is another one.
func TestTimelineKept(t *testing.T) {
	dir := t.TempDir()
	s, end := keepingBy(t, fakejvm.Timed{JVM: fakejvm.New()}, dir)
	s.call(t, "attach", `{"pid":4711}`)
	s.call(t, "start", `{"roots":["shop.C1.m1"],"timeline":true}`)
	if code, text := s.call(t, "save", `{"name":"half way"}`); code != 200 {
		t.Fatal(code, text)
	}
	trace := func(source string) {
		t.Helper()
		if code, text := s.call(t, "report?format=trace&source="+source, ""); code != 200 || !json.Valid([]byte(text)) || strings.Count(text, `"ph":"X"`) < 17 {
			t.Errorf("%d %s", code, text)
		}
	}
	trace("0")
	if code, text := s.call(t, "report?format=snapshot", ""); code != 200 {
		t.Error(code, text)
	} else if k, err := export.ReadSaved(strings.NewReader(text)); err != nil || k.Report.Timeline == nil {
		t.Errorf("%v, timeline %v", err, k.Report)
	}
	s.call(t, "stop", `{}`)
	trace("0")
	trace("1")
	var want []string
	for _, source := range []string{"1", "2"} {
		_, text := s.call(t, "timeline?source="+source, "")
		want = append(want, text)
	}
	end()
	s, end = keepingBy(t, fakejvm.Timed{JVM: fakejvm.New()}, dir)
	defer end()
	for i, k := range s.live.State().Snapshots {
		code, got := s.call(t, "timeline?source="+string(mustJSON(t, k.ID)), "")
		var p live.TimelineView
		if err := json.Unmarshal([]byte(got), &p); err != nil || code != 200 || len(p.Slices) != 17 || len(p.Hops) != 5 || len(p.Marks) != 1 || p.Missing != 3 {
			t.Errorf("%s: %d %s, %v", k.Name, code, got, err)
		}
		if !k.Timeline || got != want[i] {
			t.Errorf("%s, known to have one: %v: %s, it was %s", k.Name, k.Timeline, got, want[i])
		}
	}
}

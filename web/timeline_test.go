package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A timed fake has a timeline.
type timed struct{ *fake }

func (f timed) Attach(ctx context.Context, pid int, memory int64, tell func(string)) (Session, error) {
	_, err := f.fake.Attach(ctx, pid, memory, tell)
	return f, err
}

func (f timed) line() (*export.Timeline, *export.Marks) {
	t := &export.Timeline{Threads: map[int64]cct.Thread{1: {ID: 1}}, Left: 3, Least: 5}
	for i := range int64(10) {
		t.Slices = append(t.Slices, event.Slice{Thread: 1, Method: int32(i), Depth: 1, Start: 100 * i, Took: 10 + i})
	}
	t.Slices = append(t.Slices,
		event.Slice{Thread: 1, Method: 1, Root: true, Open: true, Took: 2000},
		event.Slice{Thread: 1, Method: event.Suspended, Depth: 2, Start: 7, Took: 1})
	for i := range int64(5) {
		t.Slices = append(t.Slices, event.Slice{Thread: 2, Method: 3, Task: true, Start: 100*i + 50, Took: 5})
		t.Hops = append(t.Hops, event.Hop{From: 1, FromDepth: 1, By: int32(i), At: 100*i + 2, To: 2, Method: 3, Began: 100*i + 50, Took: 5})
	}
	t.Threads[2], t.HopsLeft = cct.Thread{ID: 2}, 7
	t.Hops = append(t.Hops, event.Hop{From: 9, To: 2, Began: 100}) // from a thread that has no slices
	return t, &export.Marks{All: []event.Mark{{Kind: event.GC, Name: "Copy", Start: 150, Took: 20, Count: 1, Pause: 20}}}
}

func (f timed) Timeline(_ context.Context, q event.Query) (*export.TimelineView, error) {
	t, m := f.line()
	return t.View(q, m, f.report().Lookup), nil
}

func (f timed) Finish(ctx context.Context) (*export.Report, error) {
	r, err := f.fake.Finish(ctx)
	r.Timeline, r.Marks = f.line()
	return r, err
}

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
		f := newFake()
		b := Backend(f)
		if has {
			b = timed{f}
		}
		s, err := Listen("127.0.0.1:0", Config{Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ran := make(chan error, 1)
		go func() { ran <- s.Run(ctx, context.Background()) }()
		l := s.Live()
		if err := l.Attach(ctx, 4711, 0); err != nil {
			t.Fatal(err)
		}
		if err := l.Start(ctx, Recording{Roots: []string{"shop.C1.m1"}, Timeline: has}); err != nil {
			t.Fatal(err)
		}
		for _, state := range []string{"live", "stopped"} {
			if state == "stopped" {
				if err := l.Stop(ctx); err != nil {
					t.Fatal(err)
				}
			}
			var p TimelinePage
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
			var few TimelinePage
			if get(s, "/api/timeline?limit=1", &few); len(few.Slices) != 1 || few.Left != 16 || few.Least != 20 {
				t.Errorf("%s, one of all: %+v", state, few)
			}
		}
		if has {
			var p TimelinePage
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
	s, end := keepingBy(t, timed{newFake()}, dir)
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
	s, end = keepingBy(t, timed{newFake()}, dir)
	defer end()
	for i, k := range s.live.State().Snapshots {
		code, got := s.call(t, "timeline?source="+string(mustJSON(t, k.ID)), "")
		var p TimelinePage
		if err := json.Unmarshal([]byte(got), &p); err != nil || code != 200 || len(p.Slices) != 17 || len(p.Hops) != 5 || len(p.Marks) != 1 || p.Missing != 3 {
			t.Errorf("%s: %d %s, %v", k.Name, code, got, err)
		}
		if !k.Timeline || got != want[i] {
			t.Errorf("%s, known to have one: %v: %s, it was %s", k.Name, k.Timeline, got, want[i])
		}
	}
}

// TestTimelinesBound wants only so many timelines in memory, and those that lie in
// files back when they are looked at.
func TestTimelinesBound(t *testing.T) {
	for _, dir := range []string{t.TempDir(), ""} {
		l := newLive(newFake(), nil, func() {}, func() bool { return false })
		l.log, l.store = hclog.NewNullLogger(), store{dir}
		const n = mostTimelines + 2
		for range n {
			r := reportOf(snapshot(node(1, 3, 30)))
			r.Timeline, r.Marks = timed{newFake()}.line()
			if _, err := l.keep(l.newFrame(r), ""); err != nil {
				t.Fatal(err)
			}
		}
		inMemory := func() (ids []int64) {
			for _, s := range l.snapshots {
				if s.Frame != nil && s.Frame.Report.Timeline != nil {
					ids = append(ids, s.ID)
				}
			}
			return ids
		}
		if got := inMemory(); len(got) != mostTimelines || got[0] != 3 {
			t.Errorf("in memory are those of %v", got)
		}
		f := l.source(1)
		if f == nil || f.sums.Calls != 3 || (f.Report.Timeline != nil) != (dir != "") {
			t.Errorf("the first one, in the folder %q: %+v", dir, f)
		}
		if got := inMemory(); len(got) != mostTimelines || dir != "" && (got[0] != 1 || got[1] != 4) {
			t.Errorf("then in memory are those of %v", got)
		}
	}
}

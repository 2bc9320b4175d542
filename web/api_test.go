package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
)

// TestAPI goes through a recording and what can go wrong with it.
func TestAPI(t *testing.T) {
	f := fakejvm.New()
	s := running(t, f)
	for _, step := range []struct {
		path, body string
		code       int
		has        string
	}{
		{"targets", "", 200, `"pid":4711`},
		{"demo", "{}", 422, "no Java found"},
		{"stop", "{}", 409, "can't stop while idle"},
		{"report", "", 409, "nothing has been recorded"},
		{"attach", `{"pid":0}`, 400, "give a pid"},
		{"attach", `{"pid":4711,"color":"red"}`, 400, "unknown field"},
		{"attach", `{"pid":4711}{}`, 400, "something follows"},
		{"attach", `{"pid":4711}`, 200, `"phase":"attached"`},
		{"attach", `{"pid":4711}`, 409, "can't attach while attached"},
		{"methods?q=of", "", 200, `"shop.Price.of(I)J"`},
		{"methods?q=of&limit=x", "", 400, "not a number"},
		{"packages?in=shop", "", 200, `"name":"shop.Price","kind":"class"`},
		{"suggest", "{}", 200, `"root":"shop.Price.of","stacks":3,"of":8`},
		{"preview", `{"roots":[]}`, 400, "no root given"},
		{"preview", `{"roots":["a.B.c"]}`, 422, "refused: no class a.B"},
		{"preview", `{"roots":["shop.Price.of"]}`, 200, `"package":"shop","classes":1,"methods":1`},
		{"start", `{"roots":[]}`, 400, "no root given"},
		{"start", `{"roots":["shop.Price.of"],"scheme":"C","filter":["--exclude shop.log.**"]}`, 200, `"phase":"recording"`},
		{"preview", `{"roots":["shop.Price.of"]}`, 409, "can't look ahead while recording"},
		{"suggest", "{}", 409, "can't look for roots while recording"},
		{"action", `{"name":"explode"}`, 409, "knows no action"},
		{"action", `{"name":"reset"}`, 200, `"actions":["pause","resume","reset","clock","scheme","roots"]`},
		{"action", `{"name":"pause"}`, 200, `"paused":true`},
		{"action", `{"name":"resume"}`, 200, `"paused":false`},
		{"action", `{"name":"clock","value":"precise"}`, 200, `"clock":"precise"`},
		{"save", `{"name":"half way\u001b[31m"}`, 200, `"name":"half way`},
		{"report", "", 200, `"calls": 9`},
		{"stop", "{}", 200, `"phase":"stopped"`},
		{"compare?before=1&after=2", "", 200, `"changes":[],"more":0,"root_invocations":[3,3],"scaled":false,"unlike":[],"verdict":"No difference in time."`},
		{"compare?before=1&after=9", "", 404, "no such snapshot"},
		{"rename", `{"id":1,"name":"first"}`, 200, `"name":"first"`},
		{"rename", `{"id":1,"name":" "}`, 422, "needs a name"},
		{"report?source=1", "", 200, `"schema": 1`},
		{"report?source=1&format=collapsed", "", 200, ";p2.C2.m2()V 10\n"},
		{"report?source=1&format=html", "", 200, "<!DOCTYPE html>"},
		{"report?source=1&format=xml", "", 400, "there are text, json, snapshot, html, pprof, collapsed, speedscope"},
		{"delete", `{"id":1}`, 200, `"snapshots":[{"id":2`},
		{"delete", `{"id":1}`, 404, "no such snapshot"},
		{"report?source=1", "", 404, "no such snapshot"},
		{"start", `{"roots":["shop.Price.of"],"memory":4096,"natives":"all","recursion":"fold","warmup":"5s"}`, 200, `"phase":"recording"`},
		{"detach", "{}", 200, `"phase":"idle"`},
		{"log", "", 200, "kept as snapshot"},
	} {
		code, text := s.call(t, step.path, step.body)
		if code != step.code || !strings.Contains(text, step.has) || strings.Contains(text, "\x1b") {
			t.Errorf("%s %s: %d %s, want %d with %q", step.path, step.body, code, text, step.code, step.has)
		}
	}
	if got, want := f.Steps(), "[attach start reset pause resume clock=precise finish attach start warm finish]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if code, _ := s.call(t, "start", strings.Repeat(" ", maxBody+1)); code != 400 {
		t.Errorf("a body of more than a megabyte: %d", code)
	}
}

// TestSwitchScheme has one recording follow another that differs by its scheme alone.
func TestSwitchScheme(t *testing.T) {
	f := fakejvm.New()
	s := running(t, f)
	for _, step := range []struct {
		path, body string
		code       int
		has        string
	}{
		{"action", `{"name":"scheme","value":"A"}`, 409, "can't scheme while idle"},
		{"attach", `{"pid":4711}`, 200, `"phase":"attached"`},
		{"action", `{"name":"scheme","value":"A"}`, 409, "can't switch the scheme while attached"},
		{"start", `{"roots":["shop.Price.of"],"scheme":"B","clock":"tick","follow":true,"filter":["--exclude shop.log.**"]}`, 200, `"phase":"recording"`},
		{"action", `{"name":"clock","value":"precise"}`, 200, `"clock":"precise"`},
		{"action", `{"name":"scheme","value":"B"}`, 200, `"snapshots":[]`},
		{"action", `{"name":"scheme","value":"E"}`, 422, "there are auto, A, B, C and D"},
		{"action", `{"name":"scheme","value":"A"}`, 200, `"phase":"recording"`},
		{"state", "", 200, `"scheme":"A"`},
		{"stop", "{}", 200, `"phase":"stopped"`},
	} {
		if code, text := s.call(t, step.path, step.body); code != step.code || !strings.Contains(text, step.has) {
			t.Errorf("%s %s: %d %s, want %d with %q", step.path, step.body, code, text, step.code, step.has)
		}
	}
	if r := f.Recording; r.Scheme != "A" || r.Clock != "precise" || !r.Follow || len(r.Filter.Rules) != 1 || len(r.Roots) != 1 {
		t.Errorf("it goes on with %+v", r)
	}
	if got, want := f.Steps(), "[attach start clock=precise finish attach start finish]"; got != want || len(s.live.State().Snapshots) != 2 {
		t.Errorf("%s, want %s; %d snapshots", got, want, len(s.live.State().Snapshots))
	}
}

// TestStartFails wants a refused root to leave the session, and any other
// error to end it.
func TestStartFails(t *testing.T) {
	for _, test := range []struct {
		err   error
		phase string
		steps string
	}{
		{fmt.Errorf("%w: no class a.B", live.ErrInput), live.Attached, "[attach start]"},
		{errors.New("the agent does not answer"), live.Stopped, "[attach start close]"},
	} {
		f := fakejvm.New()
		f.StartErr = test.err
		s := running(t, f)
		s.call(t, "attach", `{"pid":4711}`)
		code, text := s.call(t, "start", `{"roots":["a.B.c"]}`)
		if state := s.live.State(); code != 422 || state.Phase != test.phase || f.Steps() != test.steps {
			t.Errorf("%v: %d %s, then %s, did %s", test.err, code, text, state.Phase, f.Steps())
		}
	}
}

// TestAttachFails wants the last recording to stay when a JVM can't be
// attached to.
func TestAttachFails(t *testing.T) {
	f := fakejvm.New()
	s := running(t, f)
	f.AttachErr = errors.New("no socket")
	if code, _ := s.call(t, "attach", `{"pid":4711}`); code != 422 || s.live.State().Phase != live.Idle {
		t.Errorf("%d, then %s", code, s.live.State().Phase)
	}
	f.AttachErr = fmt.Errorf("wait until there is room: %w", live.ErrFullHeap)
	if code, text := s.call(t, "attach", `{"pid":4711}`); code != 422 || !strings.Contains(text, `"option":"full_heap"`) {
		t.Errorf("a full heap: %d, %s", code, text)
	}
	if code, text := s.call(t, "attach", `{"pid":4711,"full_heap":true}`); code != 200 {
		t.Errorf("a full heap all the same: %d, %s", code, text)
	}
	s.call(t, "detach", `{}`)
	f.AttachErr = nil
	s.call(t, "attach", `{"pid":4711}`)
	s.call(t, "start", `{"roots":["a.B.c"]}`)
	s.call(t, "stop", `{}`)
	f.AttachErr = errors.New("the target has exited")
	for _, path := range []string{"attach", "start"} {
		code, text := s.call(t, path, map[string]string{"attach": `{"pid":4711}`, "start": `{"roots":["a.B.c"]}`}[path])
		if state := s.live.State(); code != 422 || !strings.Contains(text, "has exited") || state.Phase != live.Stopped || state.Figures == nil {
			t.Errorf("%s: %d %s, then %s", path, code, text, state.Phase)
		}
	}
}

// TestEndsByItself wants a target that exits to be noticed: what it recorded
// is kept.
func TestEndsByItself(t *testing.T) {
	for _, test := range []struct{ start, phase, steps string }{
		{"", live.Idle, "[attach close]"},
		{`{"roots":["a.B.c"]}`, live.Stopped, "[attach start finish]"},
	} {
		f := fakejvm.New()
		s := running(t, f)
		s.call(t, "attach", `{"pid":4711}`)
		if test.start != "" {
			s.call(t, "start", test.start)
		}
		f.Exit()
		for over := time.Now().Add(5 * time.Minute); s.live.State().Phase != test.phase; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(over) {
				t.Fatalf("still %s", s.live.State().Phase)
			}
		}
		if f.Steps() != test.steps {
			t.Errorf("did %s, want %s", f.Steps(), test.steps)
		}
	}
}

// TestEndRestores wants a server that ends to finish its recording first.
func TestEndRestores(t *testing.T) {
	f := fakejvm.New()
	s, err := Listen("127.0.0.1:0", Config{Backend: f})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx, context.Background()) }()
	s.call(t, "attach", `{"pid":4711}`)
	s.call(t, "start", `{"roots":["a.B.c"]}`)
	cancel()
	if err := <-ran; err != nil || f.Steps() != "[attach start finish]" {
		t.Errorf("%v, did %s", err, f.Steps())
	}
	if r := s.Live().LastReport(); r == nil || r.Scheme != "B" {
		t.Errorf("report %+v", r)
	}
}

// TestSwitchSchemeFull wants a recording that could not be kept to go on, where the
// scheme is to be switched, and one that was not kept to be tried again.
func TestSwitchSchemeFull(t *testing.T) {
	f := fakejvm.New()
	s := running(t, f)
	s.call(t, "attach", `{"pid":4711}`)
	s.call(t, "start", `{"roots":["a.B.c"],"scheme":"B"}`)
	for range 200 {
		if code, text := s.call(t, "save", `{"name":"mine"}`); code != 200 {
			t.Fatal(code, text)
		}
	}
	for _, step := range []struct {
		path, body string
		code       int
		has        string
	}{
		{"action", `{"name":"scheme","value":"A"}`, 422, "the recording goes on, since it could not be kept"},
		{"state", "", 200, `"phase":"recording"`},
		{"stop", "{}", 200, `"phase":"stopped"`},
		{"log", "", 200, "so export it"},
		{"delete", `{"id":1}`, 200, `"snapshots":[{"id":2`},
		{"start", `{"roots":["a.B.c"],"scheme":"B"}`, 200, fmt.Sprintf(`"id":%d,"name":"%d C1.m1, B"`, 201, 201)},
	} {
		if code, text := s.call(t, step.path, step.body); code != step.code || !strings.Contains(text, step.has) {
			t.Errorf("%s %s: %d %.300s, want %d with %q", step.path, step.body, code, text, step.code, step.has)
		}
	}
	if got, want := f.Steps(), "[attach start finish attach start]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

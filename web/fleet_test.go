package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
)

// TestFleet: what makes no sense reaches no host; a report of many JVMs is a snapshot.
func TestFleet(t *testing.T) {
	report := func() *export.Report {
		file, err := export.ReadSaved(strings.NewReader(`{"schema":1,"target":{"pid":1,"java":"17","vm":"","main":"shop.Orders"},"seconds":1,"ended":"","calls":0,"flat":[],"tree":[],
			"processes":[{"host":"web-1","pid":1,"java":"17","vm":"","main":"shop.Orders","seconds":1,"samples":0,"calls":0,"self_ns":0}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return file.Report
	}
	begun := make(chan struct{})
	s, err := Listen("127.0.0.1:0", Config{Backend: fakejvm.New(), Fleet: Fleet{Name: "anna, role look", Keys: []string{"app", "java"}, Do: func(first, _ context.Context, q FleetQuery, tell func(Step)) (any, error) {
		switch q.Do {
		case "profile":
			tell(Step{Phase: "1 of 2 JVMs done"})
			tell(Step{Text: "one failed"})
			return report(), nil
		case "sample":
			if q.Wall {
				close(begun)
				<-first.Done()
				return nil, errors.New("it was ended")
			}
			tell(Step{Phase: "sending commands"})
			tell(Step{Phase: "0 of 2 JVMs done"})
			tell(Step{Phase: "0 of 2 JVMs done, recording in 2"})
			tell(Step{Text: "recording in all"}) // takes no step's place
			time.Sleep(3 * tellEvery)
			return nil, nil
		case "kept":
			return nil, errors.New("nothing was kept")
		case "compare":
			return &FleetGroups{By: q.By, Base: "17", Groups: []*FleetGroup{{Value: "17", JVMs: 2, Report: report()}, {Value: "21", Why: "it ended"}, {Value: "25", JVMs: 1, Verdict: "slower", Report: report()}}}, nil
		}
		return map[string]string{"select": q.Select}, nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx, context.Background()) }()
	defer func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}()
	for body, want := range map[string]string{
		`{"do":"harm"}`:                           "do=harm",
		`{"do":"sample"}`:                         "0.1 to 300",
		`{"do":"sample","seconds":301}`:           "0.1 to 300",
		`{"do":"kept","seconds":-1}`:              "up to 604800",
		`{"do":"profile","seconds":1}`:            "which method",
		`{"do":"jvms","shell":"rm"}`:              "unknown field",
		`{"do":"events","seconds":99999999}`:      "up to 604800",
		`{"do":"jvms"}{"do":"profile"}`:           "something follows",
		`{"do":"profile","seconds":1,"root":[1]}`: "root",

		`{"do":"compare","seconds":1,"root":"a.B.c"}`: "which key",
		`{"do":"compare","seconds":1,"by":"java"}`:    "which method",
		`{"do":"compare","by":"java","root":"a.B.c"}`: "0.1 to 300",
		`{"do":"locks","seconds":-1}`:                 "up to 300",
		`{"do":"locks","exact":true}`:                 "for how long",
	} {
		if code, text := s.call(t, "fleet", body); code < 400 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", body, code, text)
		}
	}
	if code, text := s.call(t, "fleet", ""); code != 200 || !strings.Contains(text, `{"name":"anna, role look","local":false,"keys":["app","java"]}`) {
		t.Errorf("%d %s", code, text)
	}
	if _, text := s.call(t, "fleet", `{"do":"jvms","select":"app=x"}`); string(last(t, text).Result) != `{"select":"app=x"}` {
		t.Error(text)
	}
	if _, text := s.call(t, "fleet", `{"do":"kept","seconds":60}`); last(t, text).Error != "nothing was kept" {
		t.Error(text)
	}
	// Of steps that come fast the last one is told, too.
	if _, text := s.call(t, "fleet", `{"do":"sample","seconds":1}`); !strings.Contains(text, "recording in 2") || strings.Contains(text, `"0 of 2 JVMs done"`) {
		t.Error(text)
	}
	_, text := s.call(t, "fleet", `{"do":"profile","seconds":1,"root":"shop.Orders.place","select":"app=shop"}`)
	a := last(t, text)
	var info live.SnapshotInfo
	if err := json.Unmarshal(a.Result, &info); err != nil || info.ID == 0 || info.Name != "app=shop" || len(a.Said) != 1 || !strings.Contains(text, `"phase":"1 of 2 JVMs done"`) {
		t.Errorf("%v: %s", err, text)
	}
	if state, _ := json.Marshal(s.Live().State()); !strings.Contains(string(state), `"name":"app=shop"`) {
		t.Errorf("%s", state)
	}
	// Each group's recording is a snapshot of its own.
	_, text = s.call(t, "fleet", `{"do":"compare","seconds":1,"root":"shop.Orders.place","by":"java"}`)
	var all FleetGroups
	if err := json.Unmarshal(last(t, text).Result, &all); err != nil || len(all.Groups) != 3 || all.Groups[1].Snapshot != 0 || all.Groups[1].Why == "" ||
		all.Groups[0].Snapshot == 0 || all.Groups[2].Snapshot == all.Groups[0].Snapshot || all.Groups[2].Verdict != "slower" {
		t.Errorf("%v: %s", err, text)
	}
	if state, _ := json.Marshal(s.Live().State()); !strings.Contains(string(state), `"name":"java=17"`) || !strings.Contains(string(state), `"name":"java=25"`) {
		t.Errorf("%s", state)
	}
	// Lists do not wait for what goes on, which can be ended.
	ended := make(chan string)
	go func() {
		_, text := s.call(t, "fleet", `{"do":"sample","seconds":300,"wall":true}`)
		ended <- text
	}()
	<-begun
	if _, text := s.call(t, "fleet", `{"do":"jvms","select":"app=y"}`); string(last(t, text).Result) != `{"select":"app=y"}` {
		t.Error(text)
	}
	if code, text := s.call(t, "fleet/end", "{}"); code != 200 {
		t.Errorf("%d %s", code, text)
	}
	if text := <-ended; last(t, text).Error != "it was ended" {
		t.Error(text)
	}
	if code, _ := s.call(t, "fleet/end", "{}"); code != http.StatusConflict {
		t.Errorf("ended what nobody has begun: %d", code)
	}
}

// TestNoFleet: without a key there is no fleet.
func TestNoFleet(t *testing.T) {
	s, end := lookingInto(t, nil)
	defer end()
	if code, text := s.call(t, "fleet", ""); code != 200 || strings.TrimSpace(text) != "null" {
		t.Errorf("%d %s", code, text)
	}
	if code, text := s.call(t, "fleet", `{"do":"jvms"}`); code != http.StatusBadRequest || !strings.Contains(text, "--fleet FILE") {
		t.Errorf("%d %s", code, text)
	}
}

package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

func TestSelection(t *testing.T) {
	t.Parallel()
	j := &fleet.JVM{PID: 7, App: "orders", Main: "com.acme.OrderServer", Labels: map[string]string{"zone": "a", "app": "other"}}
	for rules, want := range map[string]bool{
		"":                            true,
		"app=orders":                  true,
		"app=other":                   false, // a known key goes before a label
		"app=ord*,zone=a":             true,
		"app=orders,zone!=a":          false,
		"main=*Order*":                true,
		"main=Order*":                 false,
		"node=web-?":                  true,
		"pid=7":                       true,
		"nothing!=b":                  true,
		"nothing=b":                   false,
		"main=*a*c*m*e*O*r*d*e*r*S*x": false,
	} {
		var texts []string
		if rules != "" {
			texts = []string{rules}
		}
		s, err := fleet.ParseSelection(texts)
		if err != nil {
			t.Fatal(err)
		}
		if s.Has("web-1", j) != want {
			t.Errorf("%q: not %v", rules, want)
		}
	}
	for _, wrong := range []string{"app", "=x", "app=", "app=x,,b=c"} {
		if _, err := fleet.ParseSelection([]string{wrong}); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

func TestAtMost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"3": 3, "5%": 1, "50%": 8, "100%": 15, "34%": 6, "0": 0, "101%": 0, "x": 0, "1.5": 0, "-1": 0} {
		got, err := fleet.ParseAtMost(text, 15)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%s of 15: %d, %v", text, got, err)
		}
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	var found []fleet.Found
	for _, n := range []string{"b", "a"} {
		for pid := range 3 {
			found = append(found, fleet.Found{Node: n, JVM: fleet.JVM{PID: pid}})
		}
	}
	var got strings.Builder
	for _, f := range fleet.Spread(found) {
		fmt.Fprintf(&got, "%s%d ", f.Node, f.JVM.PID)
	}
	if got.String() != "a0 b0 a1 b1 a2 b2 " {
		t.Error(got.String())
	}
}

// TestReadCommand: what a sender may do is what the subject says, never the message.
func TestReadCommand(t *testing.T) {
	t.Parallel()
	rec := spec.Default()
	_ = rec.AddRoot("a.B.c")
	good := fleet.Command{Schema: fleet.Schema, Do: fleet.DoProfile, Run: "r1", Target: fleet.Target{Node: "n1", PID: 4, Start: 9}, Recording: &rec, Seconds: 5}
	with := func(change func(*fleet.Command)) fleet.Command {
		c := good
		change(&c)
		return c
	}
	for name, of := range map[string]struct {
		subject string
		c       fleet.Command
		want    error // nil: it is good; errAny: any
	}{
		"good":          {"rivulet.do.anna.record.n1.r1", good, nil},
		"more":          {"rivulet.do.anna.dump.n1.r1", good, nil},
		"less":          {"rivulet.do.anna.sample.n1.r1", good, fleet.ErrForbidden},
		"other node":    {"rivulet.do.anna.record.n2.r1", good, fleet.ErrForbidden},
		"other run":     {"rivulet.do.anna.record.n1.r2", good, fleet.ErrForbidden},
		"no role":       {"rivulet.do.anna.node.n1.r1", good, fleet.ErrSubject},
		"other subject": {"rivulet.result.r1.n1.4-9", good, fleet.ErrSubject},
		"version":       {"rivulet.do.anna.record.n1.r1", with(func(c *fleet.Command) { c.Schema = 99 }), errAny},
		"too long":      {"rivulet.do.anna.record.n1.r1", with(func(c *fleet.Command) { c.Seconds = 1e9 }), errAny},
		"no process":    {"rivulet.do.anna.record.n1.r1", with(func(c *fleet.Command) { c.Target.PID = 0 }), errAny},
		"nothing":       {"rivulet.do.anna.record.n1.r1", with(func(c *fleet.Command) { c.Recording = nil }), errAny},
		"unknown":       {"rivulet.do.anna.dump.n1.r1", with(func(c *fleet.Command) { c.Do = "explode" }), errAny},
		"stop":          {"rivulet.do.bert.sample.n1.r1", fleet.Command{Schema: fleet.Schema, Do: fleet.DoStop, Run: "r1", Target: fleet.Target{Node: "n1"}}, nil},
	} {
		data, err := json.Marshal(&of.c)
		if err != nil {
			t.Fatal(err)
		}
		_, sender, err := fleet.ReadCommand(of.subject, data)
		switch {
		case of.want == nil && err != nil, of.want != nil && err == nil:
			t.Errorf("%s: %v", name, err)
		case of.want != nil && of.want != errAny && !errors.Is(err, of.want):
			t.Errorf("%s: %v, not %v", name, err, of.want)
		}
		if name == "good" && (sender.User != "anna" || sender.Role != fleet.RoleRecord) {
			t.Errorf("%+v", sender)
		}
	}
}

var errAny = errors.New("any")

// report is one with a number of root invocations.
func report(t testing.TB, calls int64, method string) []byte {
	t.Helper()
	r := &export.Report{
		Target: export.Target{PID: 1, Main: "shop.Main"}, Scheme: "A", Clock: "tick", Roots: []string{method}, Time: time.Second, Ended: "stopped",
		Tree:   &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: calls, RootReturns: calls, Roots: []*cct.Node{{Calls: calls, Self: 5 * calls, Total: 5 * calls}}}}},
		Lookup: func(int32) (cct.Method, bool) { return cct.Method{Name: method, Loader: "app"}, true },
	}
	var b bytes.Buffer
	if err := r.Snapshot(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPack(t *testing.T) {
	t.Parallel()
	b := report(t, 3, "shop.Main.loop()V")
	h := fleet.Head{Schema: fleet.Schema, Run: "r", Target: fleet.Target{Node: "n", PID: 1}}
	h.Seal(b)
	data, err := fleet.Pack(&h, b)
	if err != nil {
		t.Fatal(err)
	}
	r, err := fleet.Unpack(data)
	if err != nil || !bytes.Equal(r.Report, b) || r.ID() != h.ID() {
		t.Fatalf("%v", err)
	}
	data[len(data)-3]++
	for _, wrong := range [][]byte{data, data[:len(data)-1], []byte("{}"), nil} {
		if _, err := fleet.Unpack(wrong); !errors.Is(err, fleet.ErrDamaged) {
			t.Errorf("%d bytes are taken: %v", len(wrong), err)
		}
	}
}

// A carrier delivers results several times and in any order.
type carrier struct {
	t      *testing.T
	answer func(c *fleet.Command) *fleet.Result // nil: none

	mu      sync.Mutex
	out     chan *fleet.Result
	sent    []fleet.Command
	running int
	most    int
}

func (c *carrier) Send(_ context.Context, k *fleet.Command, _ string, _ time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, *k)
	if k.Do == fleet.DoStop {
		return nil
	}
	c.running++
	c.most = max(c.most, c.running)
	r := c.answer(k)
	go func() {
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
		c.mu.Lock()
		c.running--
		c.mu.Unlock()
		for range 1 + rand.IntN(3) {
			if r != nil {
				c.out <- r
			}
		}
	}()
	return nil
}

func (c *carrier) Results(context.Context, string) (<-chan *fleet.Result, error) { return c.out, nil }

func (c *carrier) Progress(context.Context, string) (<-chan fleet.Progress, error) {
	return make(chan fleet.Progress), nil
}

func targets(n int) []fleet.Found {
	var out []fleet.Found
	for i := range n {
		out = append(out, fleet.Found{Node: fmt.Sprintf("n%d", i%3), JVM: fleet.JVM{PID: 100 + i, Start: 7}})
	}
	return out
}

func resultOf(k *fleet.Command, report []byte) *fleet.Result {
	r := &fleet.Result{Head: fleet.Head{Schema: fleet.Schema, Run: k.Run, Target: k.Target}, Report: report}
	r.Seal(report)
	return r
}

// TestOperation: each result counts once, however often it comes, and no more JVMs than
// asked for are looked at at a time.
func TestOperation(t *testing.T) {
	t.Parallel()
	c := &carrier{t: t, out: make(chan *fleet.Result, 100)}
	c.answer = func(k *fleet.Command) *fleet.Result {
		r := resultOf(k, report(t, int64(k.Target.PID), "shop.Main.loop()V"))
		if k.Target.PID == 103 {
			r.Report, r.Error = nil, "the process has exited"
		}
		return r
	}
	o := &fleet.Operation{Run: "r", Command: fleet.Command{Do: fleet.DoProfile, Seconds: 1}, Targets: targets(15), AtMost: 4, Begin: time.Minute, Patience: time.Minute}
	out, err := o.Do(t.Context(), c)
	if err != nil || len(out.Results) != 15 || len(out.Lost) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if c.most > 4 {
		t.Errorf("%d at a time", c.most)
	}
	merged := fleet.Merge(out.Results, []fleet.Lost{{Target: fleet.Target{Node: "n9", PID: 1}, Why: "gone"}})
	want := int64(0)
	for i := range 15 {
		if i != 3 {
			want += int64(100 + i)
		}
	}
	got := int64(0)
	for _, th := range merged.Tree.Threads {
		for _, root := range th.Roots {
			got += root.Calls
		}
	}
	if got != want || len(merged.Processes) != 16 {
		t.Errorf("%d calls, not %d; %d processes", got, want, len(merged.Processes))
	}
	i := slices.IndexFunc(merged.Processes, func(p export.Process) bool { return p.PID == 103 })
	if merged.Processes[i].Error == "" || merged.Processes[i].Host != "n0" {
		t.Errorf("%+v", merged.Processes[i])
	}
}

// TestOperationStops: nothing is begun after a reason to stop, and nodes are told once.
func TestOperationStops(t *testing.T) {
	t.Parallel()
	stop := make(chan string, 1)
	c := &carrier{t: t, out: make(chan *fleet.Result, 100)}
	n := 0
	c.answer = func(k *fleet.Command) *fleet.Result {
		if n++; n == 3 {
			stop <- "the service is slow"
			return nil
		}
		return resultOf(k, nil)
	}
	o := &fleet.Operation{
		Run: "r", Command: fleet.Command{Do: fleet.DoProfile, Seconds: 1}, Targets: targets(15), AtMost: 1,
		Begin: time.Millisecond, Patience: 5 * time.Second, Stop: stop, // which the third result, that never comes, takes
	}
	out, err := o.Do(t.Context(), c)
	if err != nil || out.Stopped != "the service is slow" || len(out.Results)+len(out.Lost) != 15 || len(out.Results) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	stops := 0
	for _, k := range c.sent {
		if k.Do == fleet.DoStop {
			stops++
		}
	}
	if stops == 0 || len(c.sent)-stops != 3 {
		t.Errorf("%d commands, %d to stop", len(c.sent), stops)
	}
}

// TestGrants: what a role may do is allowed, and nothing of the next one.
func TestGrants(t *testing.T) {
	t.Parallel()
	may := func(role fleet.Role, subject string) bool {
		return slices.ContainsFunc(fleet.GrantOf("anna", role, "").Publish, func(allowed string) bool {
			return allowed == subject || strings.HasSuffix(allowed, ".>") && strings.HasPrefix(subject, strings.TrimSuffix(allowed, ">"))
		})
	}
	for _, of := range []struct {
		role    fleet.Role
		subject string
		want    bool
	}{
		{fleet.RoleLook, fleet.AskSubject("anna"), true},
		{fleet.RoleLook, fleet.AskSubject("bert"), false},
		{fleet.RoleLook, fleet.DoSubject("anna", fleet.RoleSample, "n", "r"), false},
		{fleet.RoleSample, fleet.DoSubject("anna", fleet.RoleSample, "n", "r"), true},
		{fleet.RoleSample, fleet.DoSubject("anna", fleet.RoleRecord, "n", "r"), false},
		{fleet.RoleSample, fleet.DoSubject("bert", fleet.RoleSample, "n", "r"), false},
		{fleet.RoleRecord, fleet.DoSubject("anna", fleet.RoleRecord, "n", "r"), true},
		{fleet.RoleRecord, fleet.DoSubject("anna", fleet.RoleDump, "n", "r"), false},
		{fleet.RoleLook, "$JS.API.CONSUMER.CREATE.RIVULET_EVENTS.x.y", false},
		{fleet.RoleSample, "$JS.API.CONSUMER.CREATE.RIVULET_EVENTS.x.y", true},
		{fleet.RoleDump, fleet.EventSubject("n"), false},
		{fleet.RoleRecord, "$JS.API.CONSUMER.CREATE.OBJ_rivulet-dumps.x.y", false},
		{fleet.RoleDump, "$JS.API.CONSUMER.CREATE.OBJ_rivulet-dumps.x.y", true},
		{fleet.RoleDump, "$JS.API.STREAM.DELETE.RIVULET_AUDIT", false},
		{fleet.RoleDump, "$JS.API.STREAM.PURGE.RIVULET_RESULTS", false},
		{fleet.RoleNode, fleet.DoSubject("anna", fleet.RoleSample, "n", "r"), false},
	} {
		if may(of.role, of.subject) != of.want {
			t.Errorf("%s, %s: not %v", of.role, of.subject, of.want)
		}
	}
	g := fleet.GrantOf("web-1", fleet.RoleNode, "web-1")
	if slices.Contains(g.Publish, "rivulet.result.*.*.*") || !slices.Contains(g.Publish, "rivulet.result.*.web-1.*") {
		t.Errorf("%v", g.Publish)
	}
}

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rivulet-profiler/rivulet/controller/ask"
	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

type fake struct {
	recorded []Recording
	sampling chan bool // told when a sampling begins; then waits for its context
}

func (f *fake) Processes(context.Context) ([]attach.Process, error) {
	return []attach.Process{{PID: 7, Main: "a.Main", Attachable: true}, {PID: 8, Main: "b.Main"}}, nil
}

func result(calls int64) *export.Report {
	return &export.Report{
		Target: export.Target{PID: 7, Main: "a.Main"}, Roots: []string{"a.Main.run()V"}, Time: time.Second,
		Tree: &cct.Snapshot{Threads: []*cct.Thread{{RootEntries: 1, RootReturns: 1, Roots: []*cct.Node{
			{Method: 1, Calls: calls, Self: 10 * calls, Total: 10 * calls},
		}}}},
		Lookup: func(id int32) (cct.Method, bool) { return cct.Method{Name: "a.Main.run()V"}, id == 1 },
	}
}

func (f *fake) Sample(ctx context.Context, _ int, length time.Duration, _ bool) (*export.Report, error) {
	if f.sampling != nil {
		f.sampling <- true
		<-ctx.Done()
		return nil, ctx.Err()
	}
	r := result(3)
	r.Sampling, r.Time = &export.Sampling{Samples: 3}, length
	return r, nil
}

func (f *fake) Record(_ context.Context, _ int, o Recording) (*export.Report, error) {
	f.recorded = append(f.recorded, o)
	if o.Roots[0] == "bad" {
		return nil, errors.New("no such root")
	}
	return result(int64(4 * len(f.recorded))), nil
}

func (f *fake) Load(string) (*export.Report, error) { return result(1), nil }

// client is connected to a server with a budget.
func client(t *testing.T, f *fake, b Budget) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- New(f, b, "test").Run(ctx, there) }()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); cancel(); <-ended })
	return c
}

// call decodes a tool's answer; the text is that of an error.
func call(t *testing.T, c *sdk.ClientSession, name string, args, out any) (problem string) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	for _, part := range r.Content {
		if p, ok := part.(*sdk.TextContent); ok {
			text.WriteString(p.Text)
		}
	}
	if r.IsError {
		return text.String()
	}
	b, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatalf("%s: %v: %s", name, err, b)
	}
	return ""
}

type args map[string]any

var all = Budget{Longest: 10 * time.Second, Record: true, Files: true}

func TestJob(t *testing.T) {
	f := &fake{}
	c := client(t, f, all)
	var found jvms
	if p := call(t, c, "list_jvms", args{}, &found); p != "" || len(found.JVMs) != 2 || !found.JVMs[0].Attach {
		t.Fatal(p, found)
	}
	var sampled, one, two made
	if p := call(t, c, "sample", args{"pid": 7, "seconds": 2}, &sampled); p != "" || sampled.Summary.Kind != "sample" || sampled.Summary.Exact {
		t.Fatal(p, sampled)
	}
	var roots suggestions
	if p := call(t, c, "suggest_roots", args{"report": sampled.Report}, &roots); p != "" {
		t.Fatal(p)
	}
	record := args{"pid": 7, "roots": []string{"a.Main.run"}, "seconds": 1.5, "share": 0.25, "count": "bytecodes"}
	if p := call(t, c, "record", record, &one); p != "" || one.Summary.Calls != 4 || !one.Summary.Exact {
		t.Fatal(p, one)
	}
	if o := f.recorded[0]; o.Length != 1500*time.Millisecond || o.Share != 0.25 || o.Count != "bytecodes" || o.Roots[0] != "a.Main.run" {
		t.Errorf("%+v", o)
	}
	if p := call(t, c, "record", record, &two); p != "" || two.Report == one.Report {
		t.Fatal(p, two)
	}
	var top methods
	if p := call(t, c, "top", args{"report": one.Report, "by": "calls"}, &top); p != "" || len(top.Methods) != 1 || top.Methods[0].Calls != 4 {
		t.Error(p, top)
	}
	var around arounds
	if p := call(t, c, "callers", args{"report": one.Report, "method": "run"}, &around); p != "" || len(around.Methods) != 1 {
		t.Error(p, around)
	}
	var tree struct{ Tree []ask.Node }
	if p := call(t, c, "tree", args{"report": one.Report}, &tree); p != "" || len(tree.Tree) != 1 || tree.Tree[0].Calls != 4 {
		t.Error(p, tree)
	}
	var diff struct {
		Kind    string
		Verdict string
		Tree    []struct{ Calls [2]int64 }
	}
	if p := call(t, c, "diff", args{"before": one.Report, "after": two.Report}, &diff); p != "" || diff.Kind != "difference" || diff.Verdict == "" || len(diff.Tree) != 1 || diff.Tree[0].Calls != [2]int64{4, 8} {
		t.Error(p, diff)
	}
	var kept keptReports
	if p := call(t, c, "reports", args{}, &kept); p != "" || len(kept.Reports) != 3 || kept.Reports[0].Kind != "sample" {
		t.Error(p, kept)
	}
	var opened made
	if p := call(t, c, "open_report", args{"path": "x.json"}, &opened); p != "" || opened.Summary.Calls != 1 {
		t.Error(p, opened)
	}
}

// What is refused is refused with the reason, and nothing is done to a JVM.
func TestRefused(t *testing.T) {
	f := &fake{}
	c := client(t, f, Budget{Longest: 5 * time.Second, PIDs: []int{7}})
	var found jvms
	if p := call(t, c, "list_jvms", args{}, &found); p != "" || len(found.JVMs) != 1 {
		t.Error(p, found)
	}
	for _, k := range []struct {
		tool string
		args args
		want string
	}{
		{"record", args{"pid": 7, "roots": []string{"a.b"}, "seconds": 1}, "--allow record"},
		{"sample", args{"pid": 8, "seconds": 1}, "--pid"},
		{"sample", args{"pid": 7, "seconds": 6}, "--longest"},
		{"sample", args{"pid": 7, "seconds": 0}, "above 0"},
		{"sample", args{"pid": 7, "seconds": -1}, "above 0"},
		{"sample", args{"pid": "seven", "seconds": 1}, "pid"},
		{"top", args{"report": "r99"}, "no such report"},
		{"open_report", args{"path": "/etc/passwd"}, "open_report"},
		{"nothing", args{}, "nothing"},
	} {
		var out any
		if p := call(t, c, k.tool, k.args, &out); !strings.Contains(p, k.want) {
			t.Errorf("%s %v: %q, want %q", k.tool, k.args, p, k.want)
		}
	}
	if len(f.recorded) > 0 {
		t.Error("it recorded")
	}
	c = client(t, f, all)
	var out any
	for _, k := range []struct {
		args args
		want string
	}{
		{args{"pid": 7, "roots": []string{}, "seconds": 1}, "roots is empty"},
		{args{"pid": 7, "roots": []string{"a.b"}, "seconds": 1, "share": 2}, "share 2"},
		{args{"pid": 7, "roots": []string{"bad"}, "seconds": 1}, "no such root"},
	} {
		if p := call(t, c, "record", k.args, &out); !strings.Contains(p, k.want) {
			t.Errorf("%v: %q, want %q", k.args, p, k.want)
		}
	}
}

// The oldest reports go when there are many.
func TestBounded(t *testing.T) {
	c := client(t, &fake{}, all)
	var first made
	for i := range mostReports + 1 {
		var m made
		if p := call(t, c, "sample", args{"pid": 7, "seconds": 1}, &m); p != "" {
			t.Fatal(p)
		}
		if i == 0 {
			first = m
		}
	}
	var out any
	if p := call(t, c, "summary", args{"report": first.Report}, &out); !strings.Contains(p, "no such report") {
		t.Error(p)
	}
	var kept keptReports
	if p := call(t, c, "reports", args{}, &kept); p != "" || len(kept.Reports) != mostReports {
		t.Error(p, len(kept.Reports))
	}
}

// A request that the client gives up ends, and the next one gets its turn.
func TestGivenUp(t *testing.T) {
	f := &fake{sampling: make(chan bool)}
	c := client(t, f, all)
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "sample", Arguments: args{"pid": 7, "seconds": 10}})
			ended <- err
		}()
		<-f.sampling // the one before has released the process
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// Lines that are no messages are answered, and the next ones, too.
func TestJunk(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- New(&fake{}, all, "test").Run(t.Context(), Over(inR, outW))
		outW.Close()
	}()
	answers := bufio.NewScanner(outR)
	for _, c := range []struct{ line, want string }{
		{"junk", "-32700"},
		{"42", "-32600"},
		{`{"id":1}`, "-32600"},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "-32600"},
		{`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"id":7`},
		{"", ""},
		{"more {junk", "-32700"},
		{`{"jsonrpc":"2.0","id":8,"method":"ping"}`, `"id":8`},
	} {
		if _, err := io.WriteString(inW, c.line+"\n"); err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			continue
		}
		if !answers.Scan() || !strings.Contains(answers.Text(), c.want) {
			t.Fatalf("%s: %q, want %s", c.line, answers.Text(), c.want)
		}
	}
	inW.Close()
	if err := <-ended; err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rivulet-profiler/rivulet/controller/ask"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/sampler/suggest"
)

// Defaults and bounds of what tools answer.
const (
	usualLines = 15
	mostLines  = 100
	usualDepth = 6
	mostDepth  = 40
	leastShare = 0.01
)

// tool adds a tool whose handler need not know the protocol.
func tool[In, Out any](s *Server, name, about string, hints *mcp.ToolAnnotations, f func(context.Context, In) (Out, error)) {
	mcp.AddTool(s.sdk, &mcp.Tool{Name: name, Description: about, Annotations: hints},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
			out, err := f(ctx, in)
			return nil, out, err
		})
}

func (s *Server) tools() {
	no := false
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}
	instruments := &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}
	tool(s, "list_jvms", "List the JVMs of this machine: process id, main class, Java version, and whether Rivulet can attach.", reads, s.listJVMs)
	tool(s, "sample", "Sample a JVM's stacks from outside for some seconds: no agent, nothing changed. Gives a report id and the hottest methods. All figures are estimates.", reads, s.sample)
	tool(s, "suggest_roots", "Name methods of a sample report that are worth an exact recording, with their share of the time and the likely price.", reads, s.suggestRoots)
	tool(s, "record", "Record exactly what a root method calls for some seconds: exact call counts and corrected times. Instruments the JVM meanwhile, then restores it. Gives a report id.", instruments, s.record)
	tool(s, "reports", "List the reports of this session.", reads, s.list)
	tool(s, "summary", "What a report says in short, with its gaps and notes.", reads, s.summary)
	tool(s, "top", "The methods of a report with most self time, total time, calls or exceptions.", reads, s.top)
	tool(s, "callers", "A method's callers and callees in a report, with calls and time.", reads, s.callers)
	tool(s, "tree", "The calling context tree of a report, or what is below one method.", reads, s.tree)
	tool(s, "diff", "What differs between two reports, by method and in the tree; recordings per root call, samples per second.", reads, s.diff)
	if s.budget.Files {
		tool(s, "open_report", "Read a report that rivulet has saved as JSON or snapshot. Gives a report id.", reads, s.open)
	}
}

type nothing struct{}

type jvm struct {
	PID    int    `json:"pid"`
	Main   string `json:"main" jsonschema:"main class or jar"`
	Java   string `json:"java"`
	User   string `json:"user"`
	Attach bool   `json:"can_record" jsonschema:"Rivulet can attach; sampling may work without"`
	Why    string `json:"why_not,omitempty"`
}

type jvms struct {
	JVMs []jvm `json:"jvms"`
}

func (s *Server) listJVMs(ctx context.Context, _ nothing) (jvms, error) {
	found, err := s.backend.Processes(ctx)
	out := jvms{JVMs: []jvm{}}
	for _, p := range found {
		if _, no := s.allowed(p.PID, s.budget.Longest.Seconds()); no != nil {
			continue
		}
		out.JVMs = append(out.JVMs, jvm{PID: p.PID, Main: p.Main, Java: p.JavaVersion, User: p.User, Attach: p.Attachable, Why: p.Reason})
	}
	return out, err
}

type sampleArgs struct {
	PID     int     `json:"pid"`
	Seconds float64 `json:"seconds" jsonschema:"for how long; 5 to 10 is usual"`
	Wall    bool    `json:"wall,omitempty" jsonschema:"all threads, also those that wait; else only time on a core"`
}

// A made report has an id by which to ask for more.
type made struct {
	Report  string      `json:"report" jsonschema:"the id to ask about it with"`
	Summary ask.Summary `json:"summary"`
}

func (s *Server) made(r *export.Report) made {
	return made{Report: s.keep(r), Summary: ask.Summarize(r, usualLines)}
}

func (s *Server) sample(ctx context.Context, in sampleArgs) (made, error) {
	length, err := s.allowed(in.PID, in.Seconds)
	if err != nil {
		return made{}, err
	}
	release, err := s.alone(ctx, in.PID)
	if err != nil {
		return made{}, err
	}
	defer release()
	r, err := s.backend.Sample(ctx, in.PID, length, in.Wall)
	if err != nil {
		return made{}, err
	}
	return s.made(r), nil
}

type suggestArgs struct {
	Report string `json:"report" jsonschema:"id of a sample report"`
	Most   int    `json:"most,omitempty" jsonschema:"how many; 5 by default"`
}

type suggestion struct {
	Root    string  `json:"root"`
	Share   float64 `json:"share" jsonschema:"of the time, 0 to 1"`
	Low     float64 `json:"share_low" jsonschema:"95 % interval"`
	High    float64 `json:"share_high"`
	Entries float64 `json:"entries_per_second" jsonschema:"at least"`
	Price   string  `json:"price" jsonschema:"low, medium or high: how much slower it runs while recorded"`
	Classes int     `json:"classes" jsonschema:"met below it: so many at least are instrumented"`
}

type suggestions struct {
	Roots []suggestion `json:"roots"`
}

func (s *Server) suggestRoots(_ context.Context, in suggestArgs) (suggestions, error) {
	r, err := s.report(in.Report)
	if err != nil {
		return suggestions{}, err
	}
	if r.Sampling == nil {
		return suggestions{}, errors.New("that report is a recording: suggestions come from samples")
	}
	out := suggestions{Roots: []suggestion{}}
	for _, c := range suggest.Roots(r, bounded(in.Most, 5, mostLines)) {
		out.Roots = append(out.Roots, suggestion{c.Name(), c.Share, c.Low, c.High, c.Rate, string(c.Price), c.Classes})
	}
	return out, nil
}

type recordArgs struct {
	PID     int      `json:"pid"`
	Roots   []string `json:"roots" jsonschema:"methods such as shop.OrderService.process, or patterns such as shop.**.*Service.find*"`
	Seconds float64  `json:"seconds"`
	Share   float64  `json:"share,omitempty" jsonschema:"record only this share of the root calls, 0 to 1: disturbs less; all by default"`
	Count   string   `json:"count,omitempty" jsonschema:"a further metric: bytecodes, exact; blocks, the same by whole blocks; or allocations"`
}

func (s *Server) record(ctx context.Context, in recordArgs) (made, error) {
	if !s.budget.Record {
		return made{}, errRole
	}
	length, err := s.allowed(in.PID, in.Seconds)
	switch {
	case err != nil:
		return made{}, err
	case len(in.Roots) == 0:
		return made{}, errors.New("roots is empty: suggest_roots names some")
	case in.Share < 0 || in.Share > 1:
		return made{}, fmt.Errorf("share %g: give a number above 0 and up to 1", in.Share)
	}
	release, err := s.alone(ctx, in.PID)
	if err != nil {
		return made{}, err
	}
	defer release()
	r, err := s.backend.Record(ctx, in.PID, Recording{Roots: in.Roots, Length: length, Share: in.Share, Count: in.Count})
	if err != nil {
		return made{}, err
	}
	return s.made(r), nil
}

type keptReport struct {
	Report  string  `json:"report"`
	Kind    string  `json:"kind"`
	Program string  `json:"program"`
	PID     int     `json:"pid"`
	Seconds float64 `json:"seconds"`
}

type keptReports struct {
	Reports []keptReport `json:"reports"`
}

func (s *Server) list(context.Context, nothing) (keptReports, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := keptReports{Reports: []keptReport{}}
	for _, id := range s.kept {
		r := s.reports[id]
		kind := "recording"
		if r.Sampling != nil {
			kind = "sample"
		}
		out.Reports = append(out.Reports, keptReport{id, kind, r.Target.Main, r.Target.PID, r.Time.Round(time.Millisecond).Seconds()})
	}
	return out, nil
}

type reportArgs struct {
	Report string `json:"report" jsonschema:"a report's id"`
}

func (s *Server) summary(_ context.Context, in reportArgs) (ask.Summary, error) {
	r, err := s.report(in.Report)
	if err != nil {
		return ask.Summary{}, err
	}
	return ask.Summarize(r, usualLines), nil
}

type topArgs struct {
	Report string `json:"report" jsonschema:"a report's id"`
	By     string `json:"by,omitempty" jsonschema:"self (default), total, calls or thrown"`
	Most   int    `json:"most,omitempty" jsonschema:"how many; 15 by default, 100 at most"`
}

type methods struct {
	Methods []ask.Method `json:"methods"`
}

func (s *Server) top(_ context.Context, in topArgs) (methods, error) {
	r, err := s.report(in.Report)
	if err != nil {
		return methods{}, err
	}
	list, err := ask.Top(r, cmp.Or(in.By, "self"), bounded(in.Most, usualLines, mostLines))
	return methods{list}, err
}

type callersArgs struct {
	Report string `json:"report" jsonschema:"a report's id"`
	Method string `json:"method" jsonschema:"its name, or a part of it"`
	Most   int    `json:"most,omitempty" jsonschema:"how many methods, callers and callees; 15 by default"`
}

type arounds struct {
	Methods []ask.Around `json:"methods"`
}

func (s *Server) callers(_ context.Context, in callersArgs) (arounds, error) {
	r, err := s.report(in.Report)
	if err != nil {
		return arounds{}, err
	}
	list, err := ask.CallersAndCallees(r, in.Method, bounded(in.Most, usualLines, mostLines))
	return arounds{list}, err
}

type treeArgs struct {
	Report string  `json:"report" jsonschema:"a report's id"`
	Method string  `json:"method,omitempty" jsonschema:"show what is below it; the whole tree by default"`
	Depth  int     `json:"depth,omitempty" jsonschema:"levels; 6 by default, 40 at most"`
	Least  float64 `json:"least_share,omitempty" jsonschema:"contexts with a smaller share of the time are left out; 0.01 by default"`
}

// tree answers with a map, since the schema of a tool's result can't describe a type
// that contains itself.
func (s *Server) tree(_ context.Context, in treeArgs) (map[string]any, error) {
	r, err := s.report(in.Report)
	if err != nil {
		return nil, err
	}
	least := in.Least
	if least <= 0 {
		least = leastShare
	}
	t, err := ask.Tree(r, in.Method, bounded(in.Depth, usualDepth, mostDepth), least)
	if err != nil {
		return nil, err
	}
	return map[string]any{"tree": t}, nil
}

type diffArgs struct {
	Before   string `json:"before" jsonschema:"a report's id"`
	After    string `json:"after" jsonschema:"a report's id"`
	Absolute bool   `json:"absolute,omitempty" jsonschema:"don't scale to equal root calls or seconds"`
	Most     int    `json:"most,omitempty" jsonschema:"how many methods; 15 by default"`
}

func (s *Server) diff(_ context.Context, in diffArgs) (map[string]any, error) {
	before, err := s.report(in.Before)
	if err != nil {
		return nil, err
	}
	after, err := s.report(in.After)
	if err != nil {
		return nil, err
	}
	if err := export.Comparable(before, after); err != nil {
		return nil, err
	}
	d := live.Difference(before, after, live.DifferenceOptions{Each: !in.Absolute, Top: bounded(in.Most, usualLines, mostLines), Depth: usualDepth})
	d.Names = [2]string{in.Before, in.After}
	var b strings.Builder
	if err := d.JSON(&b); err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal([]byte(b.String()), &out)
}

type openArgs struct {
	Path string `json:"path" jsonschema:"a file that rivulet has written as JSON or snapshot"`
}

func (s *Server) open(_ context.Context, in openArgs) (made, error) {
	r, err := s.backend.Load(in.Path)
	if err != nil {
		return made{}, err
	}
	return s.made(r), nil
}

// bounded is n, usual where it is not given, most at the most.
func bounded(n, usual, most int) int {
	if n <= 0 {
		n = usual
	}
	return min(n, most)
}

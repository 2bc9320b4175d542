package export_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/history"
)

// TestWaiting names who waits most: by samples of the time on a core, by what sampled threads did,
// and not where nobody looked, or where it is too little.
func TestWaiting(t *testing.T) {
	const ms = 1e6
	root := node(0, 10, 0, 10*ms, node(1, 10, 0, 300*ms), node(2, 10, 0, 100*ms), node(3, 10, 0, 40*ms))
	kids := root.Children
	states := func(blocked, running int64) []int64 { return []int64{0, running, 0, blocked} }
	kids[0].Details().Sample = &cct.Sample{Count: 30, Wall: 300, Ran: 297, States: states(0, 30)}
	kids[1].Details().Sample = &cct.Sample{Count: 10, Wall: 100, Ran: 20, States: states(8, 2)}
	kids[2].Details().Sample = &cct.Sample{Count: 4, Wall: 40, Ran: 0, States: states(4, 0)}
	r := report()
	r.Tree = &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 10, RootReturns: 10, Roots: cct.Merge([]*cct.Node{root})}}}
	const sentence = " waits most itself: 80.0 ms of its 100 ms it was off a core, 65.0 % of all such time."
	for _, test := range []struct {
		name     string
		cpu      *export.CPU
		sampling *export.Sampling
		waiting  []int32
		share    string
	}{
		{"nobody looked", nil, nil, nil, ""},
		{"time on a core", &export.CPU{Samples: 44}, nil, []int32{2, 3}, "65.0 %"},
		{"samples of all threads", nil, &export.Sampling{Mode: export.WallMode}, []int32{2, 3}, "66.7 %"},
		{"samples of time on a core", nil, &export.Sampling{Mode: export.CPUMode}, nil, ""},
	} {
		r.CPU, r.Sampling = test.cpu, test.sampling
		b := r.Brief()
		if !slices.Equal(b.Waiting, test.waiting) {
			t.Errorf("%s: %v waits, want %v", test.name, b.Waiting, test.waiting)
		}
		text := strings.Join(b.Lines, " ")
		if want := strings.Replace(sentence, "65.0 %", test.share, 1); strings.Contains(text, want) != (test.share != "") {
			t.Errorf("%s: %s", test.name, text)
		}
	}
}

// TestIdle says how much threads waited at least, where the program used less processor time than its methods
// took, and nobody looked who waits.
func TestIdle(t *testing.T) {
	const s = 1e9
	for _, test := range []struct {
		name string
		cpu  []int64
		with *export.CPU
		want string
	}{
		{"mostly waiting", []int64{1 * s, 1 * s}, nil, "For at least 80.0 % of this time threads waited, or had no core: the whole program used 2.00 s of processor time."},
		{"computing", []int64{5 * s, 4 * s}, nil, ""},
		{"not known", []int64{1 * s, history.Unknown}, nil, ""},
		{"looked at", []int64{1 * s, 1 * s}, &export.CPU{}, ""},
	} {
		r := report()
		r.Tree = &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 1, RootReturns: 1, Roots: cct.Merge([]*cct.Node{node(0, 1, 0, 10*s)})}}}
		r.CPU, r.History = test.with, &history.History{}
		for _, cpu := range test.cpu {
			r.History.Steps = append(r.History.Steps, history.Step{Took: s, CPU: cpu})
		}
		if text := strings.Join(r.Brief().Lines, " "); strings.Contains(text, "For at least") != (test.want != "") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s", test.name, text)
		}
	}
}

// TestSlowStart says that root calls took longer at first, where that is a part of the time, and was so at the beginning.
func TestSlowStart(t *testing.T) {
	const s, ms = 1e9, 1e6
	for _, test := range []struct {
		name  string
		means []int64 // ms of 20 root calls in each second
		want  string
	}{
		{"slow at first", []int64{4, 4, 2, 1, 1, 1, 1, 1, 1, 1}, "In the first 3.00 s a root call took 3.33 ms, 3.3 times as long as in the second half: code that is being compiled is slow, and much is compiled again after a recording has begun. These calls have 58.8 % of all root calls' time; --warmup"},
		{"even", []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, ""},
		{"slow later", []int64{1, 1, 1, 4, 4, 1, 1, 1, 1, 1}, ""},
		{"slow at the end", []int64{1, 1, 1, 1, 1, 4, 4, 4, 4, 4}, ""},
		{"too short", []int64{4, 4, 1, 1}, ""},
		{"a small part", append([]int64{2}, slices.Repeat([]int64{1}, 29)...), ""},
	} {
		r := report()
		r.Tree = &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 1, RootReturns: 1, Roots: cct.Merge([]*cct.Node{node(0, 1, 0, 10*s)})}}}
		r.History = &history.History{}
		for i, mean := range test.means {
			r.History.Steps = append(r.History.Steps, history.Step{From: int64(i) * s, Took: s, Ended: 20, Mean: mean * ms, CPU: history.Unknown})
		}
		if text := strings.Join(r.Brief().Lines, " "); strings.Contains(text, "In the first") != (test.want != "") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s", test.name, text)
		}
	}
	r := report()
	r.Tree = &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 1, RootReturns: 1, Roots: cct.Merge([]*cct.Node{node(0, 1, 0, 10*s)})}}}
	r.History = &history.History{Steps: slices.Repeat([]history.Step{{Took: s, Ended: 0, Mean: history.Unknown, CPU: history.Unknown}}, 20)}
	if text := strings.Join(r.Brief().Lines, " "); strings.Contains(text, "In the first") {
		t.Errorf("without root calls: %s", text)
	}
}

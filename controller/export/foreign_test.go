package export

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// paths are a report's stacks with their samples, as "thread: a;b 3".
func paths(r *Report) map[string]int64 {
	out := map[string]int64{}
	for _, t := range r.Tree.Threads {
		_ = stacks(t.Roots, func(n *cct.Node, stack []int32) error {
			if sampleCount(n) > 0 {
				var names []string
				for _, m := range stack {
					names = append(names, r.Method(m).Name)
				}
				out[t.Name+": "+strings.Join(names, " > ")] += sampleCount(n)
			}
			return nil
		})
	}
	return out
}

func wantPaths(t *testing.T, r *Report, want map[string]int64) {
	t.Helper()
	got := paths(r)
	for p, n := range want {
		if got[p] != n {
			t.Errorf("%s has %d samples, not %d; there are %v", p, got[p], n, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d stacks: %v", len(got), got)
	}
}

// asyncStacks are of the form that async-profiler writes, with threads and without.
const asyncStacks = `[main tid=7];java/lang/Thread.run_[j];shop/Orders$Line.handle_[i];__libc_read 3
[main tid=7];java/lang/Thread.run_[j];shop/Orders$Line.<init>_[0] 4
[pool-1 tid=9];do_syscall_64_[k] 5

java/lang/Thread.run;shop/Price.of(Ljava/lang/Integer|I)J 2
std::vector<int, alloc>::push(int) 1
`

func TestReadCollapsed(t *testing.T) {
	s, err := ReadSaved(strings.NewReader(asyncStacks))
	if err != nil {
		t.Fatal(err)
	}
	wantPaths(t, s.Report, map[string]int64{
		"main: java.lang.Thread.run > shop.Orders$Line.handle > __libc_read": 3,
		"main: java.lang.Thread.run > shop.Orders$Line.<init>":               4,
		"pool-1: do_syscall_64": 5,
		"all threads: java.lang.Thread.run > shop.Price.of(Ljava/lang/Integer;I)J": 2,
		"all threads: std::vector<int, alloc>::push(int)":                          1,
	})
	if k := s.Report.Sampling; k.Samples != 15 || k.Mode != CPUMode || k.Source != "collapsed" || s.Report.figures().sums.Self != 150e6 {
		t.Errorf("%+v", k)
	}
	for text, want := range map[string]string{
		"a;b 3\nno number\n":        "line 2: no stack",
		"a;b 3\na;b -3\n":           "line 2: no stack",
		"a;b 9223372036854775807\n": "more samples than can be added up",
		"no report at all\n":        "no JSON object",
		"":                          "",
	} {
		_, err := ReadSaved(strings.NewReader(text))
		if !errors.Is(err, ErrNotReport) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestForeignRoundTrip reads what a report of samples was written as, in JSON the same again.
func TestForeignRoundTrip(t *testing.T) {
	s, err := ReadSaved(strings.NewReader(asyncStacks))
	if err != nil {
		t.Fatal(err)
	}
	want := paths(s.Report)
	for _, name := range []string{"json", "snapshot", "pprof"} {
		var b bytes.Buffer
		f, _ := FormatNamed(name)
		if err := f.Write(s.Report, &b, FormatOptions{}); err != nil {
			t.Fatal(err)
		}
		back, err := ReadSaved(&b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantPaths(t, back.Report, want)
	}
	if err := Comparable(s.Report, s.Report); err != nil {
		t.Error(err)
	}
	if n := Merge(s.Report, s.Report).Sampling.Samples; n != 30 {
		t.Errorf("%d samples of two reports together", n)
	}
}

// foreignProfile has a function that another one is inlined into, and a thread.
func foreignProfile() *profile.Profile {
	run := &profile.Function{ID: 1, Name: "java.lang.Thread.run", Filename: "java/lang/Thread.java", StartLine: 5}
	work := &profile.Function{ID: 2, Name: "shop.Work.work", SystemName: "shop.Work.work(I)V"}
	leaf := &profile.Function{ID: 3, Name: "shop.Work.leaf"}
	outer := &profile.Location{ID: 1, Line: []profile.Line{{Function: run}}}
	inner := &profile.Location{ID: 2, Line: []profile.Line{{Function: leaf}, {Function: work}}}
	bare := &profile.Location{ID: 3, Address: 0x1234}
	return &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10e6,
		DurationNanos: 2e9, Function: []*profile.Function{run, work, leaf}, Location: []*profile.Location{outer, inner, bare},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{inner, outer}, Value: []int64{30e6}, Label: map[string][]string{"thread": {"main"}}},
			{Location: []*profile.Location{bare, outer}, Value: []int64{10e6}},
		},
	}
}

func TestReadPprof(t *testing.T) {
	read := func(p *profile.Profile) (*Report, error) {
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSaved(&b)
		return s.Report, err
	}
	r, err := read(foreignProfile())
	if err != nil {
		t.Fatal(err)
	}
	wantPaths(t, r, map[string]int64{
		"main: java.lang.Thread.run > shop.Work.work(I)V > shop.Work.leaf": 3,
		"all threads: java.lang.Thread.run > 0x1234":                       1,
	})
	if r.Sampling.Hz != 100 || r.Time.Seconds() != 2 || r.Sampling.Seconds != 2 {
		t.Errorf("%+v", r.Sampling)
	}
	allocations := foreignProfile()
	allocations.SampleType[0] = &profile.ValueType{Type: "alloc_space", Unit: "bytes"}
	if _, err := read(allocations); !errors.Is(err, ErrNotReport) || !strings.Contains(err.Error(), "alloc_space in bytes") {
		t.Error(err)
	}
	difference := foreignProfile()
	difference.Sample[0].Value[0] = -1
	if _, err := read(difference); !errors.Is(err, ErrNotReport) || !strings.Contains(err.Error(), "negative") {
		t.Error(err)
	}
	huge := foreignProfile()
	huge.Sample[0].Value[0] = 1 << 62
	if _, err := read(huge); !errors.Is(err, ErrNotReport) || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
	counted := foreignProfile()
	counted.SampleType[0] = &profile.ValueType{Type: "samples", Unit: "count"}
	counted.PeriodType, counted.Period = nil, 0
	counted.Sample[0].Value[0], counted.Sample[1].Value[0] = 3, 1
	if r, err := read(counted); err != nil || r.Sampling.Samples != 4 || r.figures().sums.Self != 40e6 {
		t.Errorf("%v %+v", err, r)
	}
}

// FuzzForeign: whatever a file has, it is read or refused, and what was read can be written and read again.
func FuzzForeign(f *testing.F) {
	f.Add([]byte(asyncStacks))
	var b bytes.Buffer
	if err := foreignProfile().WriteUncompressed(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []foreignKind{pprofKind, collapsedKind} {
			r, err := readForeign(bytes.NewReader(data), kind)
			if err != nil {
				if r != nil {
					t.Error("a report beside an error")
				}
				continue
			}
			var out bytes.Buffer
			if err := r.JSON(&out, JSONOptions{}); err != nil {
				t.Fatal(err)
			}
			back, err := ReadJSON(&out)
			if err != nil {
				t.Fatal(err)
			}
			if back.Sampling.Samples != r.Sampling.Samples {
				t.Errorf("%d samples, read again %d", r.Sampling.Samples, back.Sampling.Samples)
			}
		}
	})
}

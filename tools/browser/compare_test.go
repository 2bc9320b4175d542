package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A saved is a report as rivulet writes it: a root with callees of so many ns each.
type saved struct {
	main, root string
	roots      int64
	open       int64
	each       func(i int) int64
}

func (s saved) json(t *testing.T) string {
	t.Helper()
	type node struct {
		Method   string `json:"method"`
		Thread   string `json:"thread,omitempty"`
		Calls    int64  `json:"calls"`
		Self     int64  `json:"self_ns"`
		Total    int64  `json:"total_ns"`
		Children []node `json:"children"`
	}
	root := node{Method: s.root, Thread: "main", Calls: s.roots, Self: 1000, Total: 1000, Children: []node{}}
	calls := s.roots
	for i := range 30 {
		c := node{Method: fmt.Sprintf("shop.C%d.m%d()V", i, i), Calls: 2 * s.roots, Self: s.roots * s.each(i), Children: []node{}}
		c.Total = c.Self
		root.Total += c.Self
		calls += c.Calls
		root.Children = append(root.Children, c)
	}
	text, err := json.Marshal(map[string]any{
		"schema": 1, "target": map[string]any{"pid": 7, "java": "17", "main": s.main}, "scheme": "B", "clock": "tick", "roots": []string{s.root}, "seconds": 60, "exact": true,
		"ended": "stopped", "calls": calls, "root_invocations": s.roots, "open_invocations": s.open, "methods": map[string]any{"instrumented": 31, "called": 31},
		"tree": []node{root}, "threads": []map[string]any{{"thread": "main", "thread_id": 1, "root_invocations": s.roots, "open_invocations": s.open, "trees": 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestComparison compares what is alike, what differs, and what can't be compared: the page
// says so each time, and lists nothing as a change that is noise.
func TestComparison(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1280, 800)
	p.wait("#demo") // there are targets only where a JVM runs
	of := func(f func(i int) int64) saved {
		return saved{main: "shop.Main", root: "shop.Orders.process()V", roots: 100, each: f}
	}
	reports := []saved{
		of(func(i int) int64 { return 90_000 + int64(i%5)*1000 }),
		of(func(i int) int64 { return 43_000 + int64(i%7)*500 }), // the same program, a faster machine
		of(nil),
		{main: "shop.Main", root: "shop.Orders.process()V", roots: 2, open: 1, each: func(int) int64 { return 90_000 }},
		{main: "other.Main", root: "other.Jobs.run()V", roots: 9, each: func(int) int64 { return 9_000_000 }},
	}
	reports[2].each = func(i int) int64 {
		if i == 3 {
			return 400_000
		}
		return 90_000
	}
	for i, r := range reports {
		opened := value[float64](p, fmt.Sprintf(`fetch("/api/open?name=r%d", { method: "POST", body: %q, headers: { Authorization: "Bearer " + sessionStorage.getItem("rivulet.key") } }).then((r) => r.status)`, i+1, r.json(t)))
		if opened != 200 {
			t.Fatal("open:", opened)
		}
	}
	p.click("#list")
	p.until(`document.querySelectorAll("#snapshots tbody tr").length === 5`)
	p.button("#snapshots tbody tr:nth-child(5)", "Open")
	p.wait(".treename")
	// figures are the root's line, without the handle of its menu, which is there while the pointer is on the line.
	figures := func() string { return strings.TrimSuffix(p.text(".table .space .tr"), "\n⋯") }
	p.until(`document.querySelector(".table .space .tr").innerText.includes("▾")`) // the hot path opens once the tree is there
	total := figures()
	// What is compared at first are two different recordings, and Tree goes on showing what it did.
	p.do("compare", chromedp.KeyEvent("8"))
	p.wait("#verdict")
	chosen := func() string {
		return value[string](p, `[...document.querySelectorAll(".sourcebar select")].slice(-2).map((s) => s.value).join(" ")`)
	}
	if got := chosen(); got == "1 1" || !strings.HasSuffix(got, " 1") {
		t.Errorf("compares %q, the first is looked at", got)
	}
	choose := func(before, after int) {
		t.Helper()
		for at, id := range []int{before, after} {
			value[bool](p, fmt.Sprintf(`(() => { const s = [...document.querySelectorAll(".sourcebar select")].slice(-2)[%d]; s.value = "%d"; return s.dispatchEvent(new Event("change", { bubbles: true })); })()`, at, id))
		}
		p.until(fmt.Sprintf(`[...document.querySelectorAll(".sourcebar select")].slice(-2).map((s) => s.value).join(" ") === "%d %d"`, before, after))
	}
	for _, c := range []struct {
		before, after int
		verdict       string
		kinds         string
		changes       string
	}{
		{1, 2, "No difference beyond noise", "", ""},
		{1, 3, "1 method differs beyond noise", "", "m3"},
		{1, 4, "can't be compared", "unfinished", ""},
		{1, 5, "can't be compared", "roots program", ""},
	} {
		choose(c.before, c.after)
		p.until(fmt.Sprintf(`document.querySelector("#verdict")?.textContent.includes(%q)`, c.verdict))
		p.until(fmt.Sprintf(`[...document.querySelectorAll(".unlike")].map((e) => e.dataset.kind).join(" ") === %q`, c.kinds))
		if got := value[string](p, `[...document.querySelectorAll(".changes tbody b")].map((e) => e.textContent).join(" ")`); got != c.changes {
			t.Errorf("%d and %d: changes %q, want %q", c.before, c.after, got, c.changes)
		}
		coloured := value[bool](p, `!!document.querySelector(".table .worse, .table .better, .changes .worse")`)
		if coloured != (c.changes != "") {
			t.Errorf("%d and %d: something is coloured: %v", c.before, c.after, coloured)
		}
		p.shot(fmt.Sprintf("compare-%d-%d", c.before, c.after))
	}
	// Red is drawn where the changed method is, which is the widest below the root.
	choose(1, 3)
	p.until(`document.querySelector(".changes tbody b")?.textContent === "m3"`)
	p.until(`(() => {
		const c = document.querySelector("#diffflame canvas"), d = c.getContext("2d").getImageData(Math.round(4 * devicePixelRatio), Math.round(21 * devicePixelRatio), 1, 1).data;
		return d[0] > d[2] + 60;
	})()`)
	p.fair("a difference")
	p.scheme("light", 390, 800)
	p.until(`document.querySelector(".changes tbody tr")?.offsetHeight > 0`)
	p.do("see the changes", chromedp.ScrollIntoView(".changes tbody tr"))
	p.shot("compare-phone")
	p.scheme("light", 1280, 800)
	p.do("tree", chromedp.KeyEvent("1"), chromedp.KeyEvent(kb.Home))
	p.wait(".treename")
	if got := figures(); got != total {
		t.Errorf("the tree shows %q, and %q before comparing", got, total)
	}
	if found := p.console(); len(found) > 0 {
		t.Error("console:", found)
	}
}

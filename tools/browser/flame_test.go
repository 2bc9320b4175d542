package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestFlameGraph reads what is slow in words, searches the flame graph, turns it upside down, saves it as
// pictures, comes to a method's callers up to the roots, and back by the browser's Back; and
// opens what is shown in another tab by its address.
func TestFlameGraph(t *testing.T) {
	t.Parallel()
	url := served(t)
	p := open(t, url, 1280, 800)
	program := program(t, "Counted")
	p.root(program, "counted root")
	value[bool](p, `document.querySelector("details.more").open = true`)
	// Both at once, before the page has drawn the first.
	value[bool](p, `(document.querySelector("#bytecodes").click(), document.querySelector("#allocations").click(), true)`)
	p.until(`document.querySelector("#bytecodes").checked && document.querySelector("#allocations").checked`)
	p.click("#start")
	p.wait(".phase.recording")
	program.counts(t, 2000)
	rootCalls := func(n string) {
		t.Helper()
		p.until(fmt.Sprintf(`document.querySelector(".table .space .tr .calls")?.textContent.replace(/\D/g, "") === %q`, n))
	}
	rootCalls("2000")
	p.until(`document.querySelector("#history").dataset.known !== ""`)
	between := value[float64](p, `Number(document.querySelector("#history").dataset.at)`) // of a moment when there were 2,000
	program.counts(t, 300)
	rootCalls("2300")
	p.click("#stop")
	p.wait("#again")
	p.until(`document.querySelector("#brief")?.textContent.includes("Counted.step takes most of the time itself")`)
	if brief := p.text("#brief"); !strings.Contains(brief, "in 2,300 calls") || !strings.Contains(brief, "when Counted.root calls it") || !strings.Contains(brief, "575 calls ended by an exception, 100.0 % of them of Counted.thrower.") {
		t.Error("what is slow:", brief)
	}
	p.shot("brief")
	p.history(between)
	// Percentiles of all root calls, though none was kept on its own.
	p.press("5")
	p.until(`document.querySelector("#roottimes")?.innerText.startsWith("2\u202f300 root calls: mean ") && document.querySelector("#record-with")`)
	if n := value[int](p, `[...document.querySelectorAll("#roottimes rect")].reduce((n, r) => n + Number(r.dataset.n), 0)`); n != 2300 {
		t.Errorf("%d root calls in the histogram", n)
	}
	p.shot("roottimes")
	p.press("1")
	// What is found is counted, with its share; Enter and Shift+Enter lead from one to the next.
	p.do("search", chromedp.SendKeys("#filter", "step"))
	p.until(`/^1, \d+(\.\d+)? %/.test(document.querySelector("#matches")?.textContent ?? "")`)
	p.press(kb.Enter)
	p.until(`document.querySelector("#matches").textContent.startsWith("1 of 1") && document.querySelector(".detail .name b")?.textContent === "step"`)
	p.until(`new URLSearchParams(location.hash.slice(2)).get("highlight") === "step"`)
	// Self times on top.
	p.click("#invert")
	p.until(`document.querySelector(".icicle").dataset.inverted === "true"`)
	p.focus(".icicle")
	p.do("the flame graph", chromedp.KeyEvent(kb.ArrowDown))
	p.until(`document.querySelector(".icicle").getAttribute("aria-label").includes("Counted.step, ")`)
	p.press(kb.ArrowDown)
	p.until(`document.querySelector(".icicle").getAttribute("aria-label").includes("Counted.root, ")`)
	p.shot("inverted")
	p.click("#invert")
	p.until(`document.querySelector(".icicle").dataset.inverted === "false"`)
	// By what is allocated: 575 exceptions, of which the box has the context's own width; and by bytecodes.
	weigh := func(field string) {
		value[bool](p, fmt.Sprintf(`((s) => { s.value = %q; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.querySelector("#weight"))`, field))
		p.until(fmt.Sprintf(`document.querySelector(".icicle").dataset.weight === %q`, field)) // until then keys move in the graph of before
	}
	weigh("total_objects")
	p.until(`document.querySelector(".icicle").dataset.total === "575"`)
	p.focus(".icicle")
	for range 2 {
		p.press(kb.ArrowDown)
	}
	p.until(`document.querySelector(".icicle").getAttribute("aria-label").includes("Counted.thrower, 100")`)
	p.press(kb.ArrowDown)
	p.until(`document.querySelector(".detail")?.textContent.includes("575 objects") && /RuntimeException|Exception/.test(document.querySelector(".detail").textContent)`)
	p.shot("allocated")
	weigh("total_bytecodes")
	p.until(`document.querySelector("#invert").disabled`)
	weigh("")
	p.until(`!document.querySelector("#invert").disabled`)
	p.splitter()
	// As pictures.
	picture := func(kind string) []string {
		return value[[]string](p, fmt.Sprintf(`new Promise((then) => {
			const old = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
			HTMLAnchorElement.prototype.click = function () { URL.createObjectURL = old; HTMLAnchorElement.prototype.click = click; };
			URL.createObjectURL = (blob) => { blob.text().then((text) => then([blob.type, text])); return old(blob); };
			const s = document.querySelector(".picture");
			s.value = %q;
			s.dispatchEvent(new Event("change", { bubbles: true }));
		})`, kind))
	}
	if svg := picture("svg"); svg[0] != "image/svg+xml" || !strings.HasPrefix(svg[1], "<svg ") || !strings.Contains(svg[1], ">Counted.step</text>") || !strings.Contains(svg[1], "<title>Counted.root(I)I: 100.00 %") {
		t.Errorf("the SVG: %.300s", svg)
	}
	if png := picture("png"); png[0] != "image/png" || len(png[1]) < 1000 {
		t.Errorf("the PNG: %s, %d", png[0], len(png[1]))
	}
	// The hottest method and its callers up to the root: two clicks from the sentence.
	p.until(`document.querySelector("#brief .most button")`)
	p.click("#brief .most button")
	p.until(`document.querySelectorAll(".sandwich .half canvas").length === 2 && document.querySelector(".detail .name b").textContent === "step"`)
	p.shot("sandwich")
	hash := value[string](p, "location.hash")
	if !strings.Contains(hash, "tab=around") || !strings.Contains(hash, "method=") {
		t.Error("the address:", hash)
	}
	other := open(t, url+hash[1:], 1280, 800)
	other.until(`document.querySelector("#tab-around")?.getAttribute("aria-selected") === "true" && document.querySelector(".detail .name b")?.textContent === "step"`)
	p.press("2")
	p.until(`location.hash.includes("tab=methods")`)
	value[bool](p, `(history.back(), true)`)
	p.until(`document.querySelector("#tab-around").getAttribute("aria-selected") === "true"`)
	value[bool](p, `(history.back(), true)`)
	p.until(`document.querySelector("#tab-tree").getAttribute("aria-selected") === "true" && document.querySelector("#filter").value === "step"`)
	for _, q := range []*page{p, other} {
		if found := q.console(); len(found) > 0 {
			t.Error(fmt.Sprint("console: ", found))
		}
	}
}

// splitter makes the flame graph higher by keys and by the mouse, and zooms by the wheel.
func (p *page) splitter() {
	p.t.Helper()
	height := func() float64 {
		return value[float64](p, `document.querySelector(".iciclebox").getBoundingClientRect().height`)
	}
	before := height()
	p.focus(".splitter")
	p.do("the splitter", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	if now := height(); now != before+48 {
		p.t.Errorf("two keys made the flame graph %v high, before it was %v", now, before)
	}
	at := value[[]float64](p, `(() => { const r = document.querySelector(".splitter").getBoundingClientRect(); return [r.left + 100, r.top + 2]; })()`)
	p.do("drag", chromedp.MouseEvent(chromedp.MousePressed, at[0], at[1], chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1]-30), chromedp.MouseEvent(chromedp.MouseReleased, at[0], at[1]-30, chromedp.ButtonLeft))
	if now := height(); now != before+18 {
		p.t.Errorf("dragged, it is %v high, before all %v", now, before)
	}
	wheel := func(y int) {
		value[bool](p, fmt.Sprintf(`(() => { const c = document.querySelector(".icicle canvas"), r = c.getBoundingClientRect(); c.dispatchEvent(new WheelEvent("wheel", { ctrlKey: true, deltaY: %d, clientX: r.left + 5, clientY: r.top + 25, bubbles: true, cancelable: true })); return true; })()`, y))
	}
	crumbs := `document.querySelectorAll(".iciclebox .crumbs > span").length`
	wheel(-100)
	p.until(crumbs + ` > 0`)
	for range 3 {
		wheel(100)
	}
	p.until(crumbs + ` === 0`)
}

// history brushes the time after a moment, when 300 of 2,300 root calls began, by mouse and keyboard.
func (p *page) history(between float64) {
	p.t.Helper()
	rootCalls := func(n string) {
		p.t.Helper()
		p.until(fmt.Sprintf(`document.querySelector(".table .space .tr .calls")?.textContent.replace(/\D/g, "") === %q`, n))
	}
	at := value[[]float64](p, `(() => { const r = document.querySelector("#history canvas").getBoundingClientRect(), h = document.querySelector("#history").dataset; return [r.left, r.width, r.top + 10, Number(h.at)]; })()`)
	x := at[0] + at[1]*between/at[3] + 1
	p.do("brush", chromedp.MouseEvent(chromedp.MousePressed, x, at[2], chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseMoved, x+3, at[2]), chromedp.MouseEvent(chromedp.MouseReleased, at[0]+at[1]-1, at[2], chromedp.ButtonLeft))
	rootCalls("300")
	p.until(`document.querySelector("#shown-range") && !document.querySelector("#brief") && location.hash.includes("range=")`)
	p.shot("range")
	p.press("2")
	p.until(`[...document.querySelectorAll(".table .space .tr")].some((r) => r.textContent.includes("root") && r.textContent.replace(/\D/g, "").includes("300"))`)
	p.press("1")
	rootCalls("300")
	// The beginning of the range goes back to the beginning of the recording, and then its end to
	// the end: a moment may lie between that and where the mouse was released.
	p.focus("#history .lines")
	for begin := time.Now(); time.Since(begin) < jvmtest.Patience && value[bool](p, `(() => {
		const shown = document.querySelector("#shown-range b")?.textContent;
		if (shown) {
			const key = shown.startsWith("0 ") ? { key: "ArrowRight" } : { key: "ArrowLeft", shiftKey: true };
			document.querySelector("#history .lines").dispatchEvent(new KeyboardEvent("keydown", { ...key, bubbles: true }));
		}
		return !!shown;
	})()`); time.Sleep(20 * time.Millisecond) {
	}
	rootCalls("2300")
	p.until(`!document.querySelector("#shown-range") && document.querySelector("#brief")`)
	value[bool](p, `(history.back(), true)`)
	p.until(`document.querySelector("#shown-range")`)
	p.press(kb.Escape)
	p.focus("#history .lines")
	p.do("the strip", chromedp.KeyEvent(kb.Escape))
	rootCalls("2300")
}

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestFollow follows tasks to a pool: what they do is below who handed them over,
// marked by a sign and by words, in all views.
func TestFollow(t *testing.T) {
	t.Parallel()
	program := program(t, "Handing")
	p := open(t, served(t), 1280, 800)
	p.root(program, "handing root")
	value[bool](p, `(document.querySelector("#follow").click(), document.querySelector(".more summary").click(), document.querySelector("#keep-slowest").click(), document.querySelector("#timeline").click(), true)`)
	p.until(`document.querySelector("#follow").checked && document.querySelector("#keep-slowest").checked && document.querySelector("#timeline").checked`)
	p.click("#start")
	p.wait(".phase.recording")
	program.tell(t, "run 8")
	program.line(t, "RAN")
	p.wait(".table .space .tr")
	rows := `[...document.querySelectorAll(".table .space .tr")].map((r) => ({
		name: r.querySelector(".name b").textContent, calls: Number(r.querySelector(".calls").textContent.replace(/\D/g, "")),
		mark: r.querySelector(".arrow")?.textContent ?? "", text: r.querySelector(".async")?.textContent ?? "" }))`
	p.openUntil(`(() => {
		const rows = ` + rows + `, tasks = rows.filter((r) => r.name === "task").map((r) => r.calls), marked = rows.filter((r) => r.mark || r.text);
		return tasks.sort().join() === "40,8" && marked.length === 1 && marked[0].name === "runWorker" && marked[0].calls === 40
			&& marked[0].mark === "⇢" && /asynchronous, queued [\d.]+.(ns|µs|ms)/.test(marked[0].text);
	})()`)
	p.focus(".icicle")
	value[bool](p, `([...document.querySelectorAll(".table .space .tr")].find((r) => r.querySelector(".arrow")).click(), true)`)
	p.until(`document.querySelector(".detail .async")?.textContent.includes("queued") && document.querySelector(".icicle").ariaLabel.includes("asynchronous")`)
	p.fair("asynchronous calls")
	p.shot("follow-tree")
	p.focus(".table")
	p.do("callers", chromedp.KeyEvent("c"))
	lines := func(side string) string {
		return `[...document.querySelectorAll(".sandwich section:nth-child(` + map[string]string{"first": "3", "last": "4"}[side] + `) tbody tr")].map((r) => r.querySelector(".name b")?.textContent + " " + r.children[2].textContent.replace(/\D/g, "") + " " + !!r.querySelector(".async")).join()`
	}
	p.until(lines("first") + ` === "root 40 true"`)
	p.click(".sandwich section:nth-child(3) button")
	p.until(lines("last") + `.startsWith("runWorker 40 true,task 8 false")`)
	p.shot("follow-callers")
	p.press("5")
	p.until(`document.querySelectorAll("#slowest tbody tr").length === 8 && document.querySelector("#slowest").innerText.includes("Tasks, queued")`)
	p.until(`[...document.querySelectorAll("#slowest tbody tr")].every((r) => r.children[4].textContent.startsWith("5, "))`)
	p.fair("slowest")
	p.shot("follow-slowest")
	// What each was spent on, and where it lies in time.
	p.until(`(() => {
		const parts = [...document.querySelectorAll("#slowest .parts")];
		return parts.every((e) => /^(computing|waiting) \S+/.test(e.ariaLabel) && e.ariaLabel.includes("collector") && !e.querySelector(".either") && e.querySelector(".ran, .waited")) && parts.some((e) => e.querySelector(".waited"));
	})()`)
	p.until(`document.querySelector("#slowest tr.selected")`)
	p.click("#in-timeline")
	p.until(`/ [1-9]\d* calls/.test(document.querySelector(".timeline")?.ariaLabel ?? "") && !document.querySelector("#zoomall").disabled`)
	p.shot("follow-in-timeline")
	p.click("#zoomall")
	p.press("5")
	p.until(`document.querySelectorAll("#slowest tbody tr").length === 8`)
	// Of an invocation whose own work took longest the path is itself, and of one that was let go on by a thread it has no
	// task: another one is chosen each second, with its tables open.
	p.until(`(() => {
		const button = document.querySelector("#path button[aria-expanded=false]");
		if (button) button.click();
		const path = document.querySelector("#path");
		if (path && path.querySelectorAll(".seg").length > 1 && /ran .*, queued .*, waited /.test(path.innerText) && path.querySelectorAll("tbody tr").length > 2 && path.innerText.includes("task")) return true;
		const rows = [...document.querySelectorAll("#slowest tbody tr")], n = window.looked = (window.looked ?? 0) + 1;
		if (n % 20 === 0) rows[n / 20 % rows.length].click();
		return false;
	})()`)
	p.fair("critical path")
	p.shot("follow-path")
	p.press("6")
	label := `document.querySelector(".timeline")?.getAttribute("aria-label")`
	p.until(label + `?.includes(", 40 async tasks")`)
	p.shot("follow-timeline")
	p.focus(".timeline")
	p.do("the first root call", chromedp.KeyEvent(kb.ArrowRight))
	p.until(label + `.includes("Handing.root(") && /submitted 5 async tasks, queued [\d.]+.(ns|µs|ms) at the most/.test(` + label + `)`)
	p.do("to what it handed over", chromedp.KeyEvent("h"))
	p.until(label + `.includes("runWorker(") && /async task of Handing.root on main, queued [\d.]+.(ns|µs|ms)/.test(` + label + `)`)
	p.until(`document.querySelector(".detail .async").textContent.includes("queued")`)
	p.fair("hand-overs on the timeline")
	p.do("zoomed", chromedp.KeyEvent(kb.Enter))
	p.shot("follow-timeline-zoomed")
	p.do("and back", chromedp.KeyEvent("0"), chromedp.KeyEvent("h"))
	p.until(label + `.includes("Handing.root(")`)
	p.press("r")
	p.wait(".phase.stopped")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

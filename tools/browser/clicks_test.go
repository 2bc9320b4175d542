package browser

import (
	"fmt"
	"testing"
)

// TestClicks counts the clicks of main jobs, as docs/page.md has them: from the hottest method to its
// callers up to the root, from the slowest root call to where it lies in time, and from one recording to its
// comparison with a second. That of an unknown server's root is TestRootBySamples.
func TestClicks(t *testing.T) {
	t.Parallel()
	program := program(t, "Counted")
	p := open(t, served(t), 1280, 800)
	p.root(program, "counted root")
	value[bool](p, `(document.querySelector(".more summary").click(), document.querySelector("#keep-slowest").click(), document.querySelector("#timeline").click(), true)`)
	p.until(`document.querySelector("#keep-slowest").checked && document.querySelector("#timeline").checked`)
	p.click("#start")
	p.wait(".phase.recording")
	program.counts(t, 100)
	p.click("#stop")
	p.wait(".phase.stopped")
	p.until(`document.querySelector("#brief .most button")`)
	value[bool](p, `(window.clicks = 0, addEventListener("click", (e) => { if (e.isTrusted) window.clicks++; }, true), true)`)
	job := func(what string, most int, do func()) {
		t.Helper()
		value[bool](p, `(window.clicks = 0, true)`)
		do()
		if n := value[int](p, `window.clicks`); n == 0 || n > most {
			t.Errorf("%s: %d clicks, want %d at the most", what, n, most)
		}
	}
	job("the hottest method, and its callers up to the root", 2, func() {
		hottest := value[string](p, `document.querySelector("#brief .most button b").textContent`)
		p.click("#brief .most button")
		p.until(fmt.Sprintf(`document.querySelector("#tab-around").ariaSelected === "true" && document.querySelector(".detail .name b")?.textContent === %q && document.querySelectorAll(".sandwich .half canvas").length > 0`, hottest))
	})
	job("the slowest root call, and where it lies in time", 2, func() {
		p.click("#tab-slowest")
		p.until(`document.querySelector("#slowest tr.selected") && document.querySelector("#in-timeline")`)
		p.click("#in-timeline")
		p.until(`/ [1-9]\d* calls/.test(document.querySelector(".timeline")?.ariaLabel ?? "") && !document.querySelector("#zoomall").disabled`)
	})
	job("a second recording, beside the first", 3, func() {
		p.click("#again")
		p.wait(".phase.recording")
		program.counts(t, 100)
		p.click("#stop")
		p.wait(".phase.stopped")
		p.click("#tab-compare")
		p.until(`document.querySelectorAll(".table .space .tr").length > 0 && document.querySelector(".sourcebar").innerText.includes("root calls 100 → 100")`)
	})
	if found := p.console(); len(found) > 0 {
		t.Error(fmt.Sprint("console: ", found))
	}
}

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// menu opens the menu of a method's row, by the right button, and takes something from it.
func (p *page) menu(method, item string) {
	p.t.Helper()
	row := fmt.Sprintf(`[...document.querySelectorAll(".table .space .tr")].find((e) => e.querySelector(".name b")?.textContent === %q)`, method)
	p.until(row)
	value[bool](p, fmt.Sprintf(`%s.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: 300, clientY: 400 }))`, row))
	p.until(`document.querySelector("#menu")`)
	p.button("#menu", item)
	p.until(`!document.querySelector("#menu")`)
}

func (p *page) roots(want string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector(".bar .roots").title.replace(/\(.*\).*/g, "").replaceAll("\n", " ") === %q`, want))
}

// TestRowMenu narrows the root of a recording that is on, leaves out a method of it, and has
// a method of a finished one as the root of the next.
func TestRowMenu(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1280, 800)
	program := program(t, "Counted")
	p.root(program, "counted root")
	p.click("#start")
	p.wait(".phase.recording")
	program.counts(t, 100)
	p.openUntil(`[...document.querySelectorAll(".treename b")].some((e) => e.textContent === "recurse")`)
	p.until(`document.querySelector(".table .space .tr .calls").textContent === "100"`)
	calls := func(method string) int64 { return p.calls()[method] }
	// What is excluded is called no more, as far as the recording knows.
	p.menu("thrower", "Exclude")
	p.until(`document.querySelector("#notice").textContent === "Counted.thrower is excluded from now on"`)
	before := calls("thrower")
	program.counts(t, 20)
	p.until(`document.querySelector(".table .space .tr .calls").textContent === "120"`)
	if now := calls("thrower"); now != before {
		t.Errorf("%d calls of what is excluded, %d before", now, before)
	}
	p.menu("recurse", "Add as root")
	p.roots("Counted.root Counted.recurse")
	p.until(`document.querySelector("#tab-snapshots").textContent.endsWith(" 1")`)
	program.counts(t, 7)
	p.openUntil(`[...document.querySelectorAll(".treename b")].some((e) => e.textContent === "step")`)
	p.shot("menu-roots")
	p.menu("step", "Use as root")
	p.roots("Counted.step")
	program.counts(t, 11)
	p.until(`document.querySelectorAll(".table .space .tr").length === 1 && document.querySelector(".table .space .tr .calls").textContent === "11"`)
	if got := p.calls(); len(got) != 1 || got["step"] != 11 {
		t.Errorf("below the new root: %v", got)
	}
	// By keys: the menu has them until it is closed, and gives them back.
	p.click(".table .space .tr")
	p.until(`document.querySelector(".table .tr.selected") && document.activeElement.classList.contains("table")`)
	p.press("m")
	p.until(`document.activeElement.getAttribute("role") === "menuitem" && document.activeElement.textContent === "Use as root"`)
	p.shot("menu")
	p.press(kb.ArrowDown)
	p.until(`document.activeElement.textContent === "Add as root"`)
	p.press(kb.Escape)
	p.until(`!document.querySelector("#menu") && document.activeElement.classList.contains("table")`)
	// Where nothing is recorded, a method becomes the root of what is recorded next.
	p.click("#stop")
	p.wait("#again")
	value[bool](p, `(() => { const s = document.querySelector(".sourcebar select"); s.value = [...s.options].find((o) => o.textContent.includes("root")).value; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`)
	p.openUntil(`[...document.querySelectorAll(".treename b")].some((e) => e.textContent === "recurse")`)
	p.menu("recurse", "Use as root")
	p.wait("#search")
	if got := value[string](p, `[...document.querySelectorAll("#roots .name b")].map((e) => e.textContent).join()`); got != "recurse" {
		t.Errorf("the roots of the next recording are %q", got)
	}
	p.click("#start")
	p.wait(".phase.recording")
	p.roots("Counted.recurse")
	if found := p.console(); len(found) > 0 {
		t.Error(fmt.Sprint("console: ", found))
	}
}

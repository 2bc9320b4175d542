package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// press presses keys, one after another.
func (p *page) press(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		p.do("press "+k, chromedp.KeyEvent(k))
	}
}

// tabTo presses Tab until a condition on document.activeElement, e, holds.
func (p *page) tabTo(condition string, most int) {
	p.t.Helper()
	holds := "((e) => !!(" + condition + "))(document.activeElement)"
	for range most {
		if value[bool](p, holds) {
			return
		}
		p.press(kb.Tab)
	}
	p.t.Fatalf("%d times Tab, and the focus is on %s", most, value[string](p, "document.activeElement.outerHTML.slice(0, 200)"))
}

// TestKeyboard does the whole job without a mouse: attach, search a root, start,
// walk the tree, save, switch off, and look at what was saved.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	program := program(t, "Counted")
	p := open(t, served(t), 1280, 800)
	p.wait(fmt.Sprintf(`button[data-pid="%d"]`, program.cmd.Process.Pid))
	p.fair("start")
	p.unfairIsSeen()
	p.tabTo(fmt.Sprintf(`e.dataset.pid === "%d"`, program.cmd.Process.Pid), 60)
	p.press(kb.Enter)
	p.until(`document.activeElement.id === "search"`)
	p.press("counted root")
	p.until(`document.querySelector("#hit-0 b")?.textContent === "root"`)
	p.press(kb.Enter)
	p.until(`document.querySelectorAll("#roots li").length === 1`)
	p.fair("picker")
	p.do("start", chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	value[bool](p, `((was, late) => { performance.now = () => was.call(performance) + (late += 10000); return true; })(window.was = performance.now, 0)`) // each look at the clock is ten seconds after the one before
	p.wait(".phase.recording")
	want := program.counts(t, 50)
	// The focus is in the tree, without a Tab, however long it took.
	p.until(`document.activeElement.matches(".table") && document.querySelector(".table .space .tr")`)
	value[bool](p, `(performance.now = window.was) && true`)
	selected := func(row int) {
		t.Helper()
		p.until(fmt.Sprintf(`document.querySelector(".table .tr.selected") === document.querySelectorAll(".table .space .tr")[%d]
			&& document.activeElement.getAttribute("aria-activedescendant") === document.querySelector(".table .tr.selected").id`, row))
	}
	rows := `document.querySelectorAll(".table .space .tr").length`
	p.press(kb.Home)
	selected(0)
	// The hot path opens by itself, sooner or later, unless most of the time is the root's own.
	for still, n := 0, 0; still < 20 && n < 200; n++ {
		if still++; value[int](p, rows) != 1 {
			still = 0
			p.press(kb.ArrowLeft)
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.until(rows + " === 1")
	p.press(kb.ArrowRight)
	p.until(rows + " >= 6")
	p.press(kb.Home)
	selected(0)
	p.press(kb.ArrowRight) // it is open: to its first callee
	selected(1)
	p.press(kb.Home)
	selected(0)
	p.press(kb.ArrowDown)
	selected(1)
	name := value[string](p, `document.querySelector(".table .tr.selected b").textContent`)
	p.press(kb.Enter)
	p.until(fmt.Sprintf(`document.querySelector(".crumbs b")?.textContent === "Counted." + %q`, name))
	p.fair("tree")
	p.press("c")
	p.until(`document.querySelector("#tab-around").ariaSelected === "true" && document.querySelector(".sandwich")?.innerText.includes("root")`)
	p.fair("callers and callees")
	p.press("1")
	p.until(`document.activeElement.matches(".table")`)
	// The tabs are one stop of the Tab key, and arrows go along them.
	p.do("back", chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
	for range 40 {
		if value[bool](p, `document.activeElement.role === "tab"`) {
			break
		}
		p.do("back", chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
	}
	p.press(kb.ArrowRight)
	p.until(`document.activeElement.id === "tab-methods" && document.querySelector("#tab-methods").ariaSelected === "true"`)
	p.press("2")
	p.until(fmt.Sprintf(`document.activeElement.matches(".table") && !document.querySelector(".treename") && document.querySelectorAll(".table .space .tr").length === %d`, len(want)))
	same(t, "methods", p.calls(), want)
	p.press("s", "r") // at once: the second waits for what the first has begun
	p.wait(".phase.stopped")
	if got := program.counts(t, 1); got["root"] != want["root"]+1 {
		t.Errorf("after it was switched off the program counts %v", got)
	}
	p.press("9")
	p.until(`document.querySelectorAll("#snapshots tbody tr").length === 2`)
	p.tabTo(`e.textContent === "Open" && e.closest("#snapshots tbody tr:nth-child(2)")`, 30)
	p.press(kb.Enter)
	p.wait(".treename")
	p.press("2")
	p.until(fmt.Sprintf(`!document.querySelector(".treename") && document.querySelectorAll(".table .space .tr").length === %d`, len(want)))
	same(t, "saved", p.calls(), want)
	p.press("?")
	p.wait("dialog kbd")
	p.fair("help")
	p.press(kb.Escape)
	p.until(`!document.querySelector("dialog")`)
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

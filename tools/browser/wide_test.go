package browser

import (
	"fmt"
	"testing"
)

// TestWideTable counts so much that the columns are wider than the window: the names stay in
// sight, and all figures can be come to. It counts one kind of instructions, too.
func TestWideTable(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1200, 800)
	program := program(t, "Counted")
	p.root(program, "counted root")
	value[bool](p, `document.querySelector("details.more").open = true`)
	p.tick("#bytecodes")
	p.tick("#allocations")
	p.wait("#executed")
	value[bool](p, `((s) => { s.value = "arithmetic"; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.querySelector("#executed"))`)
	p.click("#start")
	p.wait(".phase.recording")
	program.counts(t, 200)
	p.click("#stop")
	p.wait("#again")
	for _, key := range []string{"1", "2"} { // the tree, and methods
		p.press(key)
		p.until(`document.querySelector(".sideways-table .space .tr .td.wide")`)
		p.until(`[...document.querySelectorAll(".head .td")].some((c) => c.textContent === "Arithmetic")`)
		// lies tells whether a row's name is what is seen at the right edge, and how far the table can be scrolled.
		lies := func(where string) {
			t.Helper()
			if bad := value[string](p, `(() => {
				const table = document.querySelector(".table"), r = table.getBoundingClientRect();
				for (const row of table.querySelectorAll(".tr")) {
					const name = row.querySelector(".td.wide"), n = name.getBoundingClientRect();
					if (n.bottom > r.top + table.clientHeight) continue;
					if (n.left < r.left || n.right > r.left + table.clientWidth + 1 || n.width < 200) return "at " + n.left + " to " + n.right + " of " + r.left + " to " + r.right;
					const over = document.elementFromPoint(n.left + 20, (n.top + n.bottom) / 2);
					if (!name.contains(over)) return "covered by " + over?.outerHTML.slice(0, 100);
				}
				return "";
			})()`); bad != "" {
				t.Errorf("tab %s, %s: the name is %s", key, where, bad)
			}
		}
		lies("at the left")
		p.shot("wide" + key)
		value[bool](p, `(document.querySelector(".table").scrollLeft = 10000, true)`)
		p.until(`document.querySelector(".table").scrollLeft > 0`)
		lies("at the right")
		if gap := value[float64](p, `(() => { const c = [...document.querySelector(".space .tr").children]; return c.at(-1).getBoundingClientRect().left - c.at(-2).getBoundingClientRect().right; })()`); gap < -1 {
			t.Errorf("tab %s: the name covers the last figure by %v px", key, -gap)
		}
		if wide := value[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
			t.Errorf("the page is %d px too wide", wide)
		}
	}
	if found := p.console(); len(found) > 0 {
		t.Error(fmt.Sprint("console: ", found))
	}
}

// tick ticks a box, wherever it has moved to meanwhile, and waits until the page has taken it.
func (p *page) tick(box string) {
	p.t.Helper()
	value[bool](p, fmt.Sprintf(`(document.querySelector(%q).click(), true)`, box))
	p.until(fmt.Sprintf(`document.querySelector(%q).checked`, box))
	value[bool](p, `new Promise((then) => requestAnimationFrame(() => setTimeout(() => then(true), 50)))`)
}
